#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/package/unpack.h"
#include "backends/package/zip_directory.h"
#include "protocol/base/result.h"

namespace modlock {

// Where the entries of a provider package go when a client unpacks it (go-getter's ZipDecompressor into an empty
// directory: names are cleaned, the last of several entries of one name stays, links become files).
struct ZipLayout {
  std::vector<std::string> paths;     // of each entry; empty for a directory
  bool is_plain = true;               // each entry is a file that bears its own path and no other entry's
  std::vector<std::string> programs;  // files beside each other at the top named "terraform-provider-…", sorted
};

// Errors: ARCHIVE_UNSAFE naming the entry (".." between slashes of any kind, a NUL or a line end in a name, no name, a
// name longer than 255 bytes, a file below a file, a file and a directory of one name, more entries or names than
// allowed).
Result<ZipLayout> zip_layout(const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                             std::string_view display);

// Whether one of the programs is that of a provider of this type: "terraform-provider-<type>", then nothing, "_…" or
// ".…". Errors: BAD_RESPONSE in OpenTofu's words (`provider binary not found: …`).
Result<void> expect_provider_program(const std::vector<std::string>& programs, std::string_view type,
                                     std::string_view display);

// What the lock file may say of a provider package that is a zip file.
struct ProviderArchiveHashes {
  std::uint64_t size = 0;  // of the file
  std::string zh;          // "zh:<SHA-256 of the file>"
  std::string h1;          // of the directory that a client unpacks it to
  std::string archive_h1;  // of its entries as they are named, with directories and doubles
  bool is_plain = false;   // by its list of entries both are the same
  // Its files "terraform-provider-…" beside each other at the top: expect_provider_program() judges them.
  std::vector<std::string> programs;
};

// A provider package that is hashed while it arrives: nothing is unpacked to disk, and memory does not grow with it.
// The local headers say how to read on; the central directory at the end has to agree with them on all that counts, for
// clients go by that alone. From where on the local headers do not tell (stored entries without a size, whatever stands
// in front of or between entries), the rest is kept in a temporary file and read by the central directory.
class ProviderArchive {
 public:
  // `display` names it in messages. `temporary` is where such a file goes. `length`: of the file, where it is known.
  ProviderArchive(std::string display, std::filesystem::path temporary, std::optional<std::uint64_t> length,
                  const UnpackLimits& limits = {});
  ~ProviderArchive();
  ProviderArchive(const ProviderArchive&) = delete;
  ProviderArchive& operator=(const ProviderArchive&) = delete;

  // The next bytes. What is wrong with them is told at the end.
  void write(std::string_view bytes);

  // Once everything has arrived. Errors: HASH_MISMATCH in OpenTofu's words, before any other, where the file does not
  // have the hash `expected` ("zh:…"; empty: any); ARCHIVE_UNSAFE (a bomb by the limits, entries that overlap, a
  // directory that says something else than the local headers, and those of zip_layout()); BAD_RESPONSE (damaged, cut
  // off, encrypted, a compression that the clients cannot read, nothing in it); IO_ERROR.
  Result<ProviderArchiveHashes> finish(std::string_view expected = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The same of a file. Errors: IO_ERROR; REQUEST_CANCELLED, DEADLINE_EXCEEDED too.
Result<ProviderArchiveHashes> hash_provider_archive(const std::filesystem::path& archive, std::string_view display,
                                                    const std::filesystem::path& temporary, const Context& context,
                                                    std::string_view expected = {});

}  // namespace modlock
