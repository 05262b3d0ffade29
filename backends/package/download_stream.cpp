#include "backends/package/download_stream.h"

#include <algorithm>
#include <cerrno>

#include "backends/base/files.h"
#include "protocol/base/result.h"

namespace modlock::unpack {
namespace {

constexpr std::size_t kPiece = std::size_t{128} << 10U;

}  // namespace

Result<std::string_view> DownloadStream::next() {
  MODLOCK_TRY(const auto there, source_.wait_for(at_ + 1));
  if (!file_.is_open()) {
    piece_.resize(kPiece);
    file_.open(source_.path(), std::ios::binary);
  }
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(there - at_, piece_.size()));
  file_.read(piece_.data(), static_cast<std::streamsize>(size));
  if (!file_) {
    return system_failure("read", source_.path(), errno == 0 ? EIO : errno);
  }
  at_ += size;
  return std::string_view(piece_.data(), size);
}

}  // namespace modlock::unpack
