#include <zip.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/deleter.h"
#include "backends/base/files.h"
#include "backends/package/buffer_inflater.h"
#include "backends/package/unpack_queue.h"
#include "backends/package/unpack_tree.h"
#include "backends/package/zip_directory.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kMemberPiece = std::size_t{128} << 10U;
// The largest file that each thread unpacks in memory.
constexpr zip_uint64_t kSmall = zip_uint64_t{4} << 20U;
// The largest list of entries for several threads, because each thread keeps one.
constexpr std::uint64_t kMostListBytes = std::uint64_t{4} << 20U;
// The smallest part of the archive for each thread: smaller parts gain nothing.
constexpr std::uint64_t kWorthThread = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostThreads = 4;

// File types of Unix in a stored mode.
constexpr unsigned kTypeMask = 0170000;
constexpr unsigned kRegular = 0100000;
constexpr unsigned kLink = 0120000;
constexpr unsigned kDirectoryMode = 0040000;

constexpr unsigned kEncrypted = 1;  // of ZipEntry::flags

tl::unexpected<Error> damaged_archive(std::string_view display, std::string_view reason) {
  return fail(with_note(bad_archive(display, "it is damaged").value(), std::string(reason)));
}

struct Attributes {
  EntryType type = EntryType::file;
  unsigned mode = 0;
};

// Reads "external file attributes" (APPNOTE.TXT 4.4.15) as FileHeader.Mode of Go's archive/zip does; their meaning
// depends on the system that wrote them.
Attributes attributes_of(const ZipEntry& entry) {
  constexpr unsigned kFat = 0;
  constexpr unsigned kUnix = 3;
  constexpr unsigned kNtfs = 11;
  constexpr unsigned kVfat = 14;
  constexpr unsigned kMac = 19;
  constexpr unsigned kDosReadOnly = 0x01;
  Attributes found{.type = entry.is_directory ? EntryType::directory : EntryType::file};
  if (entry.system == kUnix || entry.system == kMac) {
    const unsigned type = entry.attributes >> 16U & kTypeMask;
    found.mode = entry.attributes >> 16U & 0777U;
    if (type != 0 && type != kRegular && type != kLink && type != kDirectoryMode) {
      found.type = EntryType::special;
    }
  } else if (entry.system == kFat || entry.system == kNtfs || entry.system == kVfat) {
    found.mode = (entry.attributes & kDosReadOnly) != 0 ? 0444U : 0666U;
  }
  return found;
}

std::uint64_t first_offset(const std::vector<ZipEntry>& entries) {
  const auto first = std::ranges::min_element(entries, {}, &ZipEntry::offset);
  return first == entries.end() ? 0 : first->offset;
}

// A zip file for one thread.
class ZipFile {
 public:
  // `start` is the offset of the first entry, where a zip behind a program begins: its own offsets begin there, which
  // libzip does not expect. Errors: BAD_RESPONSE.
  static Result<ZipFile> open(const std::filesystem::path& archive, std::uint64_t start, std::string_view display) {
    zip_error_t error;
    zip_error_init(&error);
    for (const std::uint64_t begin : {std::uint64_t{0}, start}) {
      zip_source_t* const source = zip_source_file_create(archive.c_str(), begin, -1, &error);
      if (zip_t* const zip = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error)) {
        zip_error_fini(&error);
        return ZipFile(zip, display);
      }
      zip_source_free(source);
    }
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return damaged_archive(display, text);
  }

  std::uint64_t entries() const { return static_cast<std::uint64_t>(zip_get_num_entries(zip_.get(), 0U)); }

  // Whether libzip has this entry under this number too: a file may have two central directories.
  bool has(const ZipEntry& entry, std::uint64_t number) const {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC;
    return zip_stat_index(zip_.get(), number, 0U, &stat) == 0 && (stat.valid & kNeeded) == kNeeded &&
           stat.size == entry.size && stat.comp_size == entry.packed && stat.crc == entry.crc;
  }

  // Unpacks one file, and finishes it. Errors: BAD_RESPONSE (damaged); IO_ERROR; those of UnpackQueue::grow();
  // REQUEST_CANCELLED, DEADLINE_EXCEEDED.
  void unpack(UnpackQueue::FileIndex turn, PendingFile file, UnpackQueue& line, const Context& context) {
    FileDigests digests;
    auto copied = copy(turn, file, line, context);
    if (copied) {
      copied = file.file.end(file.mode, digests);
    }
    line.finish(turn, std::move(copied), std::move(digests));
  }

 private:
  ZipFile(zip_t* zip, std::string_view display) : zip_(zip), display_(display) {}

  Result<void> copy(UnpackQueue::FileIndex turn, PendingFile& file, UnpackQueue& line, const Context& context) {
    if (const auto bytes = whole(file.entry)) {
      for (std::size_t at = 0; at < bytes->size(); at += kMemberPiece) {
        MODLOCK_TRY(copy_piece(bytes->substr(at, kMemberPiece), turn, file, line, context));
      }
      return {};
    }
    const std::unique_ptr<zip_file_t, Deleter<zip_fclose>> opened(zip_fopen_index(zip_.get(), file.entry, 0U));
    if (opened == nullptr) {
      return damaged_archive(display_, zip_strerror(zip_.get()));
    }
    piece_.resize(kMemberPiece);
    for (;;) {
      const zip_int64_t got = zip_fread(opened.get(), piece_.data(), piece_.size());
      if (got < 0) {
        return damaged_archive(display_, zip_file_strerror(opened.get()));
      }
      if (got == 0) {
        return {};
      }
      const std::string_view bytes(piece_.data(), static_cast<std::size_t>(got));
      MODLOCK_TRY(copy_piece(bytes, turn, file, line, context));
    }
  }

  Result<void> copy_piece(std::string_view bytes, UnpackQueue::FileIndex turn, PendingFile& file, UnpackQueue& line,
                          const Context& context) {
    MODLOCK_TRY(line.grow(turn, file.name, bytes.size()));
    MODLOCK_TRY(file.file.write(bytes));
    return context.check();
  }

  // Returns the unpacked file if it is small and intact; nullopt leaves the check to libzip.
  std::optional<std::string_view> whole(zip_uint64_t entry) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(zip_.get(), entry, 0U, &stat) != 0 || (stat.valid & kNeeded) != kNeeded ||
        stat.comp_method != ZIP_CM_DEFLATE || std::max(stat.size, stat.comp_size) > kSmall) {
      return std::nullopt;
    }
    const std::unique_ptr<zip_file_t, Deleter<zip_fclose>> opened(
        zip_fopen_index(zip_.get(), entry, ZIP_FL_COMPRESSED));
    char* const packed = packed_.reserve(std::max<std::size_t>(stat.comp_size, 1));
    if (opened == nullptr || packed == nullptr ||
        zip_fread(opened.get(), packed, stat.comp_size) != static_cast<zip_int64_t>(stat.comp_size)) {
      return std::nullopt;
    }
    return inflater_.inflate({packed, stat.comp_size}, stat.size, stat.crc);
  }

  std::unique_ptr<zip_t, Deleter<zip_discard>> zip_;
  std::string display_;
  std::vector<char> piece_;
  BoundedBuffer packed_;
  BufferInflater inflater_;
};

// Processes the archive in its order: checks names, then makes directories and files, one after another.
class Walk {
 public:
  Walk(ZipFile zip, Rules& rules, TreeWriter& writer, const Context& context)
      : zip_(std::move(zip)), rules_(rules), writer_(writer), context_(context), line_(rules) {}

  Result<FileDigests> run(const std::vector<ZipEntry>& entries, const std::filesystem::path& archive,
                          std::uint64_t width) {
    Result<void> walked;
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t i = 1; width > 1 && i <= width; ++i) {
        threads.emplace_back([&](const std::stop_token& stop) { help(archive, first_offset(entries), stop); });
      }
      walked = walk(entries, threads.empty());
    }
    auto digests = line_.result();
    return digests && !walked ? fail(std::move(walked.error())) : std::move(digests);
  }

 private:
  // Runs on its own thread with its own handle.
  void help(const std::filesystem::path& archive, std::uint64_t start, const std::stop_token& stop) {
    auto zip = ZipFile::open(archive, start, rules_.display());
    while (auto next = line_.take(stop)) {
      if (zip) {
        zip->unpack(next->first, std::move(next->second), line_, context_);
      } else {
        line_.finish(next->first, fail(zip.error()), {});
      }
    }
  }

  Result<void> walk(const std::vector<ZipEntry>& entries, bool is_alone) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      MODLOCK_TRY(context_.check());
      MODLOCK_TRY(auto file, begin(entries[i], i));
      if (file && !line_.add(std::move(*file))) {
        break;  // the queue has the error
      }
      if (file && is_alone) {
        auto next = line_.take({});
        zip_.unpack(next->first, std::move(next->second), line_, context_);
      }
    }
    return {};
  }

  // Returns nullopt if there is nothing to unpack.
  Result<std::optional<PendingFile>> begin(const ZipEntry& entry, std::uint64_t number) {
    const Attributes attributes = attributes_of(entry);
    MODLOCK_TRY(auto place, rules_.place(entry.name, attributes.type));
    if (!place) {
      return std::nullopt;
    }
    MODLOCK_TRY(writer_.make_directories(*place, rules_.display()));
    if (attributes.type == EntryType::directory) {
      return std::nullopt;
    }
    MODLOCK_TRY(expect_readable(entry));
    if (!zip_.has(entry, number)) {
      return bad_archive(rules_.display(), "its central directory is damaged");
    }
    MODLOCK_TRY(auto file, writer_.make_file(*place, rules_.display()));
    return PendingFile{number, entry.name, attributes.mode, std::move(file)};
  }

  Result<void> expect_readable(const ZipEntry& entry) const {
    if ((entry.flags & kEncrypted) != 0) {
      return bad_archive(rules_.display(), "it is encrypted");
    }
    if (entry.method != ZIP_CM_STORE && entry.method != ZIP_CM_DEFLATE) {
      return bad_archive(
          rules_.display(),
          fmt::format("it is compressed with method {}; OpenTofu reads 0 (stored) and 8 (deflated)", entry.method));
    }
    return {};
  }

  ZipFile zip_;
  Rules& rules_;
  TreeWriter& writer_;
  const Context& context_;
  UnpackQueue line_;
};

// Reads the central directory as OpenTofu does, and checks it before a library loads it and before anything is
// unpacked.
Result<std::vector<ZipEntry>> read_entries(const std::filesystem::path& archive, std::uint64_t size,
                                           const Rules& rules) {
  std::ifstream file(archive, std::ios::binary);
  const auto read_tail = [&](std::size_t wanted) -> Result<std::string> {
    std::string bytes(wanted, '\0');
    file.seekg(static_cast<std::streamoff>(size - wanted));
    file.read(bytes.data(), static_cast<std::streamsize>(wanted));
    return file ? Result<std::string>(std::move(bytes)) : system_failure("read", archive, errno == 0 ? EIO : errno);
  };
  const UnpackLimits& limits = rules.limits();
  MODLOCK_TRY(auto entries, read_zip_directory(read_tail, size, {.bytes = limits.name_bytes, .entries = limits.entries},
                                               rules.display()));
  std::uint64_t unpacked = 0;
  for (const ZipEntry& entry : entries) {
    if (entry.name.find('\0') != std::string::npos) {
      return unsafe_entry(rules.display(), entry.name, "has a NUL in its name");
    }
    // By their stated sizes; a wrong size is found when the entry is unpacked.
    MODLOCK_TRY(rules.check_size_limits(entry.name, unpacked, entry.size));
    unpacked += entry.size;
  }
  return entries;
}

// The memory for the list of entries of one thread.
std::uint64_t list_size(const std::vector<ZipEntry>& entries) {
  return std::accumulate(
      entries.begin(), entries.end(), std::uint64_t{0},
      [](std::uint64_t sum, const ZipEntry& entry) { return sum + sizeof(ZipEntry) + entry.name.size(); });
}

}  // namespace

Result<FileDigests> read_zip(const StreamedFile& archive, Rules& rules, TreeWriter& writer, const Context& context) {
  // The central directory is at the end of the file.
  MODLOCK_TRY(const auto size, archive.wait_for(StreamedFile::kAll));
  MODLOCK_TRY(const auto entries, read_entries(archive.path(), size, rules));
  MODLOCK_TRY(auto zip, ZipFile::open(archive.path(), first_offset(entries), rules.display()));
  if (zip.entries() != entries.size()) {
    return bad_archive(rules.display(), "its central directory is damaged");
  }
  const std::uint64_t cores = std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  const std::uint64_t width = list_size(entries) > kMostListBytes ? 1 : std::min(cores, size / kWorthThread);
  return Walk(std::move(zip), rules, writer, context).run(entries, archive.path(), width);
}

}  // namespace modlock::unpack
