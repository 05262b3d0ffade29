#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "backends/base/files.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"

namespace {

using namespace modlock;
namespace fs = std::filesystem;

constexpr UnpackLimits kLimits = {.total_bytes = 1U << 20U, .entries = 64, .name_bytes = 1U << 16U};

void require(bool holds) {
  if (!holds) std::abort();
}

// In memory where that can be had, gone at the end.
struct Place {
  Place()
      : root((fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") + ("/unpack_fuzz-" + std::to_string(::getpid()))) {
    fs::create_directories(root);
  }
  ~Place() { (void)remove_tree(root); }
  fs::path root;
};

// So that what is changed is the tar, not its compression: gzip with stored blocks. Nobody checks the sum behind it.
std::string in_gzip(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::size_t kMost = 0xFFFF;
  std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\x03"sv);
  do {
    const std::string_view block = bytes.substr(0, kMost);
    bytes.remove_prefix(block.size());
    const std::size_t size = block.size();
    gzip += bytes.empty() ? '\1' : '\0';
    for (const std::size_t number : {size, ~size}) {
      gzip += static_cast<char>(number & 0xFFU);
      gzip += static_cast<char>(number >> 8U & 0xFFU);
    }
    gzip += block;
  } while (!bytes.empty());
  return gzip + std::string(8, '\0');
}

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Only files and directories, no more than allowed.
void check_tree(const fs::path& tree) {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    const auto type = entry.symlink_status().type();
    require(type == fs::file_type::regular || type == fs::file_type::directory);
    ++entries;
    bytes += type == fs::file_type::regular ? entry.file_size() : 0;
  }
  require(entries <= kLimits.entries && bytes <= kLimits.total_bytes);
}

}  // namespace

// The first byte chooses the format. Whatever the archive: nothing appears beside the directory unpacked into, and what
// appears in it can be hashed and removed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool is_zip = data[0] == 'z';
  const fs::path archive = place.root / "archive";
  const fs::path tree = place.root / "tree";
  write(archive, is_zip ? std::string(bytes) : in_gzip(bytes));
  fs::create_directory(tree);
  const auto done =
      unpack_archive(archive, is_zip ? ArchiveFormat::zip : ArchiveFormat::tar_gz, tree, "x", Context{}, kLimits);
  check_tree(tree);
  if (done) {
    const auto hash = hash_tree(tree, Context{});
    require(hash || hash.error().code == Code::archive_unsafe);  // a line end in a name
  } else {
    require(done.error().code == Code::archive_unsafe || done.error().code == Code::bad_response);
  }
  require(remove_tree(tree).has_value());
  for (const auto& entry : fs::directory_iterator(place.root)) {
    require(entry.path() == archive);
  }
  return 0;
}
