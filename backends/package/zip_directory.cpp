#include "backends/package/zip_directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/package/unpack_rules.h"

namespace modlock {
namespace {

using unpack::bad_archive;
using unpack::unsafe_archive;

constexpr std::string_view kEnd = "PK\x05\x06";
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::string_view kLocator64 = "PK\x06\x07";
constexpr std::string_view kEntry = "PK\x01\x02";
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kEntrySize = 46;
constexpr std::uint64_t kLongestComment = 0xFFFF;
constexpr std::uint64_t kMoreBytes = std::uint64_t{128} << 10U;  // end records and comments

// File types of Unix in a stored mode.
constexpr unsigned kTypeMask = 0170000;
constexpr unsigned kRegular = 0100000;
constexpr unsigned kLink = 0120000;
constexpr unsigned kDirectory = 0040000;
constexpr unsigned kFatDirectory = 0x10;
constexpr unsigned kFatReadOnly = 0x01;

// Sets what "external file attributes" say; their meaning depends on the system that wrote them.
void read_attributes(unsigned system, unsigned attributes, ZipEntry& entry) {
  const bool is_unix = system == 3 || system == 19;                 // or macOS
  const bool is_fat = system == 0 || system == 11 || system == 14;  // or NTFS or VFAT
  const unsigned type = is_unix ? attributes >> 16U & kTypeMask : 0;
  entry.mode = is_unix ? attributes >> 16U & 0777U : !is_fat ? 0 : (attributes & kFatReadOnly) != 0 ? 0444U : 0666U;
  entry.is_directory = entry.name.ends_with('/') || type == kDirectory || (is_fat && (attributes & kFatDirectory) != 0);
  entry.is_special = type != 0 && type != kRegular && type != kLink && type != kDirectory;
}

// The end record of the directory.
struct Summary {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // as written
  std::uint64_t end = 0;     // where it ends in the file
};

class DirectoryReader {
 public:
  DirectoryReader(std::string tail, std::uint64_t size, const ReadBytes& read_bytes, const ZipDirectoryLimits& limits,
                  std::string_view display)
      : tail_(std::move(tail)), size_(size), read_bytes_(read_bytes), limits_(limits), display_(display) {}

  Result<std::vector<ZipEntry>> read() {
    MODLOCK_TRY(const auto summary, find_end());
    MODLOCK_TRY(expect_few(summary.entries));
    if (summary.size > limits_.bytes) {
      return unsafe_archive(
          display_, fmt::format("has a central directory of {} bytes; {} are allowed", summary.size, limits_.bytes));
    }
    if (summary.size > summary.end || summary.offset > summary.end - summary.size) {
      return damaged();
    }
    const std::uint64_t begin = summary.end - summary.size;
    const std::uint64_t base = begin - summary.offset;
    MODLOCK_TRY(reach(std::min(begin, summary.offset)));
    // Some writers record a wrong offset. If there is an entry at the recorded offset, that offset is used.
    if (base > 0 && parse_entry(from(summary.offset))) {
      return entries_at(summary.offset, 0, summary);
    }
    return entries_at(begin, base, summary);
  }

 private:
  struct Parsed {
    ZipEntry entry;
    std::size_t length = 0;
  };

  tl::unexpected<Error> damaged() const { return bad_archive(display_, "its central directory is damaged"); }

  Result<void> expect_few(std::uint64_t entries) const {
    return entries <= limits_.entries
               ? Result<void>()
               : unsafe_archive(display_, fmt::format("contains {} entries; {} are allowed", entries, limits_.entries));
  }

  std::uint64_t begin() const { return size_ - tail_.size(); }

  // Reads the bytes from that offset on.
  Result<void> reach(std::uint64_t at) {
    const std::uint64_t missing = begin() - std::min(begin(), at);
    if (missing != 0) {
      MODLOCK_TRY(const auto bytes, size_ - at > limits_.bytes + kMoreBytes ? std::string() : read_bytes_(at, missing));
      if (bytes.size() != missing) {
        return damaged();
      }
      tail_.insert(0, bytes);
    }
    return {};
  }

  // The bytes of the file from that offset on, which were read.
  std::string_view from(std::uint64_t at) const {
    return std::string_view(tail_).substr(std::min<std::uint64_t>(at - begin(), tail_.size()));
  }

  Result<Summary> find_end() {
    constexpr std::uint64_t kSearched = kEndSize + kLongestComment;
    const auto find = [&] {
      const std::size_t at = tail_.size() < kEndSize ? std::string::npos : tail_.rfind(kEnd, tail_.size() - kEndSize);
      const bool is_end = at != std::string::npos && at + kSearched >= tail_.size() &&
                          at + kEndSize + zip_number(tail_, at + 20, 2) <= tail_.size();
      return is_end ? std::optional(at) : std::nullopt;
    };
    auto found = find();
    if (!found) {
      MODLOCK_TRY(reach(size_ - std::min(size_, kSearched)));
      found = find();
    }
    if (!found) {
      return bad_archive(display_, "it is not a zip file");
    }
    const std::string_view bytes = std::string_view(tail_).substr(*found);
    const Summary summary{zip_number(bytes, 10, 2), zip_number(bytes, 12, 4), zip_number(bytes, 16, 4),
                          begin() + *found};
    if (summary.entries == 0xFFFF || summary.size == 0xFFFF || summary.size == 0xFFFFFFFF ||
        summary.offset == 0xFFFFFFFF) {
      return find_end64(summary);
    }
    return summary;
  }

  Result<Summary> find_end64(const Summary& summary) {
    if (summary.end < kLocator64Size) {
      return summary;
    }
    MODLOCK_TRY(reach(summary.end - kLocator64Size));
    const std::string_view locator = from(summary.end - kLocator64Size);
    if (locator.substr(0, 4) != kLocator64 || zip_number(locator, 4, 4) != 0 || zip_number(locator, 16, 4) != 1) {
      return summary;
    }
    const std::uint64_t place = zip_number(locator, 8, 8);
    if (place > summary.end - kLocator64Size) {
      return damaged();
    }
    MODLOCK_TRY(reach(place));
    const std::string_view record = from(place);
    if (record.size() < kEnd64Size || record.substr(0, 4) != kEnd64) {
      return damaged();
    }
    return Summary{zip_number(record, 32, 8), zip_number(record, 40, 8), zip_number(record, 48, 8), place};
  }

  // Returns nullopt if there is no complete entry.
  static std::optional<Parsed> parse_entry(std::string_view bytes) {
    if (bytes.size() < kEntrySize || bytes.substr(0, 4) != kEntry) {
      return std::nullopt;
    }
    const std::size_t name = static_cast<std::size_t>(zip_number(bytes, 28, 2));
    const std::size_t extra = static_cast<std::size_t>(zip_number(bytes, 30, 2));
    Parsed parsed;
    parsed.length = kEntrySize + name + extra + static_cast<std::size_t>(zip_number(bytes, 32, 2));
    if (parsed.length > bytes.size()) {
      return std::nullopt;
    }
    ZipEntry& entry = parsed.entry;
    entry.name = bytes.substr(kEntrySize, name);
    entry.flags = static_cast<std::uint16_t>(zip_number(bytes, 8, 2));
    entry.method = static_cast<std::uint16_t>(zip_number(bytes, 10, 2));
    entry.crc = static_cast<std::uint32_t>(zip_number(bytes, 16, 4));
    entry.packed = zip_number(bytes, 20, 4);
    entry.size = zip_number(bytes, 24, 4);
    entry.offset = zip_number(bytes, 42, 4);
    read_attributes(static_cast<unsigned>(zip_number(bytes, 5, 1)), static_cast<unsigned>(zip_number(bytes, 38, 4)),
                    entry);
    return take_large_numbers(bytes.substr(kEntrySize + name, extra), entry) ? std::optional(std::move(parsed))
                                                                             : std::nullopt;
  }

  // 64-bit numbers are in a separate field.
  static bool take_large_numbers(std::string_view extra, ZipEntry& entry) {
    bool need_size = entry.size == 0xFFFFFFFF;
    bool need_packed = entry.packed == 0xFFFFFFFF;
    bool need_offset = entry.offset == 0xFFFFFFFF;
    while (extra.size() >= 4) {
      const std::uint64_t tag = zip_number(extra, 0, 2);
      const auto size = static_cast<std::size_t>(zip_number(extra, 2, 2));
      extra.remove_prefix(4);
      if (size > extra.size()) {
        break;
      }
      std::string_view field = extra.substr(0, size);
      extra.remove_prefix(size);
      const std::pair<bool*, std::uint64_t*> numbers[] = {
          {&need_size, &entry.size}, {&need_packed, &entry.packed}, {&need_offset, &entry.offset}};
      for (const auto& [is_needed, number] : numbers) {
        if (tag != 1 || !*is_needed) {
          continue;
        }
        if (field.size() < 8) {
          return false;
        }
        *number = zip_number(field, 0, 8);
        *is_needed = false;
        field.remove_prefix(8);
      }
    }
    return true;
  }

  Result<std::vector<ZipEntry>> entries_at(std::uint64_t begin, std::uint64_t base, const Summary& summary) const {
    std::vector<ZipEntry> entries;
    std::string_view rest = from(begin);
    // Their number is stored modulo 65,536.
    while (auto parsed = parse_entry(rest)) {
      rest.remove_prefix(parsed->length);
      parsed->entry.offset += base;
      entries.push_back(std::move(parsed->entry));
      MODLOCK_TRY(expect_few(entries.size()));
    }
    if ((entries.size() & 0xFFFFU) != (summary.entries & 0xFFFFU)) {
      return damaged();
    }
    if (entries.empty()) {
      return bad_archive(display_, "it is empty");
    }
    return entries;
  }

  std::string tail_;
  const std::uint64_t size_;
  const ReadBytes& read_bytes_;
  const ZipDirectoryLimits& limits_;
  std::string_view display_;
};

}  // namespace

std::uint64_t zip_number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

Result<std::vector<ZipEntry>> read_zip_directory(std::string tail, std::uint64_t size, const ReadBytes& read_bytes,
                                                 const ZipDirectoryLimits& limits, std::string_view display) {
  return DirectoryReader(std::move(tail), size, read_bytes, limits, display).read();
}

}  // namespace modlock
