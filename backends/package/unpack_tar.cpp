#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/deleter.h"
#include "backends/base/files.h"
#include "backends/package/byte_source.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/unpack_tree.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

// ARCHIVE_ERRNO_FILE_FORMAT of libarchive, which has no public name.
constexpr int kWrongFormat = static_cast<int>(std::errc::illegal_byte_sequence);
constexpr std::size_t kFilterPiece = std::size_t{128} << 10U;
constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20U;

tl::unexpected<Error> other_format(std::string_view display, ArchiveFormat format) {
  return bad_archive(display,
                     fmt::format("it is not a tar compressed with {}", format == ArchiveFormat::tar_xz    ? "xz"
                                                                       : format == ArchiveFormat::tar_bz2 ? "bzip2"
                                                                                                          : "gzip"));
}

// A libarchive reader on a stream of bytes.
class LibraryReader {
 public:
  explicit LibraryReader(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), archive_(archive_read_new()) {}
  LibraryReader(const LibraryReader&) = delete;
  LibraryReader& operator=(const LibraryReader&) = delete;

  // Null if there is not enough memory.
  archive* get() const { return archive_.get(); }

  // Call after choosing formats and filters. Reads the first bytes. Errors: those of failure() and other_format().
  Result<void> open(std::string_view display, ArchiveFormat format) {
    if (archive_read_open(archive_.get(), this, nullptr, &read, nullptr) == ARCHIVE_OK) {
      return {};
    }
    return !source_failure_ && archive_errno(archive_.get()) == kWrongFormat ? other_format(display, format)
                                                                             : failure(display);
  }

  // Returns the error of the last call: the source's if it had one, else libarchive's, as BAD_RESPONSE or IO_ERROR.
  tl::unexpected<Error> failure(std::string_view display) {
    if (source_failure_) {
      return fail(*source_failure_);
    }
    const char* text = archive_error_string(archive_.get());
    const int reason = archive_errno(archive_.get());
    // libarchive also reports damage with system error numbers, mostly EINVAL.
    constexpr std::array kOfTheSystem = {std::errc::io_error, std::errc::not_enough_memory,
                                         std::errc::permission_denied, std::errc::no_such_file_or_directory,
                                         std::errc::too_many_files_open};
    const bool is_system = std::ranges::find(kOfTheSystem, std::errc(reason)) != kOfTheSystem.end();
    Error error = is_system ? Error{.code = Code::io_error, .message = fmt::format("\"{}\" cannot be read", display)}
                            : bad_archive(display, "it is damaged or truncated").value();
    return fail(with_note(std::move(error), escape_controls(text == nullptr ? "no reason given" : text)));
  }

 private:
  static la_ssize_t read(archive* opened, void* self, const void** piece) {
    LibraryReader& reader = *static_cast<LibraryReader*>(self);
    auto next = reader.source_->next();
    if (!next) {
      reader.source_failure_ = std::move(next.error());
      archive_set_error(opened, -1, "%s", "unreadable");
      return ARCHIVE_FATAL;
    }
    *piece = next->data();
    return static_cast<la_ssize_t>(next->size());
  }

  std::unique_ptr<ByteSource> source_;
  std::optional<Error> source_failure_;
  std::unique_ptr<archive, Deleter<archive_read_free>> archive_;
};

// The content of a file compressed with gzip or bzip2.
class FilteredBytes final : public ByteSource {
 public:
  FilteredBytes(ArchiveFormat format, std::unique_ptr<ByteSource> packed, std::string_view display)
      : format_(format), library_(std::move(packed)), display_(display) {}

  Result<std::string_view> next() override {
    if (!is_open_) {
      MODLOCK_TRY(open());
      is_open_ = true;
    }
    const void* piece = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    do {
      const int outcome = archive_read_data_block(library_.get(), &piece, &size, &offset);
      if (outcome == ARCHIVE_EOF) {
        return std::string_view();
      }
      if (outcome != ARCHIVE_OK) {
        return library_.failure(display_);
      }
    } while (size == 0);
    return std::string_view(static_cast<const char*>(piece), size);
  }

 private:
  Result<void> open() {
    archive* const opened = library_.get();
    const bool is_bzip2 = format_ == ArchiveFormat::tar_bz2;
    if (opened == nullptr || archive_read_support_format_raw(opened) != ARCHIVE_OK ||
        (is_bzip2 ? archive_read_support_filter_bzip2(opened) : archive_read_support_filter_gzip(opened)) !=
            ARCHIVE_OK) {
      return library_.failure(display_);
    }
    MODLOCK_TRY(library_.open(display_, format_));
    // libarchive would also accept uncompressed and doubly compressed input.
    archive_entry* entry = nullptr;
    if (archive_filter_count(opened) != 2 ||
        archive_filter_code(opened, 0) != (is_bzip2 ? ARCHIVE_FILTER_BZIP2 : ARCHIVE_FILTER_GZIP) ||
        archive_read_next_header(opened, &entry) != ARCHIVE_OK) {
      return other_format(display_, format_);
    }
    return {};
  }

  ArchiveFormat format_;
  LibraryReader library_;
  std::string display_;
  bool is_open_ = false;
};

// The content of an xz file.
class XzBytes final : public ByteSource {
 public:
  XzBytes(std::unique_ptr<ByteSource> packed, std::string_view display)
      : packed_(std::move(packed)),
        display_(display),
        unpacked_(kFilterPiece),
        state_(lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED)) {}
  ~XzBytes() override { lzma_end(&stream_); }
  XzBytes(const XzBytes&) = delete;
  XzBytes& operator=(const XzBytes&) = delete;

  Result<std::string_view> next() override {
    stream_.next_out = unpacked_.data();
    stream_.avail_out = unpacked_.size();
    while (state_ == LZMA_OK && stream_.avail_out == unpacked_.size()) {
      if (stream_.avail_in == 0 && !at_end_) {
        MODLOCK_TRY(const auto piece, packed_->next());
        at_end_ = piece.empty();
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(piece.data());
        stream_.avail_in = piece.size();
      }
      state_ = lzma_code(&stream_, at_end_ ? LZMA_FINISH : LZMA_RUN);
    }
    MODLOCK_TRY(check());
    return std::string_view(reinterpret_cast<const char*>(unpacked_.data()), unpacked_.size() - stream_.avail_out);
  }

 private:
  Result<void> check() const {
    switch (state_) {
      case LZMA_OK:
      case LZMA_STREAM_END:
        return {};
      case LZMA_FORMAT_ERROR:
        return other_format(display_, ArchiveFormat::tar_xz);
      case LZMA_MEMLIMIT_ERROR:
        return unsafe_archive(display_, "needs more than the 128 MiB of memory allowed to unpack");
      case LZMA_MEM_ERROR:
        return fail(Code::io_error, fmt::format("\"{}\" cannot be read: there is not enough memory", display_));
      default:
        return bad_archive(display_, "it is damaged or truncated");
    }
  }

  std::unique_ptr<ByteSource> packed_;
  std::string display_;
  std::vector<std::uint8_t> unpacked_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool at_end_ = false;  // of the packed bytes
  lzma_ret state_;
};

// Returns the decompressed bytes of a tar of this format. libarchive's own filter for xz lets a file claim any amount
// of memory; this one stays below 128 MiB, and `xz -9` needs half of that. Errors: BAD_RESPONSE (not compressed,
// compressed with another method or, with gzip and bzip2, more than once; damaged or truncated); ARCHIVE_UNSAFE (more
// memory); IO_ERROR; those of `packed`.
std::unique_ptr<ByteSource> decompressed_bytes(ArchiveFormat format, std::unique_ptr<ByteSource> packed,
                                               std::string_view display) {
  if (format == ArchiveFormat::tar_xz) {
    return std::make_unique<XzBytes>(std::move(packed), display);
  }
  return std::make_unique<FilteredBytes>(format, std::move(packed), display);
}

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
  MODLOCK_TRY(library.open(rules.display(), format));
  return TarReader(library, rules, writer, context).run();
}

}  // namespace modlock::unpack
