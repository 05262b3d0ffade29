#include "tests/survival/watched_calls.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <stdexcept>
#include <system_error>

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array kCalls = {
#ifdef SYS_rename
    WatchedCall{.group = "rename", .name = "rename", .number = SYS_rename, .path = 0, .second_path = 1},
    WatchedCall{.group = "link", .name = "link", .number = SYS_link, .path = 0, .second_path = 1},
    WatchedCall{.group = "link", .name = "symlink", .number = SYS_symlink, .path = 1},
    WatchedCall{.group = "unlink", .name = "unlink", .number = SYS_unlink, .path = 0},
    WatchedCall{.group = "unlink", .name = "rmdir", .number = SYS_rmdir, .path = 0},
    WatchedCall{.group = "mkdir", .name = "mkdir", .number = SYS_mkdir, .path = 0},
    WatchedCall{.group = "mode", .name = "chmod", .number = SYS_chmod, .path = 0},
    WatchedCall{.group = "open", .name = "open", .number = SYS_open, .path = 0},
    WatchedCall{.group = "create", .name = "open", .number = SYS_open, .path = 0, .flags = 1},
    WatchedCall{.group = "create", .name = "creat", .number = SYS_creat, .path = 0},
#endif
#ifdef SYS_renameat
    WatchedCall{.group = "rename",
                .name = "renameat",
                .number = SYS_renameat,
                .directory = 0,
                .path = 1,
                .second_directory = 2,
                .second_path = 3},
#endif
    WatchedCall{.group = "rename",
                .name = "renameat2",
                .number = SYS_renameat2,
                .directory = 0,
                .path = 1,
                .second_directory = 2,
                .second_path = 3},
    WatchedCall{.group = "link",
                .name = "linkat",
                .number = SYS_linkat,
                .directory = 0,
                .path = 1,
                .second_directory = 2,
                .second_path = 3},
    WatchedCall{.group = "link", .name = "symlinkat", .number = SYS_symlinkat, .directory = 1, .path = 2},
    WatchedCall{.group = "unlink", .name = "unlinkat", .number = SYS_unlinkat, .directory = 0, .path = 1},
    WatchedCall{.group = "mkdir", .name = "mkdirat", .number = SYS_mkdirat, .directory = 0, .path = 1},
    WatchedCall{.group = "mode", .name = "fchmodat", .number = SYS_fchmodat, .directory = 0, .path = 1},
    WatchedCall{.group = "mode", .name = "fchmod", .number = SYS_fchmod, .descriptor = 0},
    WatchedCall{.group = "open", .name = "openat", .number = SYS_openat, .directory = 0, .path = 1},
    WatchedCall{.group = "create", .name = "openat", .number = SYS_openat, .directory = 0, .path = 1, .flags = 2},
    WatchedCall{.group = "write", .name = "write", .number = SYS_write, .descriptor = 0},
    WatchedCall{.group = "write", .name = "writev", .number = SYS_writev, .descriptor = 0},
    WatchedCall{.group = "write", .name = "pwrite64", .number = SYS_pwrite64, .descriptor = 0},
    WatchedCall{.group = "write", .name = "ftruncate", .number = SYS_ftruncate, .descriptor = 0},
    WatchedCall{.group = "clone",
                .name = "ioctl",
                .number = SYS_ioctl,
                .descriptor = 0,
                .request = 1,
                .request_value = FICLONE},
    WatchedCall{.group = "sync", .name = "fsync", .number = SYS_fsync, .descriptor = 0},
    WatchedCall{.group = "sync", .name = "fdatasync", .number = SYS_fdatasync, .descriptor = 0},
    WatchedCall{.group = "thread", .name = "clone", .number = SYS_clone, .thread = 0},
    WatchedCall{.group = "thread", .name = "clone3", .number = SYS_clone3, .thread = 0}};

bool asks_for_thread(const WatchedCall& call, pid_t pid, const Arguments& arguments) {
  unsigned long long flags = arguments[call.thread];
  if (call.number == SYS_clone3) {  // they are the first member of a struct
    iovec here{&flags, sizeof flags};
    iovec there{reinterpret_cast<void*>(arguments[call.thread]), sizeof flags};
    if (::process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof flags) {
      return false;
    }
  }
  return (flags & CLONE_THREAD) != 0;
}

std::string text_at(pid_t pid, unsigned long long address) {
  std::string text;
  while (text.size() < PATH_MAX) {
    // Up to the end of a page, for what lies behind it may not be there.
    std::array<char, 256> piece{};
    const std::size_t size = piece.size() - address % piece.size();
    iovec here{piece.data(), size};
    iovec there{reinterpret_cast<void*>(address), size};
    const ssize_t got = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got <= 0) {
      return text;
    }
    const char* const end = std::find(piece.data(), piece.data() + got, '\0');
    text.append(piece.data(), static_cast<std::size_t>(end - piece.data()));
    if (end != piece.data() + got) {
      return text;
    }
    address += static_cast<unsigned long long>(got);
  }
  return text;
}

fs::path link_of(pid_t pid, const std::string& name) {
  std::error_code ignored;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/" + name, ignored);
}

fs::path path_at(pid_t pid, const Arguments& arguments, int directory, int path) {
  const fs::path named = text_at(pid, arguments[path]);
  constexpr std::string_view kDescriptors = "/proc/self/fd/";
  if (const std::string text = named.string(); text.starts_with(kDescriptors)) {
    const std::size_t end = std::min(text.find('/', kDescriptors.size()), text.size());
    const fs::path held = link_of(pid, "fd/" + text.substr(kDescriptors.size(), end - kDescriptors.size()));
    return (held / text.substr(std::min(end + 1, text.size()))).lexically_normal();
  }
  if (named.is_absolute()) {
    return named.lexically_normal();
  }
  const int base = directory == WatchedCall::kNone ? AT_FDCWD : static_cast<int>(arguments[directory]);
  const fs::path from = link_of(pid, base == AT_FDCWD ? "cwd" : "fd/" + std::to_string(base));
  return (from / named).lexically_normal();
}

}  // namespace

std::vector<WatchedCall> watched_calls(const std::vector<std::string>& groups) {
  std::vector<WatchedCall> calls;
  for (const std::string& group : groups) {
    const std::size_t before = calls.size();
    std::copy_if(kCalls.begin(), kCalls.end(), std::back_inserter(calls),
                 [&](const WatchedCall& call) { return call.group == group; });
    if (calls.size() == before) {
      throw std::invalid_argument("no such calls: " + group);
    }
  }
  return calls;
}

std::vector<fs::path> paths_of(const WatchedCall& call, pid_t pid, const Arguments& arguments) {
  const bool is_meant =
      (call.request == WatchedCall::kNone || arguments[call.request] == call.request_value) &&
      (call.flags == WatchedCall::kNone || (arguments[call.flags] & (O_WRONLY | O_RDWR | O_CREAT)) != 0);
  std::vector<fs::path> paths;
  if (!is_meant) {
    return paths;
  }
  if (call.thread != WatchedCall::kNone && asks_for_thread(call, pid, arguments)) {
    paths.emplace_back("/");
  }
  if (call.path != WatchedCall::kNone) {
    paths.push_back(path_at(pid, arguments, call.directory, call.path));
  }
  if (call.second_path != WatchedCall::kNone) {
    paths.push_back(path_at(pid, arguments, call.second_directory, call.second_path));
  }
  if (call.descriptor != WatchedCall::kNone) {
    paths.push_back(link_of(pid, "fd/" + std::to_string(static_cast<int>(arguments[call.descriptor]))));
  }
  return paths;
}

}  // namespace modlock::test
