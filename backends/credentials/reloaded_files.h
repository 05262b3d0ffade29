#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace modlock {

// Distinguishes two states of a file without reading it. Symlinks are followed. A file that is missing or cannot be
// inspected has an identity too.
struct FileIdentity {
  int reason = 0;  // errno if the file cannot be inspected; the other members are 0 then
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // in ns since the epoch
  std::int64_t changed = 0;   // ctime in ns: also changes with owner and permissions, and no program can set it

  bool operator==(const FileIdentity&) const = default;

  // Whether any later change shows in the identity. File systems record time in ticks, some in whole seconds: a file
  // that changed just before `now` (ns since the epoch) may change again within the same tick.
  bool is_settled(std::int64_t now) const { return reason != 0 || now - changed > kTick; }

  static constexpr std::int64_t kTick = 2'000'000'000;
};

FileIdentity identity_of(const std::filesystem::path& path);

// A value read from files. It is read again when one of the files changed. Thread-safe.
template <typename T>
class ReloadedFiles {
 public:
  explicit ReloadedFiles(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)) {}

  const std::vector<std::filesystem::path>& paths() const { return paths_; }

  // Never null. A returned value never changes. `read` runs in one thread at a time.
  std::shared_ptr<const T> get(const std::function<T()>& read) {
    const std::lock_guard lock(mutex_);
    std::vector<FileIdentity> identities;  // taken before reading, so that a concurrent change shows the next time
    for (const std::filesystem::path& path : paths_) {
      identities.push_back(identity_of(path));
    }
    if (value_ == nullptr || !is_settled_ || identities != identities_) {
      const std::int64_t now = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
      is_settled_ =
          std::ranges::all_of(identities, [now](const FileIdentity& identity) { return identity.is_settled(now); });
      value_ = std::make_shared<const T>(read());
      identities_ = std::move(identities);
    }
    return value_;
  }

 private:
  const std::vector<std::filesystem::path> paths_;
  std::mutex mutex_;
  std::shared_ptr<const T> value_;
  std::vector<FileIdentity> identities_;
  bool is_settled_ = false;
};

}  // namespace modlock
