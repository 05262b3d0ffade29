#include "backends/oci/blob_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <ios>
#include <utility>

#include "backends/files/system_error.h"

namespace modlock::oci {
namespace {

tl::unexpected<Error> not_as_described(std::string_view what, std::string_view expected, std::string_view found) {
  return fail(Code::hash_mismatch,
              fmt::format("{} is not what its manifest says: expected {}, found {}", what, expected, found),
              "the registry, or something between, changes what it serves: do not use it");
}

}  // namespace

BlobFile::BlobFile(std::filesystem::path path, Layer layer, std::string what)
    : path_(std::move(path)), layer_(std::move(layer)), what_(std::move(what)) {}

tl::unexpected<Error> BlobFile::wrong_size(std::string_view found) const {
  return not_as_described(what_, fmt::format("{} bytes", layer_.size), found);
}

Result<void> BlobFile::begin(std::optional<std::uint64_t> length) {
  if (length && *length != layer_.size) {
    return wrong_size(std::to_string(*length));
  }
  file_ = std::ofstream(path_, std::ios::binary | std::ios::trunc);
  hash_ = Sha256();
  size_ = 0;
  return file_ ? Result<void>() : system_failure("create", path_, errno);
}

Result<void> BlobFile::write(std::string_view bytes) {
  size_ += bytes.size();
  if (size_ > layer_.size) {
    return wrong_size("more");
  }
  hash_.update(bytes);
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file_ ? Result<void>() : system_failure("write", path_, errno);
}

Result<void> BlobFile::finish() {
  file_.close();
  if (!file_) {
    return system_failure("write", path_, errno);
  }
  if (size_ != layer_.size) {
    return wrong_size(std::to_string(size_));
  }
  const auto digest = hash_.finish();
  const std::string found = "sha256:" + hex(digest.data(), digest.size());
  return found == layer_.digest ? Result<void>() : not_as_described(what_, layer_.digest, found);
}

}  // namespace modlock::oci
