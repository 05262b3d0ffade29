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

Result<ProviderArchiveHashes> hash(std::string_view bytes) {
  ArrivingArchive archive("x", std::filesystem::temp_directory_path(), kLimits);
  require(archive.begin(bytes.size()) && archive.write(bytes));
  return archive.finish({});
}

}  // namespace

// A zip file has hashes, or an error that says why not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto whole = hash({reinterpret_cast<const char*>(data), size});
  if (whole) {
    require(whole->size == size && whole->zh.starts_with("zh:") && whole->h1.starts_with("h1:"));
    require(!whole->is_plain || whole->h1 == whole->archive_h1);
  } else {
    require(whole.error().code == Code::archive_unsafe || whole.error().code == Code::bad_response);
  }
  return 0;
}
