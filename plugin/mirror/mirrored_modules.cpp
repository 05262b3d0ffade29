#include "plugin/mirror/mirrored_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "backends/address/git_reference.h"
#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/references.h"
#include "backends/git/repository.h"
#include "backends/package/tree_scan.h"
#include "protocol/base/result.h"

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

constexpr std::size_t kNamed = 5;  // calls in the warning

bool is_elsewhere(const ModuleNode& node) {
  return node.address.source.is_remote() && !node.address.source.is_registry();
}

Diagnostic not_mirrored(const std::vector<std::string>& keys) {
  const auto names = mapped(keys, [](const std::string& key) { return "module." + key; });
  return as_warning(
      {.code = Code::lock_unenforced,
       .message = fmt::format("a mirror cannot serve these, so the command fetches them from their sources: {}",
                              some_of(names, kNamed)),
       .hint = "run: " + tofu_modlock("install") + ", then the command without -upgrade; or write override files"});
}

Error conflict(const ModuleNode& node, const std::string& what, const std::string& one, const std::string& other) {
  return Error{.code = Code::constraint_conflict,
               .message = fmt::format("{} is locked to {} and to {}, and a mirror can serve only one", what, one,
                                      one == other ? "another package of that version" : other),
               .subject = node.subject(),
               .location = node.call.location,
               .hint = "run: " + tofu_modlock("install") + ", then the command without -upgrade"};
}

// Adds what a client will ask of a git repository. If no reference can name the commit, the repository is not served.
Result<void> add_commit(const ModuleNode& node, const SourceAddress& seen, const ResolvedModule& found,
                        LockedRepository& repository) {
  const std::string ref = seen.source.named_reference();
  const std::string name = mirrored_reference(ref, found.id);
  repository.source = seen;
  // The host of the URL is in ASCII here, and a client passes it on as it is written.
  repository.is_served =
      repository.is_served && !name.empty() && std::ranges::all_of(seen.source.host, ascii::is_ascii);
  const std::string& known = repository.references.try_emplace(name, found.id).first->second;
  repository.requests[found.id] = {.id = found.id, .ref = found.ref, .locked = true};
  return known == found.id || name.empty()
             ? Result<void>()
             : fail(conflict(node,
                             fmt::format("{} of \"{}\"", ref.empty() ? "HEAD" : ref, seen.source.package_identity()),
                             known, found.id));
}

}  // namespace

Result<MirroredModules> mirrored_modules(const Plan& plan, const OverridePlan& overrides) {
  MirroredModules out;
  std::map<std::pair<std::string, std::string>, MirroredModule> modules;
  std::vector<std::string> elsewhere;
  for (const auto& [key, node] : plan.tree.nodes) {
    const Source& source = node.address.source;
    const auto resolved = plan.resolved.find(key);
    if (is_elsewhere(node)) {
      const auto pinned = overrides.sources.find(key);
      const auto seen = pinned == overrides.sources.end() ? node.address : parse_source(pinned->second);
      const bool has_commits = seen && seen->source.has_commits() && resolved != plan.resolved.end();
      auto& unpinned = has_commits ? out.repositories[seen->package_url.reveal()].calls : elsewhere;
      if (pinned == overrides.sources.end()) {
        unpinned.push_back(key);
      }
      if (has_commits) {
        MODLOCK_TRY(add_commit(node, *seen, resolved->second, out.repositories[seen->package_url.reveal()]));
      }
      continue;
    }
    if (!source.is_registry() || resolved == plan.resolved.end() || !resolved->second.version) {
      continue;
    }
    const ResolvedModule& found = resolved->second;
    // Clients treat a glob from a registry as a literal name.
    MODLOCK_TRY(auto subdir, expand_subdir(found.package_directory, found.package_subdir));
    const auto forms = parse_service_host(source.host);
    MirroredModule module{.host = forms ? forms->ascii : source.host,
                          .name = source.path,
                          .version = found.version->to_string(),
                          .h1 = found.h1,
                          .directory = found.package_directory,
                          .subdir = std::move(subdir)};
    const auto [known, is_new] = modules.try_emplace({module.host, module.name}, module);
    const MirroredModule& one = known->second;
    if (!is_new && (one.version != module.version || one.h1 != module.h1 || one.subdir != module.subdir)) {
      return fail(conflict(node, fmt::format("module {} of {}", one.name, one.host), one.version, module.version));
    }
  }
  for (auto& [name, module] : modules) {
    out.modules.push_back(std::move(module));
  }
  std::erase_if(out.repositories, [&](const auto& entry) {
    const LockedRepository& repository = entry.second;
    if (!repository.is_served) {
      elsewhere.insert(elsewhere.end(), repository.calls.begin(), repository.calls.end());
    }
    return !repository.is_served;
  });
  if (!elsewhere.empty()) {
    out.warnings.push_back(not_mirrored(elsewhere));
  }
  return out;
}

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
