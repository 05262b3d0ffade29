#include "backends/package/package_download.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "backends/base/files.h"
#include "protocol/base/result.h"
#include "protocol/base/system_reason.h"

namespace modlock {
namespace {

constexpr std::size_t kHeadSize = 12;

}  // namespace

PackageDownload::PackageDownload(const std::filesystem::path& parent, Archive archive, const Context& context)
    : archive_(std::move(archive)),
      knows_format_(archive_.format.has_value()),
      path_(parent / fmt::format("archive-{}", random_hex(8))),
      directory_(parent / fmt::format("tree-{}", random_hex(8))),
      context_(context),
      file_(std::make_unique<StreamedFile>(path_)) {}

PackageDownload::~PackageDownload() {
  give_up();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

Result<void> PackageDownload::begin(std::optional<std::uint64_t> /*length*/) {
  give_up();
  if (!knows_format_) {
    archive_.format.reset();
  }
  head_.clear();
  sha256_ = RunningHash(Hash::sha256);
  if (archive_.also) {
    also_.emplace(*archive_.also);
  }
  file_ = std::make_unique<StreamedFile>(path_);
  return file_->create();
}

Result<void> PackageDownload::write(std::string_view bytes) {
  sha256_.update(bytes);
  if (also_) {
    also_->update(bytes);
  }
  if (auto ok = file_->write(bytes); !ok || unpacking_.joinable()) {
    return ok;
  }
  if (!archive_.format && head_.size() < kHeadSize) {
    head_ += bytes.substr(0, kHeadSize - head_.size());
    archive_.format = head_.size() == kHeadSize ? archive_format_of_content(head_) : std::nullopt;
  }
  // A zip cannot be read before its end has arrived.
  if (!archive_.format || archive_.format == ArchiveFormat::zip) {
    return {};
  }
  auto made = make_directories(directory_);
  if (made) {
    unpacking_ = std::jthread([this] { unpacked_ = unpack_here(); });
  }
  return made;
}

Result<ArchiveDigests> PackageDownload::finish() {
  MODLOCK_TRY(file_->complete());
  if (!archive_.format) {
    archive_.format = archive_format_of_content(head_);
  }
  return ArchiveDigests{.sha256 = hex(sha256_.finish()), .also = also_ ? hex(also_->finish()) : std::string()};
}

Result<FetchedTree> PackageDownload::unpack() {
  if (unpacking_.joinable()) {
    unpacking_.join();
  } else {
    unpacked_ = make_directories(directory_).and_then([this] { return unpack_here(); });
  }
  MODLOCK_TRY(auto digests, std::move(unpacked_));
  return FetchedTree{
      .id = {}, .directory = std::exchange(directory_, {}), .warnings = {}, .digests = std::move(digests)};
}

Result<FileDigests> PackageDownload::unpack_here() const {
  return without_exceptions(
      "unpacking", [this] { return unpack_archive(*file_, *archive_.format, directory_, archive_.display, context_); });
}

void PackageDownload::give_up() {
  file_->abandon();
  if (unpacking_.joinable()) {
    unpacking_.join();
  }
  if (!directory_.empty()) {
    (void)remove_tree(directory_);
  }
}

}  // namespace modlock
