#include "backends/package/provider_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <unordered_map>
#include <variant>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/zip_directory.h"
#include "backends/package/zip_stream.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using unpack::unsafe_archive;
using unpack::unsafe_entry;

constexpr std::size_t kLongestName = 255;
constexpr std::string_view kProgramPrefix = "terraform-provider-";

std::string_view next_part(std::string_view& rest, std::string_view separators) {
  const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// Describes the problem with a name; empty if there is none.
std::string_view fault_of(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) {
    return "has a NUL in its name";
  }
  if (name.find('\n') != std::string_view::npos) {
    return "has a line ending in its name";
  }
  for (std::string_view rest = name; !rest.empty();) {
    if (next_part(rest, "/\\") == "..") {
      return "points outside it with \"..\"";
    }
  }
  for (std::string_view rest = name; !rest.empty();) {
    if (next_part(rest, "/").size() > kLongestName) {
      return "has a name longer than 255 bytes";
    }
  }
  return "";
}

class Layout {
 public:
  Layout(const UnpackLimits& limits, std::string_view display) : limits_(limits), display_(display) {}

  Result<void> add(const ZipEntry& entry) {
    if (const std::string_view fault = fault_of(entry.name); !fault.empty()) {
      return unsafe_entry(display_, entry.name, fault);
    }
    std::string path;
    for (std::string_view rest = entry.name; !rest.empty();) {
      const std::string_view part = next_part(rest, "/");
      if (part.empty() || part == ".") {
        continue;
      }
      if (!path.empty()) {
        MODLOCK_TRY(remember(entry.name, path, true));
        path += '/';
      }
      path += part;
    }
    if (path.empty() && !entry.is_directory) {
      return unsafe_entry(display_, entry.name, "is a file without a name");
    }
    found_.is_plain = found_.is_plain && !entry.is_directory && path == entry.name && !known_.contains(path);
    if (!path.empty()) {
      MODLOCK_TRY(remember(entry.name, path, entry.is_directory));
    }
    if (!entry.is_directory && path.find('/') == std::string::npos && path.starts_with(kProgramPrefix)) {
      found_.programs.push_back(path);
    }
    found_.paths.push_back(entry.is_directory ? std::string() : std::move(path));
    return {};
  }

  ZipLayout result() {
    std::sort(found_.programs.begin(), found_.programs.end());
    found_.programs.erase(std::unique(found_.programs.begin(), found_.programs.end()), found_.programs.end());
    return std::move(found_);
  }

 private:
  Result<void> remember(std::string_view name, const std::string& path, bool is_directory) {
    const auto [at, is_new] = known_.emplace(path, is_directory);
    if (!is_new) {
      return at->second == is_directory ? Result<void>()
                                        : unsafe_entry(display_, name, "is, or is below, both a directory and a file");
    }
    name_bytes_ += path.size();
    if (known_.size() > limits_.entries || name_bytes_ > limits_.name_bytes) {
      return unsafe_entry(display_, name, "makes it exceed the number of files and directories allowed");
    }
    return {};
  }

  const UnpackLimits& limits_;
  std::string_view display_;
  ZipLayout found_;
  std::unordered_map<std::string, bool> known_;  // whether a path is a directory
  std::uint64_t name_bytes_ = 0;
};

using unpack::bad_archive;
using unpack::unsafe_archive;
using unpack::unsafe_entry;

constexpr std::size_t kUnpackPiece = std::size_t{256} << 10U;
constexpr std::uint64_t kLongestDirectory = std::uint64_t{16} << 20U;
// The SHA-256 of the empty text, which is that of directories.
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string h1_of(TreeSummary summary) {
  std::sort(summary.files.begin(), summary.files.end(),
            [](const FileDigest& left, const FileDigest& right) { return left.name < right.name; });
  return summary.h1();
}

}  // namespace

Result<ZipLayout> zip_layout(const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                             std::string_view display) {
  if (entries.size() > limits.entries) {
    return unsafe_archive(display, fmt::format("contains {} entries; {} are allowed", entries.size(), limits.entries));
  }
  Layout layout(limits, display);
  for (const ZipEntry& entry : entries) {
    MODLOCK_TRY(layout.add(entry));
  }
  return layout.result();
}

Result<void> expect_provider_program(const std::vector<std::string>& programs, std::string_view type,
                                     std::string_view display) {
  const std::string prefix = fmt::format("{}{}", kProgramPrefix, type);
  const bool any = std::any_of(programs.begin(), programs.end(), [&](std::string_view name) {
    return name.starts_with(prefix) &&
           (name.size() == prefix.size() || name[prefix.size()] == '_' || name[prefix.size()] == '.');
  });
  if (!any) {
    return fail(Code::bad_response,
                fmt::format("\"{}\": provider binary not found: could not find executable file starting with {}",
                            display, prefix),
                "no client can use the package: ask its author for another one");
  }
  return {};
}

class ProviderArchive::State {
 public:
  State(std::string display, std::filesystem::path temporary, std::optional<std::uint64_t> length,
        const UnpackLimits& limits)
      : display_(std::move(display)),
        length_(length),
        rules_(
            display_, [this](std::uint64_t) { return packed_size(); }, limits),
        rest_(std::move(temporary)),
        stream_(rules_, rest_) {}

  void write(std::string_view bytes) {
    whole_.update(bytes);
    size_ += bytes.size();
    if (!fault_) {
      keep_fault(stream_.write(bytes));
    }
  }

  Result<ProviderArchiveHashes> finish(std::string_view expected) {
    length_ = size_;
    const auto digest = whole_.finish();
    std::string zh = "zh:" + hex(digest.data(), digest.size());
    if (!expected.empty() && zh != expected) {
      return fail(Code::hash_mismatch,
                  fmt::format("\"{}\": archive has incorrect checksum {} (expected {})", display_, zh, expected),
                  "do not use it: the archive was changed, or the registry reports a wrong checksum");
    }
    if (!fault_) {
      keep_fault(stream_.finish());
    }
    if (fault_) {
      return fail(*fault_);
    }
    const auto read_tail = [this](std::size_t wanted) {
      const std::uint64_t known = std::min<std::uint64_t>(wanted, rest_.size());
      return rest_.read(rest_.size() - known, static_cast<std::size_t>(known));
    };
    MODLOCK_TRY(const auto entries, read_zip_directory(read_tail, size_, {.bytes = kLongestDirectory}, display_));
    MODLOCK_TRY(const auto layout, zip_layout(entries, rules_.limits(), display_));
    auto ok = agree(entries);
    ok = ok ? rules_.expect(entries.front().name, 0) : std::move(ok);
    if (!ok) {
      return fail(std::move(ok.error()));
    }
    return ProviderArchiveHashes{.size = size_,
                                 .zh = std::move(zh),
                                 .h1 = directory_hash(entries, layout),
                                 .archive_h1 = archive_hash(entries),
                                 .is_plain = layout.is_plain,
                                 .programs = layout.programs};
  }

 private:
  void keep_fault(Result<void> outcome) {
    if (!outcome) {
      fault_ = std::move(outcome.error());
    }
  }

  // If the length of the file is unknown, only the total size is checked until the file is complete.
  Result<std::uint64_t> packed_size() const { return length_.value_or(rules_.limits().total_bytes); }

  // Checks that each entry of the directory matches its local header and the received bytes.
  Result<void> agree(const std::vector<ZipEntry>& entries) {
    std::map<std::uint64_t, std::string_view> names;  // by offset
    for (const ZipEntry& entry : entries) {
      if (!names.emplace(entry.offset, entry.name).second) {
        return unsafe_entry(display_, entry.name, "shares its bytes with another entry");
      }
      if (entry.offset >= stream_.rest_begin()) {
        MODLOCK_TRY(stream_.read_rest(entry));
      }
      const auto found = stream_.records().find(entry.offset);
      if (found == stream_.records().end()) {
        return unsafe_entry(display_, entry.name, "is not at the offset given in the central directory");
      }
      const ZipRecord& record = found->second;
      if (record.name != entry.name || record.method != entry.method) {
        return unsafe_entry(display_, entry.name, "has another name or compression in its local header");
      }
      if (record.packed != entry.packed || record.size != entry.size) {
        return unsafe_entry(display_, entry.name, "has a different size in the central directory");
      }
      if (record.crc != entry.crc) {
        return bad_archive(display_,
                           fmt::format("\"{}\" has a different checksum in the central directory", entry.name));
      }
      if (entry.name.ends_with('/') && entry.size != 0) {
        return unsafe_entry(display_, entry.name, "is a directory with content");
      }
    }
    return expect_apart(names);
  }

  Result<void> expect_apart(const std::map<std::uint64_t, std::string_view>& names) const {
    std::uint64_t end = 0;
    for (const auto& [offset, name] : names) {
      if (offset < end) {
        return unsafe_entry(display_, name, "shares its bytes with another entry");
      }
      end = stream_.records().at(offset).end;
    }
    return {};
  }

  std::string directory_hash(const std::vector<ZipEntry>& entries, const ZipLayout& layout) const {
    std::map<std::string_view, const std::string*> files;  // the last entry of a name is kept
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!layout.paths[i].empty()) {
        files[layout.paths[i]] = &stream_.records().at(entries[i].offset).sha256;
      }
    }
    TreeSummary summary;
    for (const auto& [path, sha256] : files) {
      summary.files.push_back({std::string(path), *sha256});
    }
    return h1_of(std::move(summary));
  }

  std::string archive_hash(const std::vector<ZipEntry>& entries) const {
    std::map<std::string_view, std::string_view> contents;  // the last entry of a name is kept
    for (const ZipEntry& entry : entries) {
      contents[entry.name] = entry.name.ends_with('/') ? std::string_view(kNothing)
                                                       : std::string_view(stream_.records().at(entry.offset).sha256);
    }
    TreeSummary summary;
    for (const ZipEntry& entry : entries) {
      summary.files.push_back({entry.name, std::string(contents.at(entry.name))});
    }
    return h1_of(std::move(summary));
  }

  std::string display_;
  std::optional<std::uint64_t> length_;
  unpack::Rules rules_;
  Spool rest_;
  ZipStream stream_;
  Sha256 whole_;
  std::uint64_t size_ = 0;
  std::optional<Error> fault_;
};

ProviderArchive::ProviderArchive(std::string display, std::filesystem::path temporary,
                                 std::optional<std::uint64_t> length, const UnpackLimits& limits)
    : state_(std::make_unique<State>(std::move(display), std::move(temporary), length, limits)) {}
ProviderArchive::~ProviderArchive() = default;

void ProviderArchive::write(std::string_view bytes) {
  state_->write(bytes);
}

Result<ProviderArchiveHashes> ProviderArchive::finish(std::string_view expected) {
  return state_->finish(expected);
}

Result<ProviderArchiveHashes> hash_provider_archive(const std::filesystem::path& archive, std::string_view display,
                                                    const std::filesystem::path& temporary, const Context& context,
                                                    std::string_view expected) {
  std::ifstream file(archive, std::ios::binary);
  std::error_code error;
  const std::uint64_t length = std::filesystem::file_size(archive, error);
  if (!file || error) {
    return system_failure("read", archive, error ? error.value() : errno);
  }
  ProviderArchive hashing(std::string(display), temporary, length);
  std::vector<char> piece(kUnpackPiece);
  while (file) {
    MODLOCK_TRY(context.check());
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hashing.write({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) {
    return system_failure("read", archive, errno);
  }
  return hashing.finish(expected);
}

}  // namespace modlock
