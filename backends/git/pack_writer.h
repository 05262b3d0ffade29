#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "protocol/result.h"

namespace modlock::git {

// A pack on its way into a bare repository: libgit2 hashes every object while the bytes arrive, and writes them to disk
// at once, so memory does not grow with the pack. Nothing of it is seen before finish(), and nothing stays without it.
class PackWriter {
 public:
  explicit PackWriter(const std::filesystem::path& repository);
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  // Forgets what was appended. Errors, here and below: BAD_RESPONSE in libgit2's words, a full disk included.
  Result<void> restart();
  Result<void> append(std::string_view bytes);
  // What was appended has to be a whole pack that needs no object beside its own.
  Result<void> finish();

 private:
  struct Indexer;
  std::filesystem::path directory_;
  std::unique_ptr<Indexer> indexer_;  // null before the first byte and behind the last
};

}  // namespace modlock::git
