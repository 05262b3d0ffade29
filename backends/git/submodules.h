#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/base/context.h"
#include "backends/git/objects.h"
#include "backends/git/remote_address.h"
#include "protocol/base/result.h"

namespace modlock::git {

class PackageSize;
class SmartHttp;

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

// Whether a repository may be asked that not the user names but a repository or a server: git refuses the file
// transport there unless protocol.file.allow, protocol.allow or GIT_ALLOW_PROTOCOL allow it. SOURCE_DENIED otherwise,
// of `thing` ("submodule") with `reason` ("which git does not allow to submodules").
Result<void> check_file_transport(const RemoteAddress& address, std::string_view thing, std::string_view reason,
                                  const Context& context);

// A tree on disk whose submodules are still empty directories.
struct Superproject {
  SecretText url;  // that it was cloned from, user-info and all: relative URLs start there
  RemoteAddress address;
  std::string commit;
  std::filesystem::path directory;
  std::vector<Submodule> submodules;
};

// Fills the submodules in, at any depth, with what `git submodule update --init --recursive` would check out: those
// with `update = none` stay empty, every other `update` is a checkout. Their URLs are checked as any source's: the five
// transports, no options, Context::check_source; local ones only where git's protocol.file.allow lets a submodule have
// them. Each has its own cached repository, and costs one request where its commit is not there yet.
//
// A submodule's commit is not asked to lie on a branch or tag of its remote, as the package's own is: the tree that
// names it has been accepted, who wrote that tree might have written the files there just as well, and the id binds
// every byte. It is not accepted for the remote either: `?ref=<that commit>` is checked as if it had never come.
//
// `top` is the package's directory, beside which files for the time being may stand. Nobody may hold a Repository.
// `http` is that of Remote; `size` has counted the tree of `top`.
// Errors, each with a note that names the submodule: those of Backend for its remote; those of find_submodule() and
// read_gitmodules(); SOURCE_INVALID and SOURCE_UNSUPPORTED (no URL that a source could have); ARCHIVE_UNSAFE (of its
// tree); LIMIT_EXCEEDED (more than 16 levels or 1,000 submodules, or `size` says so).
Result<Diagnostics> fill_submodules(const std::filesystem::path& cache_directory, const Superproject& top,
                                    PackageSize& size, const SmartHttp* http, const Context& context);

}  // namespace modlock::git
