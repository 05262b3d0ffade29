#include "backends/package/provider_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <new>
#include <unordered_map>

#include "backends/address/source_text.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/zip_directory.h"
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

class Layout {
 public:
  Layout(const UnpackLimits& limits, std::string_view display) : limits_(limits), display_(display) {}

  Result<void> add(const ZipEntry& entry) {
    if (const std::string_view fault = fault_of(entry.name); !fault.empty()) {
      return unsafe_entry(display_, entry.name, fault);
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
    std::ranges::sort(found_.programs);
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

constexpr std::size_t kUnpackPiece = std::size_t{256} << 10U;
constexpr std::uint64_t kLongestDirectory = std::uint64_t{16} << 20U;
// The SHA-256 of the empty text, which is that of directories.
constexpr const char* kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string h1_of(TreeSummary summary) {
  std::ranges::sort(summary.files, {}, &FileDigest::name);
  return summary.h1();
}

constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;

// Inflates what follows in a stream of zlib.
class Inflater {
 public:
  Inflater() {
    // Negative: without the header and the checksum of zlib, which a zip file does not have.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Passes the content of `bytes` to `add`. Errors: BAD_RESPONSE without a message (damaged); those of `add`.
  template <typename Add>
  Result<void> take(std::string_view bytes, const Add& add) {
    // zlib does not modify its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    for (bool is_full = true; !is_done_ && (stream_.avail_in > 0 || is_full);) {
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = static_cast<uInt>(piece_.size());
      const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
      if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) {
        return fail(Code::bad_response, "");
      }
      is_full = stream_.avail_out == 0;
      is_done_ = outcome == Z_STREAM_END;
      MODLOCK_TRY(add({piece_.data(), piece_.size() - stream_.avail_out}));
    }
    return {};
  }
  // Whether the stream ended with the last byte that was taken.
  bool is_at_end() const { return is_done_ && stream_.avail_in == 0; }

 private:
  z_stream stream_ = {};
  bool is_done_ = false;
  std::vector<char> piece_ = std::vector<char>(kUnpackPiece);
};

// Hashes the entries of a zip file as the clients read them: by its central directory. A local header must have the
// same name and compression, because no hash says which of the two applies.
class ZipHasher {
 public:
  ZipHasher(const std::filesystem::path& file, std::uint64_t size, std::string_view display, const UnpackLimits& limits)
      : file_(file, std::ios::binary),
        path_(file),
        size_(size),
        rules_(
            display, [size](std::uint64_t) { return size; }, limits) {}

  Result<ProviderArchiveHashes> hash(const Context& context) {
    const auto read_tail = [this](std::size_t wanted) {
      const std::uint64_t known = std::min<std::uint64_t>(wanted, size_);
      return read(size_ - known, static_cast<std::size_t>(known));
    };
    MODLOCK_TRY(const auto entries,
                read_zip_directory(read_tail, size_, {.bytes = kLongestDirectory}, rules_.display()));
    MODLOCK_TRY(const auto layout, zip_layout(entries, rules_.limits(), rules_.display()));
    std::map<std::uint64_t, const ZipEntry*> by_offset;
    for (const ZipEntry& entry : entries) {
      if (!by_offset.emplace(entry.offset, &entry).second) {
        return unsafe_entry(rules_.display(), entry.name, "shares its bytes with another entry");
      }
    }
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
  // Returns fewer bytes at the end. Errors: IO_ERROR.
  Result<std::string> read(std::uint64_t at, std::size_t size) {
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size, size_ - std::min(at, size_))), '\0');
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file_ ? Result<std::string>(std::move(bytes)) : system_failure("read", path_, errno == 0 ? EIO : errno);
  }

  // Returns the SHA-256 of the content as 64 hexadecimal digits.
  Result<std::string> hash_entry(const ZipEntry& entry, const Context& context) {
    const std::string shown = to_valid_utf8(escape_controls(entry.name.substr(0, 256)));
    MODLOCK_TRY(const auto header, read(entry.offset, kLocalHeaderSize + entry.name.size()));
    if (header.size() < kLocalHeaderSize || !header.starts_with(kLocalHeader)) {
      return unsafe_entry(rules_.display(), entry.name, "is not at the offset given in the central directory");
    }
    const std::uint64_t name_size = zip_number(header, 26, 2);
    if (header.substr(kLocalHeaderSize) != entry.name || name_size != entry.name.size() ||
        zip_number(header, 8, 2) != entry.method) {
      return unsafe_entry(rules_.display(), entry.name, "has another name or compression in its local header");
    }
    if ((entry.flags & kEncrypted) != 0 || (entry.method != kStored && entry.method != kDeflated)) {
      return bad_archive(rules_.display(),
                         fmt::format("\"{}\" is encrypted or compressed in a way that no client supports", shown));
    }
    if (entry.name.ends_with('/') && entry.size != 0) {
      return unsafe_entry(rules_.display(), entry.name, "is a directory with content");
    }
    std::uint64_t at = entry.offset + kLocalHeaderSize + name_size + zip_number(header, 28, 2);
    if (at > size_ || entry.packed > size_ - at) {
      return unsafe_entry(rules_.display(), entry.name, "has a different size in the central directory");
    }
    const std::uint64_t end = at + entry.packed;
    std::optional<Inflater> inflater;
    if (entry.method == kDeflated) {
      inflater.emplace();
    }
    Sha256 sha;
    std::uint64_t size = 0;
    unsigned long crc = 0;
    const auto add = [&](std::string_view content) -> Result<void> {
      MODLOCK_TRY(rules_.grow(entry.name, content.size()));
      size += content.size();
      crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(content.data()), content.size());
      sha.update(content);
      return {};
    };
    while (at < end) {
      MODLOCK_TRY(context.check());
      MODLOCK_TRY(const auto bytes,
                  read(at, static_cast<std::size_t>(std::min<std::uint64_t>(kUnpackPiece, end - at))));
      auto ok = bytes.empty() ? fail(Code::bad_response, "") : inflater ? inflater->take(bytes, add) : add(bytes);
      if (!ok) {
        return ok.error().message.empty() ? bad_archive(rules_.display(), fmt::format("\"{}\" is damaged", shown))
                                          : fail(std::move(ok.error()));
      }
      at += bytes.size();
    }
    if (size != entry.size || (inflater && !inflater->is_at_end())) {
      return unsafe_entry(rules_.display(), entry.name, "has a different size in the central directory");
    }
    if (crc != entry.crc) {
      return bad_archive(rules_.display(),
                         fmt::format("\"{}\" has a different checksum in the central directory", shown));
    }
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

  std::ifstream file_;
  const std::filesystem::path& path_;
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
  Layout layout(limits, display);
  for (const ZipEntry& entry : entries) {
    MODLOCK_TRY(layout.add(entry));
  }
  return layout.result();
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
