#include "backends/package/unpack_filter.h"

#include <archive_entry.h>
#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/package/unpack_rules.h"

namespace modlock::unpack {
namespace {

// ARCHIVE_ERRNO_FILE_FORMAT of libarchive, which has no public name.
constexpr int kWrongFormat = static_cast<int>(std::errc::illegal_byte_sequence);
constexpr std::size_t kFilterPiece = std::size_t{128} << 10U;
constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20U;

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
    const auto outcome = library_.open();
    if (outcome == LibraryReader::Opened::no) {
      return library_.failure(display_);
    }
    // libarchive would also accept uncompressed and doubly compressed input.
    archive_entry* entry = nullptr;
    if (outcome == LibraryReader::Opened::other_format || archive_filter_count(opened) != 2 ||
        archive_filter_code(opened, 0) != (is_bzip2 ? ARCHIVE_FILTER_BZIP2 : ARCHIVE_FILTER_GZIP) ||
        archive_read_next_header(opened, &entry) != ARCHIVE_OK) {
      return bad_archive(display_, fmt::format("it is not a tar compressed with {}", compression_name(format_)));
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
        return bad_archive(display_, "it is not a tar compressed with xz");
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

}  // namespace

LibraryReader::LibraryReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), archive_(archive_read_new()) {}

LibraryReader::Opened LibraryReader::open() {
  if (archive_read_open(archive_.get(), this, nullptr, &LibraryReader::read, nullptr) == ARCHIVE_OK) {
    return Opened::yes;
  }
  return !source_failure_ && archive_errno(archive_.get()) == kWrongFormat ? Opened::other_format : Opened::no;
}

la_ssize_t LibraryReader::read(archive* opened, void* self, const void** piece) {
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

tl::unexpected<Error> LibraryReader::failure(std::string_view display) {
  if (source_failure_) {
    return fail(*source_failure_);
  }
  const char* text = archive_error_string(archive_.get());
  const int reason = archive_errno(archive_.get());
  // libarchive also reports damage with system error numbers, mostly EINVAL.
  constexpr std::array kOfTheSystem = {std::errc::io_error, std::errc::not_enough_memory, std::errc::permission_denied,
                                       std::errc::no_such_file_or_directory, std::errc::too_many_files_open};
  const bool is_system = std::ranges::find(kOfTheSystem, std::errc(reason)) != kOfTheSystem.end();
  Error error = is_system ? Error{.code = Code::io_error, .message = fmt::format("\"{}\" cannot be read", display)}
                          : bad_archive(display, "it is damaged or truncated").value();
  return fail(with_note(std::move(error), escape_controls(text == nullptr ? "no reason given" : text)));
}

std::unique_ptr<ByteSource> decompressed_bytes(ArchiveFormat format, std::unique_ptr<ByteSource> packed,
                                               std::string_view display) {
  if (format == ArchiveFormat::tar_xz) {
    return std::make_unique<XzBytes>(std::move(packed), display);
  }
  return std::make_unique<FilteredBytes>(format, std::move(packed), display);
}

std::string_view compression_name(ArchiveFormat format) {
  return format == ArchiveFormat::tar_xz ? "xz" : format == ArchiveFormat::tar_bz2 ? "bzip2" : "gzip";
}

}  // namespace modlock::unpack
