#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/digest.h"
#include "backends/http/http_client.h"
#include "backends/package/unpack.h"
#include "backends/package/zip_directory.h"
#include "protocol/base/result.h"

namespace modlock {

// The files to which a client unpacks the entries of a provider package (go-getter's ZipDecompressor into an empty
// directory: names are cleaned, the last of several entries with one name is kept, links become files).
struct ZipLayout {
  std::vector<std::string> paths;     // of each entry; empty for a directory
  bool is_plain = true;               // each entry is a file, its name is its path, and no path occurs twice
  std::vector<std::string> programs;  // top-level files named "terraform-provider-…", sorted
};

// Errors: ARCHIVE_UNSAFE naming the entry (".." between slashes or backslashes, a NUL or a line ending in a name, no
// name, a name longer than 255 bytes, a file below a file, a file and a directory with the same name, more entries or
// names than allowed).
Result<ZipLayout> zip_layout(const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                             std::string_view display);

// Checks that one of the programs is that of a provider of this type: "terraform-provider-<type>", then nothing, "_…"
// or ".…". Errors: BAD_RESPONSE with OpenTofu's wording (`provider binary not found: …`).
Result<void> expect_provider_program(const std::vector<std::string>& programs, std::string_view type,
                                     std::string_view display);

// The hashes that the lock file may contain for a provider package that is a zip file.
struct ProviderArchiveHashes {
  std::uint64_t size = 0;       // of the file
  std::string zh = {};          // "zh:<SHA-256 of the file>"; empty: the archive was inspected but not read
  std::string h1 = {};          // of the directory that a client unpacks it to; empty: it was not read
  std::string archive_h1 = {};  // of its entries as they are named, with directories and duplicates; empty if h1 is
  bool is_plain = false;        // both are the same, according to its central directory
  // Its top-level files "terraform-provider-…"; expect_provider_program() checks them.
  std::vector<std::string> programs = {};
};

// Writes received bytes to a file, and hashes them. A new attempt replaces the earlier one.
class FileSink : public BodySink {
 public:
  explicit FileSink(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Closes the file, once. Returns the SHA-256 of its bytes as hexadecimal digits. Errors: IO_ERROR.
  Result<std::string> close();
  std::uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::ofstream file_;
  Sha256 sha_;
  std::uint64_t size_ = 0;
};

// Keeps a provider package that arrives in a temporary file, and hashes it.
class ArrivingArchive final : public FileSink {
 public:
  // `display` names it in messages. The file is made in `temporary`; the destructor removes it.
  ArrivingArchive(std::string display, const std::filesystem::path& temporary, const UnpackLimits& limits = {});
  ~ArrivingArchive() override;
  ArrivingArchive(const ArrivingArchive&) = delete;
  ArrivingArchive& operator=(const ArrivingArchive&) = delete;

  // Returns the bytes, after the last of them. Errors: IO_ERROR.
  Result<std::string> text();
  // Call once everything has arrived. Errors: HASH_MISMATCH with OpenTofu's wording, before any other error, if the
  // file does not have the hash `expected` ("zh:…"; empty: any); ARCHIVE_UNSAFE (a decompression bomb by the limits,
  // overlapping entries, a local header with another name, and the errors of zip_layout()); BAD_RESPONSE (damaged,
  // truncated, encrypted, a compression that the clients cannot read, empty); IO_ERROR; REQUEST_CANCELLED,
  // DEADLINE_EXCEEDED.
  Result<ProviderArchiveHashes> finish(const Context& context, std::string_view expected = {});

 private:
  std::string display_;
  UnpackLimits limits_;
};

// The same for a file.
Result<ProviderArchiveHashes> hash_provider_archive(const std::filesystem::path& archive, std::string_view display,
                                                    const Context& context, std::string_view expected = {});

}  // namespace modlock
