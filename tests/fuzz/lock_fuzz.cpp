// A lock file that can be read is written back as it was, and anew as one that says the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lock = parse_lock(text, ".terraform.lock.hcl");
  if (!lock) {
    const Code code = lock.error().code;
    require(code == Code::lock_parse || code == Code::lock_newer || code == Code::limit_exceeded);
    return 0;
  }
  require(write_lock(*lock, lock->modules) == text);
  const auto without = parse_lock(write_lock(*lock, {}), "a");
  require(without.has_value() && without->modules.empty() && without->providers == lock->providers);
  const auto anew = parse_lock(write_whole_lock(lock->modules, lock->providers, kOpenTofuLockHeader), "a");
  require(anew.has_value() && anew->modules == lock->modules);
  require(written(anew->providers) == written(lock->providers));
  return 0;
}
