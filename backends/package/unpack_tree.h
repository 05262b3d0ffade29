#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "backends/base/context.h"
#include "backends/base/descriptor.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/byte_source.h"
#include "backends/package/unpack_rules.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// A new file that is hashed while it is written. It is independent of the writer that made it, so another thread may
// use it. Errors of every call: IO_ERROR naming the path.
class NewFile {
 public:
  NewFile(std::filesystem::path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Result<void> write(std::string_view bytes);
  // Closes the file. Only 0777 of `mode` is used, and the owner may always read. Adds the digest of the written bytes
  // to `digests`.
  Result<void> end(unsigned mode, FileDigests& digests);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  Sha256 hash_;
};

// Writes the entries of one archive below a directory. Every step is relative to an open directory, follows no link,
// and creates only new entries, so renames by another process cannot redirect a write outside. Errors of every call:
// IO_ERROR naming the path.
class TreeWriter {
 public:
  // `directory` must exist.
  static Result<TreeWriter> open(const std::filesystem::path& directory);

  // Makes the directories of a place that Rules returned. ARCHIVE_UNSAFE if the file system treats one of the names as
  // another existing name.
  Result<void> make_directories(const Place& place, std::string_view display);

  // Makes the file. ARCHIVE_UNSAFE as above.
  Result<NewFile> make_file(const Place& place, std::string_view display);

  // Records the mode that end() sets; until then entries below must still be created. The owner keeps all rights. The
  // mode of the directory unpacked into is not changed.
  void set_mode(const Place& directory, unsigned mode);
  Result<void> end();

 private:
  TreeWriter(std::filesystem::path directory, Descriptor root)
      : directory_(std::move(directory)), root_(std::move(root)) {}
  // Returns the open directory of that name, which must exist; valid until the next call.
  Result<int> enter(std::string_view path);

  std::filesystem::path directory_;
  Descriptor root_;
  std::string at_;  // the path of here_; empty: root_
  Descriptor here_;
  std::map<std::string, unsigned> modes_;
};

// Unpacks every entry of an archive through the rules and the writer; returns the digests of the files. The entries of
// a tar are written while it arrives. Errors: those of unpack_archive() and StreamedFile::wait_for().
Result<FileDigests> read_zip(const StreamedFile& archive, Rules& rules, TreeWriter& writer, const Context& context);
Result<FileDigests> read_tar(const StreamedFile& archive, ArchiveFormat format, Rules& rules, TreeWriter& writer,
                             const Context& context);

}  // namespace modlock::unpack
