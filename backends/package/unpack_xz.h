#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "backends/package/unpack_rules.h"
#include "protocol/result.h"

namespace modlock::unpack {

// The bytes that an xz file holds, piece by piece. libarchive's own filter lets a file claim as much memory as it
// likes; this one stays below 128 MiB, which `xz -9` needs half of.
class XzFile {
 public:
  // Errors: IO_ERROR.
  static Result<XzFile> open(const std::filesystem::path& archive, std::string_view display);
  ~XzFile();
  XzFile(XzFile&&) noexcept;
  XzFile& operator=(XzFile&&) = delete;

  // The next piece, which lives until the next call; empty at the end. Errors: BAD_RESPONSE (no xz file, damaged or
  // truncated); ARCHIVE_UNSAFE (more memory); IO_ERROR.
  Result<std::string_view> next();

 private:
  struct State;
  explicit XzFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace modlock::unpack
