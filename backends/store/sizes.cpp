#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <system_error>

#include "backends/base/files.h"
#include "backends/store/store.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

bool is_gone(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

// Adds the sizes of the files below `directory`.
Result<void> add_bytes(const fs::path& directory, std::uint64_t& bytes) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code entry_error;
    const fs::file_type type = at->symlink_status(entry_error).type();
    if (type == fs::file_type::directory) {
      if (auto ok = add_bytes(at->path(), bytes); !ok) {
        return ok;
      }
    } else if (type == fs::file_type::regular) {
      if (const std::uintmax_t size = at->file_size(entry_error); !entry_error) {
        bytes += size;
      }
    }
  }
  if (error && !is_gone(error)) {
    return system_failure("read the directory", directory, error.value());
  }
  return {};
}

// Adds how many entries of the type lie in `directory`, and the sizes of all files below it.
Result<void> count(const fs::path& directory, fs::file_type type, std::uint64_t& things, std::uint64_t& bytes) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const bool is_unfinished = at->path().filename().string().starts_with('.');
    if (std::error_code ignored; !is_unfinished && at->symlink_status(ignored).type() == type) {
      ++things;
    }
  }
  if (error && !is_gone(error)) {
    return system_failure("read the directory", directory, error.value());
  }
  return add_bytes(directory, bytes);
}

}  // namespace

Result<std::uint64_t> bytes_below(const fs::path& directory) {
  std::uint64_t bytes = 0;
  auto ok = add_bytes(directory, bytes);
  return ok ? Result<std::uint64_t>(bytes) : fail(ok.error());
}

Result<StoreSizes> measure(const Store& store) {
  StoreSizes sizes;
  MODLOCK_TRY(count(store.package_directory(), fs::file_type::directory, sizes.packages, sizes.package_bytes));
  MODLOCK_TRY(count(store.git_directory(), fs::file_type::directory, sizes.repositories, sizes.repository_bytes));
  for (const fs::path& directory : store.record_directories()) {
    MODLOCK_TRY(count(directory, fs::file_type::regular, sizes.records, sizes.record_bytes));
  }
  return sizes;
}

fs::path default_store_root() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
    return fs::path(cache) / "tofu-modlock";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return fs::path(home) / ".cache" / "tofu-modlock";
  }
  std::array<char, std::size_t{16} << 10U> texts{};
  passwd user{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &user, texts.data(), texts.size(), &found) == 0 && found != nullptr &&
      found->pw_dir[0] == '/') {
    return fs::path(found->pw_dir) / ".cache" / "tofu-modlock";
  }
  return {};
}

}  // namespace modlock
