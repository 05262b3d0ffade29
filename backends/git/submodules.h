#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/git/objects.h"
#include "backends/git/remote_address.h"

namespace modlock::git {

class SmartHttp;

// A tree on disk whose submodules are still empty directories.
struct Superproject {
  SecretText url;  // that it was cloned from, user-info and all: relative URLs start there
  RemoteAddress address;
  std::string commit;
  std::filesystem::path directory;
  std::vector<Submodule> submodules;
};

// Fills the submodules in, at any depth, with what `git submodule update --init --recursive` would check out: those
// with `update = none` stay empty, every other `update` is a checkout. Their URLs are judged as any source's: the five
// transports, no options, Context::check_source; local ones only where git's protocol.file.allow lets a submodule have
// them. Each has its own cached repository, and costs one request where its commit is not there yet.
//
// A submodule's commit is not asked to lie on a branch or tag of its remote, as the package's own is: the tree that
// names it has been accepted, who wrote that tree might have written the files there just as well, and the id binds
// every byte. It is not accepted for the remote either: `?ref=<that commit>` is checked as if it had never come.
//
// `top` is the package's directory, beside which files for the time being may stand. Nobody may hold a Repository.
// `http` is that of Remote.
// Errors, each with a note that names the submodule: those of Backend for its remote; those of find_submodule() and
// read_gitmodules(); SOURCE_INVALID and SOURCE_UNSUPPORTED (no URL that a source could have); ARCHIVE_UNSAFE (of its
// tree); LIMIT_EXCEEDED (more than 16 levels, or 1,000 submodules).
Result<Diagnostics> fill_submodules(const std::filesystem::path& cache_directory, const Superproject& top,
                                    const SmartHttp* http, const Context& context);

}  // namespace modlock::git
