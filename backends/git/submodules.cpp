#include "backends/git/submodules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <utility>

#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/parallel.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/git/checkout.h"
#include "backends/git/commit_fetch.h"
#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/git_error.h"
#include "backends/git/repository.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMost = 1000;
constexpr std::size_t kAtOnce = 4;
constexpr std::array<std::string_view, 4> kUpdates = {"none", "checkout", "rebase", "merge"};

tl::unexpected<Error> broken(std::string_view display, std::string_view why) {
  return fail(Code::bad_response, fmt::format("the .gitmodules of \"{}\" {}", display, why),
              "have it repaired; git itself does not fetch these submodules either");
}

tl::unexpected<Error> unsafe(std::string_view display, std::string_view what, std::string_view text) {
  return fail(
      Code::archive_unsafe,
      fmt::format("the .gitmodules of \"{}\" has the {} \"{}\", which could mean something outside of the package",
                  display, what, shown_path(text)),
      "do not use this commit");
}

// Adds submodule.<name>.<key>. The name may contain dots.
void add_setting(std::vector<SubmoduleEntry>& entries, std::string_view setting) {
  constexpr std::string_view kSection = "submodule.";
  const std::size_t line_end = std::min(setting.find('\n'), setting.size());
  const std::string_view key = setting.substr(0, line_end);
  const std::string value(setting.substr(std::min(line_end + 1, setting.size())));
  const std::size_t last = key.rfind('.');
  if (!key.starts_with(kSection) || last < kSection.size()) {
    return;
  }
  const std::string_view name = key.substr(kSection.size(), last - kSection.size());
  auto entry = std::ranges::find(entries, name, &SubmoduleEntry::name);
  if (entry == entries.end()) {
    entry = entries.insert(entries.end(), SubmoduleEntry{std::string(name), {}, {}, {}});
  }
  const std::string_view what = key.substr(last + 1);
  if (what == "path") {
    entry->path = value;
  } else if (what == "url") {
    entry->url = value;
  } else if (what == "update") {
    entry->update = value;
  }
}

// "user@host:path", which ssh resolves relative to the user's home, as a URL.
struct ScpForm {
  std::string url;
  bool is_relative = false;
};
std::optional<ScpForm> parse_scp(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.find('/') < colon || text.find("://") != std::string::npos ||
      text.substr(0, colon).find_first_of("[]") != std::string::npos || colon + 1 == text.size()) {
    return std::nullopt;
  }
  const bool is_relative = text[colon + 1] != '/';
  const char* const start = !is_relative ? "" : text.find('@') < colon ? "/" : "/~/";  // as ssh_url()
  return ScpForm{fmt::format("ssh://{}{}{}", text.substr(0, colon), start, text.substr(colon + 1)), is_relative};
}

// "helper::address", for which git runs the program git-remote-helper.
bool names_helper(std::string_view url) {
  const std::size_t mark = url.find("::");
  const std::string_view name = url.substr(0, std::min(mark, url.size()));
  const auto fits = [](char c) { return ascii::is_alnum(c) || c == '+' || c == '-' || c == '.' || c == '_'; };
  return mark != std::string_view::npos && mark > 0 && std::ranges::all_of(name, fits);
}

// Returns the address of a submodule's URL.
Result<RemoteAddress> address_of(const std::string& url, const RemoteAddress& parent, const Context& context) {
  if (names_helper(url)) {
    return fail(Code::source_denied,
                fmt::format("the submodule's URL \"{}\" names a transport helper, a program that git would run",
                            quotable(scrub_urls(url))),
                "write a URL of https, http, ssh or git into .gitmodules");
  }
  const auto scp = parse_scp(url);
  const std::string text = scp ? scp->url : url.starts_with('/') ? "file://" + url : url;
  if (text.find("://") == std::string::npos) {
    return fail(Code::source_unsupported,
                fmt::format("the submodule's URL \"{}\" names no host", quotable(scrub_urls(url))),
                "write a whole URL into .gitmodules");
  }
  MODLOCK_TRY(const auto source, parse_source("git::" + text));
  if (!source.source.subdir.empty() || !source.source.query.empty()) {
    return fail(Code::source_unsupported,
                fmt::format("the submodule's URL \"{}\" has \"//\" or arguments in it", source.source.identity()),
                "write the URL of the repository alone into .gitmodules");
  }
  MODLOCK_TRY(context.check_allowed(source.source));
  auto address = make_remote_address(source);
  if (address) {
    address->ssh_key = parent.ssh_key;
    address->is_submodule = true;
    address->clone_directory = parent.clone_directory;
    if (scp && scp->is_relative) {
      address->url = url;
    }
  }
  return address;
}

// Fills the submodules of one package level by level.
class Filling {
 public:
  Filling(const fs::path& cache_directory, const fs::path& top, PackageSize& size, const SmartHttp* http,
          const Context& context)
      : cache_directory_(cache_directory), top_(top), size_(size), http_(http), context_(context) {}

  Result<Diagnostics> fill(const Superproject& parent, std::size_t depth) {
    if (parent.submodules.empty()) {
      return Diagnostics{};
    }
    if (depth >= kDeepest || (count_ += parent.submodules.size()) > kMost) {
      return fail(Code::limit_exceeded,
                  fmt::format("commit {} of \"{}\" has more submodules than {}, or deeper ones than {} levels",
                              parent.commit, parent.address.display, kMost, kDeepest),
                  "use the submodules' repositories themselves");
    }
    MODLOCK_TRY(const auto entries, read_gitmodules(parent.directory, parent.address.display, context_));
    std::vector<Result<Diagnostics>> filled(parent.submodules.size());
    parallel_for(parent.submodules.size(), depth == 0 ? kAtOnce : 1, [&](std::size_t i) {
      const Submodule& submodule = parent.submodules[i];
      const auto entry = find_submodule(entries, submodule.path, parent.address.display);
      filled[i] = entry ? fill_one(parent, submodule, *entry, depth) : fail(entry.error());
      if (!filled[i]) {
        filled[i].error().notes.push_back(fmt::format("for the submodule \"{}\" of commit {} of \"{}\"",
                                                      shown_path(submodule.path), parent.commit,
                                                      parent.address.display));
      }
    });
    Diagnostics warnings;
    for (auto& result : filled) {
      MODLOCK_TRY(auto found, std::move(result));
      append(warnings, std::move(found));
    }
    return warnings;
  }

 private:
  Result<Diagnostics> fill_one(const Superproject& parent, const Submodule& submodule, const SubmoduleEntry& entry,
                               std::size_t depth) {
    if (entry.update == "none") {
      return Diagnostics{};
    }
    const std::string url = resolve_submodule_url(parent.url.reveal(), entry.url);
    MODLOCK_TRY(auto address, address_of(url, parent.address, context_));
    MODLOCK_TRY(check_file_transport(address, "submodule", "which git does not allow to submodules", context_));
    Superproject inner{SecretText(url), std::move(address), submodule.commit, parent.directory / submodule.path, {}};
    MODLOCK_TRY(auto checked_out, check_out_one(inner.address, submodule, inner.directory));
    inner.submodules = std::move(checked_out.submodules);
    auto deeper = fill(inner, depth + 1);
    if (deeper) {
      deeper->insert(deeper->begin(), checked_out.warnings.begin(), checked_out.warnings.end());
    }
    return deeper;
  }

  Result<CheckedOut> check_out_one(const RemoteAddress& address, const Submodule& submodule,
                                   const fs::path& directory) const {
    MODLOCK_TRY(const auto repository, Repository::open(cache_directory_, address.display, context_));
    MODLOCK_TRY(fetch_submodule(Remote(address, context_, http_), repository, submodule.commit, context_));
    const fs::path index = top_.string() + "." + random_hex(8) + ".index";
    return check_out(repository, submodule.commit, directory, index, address.display, size_, context_);
  }

  const fs::path& cache_directory_;
  const fs::path& top_;
  PackageSize& size_;
  const SmartHttp* http_;
  const Context& context_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace

Result<std::vector<SubmoduleEntry>> read_gitmodules(const fs::path& directory, std::string_view display,
                                                    const Context& context) {
  const fs::path file = directory / ".gitmodules";
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(file, ignored))) {
    return std::vector<SubmoduleEntry>{};
  }
  Command command = local_command(directory, {"config", "--no-includes", "--null", "--list", "--file", file.string()});
  const auto read = run_command(command, context);
  if (!read) {
    return fail(read.error().code == Code::tool_missing ? git_missing("read the submodules of", display)
                                                        : read.error());
  }
  if (read->exit_code != 0) {
    return broken(display, "is not in the syntax of git's configuration");
  }
  std::vector<SubmoduleEntry> entries;
  for (const std::string& setting : lines_of(read->output, '\0')) {
    add_setting(entries, setting);
  }
  for (const SubmoduleEntry& entry : entries) {
    if (!entry.update.empty() && std::ranges::find(kUpdates, entry.update) == kUpdates.end()) {
      return broken(display, fmt::format("has the update \"{}\" for \"{}\", which git refuses there",
                                         shown_path(entry.update), shown_path(entry.name)));
    }
  }
  return entries;
}

Result<SubmoduleEntry> find_submodule(const std::vector<SubmoduleEntry>& entries, const std::string& path,
                                      std::string_view display) {
  const auto found =
      std::find_if(entries.rbegin(), entries.rend(), [&](const SubmoduleEntry& entry) { return entry.path == path; });
  if (path.starts_with('-')) {
    return unsafe(display, "path", path);
  }
  if (found == entries.rend() || found->url.empty()) {
    return broken(display, fmt::format("names no URL for the submodule \"{}\"", shown_path(path)));
  }
  const std::string& name = found->name;
  if (name.empty() || name[0] == '-' || name[0] == '/' || name[0] == '\\' || has_dot_dot(name)) {
    return unsafe(display, "submodule name", name);
  }
  if (found->url.starts_with('-')) {
    return fail(Code::source_denied,
                fmt::format("the .gitmodules of \"{}\" has the URL \"{}\", which would be taken for an option", display,
                            shown_path(scrub_urls(found->url))),
                "write a URL of https, http, ssh or git into .gitmodules");
  }
  return *found;
}

std::string resolve_submodule_url(std::string_view superproject, std::string_view url) {
  const bool is_relative = url.starts_with("./") || url.starts_with("../");
  if (!is_relative) {
    return std::string(url);
  }
  std::string base(superproject);
  if (!base.empty() && base.back() == '/') {
    base.pop_back();
  }
  bool behind_colon = false;
  while (true) {
    if (url.starts_with("../")) {
      url.remove_prefix(3);
      std::size_t cut = base.rfind('/');
      if (cut == std::string::npos) {
        cut = base.rfind(':');
        behind_colon = behind_colon || cut != std::string::npos;
      }
      base = cut == std::string::npos ? "." : base.substr(0, cut);
    } else if (url.starts_with("./")) {
      url.remove_prefix(2);
    } else {
      break;
    }
  }
  std::string resolved = base + (behind_colon ? ":" : "/") + std::string(url);
  if (url.ends_with('/')) {
    resolved.pop_back();
  }
  return resolved;
}

Result<void> check_file_transport(const RemoteAddress& address, std::string_view thing, std::string_view reason,
                                  const Context& context) {
  if (address.scheme != "file") {
    return {};
  }
  if (const auto allowed = lookup_environment("GIT_ALLOW_PROTOCOL")) {
    return {};  // git itself rejects other transports
  }
  if (const auto users = GitConfiguration::of(address, lookup_environment, context)) {
    const auto policy = users->find("protocol.file.allow");
    if ((policy ? policy : users->find("protocol.allow")) == "always") {
      return {};
    }
  }
  return fail(Code::source_denied, fmt::format("the {} \"{}\" is on this machine, {}", thing, address.display, reason),
              "if you trust it: git config --global protocol.file.allow always");
}

Result<Diagnostics> fill_submodules(const fs::path& cache_directory, const Superproject& top, PackageSize& size,
                                    const SmartHttp* http, const Context& context) {
  return Filling(cache_directory, top.directory, size, http, context).fill(top, 0);
}

}  // namespace modlock::git
