#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/base/result.h"

namespace modlock {

// IO_ERROR for a system call that failed with `reason` (an errno): `cannot <what> "<path>": <system_reason()>`,
// with the hint that system_advice() has.
tl::unexpected<Error> system_failure(std::string_view what, const std::filesystem::path& path, int reason);

// SHA-256 of files, by the path that each was written to: computed while the bytes passed, so that nobody has to read
// them again. A path that is not in it says nothing.
using FileDigests = std::unordered_map<std::string, std::array<std::uint8_t, 32>>;

// The whole file as bytes; /dev/null is empty. Errors: NOT_FOUND (no such file), IO_ERROR (anything else: a directory,
// a device or a pipe too; the message names the path and the system's reason).
Result<std::string> read_file(const std::filesystem::path& path);

// Whether the bytes must be on disk before the name is (a power cut then leaves the old or the new file). What can be
// made again and is checked when read need not wait for that.
enum class Durable { yes, no };

// Writes `<dir>/.<name>.<random>`, flushes it to disk and renames it over `path`, keeping the mode of a file that was
// there (else 0644 less the umask). A link at `path` is replaced, not followed. What was there stays whole if anything
// fails. Errors: IO_ERROR naming the path and the reason.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                                   Durable durable = Durable::yes);

// Moves files into a directory of the same file system, in their order. Their bytes are on disk before their new names,
// and those when it returns. Errors: IO_ERROR naming the file and the reason; those before it have moved.
Result<void> move_files_durably(std::span<const std::filesystem::path> files, const std::filesystem::path& directory);

// Removes what a write_file_atomically() of `name` that was killed left in the directory; of any file where `name` is
// empty. For who knows that nobody else writes there now. What cannot be removed stays.
void remove_unfinished_writes(const std::filesystem::path& directory, std::string_view name = {});

// mkdir -p. Errors: IO_ERROR naming the first directory that could not be made.
Result<void> make_directories(const std::filesystem::path& path);

// Removes a tree without following links, also if directories in it are replaced by links meanwhile; a path that is not
// there is fine. Directories without write permission are
// made writable first. Errors: IO_ERROR.
Result<void> remove_tree(const std::filesystem::path& path);

// Whether OpenTofu and we leave an entry of this name out of every package: .git, .hg, .svn, .bzr, CVS, _darcs.
bool is_version_control_name(std::string_view name);

// Copies a package tree (files, links as they are) into `to`, which must not exist; version control entries are left
// out. A file gets the mode 0755 if its owner may execute it, else 0644, and a directory 0755, whatever the umask.
// Reflinks where the filesystem has them, else reads and writes, and then, where it is given, fills `digests`; never
// hard links. Where it fails nothing is left at `to`. Errors: IO_ERROR naming the entry; a device, pipe or socket is
// one.
Result<void> copy_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                       FileDigests* digests = nullptr);

}  // namespace modlock
