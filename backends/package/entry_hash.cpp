#include "backends/package/entry_hash.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace modlock {

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
  if (auto ok = growth_(content.size()); !ok) {
    return ok;
  }
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
    // zlib only reads what it is given.
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

}  // namespace modlock
