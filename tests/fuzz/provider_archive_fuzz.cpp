#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "backends/package/provider_archive.h"

namespace {

using namespace modlock;

constexpr UnpackLimits kLimits = {.total_bytes = 1U << 20U, .entries = 64, .name_bytes = 1U << 16U};

void require(bool holds) {
  if (!holds) std::abort();
}

Result<ProviderArchiveHashes> hash(std::string_view bytes, std::size_t step) {
  ProviderArchive archive("x", std::filesystem::temp_directory_path(), bytes.size(), kLimits);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    archive.write(bytes.substr(0, step));
  }
  return archive.finish();
}

}  // namespace

// A zip file gives the same hashes, or the same error, in whatever pieces it arrives.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = hash(bytes, bytes.size() + 1);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}}) {
    const auto parts = hash(bytes, step);
    require(parts.has_value() == whole.has_value());
    if (!whole) {
      require(parts.error().code == whole.error().code && parts.error().message == whole.error().message);
      continue;
    }
    require(parts->size == whole->size && parts->zh == whole->zh && parts->h1 == whole->h1 &&
            parts->archive_h1 == whole->archive_h1 && parts->programs == whole->programs);
  }
  if (whole) {
    require(whole->size == size && whole->zh.starts_with("zh:") && whole->h1.starts_with("h1:"));
    require(!whole->is_plain || whole->h1 == whole->archive_h1);
  } else {
    require(whole.error().code == Code::archive_unsafe || whole.error().code == Code::bad_response);
  }
  return 0;
}
