#pragma once

#include <cstdint>
#include <filesystem>

namespace modlock {

// Tells one state of a file from another without reading it; links are followed. A file that is not there, or that
// cannot be looked at, has an identity too.
struct FileIdentity {
  int reason = 0;  // errno of what cannot be looked at; all else is 0 then
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // in ns since the epoch
  std::int64_t changed = 0;   // likewise; of owner and permissions too, and no program can set it

  bool operator==(const FileIdentity&) const = default;

  // Whether any later change shows in the identity. File systems count time in ticks, some in whole seconds: what
  // changed just before `now` (ns since the epoch) may change again within the same tick.
  bool is_settled(std::int64_t now) const { return reason != 0 || now - changed > kTick; }

  static constexpr std::int64_t kTick = 2'000'000'000;
};

FileIdentity identity_of(const std::filesystem::path& path);

}  // namespace modlock
