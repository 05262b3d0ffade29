// A lock file that can be read is written back as it was, with its module blocks first, and as a new file that says the
// same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plugin/lock/lock_file.h"

namespace {

using namespace modlock;

void require(bool holds) {
  if (!holds) std::abort();
}

// As a lock has them once they were written: each hash once, sorted.
ProviderLocks written(ProviderLocks providers) {
  for (auto& [address, lock] : providers) {
    std::sort(lock.hashes.begin(), lock.hashes.end());
    lock.hashes.erase(std::unique(lock.hashes.begin(), lock.hashes.end()), lock.hashes.end());
  }
  return providers;
}

bool has_module_after_provider(const LockFile& lock) {
  return std::any_of(lock.modules.begin(), lock.modules.end(),
                     [&](const auto& entry) { return is_after_provider(lock, entry.first); });
}

bool says_the_same(const LockFile& a, const LockFile& b) {
  return a.modules == b.modules && a.providers == b.providers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lock = parse_lock(text, ".terraform.lock.hcl");
  if (!lock) {
    const Code code = lock.error().code;
    require(code == Code::lock_parse || code == Code::lock_newer || code == Code::limit_exceeded);
    return 0;
  }
  const std::string rewritten = write_lock(*lock, lock->modules);
  if (has_module_after_provider(*lock)) {
    const auto sorted = parse_lock(rewritten, "a");
    require(sorted.has_value() && !has_module_after_provider(*sorted) && says_the_same(*sorted, *lock));
  } else {
    require(rewritten == text);
  }
  const auto without = parse_lock(write_lock(*lock, {}), "a");
  require(without.has_value() && without->modules.empty() && without->providers == lock->providers);
  const auto whole = parse_lock(write_whole_lock(lock->modules, lock->providers, kOpenTofuLockHeader), "a");
  require(whole.has_value() && whole->modules == lock->modules);
  require(written(whole->providers) == written(lock->providers));
  return 0;
}
