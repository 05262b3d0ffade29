#include "backends/remote/file_sink.h"

#include <cerrno>

#include "backends/base/files.h"

namespace modlock::remote {

Result<void> FileSink::begin(std::optional<std::uint64_t> /*length*/) {
  file_ = std::ofstream(path_, std::ios::binary | std::ios::trunc);
  sha_ = Sha256();
  size_ = 0;
  return file_ ? Result<void>() : Result<void>(system_failure("write", path_, errno));
}

Result<void> FileSink::write(std::string_view bytes) {
  sha_.update(bytes);
  size_ += bytes.size();
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file_ ? Result<void>() : Result<void>(system_failure("write", path_, errno));
}

Result<Blob> FileSink::finish() {
  file_.close();
  if (!file_) {
    return system_failure("write", path_, errno);
  }
  const auto digest = sha_.finish();
  return Blob{"sha256:" + hex(digest.data(), digest.size()), size_};
}

}  // namespace modlock::remote
