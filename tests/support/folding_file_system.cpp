// A file system that folds case, keeps it, and reads a name in NFC and in NFD as the same, as those of macOS and
// Windows do: folding_file_system DIRECTORY MOUNT_POINT shows DIRECTORY there. It ends when it is unmounted.

#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utf8proc.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

fs::path g_top;

std::string folded(const std::string& name) {
  utf8proc_uint8_t* read = nullptr;
  const auto length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(name.data()), static_cast<utf8proc_ssize_t>(name.size()), &read,
      static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD | UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | UTF8PROC_IGNORE));
  std::string text =
      length < 0 ? name : std::string(reinterpret_cast<const char*>(read), static_cast<std::size_t>(length));
  std::free(read);
  return text;
}

// The path of an entry by the names that it was made with, as far as it exists.
std::string real(const char* path) {
  fs::path found = g_top;
  for (const fs::path& part : fs::path(path).relative_path()) {
    fs::path next = found / part;
    std::error_code error;
    for (fs::directory_iterator at(found, error), end; !error && at != end; at.increment(error)) {
      if (folded(at->path().filename()) == folded(part)) {
        next = at->path();
        break;
      }
    }
    found = next;
  }
  return found;
}

int result(long status) {
  return status < 0 ? -errno : static_cast<int>(status);
}

int list(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
  DIR* directory = ::opendir(real(path).c_str());
  if (directory == nullptr) {
    return -errno;
  }
  while (const dirent* entry = ::readdir(directory)) {
    struct stat status {};
    status.st_ino = entry->d_ino;
    fill(buffer, entry->d_name, &status, 0, static_cast<fuse_fill_dir_flags>(0));
  }
  ::closedir(directory);
  return 0;
}

int open_file(const char* path, int flags, mode_t mode, fuse_file_info* info) {
  const int opened = ::open(real(path).c_str(), flags, mode);
  info->fh = static_cast<std::uint64_t>(opened);
  return opened < 0 ? -errno : 0;
}

fuse_operations operations() {
  fuse_operations calls{};
  calls.init = [](fuse_conn_info*, fuse_config* configuration) -> void* {
    configuration->use_ino = 1;
    // Another spelling of a name must not be answered from the kernel's cache.
    configuration->entry_timeout = configuration->attr_timeout = configuration->negative_timeout = 0;
    return nullptr;
  };
  calls.getattr = [](const char* path, struct stat* status, fuse_file_info*) {
    return result(::lstat(real(path).c_str(), status));
  };
  calls.readlink = [](const char* path, char* text, std::size_t size) {
    const ssize_t length = ::readlink(real(path).c_str(), text, size - 1);
    text[length < 0 ? 0 : length] = '\0';
    return length < 0 ? -errno : 0;
  };
  calls.readdir = list;
  calls.mkdir = [](const char* path, mode_t mode) { return result(::mkdir(real(path).c_str(), mode)); };
  calls.unlink = [](const char* path) { return result(::unlink(real(path).c_str())); };
  calls.rmdir = [](const char* path) { return result(::rmdir(real(path).c_str())); };
  calls.symlink = [](const char* text, const char* path) { return result(::symlink(text, real(path).c_str())); };
  calls.rename = [](const char* from, const char* to, unsigned flags) {
    return result(::renameat2(AT_FDCWD, real(from).c_str(), AT_FDCWD, real(to).c_str(), flags));
  };
  calls.link = [](const char* from, const char* to) { return result(::link(real(from).c_str(), real(to).c_str())); };
  calls.chmod = [](const char* path, mode_t mode, fuse_file_info*) {
    return result(::chmod(real(path).c_str(), mode));
  };
  calls.truncate = [](const char* path, off_t size, fuse_file_info*) {
    return result(::truncate(real(path).c_str(), size));
  };
  calls.utimens = [](const char* path, const timespec times[2], fuse_file_info*) {
    return result(::utimensat(AT_FDCWD, real(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
  };
  calls.statfs = [](const char* path, struct statvfs* status) { return result(::statvfs(real(path).c_str(), status)); };
  calls.create = [](const char* path, mode_t mode, fuse_file_info* info) {
    return open_file(path, info->flags | O_CREAT, mode, info);
  };
  calls.open = [](const char* path, fuse_file_info* info) { return open_file(path, info->flags, 0, info); };
  calls.read = [](const char*, char* bytes, std::size_t size, off_t at, fuse_file_info* info) {
    return result(::pread(static_cast<int>(info->fh), bytes, size, at));
  };
  calls.write = [](const char*, const char* bytes, std::size_t size, off_t at, fuse_file_info* info) {
    return result(::pwrite(static_cast<int>(info->fh), bytes, size, at));
  };
  calls.release = [](const char*, fuse_file_info* info) { return result(::close(static_cast<int>(info->fh))); };
  return calls;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: folding_file_system DIRECTORY MOUNT_POINT\n");
    return 2;
  }
  g_top = fs::absolute(arguments[1]);
  const fuse_operations calls = operations();
  char options[] = "-odefault_permissions";
  char* given[] = {arguments[0], options, arguments[2], nullptr};
  return fuse_main(3, given, &calls, nullptr);
}
