#include "backends/package/zip_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/files.h"
#include "backends/package/unpack_rules.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

using unpack::bad_archive;
using unpack::unsafe_entry;

constexpr std::size_t kPiece = std::size_t{256} << 10U;
// The largest file that is unpacked in memory.
constexpr std::uint64_t kSmall = std::uint64_t{4} << 20U;
constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr std::size_t kLocalHeaderSize = 30;

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
  std::vector<char> piece_ = std::vector<char>(kPiece);
};

}  // namespace

Result<std::vector<ZipEntry>> ZipReader::entries(const ZipDirectoryLimits& limits) {
  return read_zip_directory(
      "", size_, [this](std::uint64_t at, std::uint64_t size) { return read(at, size); }, limits, display_);
}

Result<ZipReader::Header> ZipReader::header(const ZipEntry& entry) {
  MODLOCK_TRY(auto bytes, read(entry.offset, kLocalHeaderSize + entry.name.size()));
  if (bytes.size() < kLocalHeaderSize || !bytes.starts_with(kLocalHeader)) {
    return unsafe_entry(display_, entry.name, "is not at the offset given in the central directory");
  }
  const std::uint64_t name_size = zip_number(bytes, 26, 2);
  const std::uint64_t at = entry.offset + kLocalHeaderSize + name_size + zip_number(bytes, 28, 2);
  Header header{.method = static_cast<std::uint16_t>(zip_number(bytes, 8, 2)), .content = at};
  if (at > size_ || entry.packed > size_ - at) {
    return unsafe_entry(display_, entry.name, "has a different size in the central directory");
  }
  header.name = name_size == entry.name.size() ? bytes.substr(kLocalHeaderSize) : "";
  return header;
}

Result<void> ZipReader::unpack(const ZipEntry& entry, std::uint64_t at, const Context& context,
                               const std::function<Result<void>(std::string_view)>& add) {
  if (const auto bytes = unpack_whole(entry, at)) {
    for (std::size_t done = 0; done < bytes->size(); done += kPiece) {
      MODLOCK_TRY(context.check());
      MODLOCK_TRY(add(bytes->substr(done, kPiece)));
    }
    return {};
  }
  const std::string shown = to_valid_utf8(escape_controls(entry.name.substr(0, 256)));
  std::optional<Inflater> inflater;
  if (entry.method == kZipDeflated) {
    inflater.emplace();
  }
  std::uint64_t size = 0;
  unsigned long crc = 0;
  const auto count = [&](std::string_view content) {
    size += content.size();
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(content.data()), content.size());
    return add(content);
  };
  for (const std::uint64_t end = at + entry.packed; at < end;) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(const auto bytes, read(at, std::min<std::uint64_t>(kPiece, end - at)));
    auto ok = bytes.empty() ? fail(Code::bad_response, "") : inflater ? inflater->take(bytes, count) : count(bytes);
    if (!ok) {
      return ok.error().message.empty() ? bad_archive(display_, fmt::format("\"{}\" is damaged", shown))
                                        : fail(std::move(ok.error()));
    }
    at += bytes.size();
  }
  if (size != entry.size || (inflater && !inflater->is_at_end())) {
    return unsafe_entry(display_, entry.name, "has a different size in the central directory");
  }
  if (crc != entry.crc) {
    return bad_archive(display_, fmt::format("\"{}\" has a different checksum in the central directory", shown));
  }
  return {};
}

Result<void> ZipReader::fill(std::uint64_t at, char* to, std::size_t size) {
  file_.seekg(static_cast<std::streamoff>(at));
  file_.read(to, static_cast<std::streamsize>(size));
  return file_ ? Result<void>() : system_failure("read", path_, errno == 0 ? EIO : errno);
}

// Returns fewer bytes at the end.
Result<std::string> ZipReader::read(std::uint64_t at, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(std::min(size, size_ - std::min(at, size_))), '\0');
  MODLOCK_TRY(fill(at, bytes.data(), bytes.size()));
  return bytes;
}

// Returns the content of a deflated entry that is small and intact.
std::optional<std::string_view> ZipReader::unpack_whole(const ZipEntry& entry, std::uint64_t at) {
  if (entry.method != kZipDeflated || std::max(entry.size, entry.packed) > kSmall) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(entry.packed);
  char* const packed = packed_.reserve(std::max<std::size_t>(size, 1));
  return packed != nullptr && fill(at, packed, size)
             ? inflater_.inflate({packed, size}, static_cast<std::size_t>(entry.size), entry.crc)
             : std::nullopt;
}

}  // namespace modlock
