#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/credentials/file_identity.h"

namespace modlock {

// What some files say, read again once one of them is no longer what it was. Thread-safe.
template <typename T>
class ReloadedFiles {
 public:
  explicit ReloadedFiles(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)) {}

  const std::vector<std::filesystem::path>& paths() const { return paths_; }

  // Never null. The value stays as it is for whoever holds it; `read` runs in one thread at a time.
  std::shared_ptr<const T> get(const std::function<T()>& read) {
    const std::lock_guard lock(mutex_);
    std::vector<FileIdentity> identities;  // taken before reading: a change meanwhile shows the next time
    for (const std::filesystem::path& path : paths_) {
      identities.push_back(identity_of(path));
    }
    if (value_ == nullptr || !is_settled_ || identities != identities_) {
      const std::int64_t now = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
      is_settled_ = std::all_of(identities.begin(), identities.end(),
                                [now](const FileIdentity& identity) { return identity.is_settled(now); });
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
