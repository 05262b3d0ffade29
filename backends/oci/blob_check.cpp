#include "backends/oci/blob_check.h"

#include <fmt/format.h>

namespace modlock::oci {
namespace {

tl::unexpected<Error> not_as_described(std::string_view what, std::string_view expected, std::string_view found) {
  return fail(Code::hash_mismatch,
              fmt::format("{} is not what its manifest says: expected {}, found {}", what, expected, found),
              "the registry, or something between, changes what it serves: do not use it");
}

}  // namespace

tl::unexpected<Error> BlobCheck::wrong_size(std::string_view found) const {
  return not_as_described(what_, fmt::format("{} bytes", layer_.size), found);
}

Result<void> BlobCheck::begin(std::optional<std::uint64_t> length) {
  if (length && *length != layer_.size) {
    return wrong_size(std::to_string(*length));
  }
  size_ = 0;
  return sink_.begin(length);
}

Result<void> BlobCheck::write(std::string_view bytes) {
  size_ += bytes.size();
  return size_ > layer_.size ? wrong_size("more") : sink_.write(bytes);
}

Result<void> BlobCheck::finish(std::string_view digest) const {
  if (size_ != layer_.size) {
    return wrong_size(std::to_string(size_));
  }
  return digest == layer_.digest ? Result<void>() : not_as_described(what_, layer_.digest, digest);
}

}  // namespace modlock::oci
