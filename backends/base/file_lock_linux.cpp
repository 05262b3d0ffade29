#include "backends/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include "protocol/base/system_reason.h"

namespace modlock {
namespace {

constexpr std::chrono::milliseconds kPolling{10};

tl::unexpected<Error> cannot_lock(const std::filesystem::path& path, int reason) {
  return fail(Code::io_error, fmt::format("cannot lock \"{}\": {}", path.string(), system_reason(reason)),
              reason == EMFILE || reason == ENFILE ? std::string(system_advice(reason))
                                                   : "make its directory writable, or name another one");
}

// A longer file was not written by this program.
constexpr std::size_t kLongestHolder = 16;

// A file that has a second name or other content may belong to another program.
bool is_ours(const Descriptor& file) {
  struct stat found {};
  return ::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 1 &&
         found.st_size <= static_cast<off_t>(kLongestHolder);
}

long read_holder(const Descriptor& file) {
  std::array<char, kLongestHolder> text{};
  const ssize_t size = is_ours(file) ? ::pread(file.get(), text.data(), text.size(), 0) : 0;
  long holder = 0;
  if (size > 0) {
    std::from_chars(text.data(), text.data() + size, holder);
  }
  return holder > 0 ? holder : 0;
}

// Failure is ignored: it only hides the holder from waiting processes.
void write_holder(const Descriptor& file) {
  const std::string text = fmt::format("{}\n", ::getpid());
  if (is_ours(file) && ::ftruncate(file.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(file.get(), text.data(), text.size(), 0);
  }
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::filesystem::path& path, const Context& context,
                                   const LockPatience* patience) {
  // Each holder has its own descriptor, so that flock() excludes threads as well as processes.
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!descriptor.valid()) {
    return cannot_lock(path, errno);
  }
  const auto began = std::chrono::steady_clock::now();
  bool is_told = false;
  while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return cannot_lock(path, errno);
    }
    MODLOCK_TRY(context.check().map_error(noting("while another process or thread worked in the same place")));
    const auto waited = std::chrono::steady_clock::now() - began;
    if (patience != nullptr && !is_told && waited >= patience->until_told) {
      is_told = true;
      if (patience->tell) {
        patience->tell(read_holder(descriptor));
      }
    }
    if (patience != nullptr && waited >= patience->limit) {
      return fail(Code::timeout, fmt::format("another process holds \"{}\"", path.string()),
                  "wait until that process is done, or end it");
    }
    std::this_thread::sleep_for(kPolling);
  }
  if (patience != nullptr) {
    write_holder(descriptor);
  }
  return FileLock(std::move(descriptor), patience != nullptr);
}

FileLock::~FileLock() {
  if (is_named_ && descriptor_.valid() && is_ours(descriptor_)) {
    [[maybe_unused]] const int emptied = ::ftruncate(descriptor_.get(), 0);
  }
}

}  // namespace modlock
