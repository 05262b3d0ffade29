#include "backends/archive/archive_file.h"

#include <cerrno>
#include <system_error>

#include "backends/files/system_error.h"

namespace modlock::archive {

ArchiveFile::~ArchiveFile() {
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

Result<void> ArchiveFile::written() const {
  return file_.fail() ? system_failure("write", path_, errno) : Result<void>();
}

Result<void> ArchiveFile::begin(std::optional<std::uint64_t> /*length*/) {
  sha256_ = Sha256();
  if (also_ && *also_ != Hash::sha256) {
    other_.emplace(*also_);
  }
  file_ = std::ofstream(path_, std::ios::binary | std::ios::trunc);
  return written();
}

Result<void> ArchiveFile::write(std::string_view bytes) {
  sha256_.update(bytes);
  if (other_) {
    other_->update(bytes);
  }
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return written();
}

Result<ArchiveFile::Digests> ArchiveFile::finish() {
  file_.close();
  if (auto ok = written(); !ok) {
    return fail(std::move(ok.error()));
  }
  const auto sha256 = sha256_.finish();
  Digests digests{.sha256 = hex(sha256.data(), sha256.size())};
  if (other_) {
    const auto other = other_->finish();
    digests.also = Checksum{*also_, hex(other.data(), other.size())};
  } else if (also_) {
    digests.also = Checksum{Hash::sha256, digests.sha256};
  }
  return digests;
}

}  // namespace modlock::archive
