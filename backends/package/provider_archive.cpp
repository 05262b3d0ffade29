#include "backends/package/provider_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <unordered_map>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/zip_reader.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

using unpack::bad_archive;
using unpack::unsafe_archive;
using unpack::unsafe_entry;

constexpr std::size_t kLongestName = 255;
constexpr std::string_view kProgramPrefix = "terraform-provider-";

// Describes the problem with a name; empty if there is none.
std::string_view fault_of(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) {
    return "has a NUL in its name";
  }
  if (name.find('\n') != std::string_view::npos) {
    return "has a line ending in its name";
  }
  if (has_dot_dot(name)) {
    return "points outside it with \"..\"";
  }
  const auto parts = split(name, '/');
  const bool is_long = std::ranges::any_of(parts, [](auto part) { return part.size() > kLongestName; });
  return is_long ? "has a name longer than 255 bytes" : "";
}

constexpr std::uint64_t kLongestDirectory = std::uint64_t{16} << 20U;
// The SHA-256 of the empty text, which is that of directories.
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string h1_of(TreeSummary summary) {
  std::ranges::sort(summary.files, {}, &FileDigest::name);
  return summary.h1();
}

constexpr std::size_t kLocalHeaderSize = 30;

// Hashes the entries of a zip file as the clients read them: by its central directory. A local header must have the
// same name and compression, because no hash says which of the two applies.
class ZipHasher {
 public:
  ZipHasher(const std::filesystem::path& file, std::uint64_t size, std::string_view display, const UnpackLimits& limits)
      : zip_(file, size, display),
        size_(size),
        rules_(
            display, [size](std::uint64_t) { return size; }, limits) {}

  Result<ProviderArchiveHashes> hash(const Context& context) {
    MODLOCK_TRY(const auto entries, zip_.entries({.bytes = kLongestDirectory}));
    MODLOCK_TRY(const auto layout, zip_layout(entries, rules_.limits(), rules_.display()));
    auto by_offset = mapped(entries, [](const ZipEntry& entry) { return std::pair(entry.offset, &entry); });
    std::ranges::sort(by_offset);  // of two at one place, the second one is named
    // Before anything is inflated: entries in each other would be read again and again.
    std::uint64_t end = 0;
    for (const auto& [offset, entry] : by_offset) {
      if (offset < end) {
        return unsafe_entry(rules_.display(), entry->name, "shares its bytes with another entry");
      }
      const std::uint64_t header = kLocalHeaderSize + entry->name.size();
      if (offset > size_ || header > size_ - offset || entry->packed > size_ - offset - header) {
        return unsafe_entry(rules_.display(), entry->name, "is not at the offset given in the central directory");
      }
      end = offset + header + entry->packed;
    }
    for (const ZipEntry& entry : entries) {
      MODLOCK_TRY(contents_[&entry], hash_entry(entry, context));
    }
    return ProviderArchiveHashes{.size = size_,
                                 .h1 = directory_hash(entries, layout),
                                 .archive_h1 = archive_hash(entries),
                                 .is_plain = layout.is_plain,
                                 .programs = layout.programs};
  }

 private:
  // Returns the SHA-256 of the content as 64 hexadecimal digits.
  Result<std::string> hash_entry(const ZipEntry& entry, const Context& context) {
    MODLOCK_TRY(const auto header, zip_.header(entry));
    if (header.name != entry.name || header.method != entry.method) {
      return unsafe_entry(rules_.display(), entry.name, "has another name or compression in its local header");
    }
    if ((entry.flags & kZipEncrypted) != 0 || (entry.method != kZipStored && entry.method != kZipDeflated)) {
      return bad_archive(rules_.display(),
                         fmt::format("\"{}\" is encrypted or compressed in a way that no client supports",
                                     to_valid_utf8(escape_controls(entry.name.substr(0, 256)))));
    }
    if (entry.name.ends_with('/') && entry.size != 0) {
      return unsafe_entry(rules_.display(), entry.name, "is a directory with content");
    }
    Sha256 sha;
    MODLOCK_TRY(zip_.unpack(entry, header.content, context, [&](std::string_view content) -> Result<void> {
      MODLOCK_TRY(rules_.grow(entry.name, content.size()));
      sha.update(content);
      return {};
    }));
    return hex(sha.finish());
  }

  std::string directory_hash(const std::vector<ZipEntry>& entries, const ZipLayout& layout) const {
    std::map<std::string_view, const std::string*> files;  // the last entry of a name is kept
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!layout.paths[i].empty()) {
        files[layout.paths[i]] = &contents_.at(&entries[i]);
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
      contents[entry.name] =
          entry.name.ends_with('/') ? std::string_view(kNothing) : std::string_view(contents_.at(&entry));
    }
    TreeSummary summary;
    for (const ZipEntry& entry : entries) {
      summary.files.push_back({entry.name, std::string(contents.at(entry.name))});
    }
    return h1_of(std::move(summary));
  }

  ZipReader zip_;
  std::uint64_t size_;
  unpack::Rules rules_;
  std::map<const ZipEntry*, std::string> contents_;
};

Result<ProviderArchiveHashes> hash_file(const std::filesystem::path& file, std::uint64_t size,
                                        const std::string& sha256, std::string_view display, std::string_view expected,
                                        const UnpackLimits& limits, const Context& context) {
  const std::string zh = "zh:" + sha256;
  if (!expected.empty() && zh != expected) {
    return fail(Code::hash_mismatch,
                fmt::format("\"{}\": archive has incorrect checksum {} (expected {})", display, zh, expected),
                "do not use it: the archive was changed, or the registry reports a wrong checksum");
  }
  MODLOCK_TRY(auto hashes, ZipHasher(file, size, display, limits).hash(context));
  hashes.zh = zh;
  return hashes;
}

}  // namespace

Result<ZipLayout> zip_layout(const std::vector<ZipEntry>& entries, const UnpackLimits& limits,
                             std::string_view display) {
  if (entries.size() > limits.entries) {
    return unsafe_archive(display, fmt::format("contains {} entries; {} are allowed", entries.size(), limits.entries));
  }
  ZipLayout found;
  std::unordered_map<std::string, bool> known;  // whether a path is a directory
  std::uint64_t name_bytes = 0;
  const auto remember = [&](std::string_view name, const std::string& path, bool is_directory) -> Result<void> {
    const auto [at, is_new] = known.emplace(path, is_directory);
    if (!is_new) {
      return at->second == is_directory ? Result<void>()
                                        : unsafe_entry(display, name, "is, or is below, both a directory and a file");
    }
    name_bytes += path.size();
    return known.size() <= limits.entries && name_bytes <= limits.name_bytes
               ? Result<void>()
               : unsafe_entry(display, name, "makes it exceed the number of files and directories allowed");
  };
  for (const ZipEntry& entry : entries) {
    if (const std::string_view fault = fault_of(entry.name); !fault.empty()) {
      return unsafe_entry(display, entry.name, fault);
    }
    std::string path;
    for (const std::string_view part : split(entry.name, '/')) {
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
      return unsafe_entry(display, entry.name, "is a file without a name");
    }
    found.is_plain = found.is_plain && !entry.is_directory && path == entry.name && !known.contains(path);
    if (!path.empty()) {
      MODLOCK_TRY(remember(entry.name, path, entry.is_directory));
    }
    if (!entry.is_directory && path.find('/') == std::string::npos && path.starts_with(kProgramPrefix)) {
      found.programs.push_back(path);
    }
    found.paths.push_back(entry.is_directory ? std::string() : std::move(path));
  }
  sort_unique(found.programs);
  return found;
}

Result<void> expect_provider_program(const std::vector<std::string>& programs, std::string_view type,
                                     std::string_view display) {
  const std::string prefix = fmt::format("{}{}", kProgramPrefix, type);
  const bool any = std::ranges::any_of(programs, [&](std::string_view name) {
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

Result<void> FileSink::begin(std::optional<std::uint64_t> /*length*/) {
  MODLOCK_TRY(make_directories(path_.parent_path()));
  file_ = std::ofstream(path_, std::ios::binary | std::ios::trunc);
  sha_ = Sha256();
  size_ = 0;
  return file_ ? Result<void>() : system_failure("write", path_, errno);
}

Result<void> FileSink::write(std::string_view bytes) {
  sha_.update(bytes);
  size_ += bytes.size();
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file_ ? Result<void>() : system_failure("write", path_, errno);
}

Result<std::string> FileSink::close() {
  file_.close();
  return file_ ? Result<std::string>(hex(sha_.finish())) : system_failure("write", path_, errno);
}

ArrivingArchive::ArrivingArchive(std::string display, const std::filesystem::path& temporary,
                                 const UnpackLimits& limits)
    : FileSink(temporary / random_hex(16)), display_(std::move(display)), limits_(limits) {}

ArrivingArchive::~ArrivingArchive() {
  std::error_code ignored;
  std::filesystem::remove(path(), ignored);
}

Result<std::string> ArrivingArchive::text() {
  MODLOCK_TRY(close());
  return read_file(path());
}

Result<ProviderArchiveHashes> ArrivingArchive::finish(const Context& context, std::string_view expected) {
  MODLOCK_TRY(const auto sha256, close());
  return hash_file(path(), size(), sha256, display_, expected, limits_, context);
}

Result<ProviderArchiveHashes> hash_provider_archive(const std::filesystem::path& archive, std::string_view display,
                                                    const Context& context, std::string_view expected) {
  MODLOCK_TRY(context.check());
  MODLOCK_TRY(const auto sha256, sha256_file(archive));
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(archive, error);
  return error ? system_failure("read", archive, error.value())
               : hash_file(archive, size, hex(sha256), display, expected, {}, context);
}

}  // namespace modlock
