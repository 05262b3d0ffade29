#pragma once

#include <filesystem>
#include <memory>

#include "backends/backend.h"

namespace modlock {

// Serves git repositories over https, http, ssh, git and file URLs with the git program. Each package source has a bare
// repository below `cache_directory`, named by a hash of its identity, that processes share under a file lock; a commit
// that is there already costs no request. Beside the errors of Backend: SOURCE_UNSUPPORTED (submodules, abbreviated
// commits and revision expressions), HASH_MISMATCH (a commit on no branch or tag), ARCHIVE_UNSAFE (entries that no
// package may have), CONTENT_MODIFIED (the reference moved between pin() and fetch(); ask again).
std::unique_ptr<Backend> make_git_backend(std::filesystem::path cache_directory);

}  // namespace modlock
