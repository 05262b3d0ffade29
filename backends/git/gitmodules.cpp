#include "backends/git/gitmodules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "backends/address/scrub.h"
#include "backends/base/process.h"
#include "backends/git/checkout.h"
#include "backends/git/git_command.h"
#include "backends/git/git_error.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

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

// submodule.<name>.<key>, where the name may hold dots.
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
  auto entry =
      std::find_if(entries.begin(), entries.end(), [name](const SubmoduleEntry& other) { return other.name == name; });
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

bool has_part_above(std::string_view name) {
  while (true) {
    const std::size_t end = std::min(name.find_first_of("/\\"), name.size());
    if (name.substr(0, end) == "..") {
      return true;
    }
    if (end == name.size()) {
      return false;
    }
    name.remove_prefix(end + 1);
  }
}

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
  std::string_view rest = read->output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    add_setting(entries, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const SubmoduleEntry& entry : entries) {
    if (!entry.update.empty() && std::find(kUpdates.begin(), kUpdates.end(), entry.update) == kUpdates.end()) {
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
  if (name.empty() || name[0] == '-' || name[0] == '/' || name[0] == '\\' || has_part_above(name)) {
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

}  // namespace modlock::git
