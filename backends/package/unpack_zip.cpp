#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/files.h"
#include "backends/package/unpack_queue.h"
#include "backends/package/unpack_tree.h"
#include "backends/package/zip_reader.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

// The smallest part of the archive for each thread: smaller parts gain nothing.
constexpr std::uint64_t kWorthThread = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostThreads = 4;

// Processes the archive in its order: checks names, then makes directories and files, one after another.
class Walk {
 public:
  Walk(const std::filesystem::path& archive, std::uint64_t size, const std::vector<ZipEntry>& entries, Rules& rules,
       TreeWriter& writer, const Context& context)
      : archive_(archive),
        size_(size),
        entries_(entries),
        rules_(rules),
        writer_(writer),
        context_(context),
        line_(rules) {}

  Result<FileDigests> run(std::uint64_t width) {
    Result<void> walked;
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t i = 1; width > 1 && i <= width; ++i) {
        threads.emplace_back([this](const std::stop_token& stop) { help(stop); });
      }
      walked = walk(threads.empty());
    }
    auto digests = line_.result();
    return digests && !walked ? fail(std::move(walked.error())) : std::move(digests);
  }

 private:
  // Unpacks files until there are no more, with its own handle.
  void help(const std::stop_token& stop) {
    ZipReader zip(archive_, size_, rules_.display());
    while (auto next = line_.take(stop)) {
      unpack(zip, next->first, std::move(next->second));
    }
  }

  // Unpacks one file, and finishes it. Errors: those of ZipReader; IO_ERROR; those of UnpackQueue::grow().
  void unpack(ZipReader& zip, UnpackQueue::FileIndex turn, PendingFile file) {
    const ZipEntry& entry = entries_[file.entry];
    FileDigests digests;
    auto done = zip.header(entry).and_then([&](const ZipReader::Header& header) {
      return zip.unpack(entry, header.content, context_, [&](std::string_view bytes) -> Result<void> {
        MODLOCK_TRY(line_.grow(turn, file.name, bytes.size()));
        return file.file.write(bytes);
      });
    });
    if (done) {
      done = file.file.end(file.mode, digests);
    }
    line_.finish(turn, std::move(done), std::move(digests));
  }

  Result<void> walk(bool is_alone) {
    ZipReader zip(archive_, size_, rules_.display());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      MODLOCK_TRY(context_.check());
      MODLOCK_TRY(auto file, begin(entries_[i], i));
      if (file && !line_.add(std::move(*file))) {
        break;  // the queue has the error
      }
      if (file && is_alone) {
        auto next = line_.take({});
        unpack(zip, next->first, std::move(next->second));
      }
    }
    return {};
  }

  // Returns nullopt if there is nothing to unpack.
  Result<std::optional<PendingFile>> begin(const ZipEntry& entry, std::uint64_t number) {
    const EntryType type = entry.is_special     ? EntryType::special
                           : entry.is_directory ? EntryType::directory
                                                : EntryType::file;
    MODLOCK_TRY(auto place, rules_.place(entry.name, type));
    if (!place) {
      return std::nullopt;
    }
    MODLOCK_TRY(writer_.make_directories(*place, rules_.display()));
    if (entry.is_directory) {
      return std::nullopt;
    }
    MODLOCK_TRY(expect_readable(entry));
    MODLOCK_TRY(auto file, writer_.make_file(*place, rules_.display()));
    return PendingFile{number, entry.name, entry.mode, std::move(file)};
  }

  Result<void> expect_readable(const ZipEntry& entry) const {
    if ((entry.flags & kZipEncrypted) != 0) {
      return bad_archive(rules_.display(), "it is encrypted");
    }
    if (entry.method != kZipStored && entry.method != kZipDeflated) {
      return bad_archive(
          rules_.display(),
          fmt::format("it is compressed with method {}; OpenTofu reads 0 (stored) and 8 (deflated)", entry.method));
    }
    return {};
  }

  const std::filesystem::path& archive_;
  const std::uint64_t size_;
  const std::vector<ZipEntry>& entries_;
  Rules& rules_;
  TreeWriter& writer_;
  const Context& context_;
  UnpackQueue line_;
};

// Reads the central directory as OpenTofu does, and checks it before anything is unpacked.
Result<std::vector<ZipEntry>> read_entries(const std::filesystem::path& archive, std::uint64_t size,
                                           const Rules& rules) {
  const UnpackLimits& limits = rules.limits();
  MODLOCK_TRY(
      auto entries,
      ZipReader(archive, size, rules.display()).entries({.bytes = limits.name_bytes, .entries = limits.entries}));
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

}  // namespace

Result<FileDigests> read_zip(const StreamedFile& archive, Rules& rules, TreeWriter& writer, const Context& context) {
  // The central directory is at the end of the file.
  MODLOCK_TRY(const auto size, archive.wait_for(StreamedFile::kAll));
  MODLOCK_TRY(const auto entries, read_entries(archive.path(), size, rules));
  const std::uint64_t cores = std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  return Walk(archive.path(), size, entries, rules, writer, context).run(std::min(cores, size / kWorthThread));
}

}  // namespace modlock::unpack
