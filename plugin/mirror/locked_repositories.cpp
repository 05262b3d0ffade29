#include "plugin/mirror/locked_repositories.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "backends/address/git_reference.h"
#include "backends/address/go_url.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/references.h"
#include "backends/git/repository.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMirrorBranch = "refs/heads/modlock-";  // starts the names of our own branches

std::string rule(std::string_view base, std::string_view url) {
  return fmt::format("[url {}]\n\tinsteadOf = {}\n", in_quotes(base), in_quotes(url));
}

// Returns the branch of HEAD. A client finds `?ref=refs/heads/X` only if X is the branch of HEAD.
std::string head_of(const LockedRepository& repository) {
  const auto of_head = repository.references.find(kMirrorHead);
  const auto found = std::ranges::find_if(repository.references, [&](const auto& one) {
    return one.first.starts_with(kGitBranches) && !one.first.starts_with(kMirrorBranch) &&
           (of_head == repository.references.end() || one.second == of_head->second);
  });
  return found == repository.references.end() ? std::string(kMirrorHead) : found->first;
}

Result<void> write_repository(const LockedRepository& repository, const fs::path& path) {
  MODLOCK_TRY(git::make_bare_repository(path));
  std::string references;
  for (const auto& [name, commit] : repository.references) {
    references += fmt::format("{} {}\n", commit, name);
  }
  std::error_code ignored;
  const auto shallow = read_file(repository.cached / "shallow");
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"packed-refs", references},
        {"shallow", shallow ? *shallow : ""},
        {"objects/info/alternates", (fs::absolute(repository.cached, ignored) / "objects").string() + "\n"},
        {"HEAD", fmt::format("ref: {}\n", head_of(repository))}}) {
    MODLOCK_TRY(write_file_atomically(path / name, text, Durable::no));
  }
  return {};
}

// `ends` are the rules for longer URLs. git takes the longest that matches, and the first of equals.
Result<void> add_rules(const std::string& url, const LockedRepository& repository, const fs::path& path,
                       const git::GitConfiguration& users, std::string& rules, std::string& ends) {
  GoUrl base;
  base.scheme = "file";
  base.path = path.string();
  auto entries = users.entries();
  entries.push_back({fmt::format("url.{}.insteadof", base.to_string()), url});
  if (git::GitConfiguration(std::move(entries)).rewrite(url) != base.to_string()) {
    return fail(Code::source_unsupported,
                fmt::format("git's configuration rewrites the URL of \"{}\" (url.*.insteadOf), so the mirror cannot",
                            repository.source.source.package_identity()),
                "run: " + tofu_modlock("install") + ", then the command without -upgrade");
  }
  rules += rule(base.to_string(), url);
  for (char next = '!'; next <= '~'; ++next) {
    ends += rule(users.rewrite(url + next), url + next);
  }
  return {};
}

}  // namespace

std::string mirrored_reference(std::string_view written, const std::string& commit) {
  const std::string ref = without_peeling(written);
  if (ref.empty() || ref == "HEAD" || ref == "@") {
    return kMirrorHead;
  }
  if (git::is_full_commit(ref)) {
    return std::string(kMirrorBranch) + commit;  // a clone needs only the commit
  }
  for (const auto& [prefix, full] : {std::pair<std::string_view, std::string_view>{kGitBranches, kGitBranches},
                                     {kGitTags, kGitTags},
                                     {"heads/", kGitBranches},
                                     {"tags/", kGitTags},
                                     {"origin/", kGitBranches},
                                     {"remotes/origin/", kGitBranches},
                                     {"refs/remotes/origin/", kGitBranches}}) {
    if (ref.starts_with(prefix) && git::is_reference_name(ref)) {
      return fmt::format("{}{}", full, ref.substr(prefix.size()));
    }
  }
  // Branches become tags too, so that only one reference of the clone has the name.
  return git::is_reference_name(ref) ? fmt::format("{}{}", kGitTags, ref) : std::string();
}

Result<std::string> write_locked_repositories(const LockedRepositories& repositories, const fs::path& directory,
                                              const Context& context) {
  std::string rules;
  std::string ends;
  for (const auto& [url, repository] : repositories) {
    const fs::path path = directory / std::to_string(std::distance(repositories.begin(), repositories.find(url)));
    MODLOCK_TRY(auto remote, git::make_remote_address(repository.source));
    remote.clone_directory = context.clone_directory;
    MODLOCK_TRY(const auto users, git::GitConfiguration::of(remote, git::lookup_environment, context));
    MODLOCK_TRY(write_repository(repository, path));
    MODLOCK_TRY(add_rules(url, repository, path, users, rules, ends));
  }
  return "[core]\n\tautocrlf = false\n" + rules + ends;
}

}  // namespace modlock
