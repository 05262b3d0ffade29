#include "backends/package/spool.h"

#include <algorithm>
#include <cerrno>

#include "backends/base/digest.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

constexpr std::size_t kInMemory = std::size_t{1} << 20U;

}  // namespace

Spool::~Spool() {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
}

Result<void> Spool::open() {
  if (auto ok = make_directories(directory_); !ok) {
    return ok;
  }
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
    if (auto ok = open(); !ok) {
      return ok;
    }
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

}  // namespace modlock
