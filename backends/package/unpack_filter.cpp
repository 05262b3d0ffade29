#include "backends/package/unpack_filter.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <string>

#include "backends/package/unpack_library.h"
#include "backends/package/unpack_rules.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

struct Filter {
  int code = 0;
  int (*support)(archive*) = nullptr;
  std::string_view name = {};
};

Filter filter_of(ArchiveFormat format) {
  return format == ArchiveFormat::tar_bz2 ? Filter{ARCHIVE_FILTER_BZIP2, archive_read_support_filter_bzip2, "bzip2"}
                                          : Filter{ARCHIVE_FILTER_GZIP, archive_read_support_filter_gzip, "gzip"};
}

class FilteredBytes final : public ByteSource {
 public:
  FilteredBytes(const Filter& filter, std::unique_ptr<ByteSource> packed, std::string_view display)
      : filter_(filter), library_(std::move(packed)), display_(display) {}

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
    if (opened == nullptr || archive_read_support_format_raw(opened) != ARCHIVE_OK ||
        filter_.support(opened) != ARCHIVE_OK) {
      return library_.failure(display_);
    }
    const auto outcome = library_.open();
    if (outcome == LibraryReader::Opened::no) {
      return library_.failure(display_);
    }
    // libarchive would take what is not compressed too, and what is compressed twice.
    archive_entry* entry = nullptr;
    if (outcome == LibraryReader::Opened::other_format || archive_filter_count(opened) != 2 ||
        archive_filter_code(opened, 0) != filter_.code || archive_read_next_header(opened, &entry) != ARCHIVE_OK) {
      return bad_archive(display_, fmt::format("it is no tar compressed with {}", filter_.name));
    }
    return {};
  }

  Filter filter_;
  LibraryReader library_;
  std::string display_;
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> filtered_bytes(ArchiveFormat format, std::unique_ptr<ByteSource> packed,
                                           std::string_view display) {
  return std::make_unique<FilteredBytes>(filter_of(format), std::move(packed), display);
}

}  // namespace modlock::unpack
