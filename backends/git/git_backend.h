#pragma once

#include <filesystem>
#include <memory>

#include "backends/backend.h"

namespace modlock {

class HttpClient;

// Who lists the references of a remote over https and http, and fetches what they name. All else is done by the git
// program: other transports, commits that no reference names, histories, attributes that change bytes.
enum class GitEngine {
  automatic,  // this process, with libgit2; the git program where its configuration or the server call for it
  libgit2,    // the same, but a listing is never the git program's: SOURCE_UNSUPPORTED names what it alone can do
  git,        // the git program
};

struct GitOptions {
  std::filesystem::path cache_directory;  // of bare repositories
  HttpClient* http = nullptr;             // outlives the backend; null: as GitEngine::git
  GitEngine engine = GitEngine::automatic;
};

// Serves git repositories over https, http, ssh, git and file URLs. Each package source has a bare repository below
// `cache_directory`, named by a hash of its identity, that processes share under a file lock; a commit that is there
// already costs no request. A package holds its submodules (submodules.h). Without a git program
// branches and tags come over https and http; what needs it is TOOL_MISSING.
//
// `?ref=` names a branch, a tag or a commit; an abbreviated commit and expressions of "~" and "^" are looked up in the
// history of branches and tags as OpenTofu's `git rev-parse` does in its clone (NOT_FOUND where several commits begin
// so). `?depth=` changes nothing about a package and is not passed on; OpenTofu itself wants a branch or tag beside it,
// here a commit will do. `?sshkey=` is given to ssh, for submodules too.
//
// Beside the errors of Backend: SOURCE_UNSUPPORTED (other revision expressions, repositories of the SHA-256 object
// format), SOURCE_INVALID (a bad `?sshkey=`), HASH_MISMATCH (a commit on no branch or tag), ARCHIVE_UNSAFE (entries
// that no package may have), CONTENT_MODIFIED (the reference moved between pin() and fetch(); ask again).
std::unique_ptr<BackendCore> make_git_backend(GitOptions options);

}  // namespace modlock
