#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock::git {

// Begins the names of directories in a repository where packs are written.
constexpr std::string_view kArriving = "arriving-";

// A pack on its way into a bare repository: libgit2 hashes every object while the bytes arrive, and writes them to disk
// at once, so memory does not grow with the pack. Nothing of it is seen before finish(), and nothing stays without it,
// but for what a killed process leaves in a directory `arriving-…` of the repository.
class PackWriter {
 public:
  explicit PackWriter(const std::filesystem::path& repository);
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  // Forgets what was appended. Errors, here and below: BAD_RESPONSE in libgit2's words, a full disk included.
  Result<void> restart();
  Result<void> append(std::string_view bytes);
  // What was appended has to be a whole pack that needs no object beside its own. It is on disk before it is seen: a
  // repository never holds half a pack, whatever happens. Errors: IO_ERROR where it cannot be flushed or moved, too.
  Result<void> finish();

 private:
  struct Indexer;
  std::filesystem::path packs_;
  std::filesystem::path arriving_;    // beside them: what libgit2 writes
  std::unique_ptr<Indexer> indexer_;  // null before the first byte and behind the last
};

}  // namespace modlock::git
