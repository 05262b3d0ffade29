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
#include "backends/package/streamed_file.h"
#include "backends/package/unpack_rules.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// A new file, written and hashed. It needs nothing of the writer that made it, so another thread may have it.
// Errors of every call: IO_ERROR naming the path.
class NewFile {
 public:
  NewFile(std::filesystem::path path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Result<void> write(std::string_view bytes);
  // Closes it. 0777 of `mode` counts, and the owner may always read. `digests` gets what was written.
  Result<void> end(unsigned mode, FileDigests& digests);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  Sha256 hash_;
};

// Writes the entries of one archive below a directory. Every step is taken relative to an open directory and follows no
// link, and everything is made new: whoever changes names below meanwhile leads nothing outside.
// Errors of every call: IO_ERROR naming the path.
class TreeWriter {
 public:
  // `directory` must be there.
  static Result<TreeWriter> open(const std::filesystem::path& directory);

  // Makes the directories of a place that Rules gave. ARCHIVE_UNSAFE where the file system takes one of the names for
  // another that is there.
  Result<void> make_directories(const Place& place, std::string_view display);

  // Makes the file. ARCHIVE_UNSAFE as above.
  Result<NewFile> make_file(const Place& place, std::string_view display);

  // Remembers the mode that end() sets: until then entries below must still be made. The owner keeps all rights.
  // That of the directory unpacked into stays.
  void set_mode(const Place& directory, unsigned mode);
  Result<void> end();

 private:
  TreeWriter(std::filesystem::path directory, Descriptor root)
      : directory_(std::move(directory)), root_(std::move(root)) {}
  // The open directory of that name, which is there; stays open until the next call.
  Result<int> enter(std::string_view path);

  std::filesystem::path directory_;
  Descriptor root_;
  std::string at_;  // the directory that here_ is; empty: root_
  Descriptor here_;
  std::map<std::string, unsigned> modes_;
};

// Feeds every entry of an archive through the rules to the writer; the digests of the files. Of a tar the entries are
// written while it arrives. Errors: those of unpack_archive() and StreamedFile::wait_for().
Result<FileDigests> read_zip(const StreamedFile& archive, Rules& rules, TreeWriter& writer, const Context& context);
Result<FileDigests> read_tar(const StreamedFile& archive, ArchiveFormat format, Rules& rules, TreeWriter& writer,
                             const Context& context);

}  // namespace modlock::unpack
