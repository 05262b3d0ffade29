#include "backends/package/zip_stream.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

#include "backends/address/source_text.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "protocol/base/result.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

constexpr std::size_t kInMemory = std::size_t{1} << 20U;

constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr std::string_view kDescriptor = "PK\x07\x08";
constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kLongestDescriptor = 24;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kHasDescriptor = 8;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::size_t kStreamPiece = std::size_t{64} << 10U;

std::string hex_of(const std::array<std::uint8_t, 32>& digest) {
  return hex(digest.data(), digest.size());
}

std::size_t variable_size(std::string_view header) {
  return static_cast<std::size_t>(zip_number(header, 26, 2) + zip_number(header, 28, 2));
}

std::string name_in(std::string_view header) {
  return std::string(header.substr(kLocalHeaderSize, static_cast<std::size_t>(zip_number(header, 26, 2))));
}

// Returns the size of a descriptor that matches the received content: its mark is optional, and its sizes have 32 or 64
// bits. 0: there is none. If two match, the one before another record is selected.
std::size_t descriptor_size(std::string_view bytes, const EntryHash& content) {
  std::size_t fitting = 0;
  for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
    for (const std::size_t mark : {kDescriptor.size(), std::size_t{0}}) {
      const std::size_t size = mark + 4 + 2 * width;
      const bool fits = (mark == 0 || bytes.starts_with(kDescriptor)) && zip_number(bytes, mark, 4) == content.crc() &&
                        zip_number(bytes, mark + 4, width) == content.packed() &&
                        zip_number(bytes, mark + 4 + width, width) == content.size();
      if (fits && bytes.substr(size, 2) == kLocalHeader.substr(0, 2)) {
        return size;
      }
      fitting = fits && fitting == 0 ? size : fitting;
    }
  }
  return fitting;
}

}  // namespace

struct EntryHash::Inflater {
  Inflater() {
    // Negative: without the header and the checksum of zlib, which a zip file does not have.
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream = {};
  std::vector<char> piece = std::vector<char>(std::size_t{64} << 10U);
};

EntryHash::EntryHash(Method method, std::uint64_t packed, Growth growth)
    : growth_(std::move(growth)),
      inflater_(method == Method::deflated ? std::make_unique<Inflater>() : nullptr),
      expected_(packed),
      is_done_(method == Method::stored && packed == 0) {}
EntryHash::~EntryHash() = default;
EntryHash::EntryHash(EntryHash&&) noexcept = default;
EntryHash& EntryHash::operator=(EntryHash&&) noexcept = default;

Result<void> EntryHash::add(std::string_view content) {
  MODLOCK_TRY(growth_(content.size()));
  size_ += content.size();
  crc_ = static_cast<std::uint32_t>(::crc32_z(crc_, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  hash_.update(content);
  return {};
}

Result<void> EntryHash::take(std::string_view& bytes) {
  if (inflater_) {
    return inflate(bytes);
  }
  const auto mine = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), expected_ - packed_));
  packed_ += mine;
  is_done_ = packed_ == expected_;
  const std::string_view content = bytes.substr(0, mine);
  bytes.remove_prefix(mine);
  return add(content);
}

Result<void> EntryHash::inflate(std::string_view& bytes) {
  z_stream& stream = inflater_->stream;
  while (!is_done_ && !bytes.empty()) {
    const auto given = static_cast<uInt>(std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
    // zlib does not modify its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(inflater_->piece.data());
    stream.avail_out = static_cast<uInt>(inflater_->piece.size());
    const int outcome = ::inflate(&stream, Z_NO_FLUSH);
    if (outcome != Z_OK && outcome != Z_STREAM_END) {
      return fail(Code::bad_response, "");
    }
    packed_ += given - stream.avail_in;
    bytes.remove_prefix(given - stream.avail_in);
    if (auto ok = add({inflater_->piece.data(), inflater_->piece.size() - stream.avail_out}); !ok) {
      return ok;
    }
    is_done_ = outcome == Z_STREAM_END;
  }
  return {};
}

Spool::~Spool() {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
}

Result<void> Spool::open() {
  MODLOCK_TRY(make_directories(directory_));
  path_ = directory_ / random_hex(16);
  file_.open(path_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
  file_.write(memory_.data(), static_cast<std::streamsize>(memory_.size()));
  memory_ = {};
  return file_ ? Result<void>() : system_failure("write", path_, errno);
}

Result<void> Spool::write(std::string_view bytes) {
  size_ += bytes.size();
  if (path_.empty() && size_ <= kInMemory) {
    memory_.append(bytes);
    return {};
  }
  if (path_.empty()) {
    MODLOCK_TRY(open());
  }
  file_.seekp(0, std::ios::end);
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file_ ? Result<void>() : system_failure("write", path_, errno);
}

Result<std::string> Spool::read(std::uint64_t at, std::size_t size) {
  const std::uint64_t rest = size_ - std::min(at, size_);
  const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(size, rest));
  if (path_.empty()) {
    return memory_.substr(static_cast<std::size_t>(size_ - rest), there);
  }
  std::string bytes(there, '\0');
  file_.seekg(static_cast<std::streamoff>(size_ - rest));
  file_.read(bytes.data(), static_cast<std::streamsize>(there));
  if (!file_) {
    return system_failure("read", path_, errno);
  }
  return bytes;
}

Result<void> ZipStream::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (step_ == Step::rest) {
      return rest_.write(bytes);
    }
    MODLOCK_TRY(step_ == Step::content ? take_content(bytes) : buffer(bytes));
  }
  return {};
}

Result<void> ZipStream::finish() {
  if (step_ == Step::content) {
    return unpack::bad_archive(rules_.display(), "it is truncated");
  }
  return step_ == Step::rest ? Result<void>() : keep_rest();
}

std::size_t ZipStream::wanted() const {
  if (step_ == Step::descriptor) {
    return kLongestDescriptor + 2;
  }
  const bool is_whole = buffer_.size() >= kLocalHeaderSize && buffer_.starts_with(kLocalHeader);
  return kLocalHeaderSize + (is_whole ? variable_size(buffer_) : 0);
}

Result<void> ZipStream::buffer(std::string_view& bytes) {
  const std::size_t taken = std::min(wanted() - buffer_.size(), bytes.size());
  buffer_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  // The bytes after a descriptor may already be a complete header.
  if (buffer_.size() < wanted()) {
    return {};
  }
  return step_ == Step::header ? begin_entry() : end_descriptor();
}

Result<void> ZipStream::begin_entry() {
  const std::uint64_t flags = zip_number(buffer_, 6, 2);
  const auto method = static_cast<std::uint16_t>(zip_number(buffer_, 8, 2));
  const std::uint64_t packed = zip_number(buffer_, 18, 4);
  has_descriptor_ = (flags & kHasDescriptor) != 0;
  const bool tells = buffer_.starts_with(kLocalHeader) && (flags & kEncrypted) == 0 &&
                     (method == kDeflated || (method == kStored && !has_descriptor_ && packed != 0xFFFFFFFF));
  if (!tells) {
    return keep_rest();
  }
  record_ = {.name = name_in(buffer_), .method = method};
  name_bytes_ += record_.name.size();
  if (records_.size() >= rules_.limits().entries || name_bytes_ > rules_.limits().name_bytes) {
    return unpack::unsafe_entry(rules_.display(), record_.name, "makes it exceed the entries and names allowed");
  }
  header_at_ = at_;
  at_ += buffer_.size();
  buffer_.clear();
  content_ = start(method, packed, record_.name);
  step_ = Step::content;
  return content_->is_done() ? end_content() : Result<void>();
}

EntryHash ZipStream::start(std::uint16_t method, std::uint64_t packed, const std::string& name) {
  return EntryHash(method == kStored ? EntryHash::Method::stored : EntryHash::Method::deflated, packed,
                   [this, name](std::uint64_t bytes) { return rules_.grow(name, bytes); });
}

tl::unexpected<Error> ZipStream::explain(Error error, std::string_view name) const {
  if (!error.message.empty()) {
    return fail(std::move(error));
  }
  return unpack::bad_archive(rules_.display(),
                             fmt::format("\"{}\" is damaged", to_valid_utf8(escape_controls(name.substr(0, 256)))));
}

Result<void> ZipStream::take_content(std::string_view& bytes) {
  const std::size_t before = bytes.size();
  if (auto ok = content_->take(bytes); !ok) {
    return explain(std::move(ok.error()), record_.name);
  }
  at_ += before - bytes.size();
  return content_->is_done() ? end_content() : Result<void>();
}

Result<void> ZipStream::end_content() {
  record_.packed = content_->packed();
  record_.size = content_->size();
  record_.crc = content_->crc();
  record_.end = at_;
  record_.sha256 = hex_of(content_->digest());
  records_.emplace(header_at_, std::move(record_));
  step_ = has_descriptor_ ? Step::descriptor : Step::header;
  return {};
}

Result<void> ZipStream::end_descriptor() {
  const std::size_t size = descriptor_size(buffer_, *content_);
  if (size == 0) {
    return keep_rest();
  }
  at_ += size;
  buffer_.erase(0, size);
  step_ = Step::header;
  return {};
}

Result<void> ZipStream::keep_rest() {
  step_ = Step::rest;
  return rest_.write(buffer_);
}

Result<void> ZipStream::read_rest(const ZipEntry& entry) {
  const std::uint64_t begin = entry.offset - rest_begin();
  MODLOCK_TRY(const auto header, rest_.read(begin, kLocalHeaderSize + entry.name.size()));
  if (header.size() < kLocalHeaderSize || !header.starts_with(kLocalHeader) ||
      zip_number(header, 26, 2) != entry.name.size() || name_in(header) != entry.name) {
    return unpack::unsafe_entry(rules_.display(), entry.name, "is not at the offset given in the central directory");
  }
  if ((entry.flags & kEncrypted) != 0 || (entry.method != kStored && entry.method != kDeflated)) {
    return unpack::bad_archive(rules_.display(),
                               fmt::format("\"{}\" is encrypted or compressed in a way that no client supports",
                                           to_valid_utf8(escape_controls(entry.name))));
  }
  const std::uint64_t first = begin + kLocalHeaderSize + variable_size(header);
  EntryHash content = start(entry.method, entry.packed, entry.name);
  for (std::uint64_t done = 0; done < entry.packed && !content.is_done();) {
    MODLOCK_TRY(
        const auto piece,
        rest_.read(first + done, static_cast<std::size_t>(std::min<std::uint64_t>(kStreamPiece, entry.packed - done))));
    std::string_view bytes = piece;
    if (auto ok = bytes.empty() ? fail(Code::bad_response, "") : content.take(bytes); !ok) {
      return explain(std::move(ok.error()), entry.name);
    }
    done = content.packed();
  }
  if (!content.is_done()) {
    return explain({.code = Code::bad_response}, entry.name);
  }
  records_.insert_or_assign(entry.offset, ZipRecord{.name = entry.name,
                                                    .method = static_cast<std::uint16_t>(zip_number(header, 8, 2)),
                                                    .packed = content.packed(),
                                                    .size = content.size(),
                                                    .crc = content.crc(),
                                                    .end = rest_begin() + first + content.packed(),
                                                    .sha256 = hex_of(content.digest())});
  return {};
}

}  // namespace modlock
