#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

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

#include "backends/files/system_error.h"
#include "backends/package/unpack_readers.h"
#include "backends/package/unpack_xz.h"
#include "backends/source_text.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;

// ARCHIVE_ERRNO_FILE_FORMAT of libarchive, which has no public name.
constexpr int kWrongFormat = static_cast<int>(std::errc::illegal_byte_sequence);

struct Free {
  void operator()(archive* opened) const { archive_read_free(opened); }
};
using Archive = std::unique_ptr<archive, Free>;

// What libarchive says of a failure, which may be one of the system.
tl::unexpected<Error> broken(archive* opened, std::string_view display) {
  const char* text = archive_error_string(opened);
  const int reason = archive_errno(opened);
  // libarchive gives numbers of the system for damage too, EINVAL above all.
  constexpr std::array kOfTheSystem = {std::errc::io_error, std::errc::not_enough_memory, std::errc::permission_denied,
                                       std::errc::no_such_file_or_directory, std::errc::too_many_files_open};
  const bool is_system = std::find(kOfTheSystem.begin(), kOfTheSystem.end(), std::errc(reason)) != kOfTheSystem.end();
  Error error = is_system ? Error{.code = Code::io_error, .message = fmt::format("\"{}\" cannot be read", display)}
                          : bad_archive(display, "it is damaged or truncated").value();
  return fail(with_note(std::move(error), escape_controls(text == nullptr ? "no reason given" : text)));
}

class Reader {
 public:
  Reader(archive* opened, Rules& rules, TreeWriter& writer, const Context& context)
      : archive_(opened), rules_(rules), writer_(writer), context_(context), piece_(kPiece) {}

  Result<void> run() {
    bool has_file = false;
    for (;;) {
      archive_entry* entry = nullptr;
      const int outcome = archive_read_next_header(archive_, &entry);
      if (outcome == ARCHIVE_EOF) {
        // Directories alone are no package: go-getter says "empty archive".
        return has_file ? writer_.end() : bad_archive(rules_.display(), "there is no file in it");
      }
      // The one warning that matters not: names that the C locale cannot show. They are taken as bytes.
      if (outcome != ARCHIVE_OK && outcome != ARCHIVE_WARN) {
        return broken(archive_, rules_.display());
      }
      if (auto ok = context_.check(); !ok) {
        return ok;
      }
      has_file = has_file || archive_entry_filetype(entry) != AE_IFDIR;
      if (auto ok = take(entry); !ok) {
        return ok;
      }
    }
  }

 private:
  Result<void> take(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    if (raw == nullptr) {
      return broken(archive_, rules_.display());
    }
    const std::string name = raw;
    const unsigned kind = archive_entry_filetype(entry);
    const bool is_link = kind == AE_IFLNK || archive_entry_hardlink(entry) != nullptr;
    const EntryType type = is_link || kind == AE_IFREG ? EntryType::file
                           : kind == AE_IFDIR          ? EntryType::directory
                                                       : EntryType::special;
    auto place = rules_.place(name, type);
    if (!place) {
      return fail(place.error());
    }
    if (!*place) {
      return {};
    }
    if (auto ok = writer_.make_directories(**place, rules_.display()); !ok) {
      return ok;
    }
    const unsigned mode = archive_entry_perm(entry);
    if (type == EntryType::directory) {
      writer_.set_mode(**place, mode);
      return {};
    }
    if (auto ok = writer_.begin_file(**place, rules_.display()); !ok) {
      return ok;
    }
    if (auto ok = is_link ? Result<void>() : content(entry, name); !ok) {
      return ok;
    }
    return writer_.end_file(mode);
  }

  Result<void> content(archive_entry* entry, const std::string& name) {
    std::uint64_t left = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
    for (;;) {
      const la_ssize_t got = archive_read_data(archive_, piece_.data(), piece_.size());
      if (got < 0) {
        return broken(archive_, rules_.display());
      }
      if (got == 0) {
        break;
      }
      const auto size = static_cast<std::size_t>(got);
      if (auto ok = piece(name, {piece_.data(), size}); !ok) {
        return ok;
      }
      left -= std::min<std::uint64_t>(left, size);
    }
    // What is left is the hole at the end of a sparse file.
    std::fill(piece_.begin(), piece_.end(), '\0');
    while (left > 0) {
      const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece_.size()));
      if (auto ok = piece(name, {piece_.data(), size}); !ok) {
        return ok;
      }
      left -= size;
    }
    return {};
  }

  Result<void> piece(const std::string& name, std::string_view bytes) {
    if (auto ok = rules_.grow(name, bytes.size()); !ok) {
      return ok;
    }
    if (auto ok = writer_.write(bytes); !ok) {
      return ok;
    }
    return context_.check();
  }

  archive* archive_;
  Rules& rules_;
  TreeWriter& writer_;
  const Context& context_;
  std::vector<char> piece_;
};

struct Filter {
  int code = 0;
  int (*support)(archive*) = nullptr;
  std::string_view name = {};
};

Filter filter_of(ArchiveFormat format) {
  return format == ArchiveFormat::tar_bz2 ? Filter{ARCHIVE_FILTER_BZIP2, archive_read_support_filter_bzip2, "bzip2"}
                                          : Filter{ARCHIVE_FILTER_GZIP, archive_read_support_filter_gzip, "gzip"};
}

Result<void> open_filtered(archive* opened, const std::filesystem::path& path, const Filter& filter,
                           const Rules& rules) {
  if (filter.support(opened) != ARCHIVE_OK) {
    return broken(opened, rules.display());
  }
  const bool is_open = archive_read_open_filename(opened, path.c_str(), kPiece) == ARCHIVE_OK;
  if (!is_open && archive_errno(opened) != kWrongFormat) {
    return broken(opened, rules.display());
  }
  // libarchive would take a tar without compression too, and one that is compressed twice.
  if (!is_open || archive_filter_count(opened) != 2 || archive_filter_code(opened, 0) != filter.code) {
    return bad_archive(rules.display(), fmt::format("it is no tar compressed with {}", filter.name));
  }
  return {};
}

// What libarchive reads an xz file through, and the error that ended it.
struct XzSource {
  XzFile file;
  std::optional<Error> failure = {};
};

la_ssize_t read_xz(archive* opened, void* data, const void** piece) {
  XzSource& source = *static_cast<XzSource*>(data);
  auto next = source.file.next();
  if (!next) {
    source.failure = std::move(next.error());
    archive_set_error(opened, -1, "%s", "unreadable xz");
    return ARCHIVE_FATAL;
  }
  *piece = next->data();
  return static_cast<la_ssize_t>(next->size());
}

}  // namespace

Result<void> read_tar(const std::filesystem::path& path, ArchiveFormat format, Rules& rules, TreeWriter& writer,
                      const Context& context) {
  std::optional<XzSource> xz;  // outlives what reads through it
  const Archive opened(archive_read_new());
  if (opened == nullptr || archive_read_support_format_tar(opened.get()) != ARCHIVE_OK) {
    return system_failure("read", path, ENOMEM);
  }
  Result<void> done;
  if (format == ArchiveFormat::tar_xz) {
    auto file = XzFile::open(path, rules.display());
    if (!file) {
      return fail(file.error());
    }
    xz.emplace(XzSource{std::move(*file)});
    if (archive_read_open(opened.get(), &*xz, nullptr, read_xz, nullptr) != ARCHIVE_OK) {
      done = broken(opened.get(), rules.display());
    }
  } else {
    done = open_filtered(opened.get(), path, filter_of(format), rules);
  }
  if (done) {
    done = Reader(opened.get(), rules, writer, context).run();
  }
  return xz && xz->failure ? fail(std::move(*xz->failure)) : done;
}

}  // namespace modlock::unpack
