#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "backends/base/context.h"
#include "backends/base/files.h"
#include "backends/package/streamed_file.h"
#include "protocol/base/result.h"

namespace modlock {

// What OpenTofu's go-getter decompresses. gz, xz and bz2 are one compressed file each, which is no package.
enum class ArchiveFormat { zip, tar_gz, tar_xz, tar_bz2, gz, xz, bz2 };

// The format that an `archive=` argument names (OpenTofu's goGetterDecompressors: bz2, gz, xz, zip, tar.bz2, tar.tbz2,
// tar.gz, tgz, tar.xz, txz). nullopt for any other text, "tar" and "tbz2" too: OpenTofu takes that for no archive.
std::optional<ArchiveFormat> archive_format_of_name(std::string_view name);
// The format by the longest of those names that the decoded path of a URL ends in behind a dot.
std::optional<ArchiveFormat> archive_format_of_path(std::string_view path);
// The format by the first bytes (12 are enough), as OpenTofu sniffs a direct download: zip, then gzip, xz and bzip2
// tars.
std::optional<ArchiveFormat> archive_format_of_content(std::string_view first_bytes);

// Whether the format can hold a package. Errors: SOURCE_UNSUPPORTED (gz, xz, bz2), which unpack_archive() gives too.
Result<void> expect_tree_format(ArchiveFormat format, std::string_view display);

// What an archive may grow to.
struct UnpackLimits {
  std::uint64_t total_bytes = std::uint64_t{4} << 30U;
  std::uint64_t entries = 200'000;                      // with the directories that they imply
  std::uint64_t name_bytes = std::uint64_t{64} << 20U;  // of all names together
  std::uint64_t ratio = 200;                            // unpacked to packed, judged from 16 MiB on
};

// Unpacks an archive into `directory`, which must be there and empty, and returns the digests of the files, by
// `directory` and their names. As OpenTofu's go-getter would:
// - zip by its central directory, links as files with their target's text, modes as the creator's system stored them
//   (others: 0666), those of directories not;
// - tar with links, hard ones too, as empty files, with all modes.
// Left out: owners, times, set-user-ID, set-group-ID and sticky bits, and version control entries
// (is_version_control_name). Unlike go-getter, the owner may always read a file and use a directory, and the mode of
// `directory` itself stays. Nothing outside it is touched, through links neither; memory does not grow with the archive
// but for its names.
// Errors: ARCHIVE_UNSAFE naming archive and entry (".." or an absolute name, with backslashes too, NUL, no name or one
// too long, a device, pipe or socket, one name twice, names that the file system takes for one, a file below a file, a
// bomb by UnpackLimits); BAD_RESPONSE (damaged, truncated, encrypted, a compression that OpenTofu cannot read, nothing
// in it, not of this format); SOURCE_UNSUPPORTED (gz, xz, bz2); IO_ERROR; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
// `display` names the archive in messages. What was written before an error stays for the caller to remove. Several
// threads may work on it; the outcome is that of one.
Result<FileDigests> unpack_archive(const std::filesystem::path& archive, ArchiveFormat format,
                                   const std::filesystem::path& directory, std::string_view display,
                                   const Context& context, const UnpackLimits& limits = {});

// The same of an archive that may still be arriving: a tar is unpacked meanwhile, a zip once it is there. Errors: those
// of StreamedFile::wait_for() too.
Result<FileDigests> unpack_archive(const StreamedFile& archive, ArchiveFormat format,
                                   const std::filesystem::path& directory, std::string_view display,
                                   const Context& context, const UnpackLimits& limits = {});

}  // namespace modlock
