#include "backends/package/unpack_zip_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/files.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

constexpr std::string_view kEnd = "PK\x05\x06";
constexpr std::string_view kEnd64 = "PK\x06\x06";
constexpr std::string_view kLocator64 = "PK\x06\x07";
constexpr std::string_view kEntry = "PK\x01\x02";
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLongestComment = 0xFFFF;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

// What the end of the file says of the central directory.
struct Summary {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t begin = 0;
};

class Directory {
 public:
  Directory(const std::filesystem::path& archive, const Rules& rules)
      : archive_(archive), rules_(rules), file_(archive, std::ios::binary) {}

  Result<std::uint64_t> judge() {
    if (!file_) {
      return system_failure("read", archive_, errno);
    }
    file_.seekg(0, std::ios::end);
    file_size_ = static_cast<std::uint64_t>(file_.tellg());
    const std::optional<Summary> found = summary();
    if (!found) {
      return bad_archive(rules_.display(), "it is no zip file");
    }
    if (found->entries == 0) {
      return bad_archive(rules_.display(), "there is nothing in it");
    }
    if (found->entries > rules_.limits().entries) {
      return unsafe_archive(rules_.display(),
                            fmt::format("holds {} entries, {} are allowed", found->entries, rules_.limits().entries));
    }
    if (found->size > rules_.limits().name_bytes) {
      return unsafe_archive(rules_.display(), fmt::format("has a list of entries of {} bytes, {} are allowed",
                                                          found->size, rules_.limits().name_bytes));
    }
    return walk(*found);
  }

 private:
  // Empty where the file has no such bytes.
  std::string read(std::uint64_t at, std::size_t size) {
    std::string bytes(size, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(bytes.data(), static_cast<std::streamsize>(size));
    return file_ ? bytes : std::string();
  }

  std::optional<Summary> summary() {
    if (file_size_ < kEndSize) {
      return std::nullopt;
    }
    const std::size_t tail_size =
        static_cast<std::size_t>(std::min<std::uint64_t>(file_size_, kEndSize + kLongestComment));
    const std::string tail = read(file_size_ - tail_size, tail_size);
    // The last one whose comment fits: an earlier one may belong to a zip file inside.
    for (std::size_t at = tail.rfind(kEnd); at != std::string::npos && !tail.empty();
         at = at == 0 ? std::string::npos : tail.rfind(kEnd, at - 1)) {
      if (at + kEndSize <= tail.size() && at + kEndSize + number(tail, at + 20, 2) <= tail.size()) {
        const std::uint64_t end = file_size_ - tail_size + at;
        const Summary plain{number(tail, at + 10, 2), number(tail, at + 12, 4), 0};
        return placed(summary64(end).value_or(std::pair(plain, end)));
      }
    }
    return std::nullopt;
  }

  // The 64-bit record in front of the end record, where there is one, and where it begins.
  std::optional<std::pair<Summary, std::uint64_t>> summary64(std::uint64_t end) {
    if (end < kLocator64Size) {
      return std::nullopt;
    }
    const std::string locator = read(end - kLocator64Size, kLocator64Size);
    if (locator.substr(0, 4) != kLocator64) {
      return std::nullopt;
    }
    const std::uint64_t at = number(locator, 8, 8);
    if (at > end) {
      return std::nullopt;
    }
    const std::string record = read(at, kEnd64Size);
    if (record.substr(0, 4) != kEnd64) {
      return std::nullopt;
    }
    return std::pair(Summary{number(record, 32, 8), number(record, 40, 8), 0}, at);
  }

  // The directory lies right in front of what describes it.
  static std::optional<Summary> placed(std::pair<Summary, std::uint64_t> found) {
    if (found.first.size > found.second) {
      return std::nullopt;
    }
    found.first.begin = found.second - found.first.size;
    return found.first;
  }

  // The unpacked size that an entry tells: of one that keeps it as 64 bits, the first number of that extra field
  // (APPNOTE.TXT 4.5.3), or 4 GiB where it has none. `entry` begins with an entry whose name has so many bytes.
  static std::uint64_t size_of(std::string_view entry, std::uint64_t name) {
    constexpr std::uint64_t kElsewhere = 0xFFFFFFFF;
    constexpr std::uint64_t kZip64 = 0x0001;
    const std::uint64_t size = number(entry, 24, 4);
    std::string_view extra = entry.substr(kEntrySize + name, number(entry, 30, 2));
    while (size == kElsewhere && extra.size() >= 4 && number(extra, 2, 2) + 4 <= extra.size()) {
      const std::uint64_t length = number(extra, 2, 2);
      if (number(extra, 0, 2) == kZip64 && length >= 8) {
        return number(extra, 4, 8);
      }
      extra.remove_prefix(length + 4);
    }
    return size;
  }

  Result<std::uint64_t> walk(const Summary& summary) {
    const std::string bytes = read(summary.begin, static_cast<std::size_t>(summary.size));
    std::string_view rest = bytes;
    std::uint64_t unpacked = 0;
    for (std::uint64_t i = 0; i < summary.entries; ++i) {
      if (rest.size() < kEntrySize || rest.substr(0, 4) != kEntry) {
        return bad_archive(rules_.display(), "its list of entries is damaged");
      }
      const std::uint64_t name = number(rest, 28, 2);
      const std::uint64_t length = kEntrySize + name + number(rest, 30, 2) + number(rest, 32, 2);
      if (length > rest.size()) {
        return bad_archive(rules_.display(), "its list of entries is damaged");
      }
      const std::string_view entry = rest.substr(kEntrySize, static_cast<std::size_t>(name));
      if (entry.find('\0') != std::string_view::npos) {
        return unsafe_entry(rules_.display(), entry, "has a NUL in its name");
      }
      // As they say themselves; what lies is found when unpacked.
      const std::uint64_t size = size_of(rest, name);
      MODLOCK_TRY(rules_.check_size_limits(entry, unpacked, size));
      unpacked += size;
      rest.remove_prefix(static_cast<std::size_t>(length));
    }
    return summary.size;
  }

  const std::filesystem::path& archive_;
  const Rules& rules_;
  std::ifstream file_;
  std::uint64_t file_size_ = 0;
};

}  // namespace

Result<std::uint64_t> check_zip_directory(const std::filesystem::path& archive, const Rules& rules) {
  return Directory(archive, rules).judge();
}

}  // namespace modlock::unpack
