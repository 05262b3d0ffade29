#include "backends/package/unpack_xz.h"

#include <fmt/format.h>
#include <lzma.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backends/package/unpack_rules.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;
constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20U;

class XzBytes final : public ByteSource {
 public:
  XzBytes(std::unique_ptr<ByteSource> packed, std::string_view display)
      : packed_(std::move(packed)),
        display_(display),
        unpacked_(kPiece),
        state_(lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED)) {}
  ~XzBytes() override { lzma_end(&stream_); }
  XzBytes(const XzBytes&) = delete;
  XzBytes& operator=(const XzBytes&) = delete;

  Result<std::string_view> next() override {
    stream_.next_out = unpacked_.data();
    stream_.avail_out = unpacked_.size();
    while (state_ == LZMA_OK && stream_.avail_out == unpacked_.size()) {
      if (stream_.avail_in == 0 && !at_end_) {
        MODLOCK_TRY(const auto piece, packed_->next());
        at_end_ = piece.empty();
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(piece.data());
        stream_.avail_in = piece.size();
      }
      state_ = lzma_code(&stream_, at_end_ ? LZMA_FINISH : LZMA_RUN);
    }
    MODLOCK_TRY(judge());
    return std::string_view(reinterpret_cast<const char*>(unpacked_.data()), unpacked_.size() - stream_.avail_out);
  }

 private:
  Result<void> judge() const {
    switch (state_) {
      case LZMA_OK:
      case LZMA_STREAM_END:
        return {};
      case LZMA_FORMAT_ERROR:
        return bad_archive(display_, "it is no tar compressed with xz");
      case LZMA_MEMLIMIT_ERROR:
        return unsafe_archive(display_, "takes more than the 128 MiB of memory allowed to unpack");
      case LZMA_MEM_ERROR:
        return fail(Code::io_error, fmt::format("\"{}\" cannot be read: there is not enough memory", display_));
      default:
        return bad_archive(display_, "it is damaged or truncated");
    }
  }

  std::unique_ptr<ByteSource> packed_;
  std::string display_;
  std::vector<std::uint8_t> unpacked_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool at_end_ = false;  // of what is packed
  lzma_ret state_;
};

}  // namespace

std::unique_ptr<ByteSource> xz_bytes(std::unique_ptr<ByteSource> packed, std::string_view display) {
  return std::make_unique<XzBytes>(std::move(packed), display);
}

}  // namespace modlock::unpack
