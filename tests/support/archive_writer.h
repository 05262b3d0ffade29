#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::test {

// An entry of an archive. Any name goes: archives for tests may be hostile.
struct ArchiveEntry {
  enum class Type { file, directory, symbolic_link, hard_link, character_device, block_device, pipe };

  std::string name = {};
  std::string content = {};  // of a file; what a link leads to
  unsigned mode = 0644;
  Type type = Type::file;

  // Zip alone: who made it (3: Unix, 0: FAT), the external attributes where mode and type are not to make them, the
  // method (0: stored, 8: deflated; any other is a lie about stored bytes), the encryption flag.
  int zip_system = 3;
  std::optional<std::uint32_t> zip_attributes = {};
  int zip_method = 0;
  bool zip_encrypted = false;
};

// A zip file; the names are written as they are, so a directory ends in "/".
std::string make_zip(const std::vector<ArchiveEntry>& entries);

// How a tar file says what its old headers have no room for.
enum class TarDialect { ustar, pax, gnu };
struct TarOptions {
  TarDialect dialect = TarDialect::pax;
  std::string global_comment = {};  // a global pax header in front, as `git archive` writes one
};
std::string make_tar(const std::vector<ArchiveEntry>& entries, const TarOptions& options = {});

// What zip files are made of: a number in so many bytes, a checksum, and bytes deflated, which needs gzip.
std::string little_endian(std::uint64_t value, std::size_t size);
std::uint32_t crc32_of(std::string_view bytes);
std::string deflated(const std::string& bytes);

// The bytes through `gzip`, `xz` or `bzip2`. Throws std::runtime_error where that program is missing.
std::string compress(const std::string& program, const std::string& bytes);

}  // namespace modlock::test
