#pragma once

#include <filesystem>
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

// The entry of one submodule in the .gitmodules of a tree.
struct SubmoduleEntry {
  std::string name;
  std::string path;
  std::string url;     // as written; empty if missing
  std::string update;  // "none", "checkout", "rebase", "merge" or empty
};

// Reads `directory`/.gitmodules with git, without includes. Without such a file, the result is empty. Errors:
// BAD_RESPONSE if git would not read it, or if it has an `update` that git refuses in that file (a command); IO_ERROR;
// TOOL_MISSING.
Result<std::vector<SubmoduleEntry>> read_gitmodules(const std::filesystem::path& directory, std::string_view display,
                                                    const Context& context);

// Returns the last entry for a path. Errors: ARCHIVE_UNSAFE if the path starts with "-" or the name is one that git
// ignores as an attack (it is empty or absolute, starts with "-" or has a part ".."); SOURCE_DENIED if the URL starts
// with "-"; BAD_RESPONSE if there is no entry or it has no URL, because git fails then too.
Result<SubmoduleEntry> find_submodule(const std::vector<SubmoduleEntry>& entries, const std::string& path,
                                      std::string_view display);

// Resolves a submodule's URL for a superproject that came from `superproject`. Like git, it resolves "./" and "../"
// against the whole text, and keeps any other URL.
std::string resolve_submodule_url(std::string_view superproject, std::string_view url);

// Checks a repository that the user did not name, but another repository or a server. git rejects the file transport
// there unless protocol.file.allow, protocol.allow or GIT_ALLOW_PROTOCOL allows it. Errors: SOURCE_DENIED for `thing`
// ("submodule") with `reason` ("which git does not allow to submodules").
Result<void> check_file_transport(const RemoteAddress& address, std::string_view thing, std::string_view reason,
                                  const Context& context);

// A tree on disk whose submodules are still empty directories.
struct Superproject {
  SecretText url;  // its clone URL with user-info: the base of relative URLs
  RemoteAddress address;
  std::string commit;
  std::filesystem::path directory;
  std::vector<Submodule> submodules;
};

// Fills in the submodules at any depth, as `git submodule update --init --recursive` would check them out: those with
// `update = none` stay empty, and any other `update` is a checkout. Their URLs are checked like those of any source:
// the five transports, no options, Context::check_source; local ones only if git's protocol.file.allow allows them for
// submodules. Each submodule has its own cached repository, and costs one request if its commit is not present.
//
// A submodule's commit need not be on a branch or tag of its remote, unlike the package's own commit. The tree that
// names it was accepted, its author could have put the same files there, and the id binds every byte. It is not
// accepted for the remote either: `?ref=<that commit>` is checked as if it had never been fetched.
//
// `top` is the package's directory; temporary files may be next to it. The calling thread must not hold a Repository.
// `http` is that of Remote. `size` must already include the tree of `top`. Errors, each with a note that names the
// submodule: those of Backend for its remote; those of find_submodule() and read_gitmodules(); SOURCE_INVALID and
// SOURCE_UNSUPPORTED (a URL that no source can have); ARCHIVE_UNSAFE (from its tree); LIMIT_EXCEEDED (more than 16
// levels or 1,000 submodules, or from `size`).
Result<Diagnostics> fill_submodules(const std::filesystem::path& cache_directory, const Superproject& top,
                                    PackageSize& size, const SmartHttp* http, const Context& context);

}  // namespace modlock::git
