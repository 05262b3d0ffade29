#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "backends/archive/checksum.h"
#include "backends/crypto/digest.h"
#include "backends/http/http_client.h"

namespace modlock::archive {

// An archive that arrives: a temporary file, hashed as it is written, gone with the object. Errors: IO_ERROR.
class ArchiveFile final : public BodySink {
 public:
  // `also`: the algorithm of a checksum, where there is one.
  ArchiveFile(std::filesystem::path path, std::optional<Hash> also) : path_(std::move(path)), also_(also) {}
  ~ArchiveFile() override;
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;

  struct Digests {
    std::string sha256;                 // hexadecimal digits
    std::optional<Checksum> also = {};  // where one was asked for
  };
  // Once everything has arrived.
  Result<Digests> finish();

  const std::filesystem::path& path() const { return path_; }

 private:
  Result<void> written() const;

  std::filesystem::path path_;
  std::ofstream file_;
  Sha256 sha256_;
  std::optional<Hash> also_;
  std::optional<RunningHash> other_;
};

}  // namespace modlock::archive
