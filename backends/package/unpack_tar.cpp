
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/files.h"
#include "backends/package/byte_source.h"
#include "backends/package/unpack_filter.h"
#include "backends/package/unpack_tree.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kEntryPiece = std::size_t{128} << 10U;

class TarReader {
 public:
  TarReader(LibraryReader& library, Rules& rules, TreeWriter& writer, const Context& context)
      : library_(library), rules_(rules), writer_(writer), context_(context), piece_(kEntryPiece) {}

  Result<FileDigests> run() {
    bool has_file = false;
    for (;;) {
      archive_entry* entry = nullptr;
      const int outcome = archive_read_next_header(library_.get(), &entry);
      if (outcome == ARCHIVE_EOF) {
        // Directories without a file are not a package: go-getter reports "empty archive".
        const auto ended = has_file ? writer_.end() : bad_archive(rules_.display(), "it contains no files");
        return ended ? Result<FileDigests>(std::move(digests_)) : fail(ended.error());
      }
      // The only possible warning is harmless: names that the C locale cannot represent. They are used as bytes.
      if (outcome != ARCHIVE_OK && outcome != ARCHIVE_WARN) {
        return library_.failure(rules_.display());
      }
      MODLOCK_TRY(context_.check());
      has_file = has_file || archive_entry_filetype(entry) != AE_IFDIR;
      MODLOCK_TRY(take(entry));
    }
  }

 private:
  Result<void> take(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) {
      return library_.failure(rules_.display());
    }
    const std::string name = raw;
    const unsigned kind = archive_entry_filetype(entry);
    const bool is_link = kind == AE_IFLNK || archive_entry_hardlink(entry) != nullptr;
    const EntryType type = is_link || kind == AE_IFREG ? EntryType::file
                           : kind == AE_IFDIR          ? EntryType::directory
                                                       : EntryType::special;
    MODLOCK_TRY(auto place, rules_.place(name, type));
    if (!place) {
      return content(entry, name, nullptr);
    }
    MODLOCK_TRY(writer_.make_directories(*place, rules_.display()));
    const unsigned mode = archive_entry_perm(entry);
    if (type == EntryType::directory) {
      writer_.set_mode(*place, mode);
      return {};
    }
    MODLOCK_TRY(auto file, writer_.make_file(*place, rules_.display()));
    MODLOCK_TRY(content(entry, name, is_link ? nullptr : &file));
    return file.end(mode, digests_);
  }

  // Without a file nothing is written, but the content is still unpacked because it counts toward the limits.
  Result<void> content(archive_entry* entry, const std::string& name, NewFile* file) {
    std::uint64_t left = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    MODLOCK_TRY(rules_.expect(name, file == nullptr ? 0 : left));
    for (;;) {
      const la_ssize_t got = archive_read_data(library_.get(), piece_.data(), piece_.size());
      if (got < 0) {
        return library_.failure(rules_.display());
      }
      if (got == 0) {
        break;
      }
      const auto size = static_cast<std::size_t>(got);
      MODLOCK_TRY(piece(name, {piece_.data(), size}, file));
      left -= std::min<std::uint64_t>(left, size);
    }
    // The remaining bytes are the hole at the end of a sparse file.
    std::ranges::fill(piece_, '\0');
    while (file != nullptr && left > 0) {
      const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece_.size()));
      MODLOCK_TRY(piece(name, {piece_.data(), size}, file));
      left -= size;
    }
    return {};
  }

  Result<void> piece(const std::string& name, std::string_view bytes, NewFile* file) {
    MODLOCK_TRY(rules_.grow(name, bytes.size()));
    MODLOCK_TRY(file == nullptr ? Result<void>() : file->write(bytes));
    return context_.check();
  }

  LibraryReader& library_;
  Rules& rules_;
  TreeWriter& writer_;
  const Context& context_;
  std::vector<char> piece_;
  FileDigests digests_;
};

}  // namespace

Result<FileDigests> read_tar(const StreamedFile& archive, ArchiveFormat format, Rules& rules, TreeWriter& writer,
                             const Context& context) {
  // Inflating takes by far the longest, so everything else happens in parallel.
  LibraryReader library(std::make_unique<ReadAhead>(
      decompressed_bytes(format, std::make_unique<DownloadStream>(archive), rules.display())));
  if (library.get() == nullptr || archive_read_support_format_tar(library.get()) != ARCHIVE_OK) {
    return system_failure("read", archive.path(), ENOMEM);
  }
  switch (library.open()) {
    case LibraryReader::Opened::yes:
      return TarReader(library, rules, writer, context).run();
    case LibraryReader::Opened::other_format:
      return bad_archive(rules.display(), fmt::format("it is not a tar compressed with {}", compression_name(format)));
    case LibraryReader::Opened::no:
      break;
  }
  return library.failure(rules.display());
}

}  // namespace modlock::unpack
