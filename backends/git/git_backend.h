#pragma once

#include <filesystem>
#include <memory>

#include "backends/backend.h"

namespace modlock {

class HttpClient;

// Selects the program that lists the references of a remote over https and http, and fetches them. The git program does
// everything else: other transports, commits that no reference names, histories, attributes that change bytes.
enum class GitEngine {
  automatic,  // this process with libgit2; the git program if its configuration or the server requires it
  libgit2,    // the same, but git never lists: SOURCE_UNSUPPORTED names what only git can do
  git,        // the git program
};

struct GitOptions {
  std::filesystem::path cache_directory;  // of bare repositories
  HttpClient* http = nullptr;             // must outlive the backend; null: as GitEngine::git
  GitEngine engine = GitEngine::automatic;
  bool memoizes = false;  // as BackendOptions: all references of a repository are pinned with one request
};

// Serves git repositories over https, http, ssh, git and file URLs. Each package source has a bare repository below
// `cache_directory`, named by a hash of its identity. Processes share it under a file lock. A commit that is already
// present costs no request. A package contains its submodules (submodules.h). Without a git program, branches and tags
// are fetched over https and http, and everything that needs git fails with TOOL_MISSING.
//
// `?ref=` names a branch, a tag or a commit. Abbreviated commits and expressions with "~" and "^" are resolved in the
// history of branches and tags, as OpenTofu's `git rev-parse` does in its clone (NOT_FOUND if an abbreviation matches
// several commits). `?depth=` is not passed on. With it, a branch takes precedence over a tag of the same name, as in
// OpenTofu's `git clone --branch`; only if the clone is so deep that it contains the commit of the tag, OpenTofu checks
// out the tag. OpenTofu requires a branch or tag with it, but here a commit is allowed too. `?sshkey=` is passed to
// ssh, for submodules too.
//
// Errors in addition to those of Backend: SOURCE_UNSUPPORTED (other revision expressions, repositories of the SHA-256
// object format), SOURCE_INVALID (a bad `?sshkey=`), HASH_MISMATCH (a commit on no branch or tag), ARCHIVE_UNSAFE
// (entries that no package may have), CONTENT_MODIFIED (the reference moved between pin() and fetch(); try again).
std::unique_ptr<BackendCore> make_git_backend(GitOptions options);

}  // namespace modlock
