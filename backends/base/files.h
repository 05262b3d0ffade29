#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/base/result.h"

namespace modlock {

// Returns IO_ERROR for a system call that failed with `reason` (an errno): `cannot <what> "<path>": <system_reason()>`,
// with the hint of system_advice(). If the path is taken by another spelling of its name, the text names it.
tl::unexpected<Error> system_failure(std::string_view what, const std::filesystem::path& path, int reason);

// The SHA-256 of files, by the path to which each was written. They are computed during the write, so that the files
// need not be read again. A file may be absent from the map.
using FileDigests = std::unordered_map<std::string, std::array<std::uint8_t, 32>>;

// Returns the whole file as bytes; /dev/null is empty. Errors: NOT_FOUND (no such file), IO_ERROR (anything else,
// including a directory, a device or a pipe; the message names the path and the system's reason).
Result<std::string> read_file(const std::filesystem::path& path);

// Returns the content of a regular file, which no link leads to, of at most `longest` bytes; nullopt: there is none.
std::optional<std::string> read_small_file(const std::filesystem::path& path, std::uintmax_t longest);

// Whether there is something at a path, where links lead. false if that cannot be found out.
bool path_exists(const std::filesystem::path& path);
bool path_is_directory(const std::filesystem::path& path);

// Whether the bytes must be on disk before the name is (a power cut then leaves the old or the new file). `no` is for
// files that can be recreated and are checked when they are read.
enum class Durable { yes, no };

// Writes `<dir>/.<name>.<random>`, flushes it to disk (if durable) and renames it over `path`. It keeps the mode of an
// existing file (else 0644 less the umask). A symbolic link at `path` is replaced, not followed. If anything fails, the
// existing file stays intact. Errors: IO_ERROR naming the path and the reason.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                                   Durable durable = Durable::yes);
// The same for pieces: `next` returns one after the other, and an empty one at the end. Each is valid until the next
// call.
Result<void> write_file_atomically(const std::filesystem::path& path, const std::function<std::string_view()>& next,
                                   Durable durable = Durable::yes);

// Renames a file or a tree, whose bytes are on disk before the new name is, and the name before it returns. Errors:
// IO_ERROR naming the file and the reason.
Result<void> rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// Removes the temporary files of killed calls of write_file_atomically() from the directory, and directories with such
// names: those of `name`, or of all files if `name` is empty. The caller must know that no other process or thread
// writes there now. Ignores failures.
void remove_unfinished_writes(const std::filesystem::path& directory, std::string_view name = {});

// Works like `mkdir -p`. Errors: IO_ERROR naming the first directory that could not be made.
Result<void> make_directories(const std::filesystem::path& path);

// Removes a tree without following links, also if directories in it are replaced by links meanwhile; a path that is not
// there is fine. Directories without write permission are
// made writable first. Errors: IO_ERROR.
Result<void> remove_tree(const std::filesystem::path& path);

// Returns whether the parts of a path start with those of a directory, which it may be itself. Follows no links.
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& directory);

// Copies a package tree (files, and links as they are) to `to`, which must not exist. Version control entries are left
// out. A file gets the mode 0755 if its owner may execute it, else 0644, and a directory 0755, regardless of the umask.
// It makes reflinks if the file system supports them, otherwise it reads and writes the bytes and adds to `digests` (if
// given); it never makes hard links. On failure nothing is left at `to`. Errors: IO_ERROR naming the entry, also for a
// device, pipe or socket. Entries with a name of `left_out`, or at an absolute path of it, are not copied.
Result<void> copy_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                       FileDigests* digests = nullptr, const std::set<std::filesystem::path>& left_out = {});

// The content of a file without a copy in memory. The file must not become shorter while the object exists.
class MappedFile {
 public:
  // Errors: IO_ERROR.
  static Result<MappedFile> open(const std::filesystem::path& path);
  std::string_view content() const { return content_; }

 private:
  std::shared_ptr<void> mapping_;  // null: the file is empty
  std::string_view content_;
};

// Takes the whole pages of these bytes out of memory, if the system can. They can still be read.
void release_pages(std::string_view bytes);

}  // namespace modlock
