#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock::git {

// What the .gitmodules of a tree says of one submodule.
struct SubmoduleEntry {
  std::string name;
  std::string path;
  std::string url;     // as written; empty where it is not
  std::string update;  // "none", "checkout", "rebase", "merge" or empty
};

// Reads `directory`/.gitmodules with git, no includes followed; without such a file there are none. Errors:
// BAD_RESPONSE where git would not read it, or it holds an `update` that git refuses in that file (a command);
// IO_ERROR; TOOL_MISSING.
Result<std::vector<SubmoduleEntry>> read_gitmodules(const std::filesystem::path& directory, std::string_view display,
                                                    const Context& context);

// The one for a path: of several the last. ARCHIVE_UNSAFE where its name or URL is one that git ignores as an attack
// (a name that is empty, absolute, starts with "-" or has a part ".."; a path or URL that starts with "-");
// BAD_RESPONSE where there is none, or it has no URL: git ends there too.
Result<SubmoduleEntry> find_submodule(const std::vector<SubmoduleEntry>& entries, const std::string& path,
                                      std::string_view display);

// The address that a submodule's URL means where its superproject came from `superproject`, as git resolves "./" and
// "../" against the whole text; any other URL as it is.
std::string resolve_submodule_url(std::string_view superproject, std::string_view url);

}  // namespace modlock::git
