#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "backends/base/context.h"
#include "backends/base/files.h"
#include "backends/package/byte_source.h"
#include "protocol/base/result.h"

namespace modlock {

// The formats that OpenTofu's go-getter decompresses. gz, xz and bz2 are single compressed files, which are not
// packages.
enum class ArchiveFormat { zip, tar_gz, tar_xz, tar_bz2, gz, xz, bz2 };

// Returns the format that an `archive=` argument names (OpenTofu's goGetterDecompressors: bz2, gz, xz, zip, tar.bz2,
// tar.tbz2, tar.gz, tgz, tar.xz, txz). nullopt for any other text, including "tar" and "tbz2", which OpenTofu does not
// treat as archives.
std::optional<ArchiveFormat> archive_format_of_name(std::string_view name);
// Returns the format by the longest of those names that follows a dot at the end of the decoded path of a URL.
std::optional<ArchiveFormat> archive_format_of_path(std::string_view path);
// Returns the format by the first bytes (12 are enough), as OpenTofu detects the format of a direct download: zip, then
// gzip, xz and bzip2 tars.
std::optional<ArchiveFormat> archive_format_of_content(std::string_view first_bytes);

// Checks that the format can contain a package. Errors: SOURCE_UNSUPPORTED (gz, xz, bz2), as for unpack_archive().
Result<void> expect_tree_format(ArchiveFormat format, std::string_view display);

struct UnpackLimits {
  std::uint64_t total_bytes = std::uint64_t{4} << 30U;
  std::uint64_t entries = 200'000;                      // including implied directories
  std::uint64_t name_bytes = std::uint64_t{64} << 20U;  // of all names together
  std::uint64_t ratio = 200;                            // unpacked to packed size, checked from this size on:
  std::uint64_t always_fine = std::uint64_t{16} << 20U;
};

// Unpacks an archive into `directory`, which must exist and be empty, and returns the digests of the files, by
// `directory` and their names. As OpenTofu's go-getter does:
// - zip by its central directory, links as files with their target's text, file modes as Unix and macOS store them (FAT
//   and NTFS: 0666, read-only 0444; other systems: 0400), directory modes not;
// - tar with links, also hard ones, as empty files, with all modes.
// Not unpacked: owners, times, set-user-ID, set-group-ID and sticky bits, and entries of git
// (is_git_entry). Unlike go-getter, the owner may always read a file and use a directory, and the mode of
// `directory` itself is kept. Nothing outside `directory` is changed, not even through links. Only the names need
// memory that grows with the archive. Errors: ARCHIVE_UNSAFE naming archive and entry (".." or an absolute name, also
// with backslashes, NUL, no name or one that is too long, a device, pipe or socket, a duplicate name, names that the
// file system treats as the same, a file below a file, a decompression bomb by UnpackLimits); BAD_RESPONSE (damaged,
// truncated, encrypted, a compression that OpenTofu cannot read, empty, not of this format); SOURCE_UNSUPPORTED (gz,
// xz, bz2); IO_ERROR; REQUEST_CANCELLED, DEADLINE_EXCEEDED. `display` names the archive in messages. After an error the
// caller must remove the files written so far. Several threads may work on it; the outcome is that of one.
Result<FileDigests> unpack_archive(const std::filesystem::path& archive, ArchiveFormat format,
                                   const std::filesystem::path& directory, std::string_view display,
                                   const Context& context, const UnpackLimits& limits = {});

// The same for an archive that may still be arriving: a tar is unpacked while it arrives, a zip once it is complete.
// Errors: also those of StreamedFile::wait_for().
Result<FileDigests> unpack_archive(const StreamedFile& archive, ArchiveFormat format,
                                   const std::filesystem::path& directory, std::string_view display,
                                   const Context& context, const UnpackLimits& limits = {});

}  // namespace modlock
