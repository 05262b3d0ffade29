#include "backends/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace modlock {
namespace {

constexpr std::chrono::milliseconds kPolling{10};

tl::unexpected<Error> cannot_lock(const std::filesystem::path& path, int reason) {
  return fail(Code::io_error,
              fmt::format("cannot lock \"{}\": {}", path.string(), std::generic_category().message(reason)),
              "make its directory writable, or name another one");
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::filesystem::path& path, const Context& context) {
  // A descriptor of its own for each holder: flock() then excludes threads as it does processes.
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!descriptor.valid()) {
    return cannot_lock(path, errno);
  }
  while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return cannot_lock(path, errno);
    }
    if (auto ok = context.check(); !ok) {
      return fail(with_note(ok.error(), "while another process or thread worked in the same place"));
    }
    std::this_thread::sleep_for(kPolling);
  }
  return FileLock(std::move(descriptor));
}

}  // namespace modlock
