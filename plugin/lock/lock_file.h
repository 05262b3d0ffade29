#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"

namespace modlock {

// What the lock says of one module call.
struct ModuleLock {
  std::string key;                          // "vpc.nested"; keys with a colon belong to hosts
  std::optional<std::string> version = {};  // canonical, without `v`
  std::string source = {};                  // Source::identity()
  std::optional<std::string> constraints = {};
  std::vector<std::string> hashes = {};  // sorted bytewise, without duplicates

  // The value of the first hash of that scheme ("git", "h1"), without the scheme; empty where there is none.
  std::string hash_value(std::string_view scheme) const;
  // The first hash that names where the content came from ("git:…", "oci:…", "zh:…", one of a scheme we do not know),
  // not what it is; empty where there is none.
  std::string origin_hash() const;

  bool operator==(const ModuleLock&) const = default;
};
using ModuleLocks = std::map<std::string, ModuleLock, std::less<>>;

// What the lock says of one provider, as written.
struct ProviderLock {
  std::string address;  // the label
  std::string version;
  std::optional<std::string> constraints = {};
  std::vector<std::string> hashes = {};  // in file order

  bool operator==(const ProviderLock&) const = default;
};

// A dependency lock file as read: module blocks understood, everything else kept as bytes.
struct LockFile {
  std::string text = {};  // exactly as read; empty where the file does not exist
  ModuleLocks modules = {};
  std::map<std::string, Range, std::less<>> module_ranges = {};  // of each module block, for locations
  std::vector<ProviderLock> providers = {};                      // in file order

  bool exists = false;
};

// Reads `.terraform.lock.hcl`. Accepts what OpenTofu accepts; provider blocks are checked for their form only.
// Errors: LOCK_PARSE naming line and column: syntax; a block that is neither provider nor module; a label that is
// missing, more than one, or written twice; a module block that lacks `source` or has an attribute we do not know, a
// value that is not a string or list of strings, a version that is not canonical, a hash without a scheme, two hashes
// of a scheme of which a package has one (git, h1, oci).
Result<LockFile> parse_lock(std::string_view text, const std::string& path);

// The text of the file with exactly these module blocks: header (that of `before`, else OpenTofu's), module blocks
// sorted bytewise by key, each after one blank line, then the provider blocks of `before` byte for byte in their order
// and formatting. Where the modules equal those of `before`, its text is returned unchanged, whatever its order.
// What is not ours stays byte for byte: without module blocks (each with the one blank line before it) the result
// equals `before` without its own. Comments at the top stay with the header, other comments stay where they are among
// the provider blocks; only comments inside a module block are lost. A file that holds something but does not begin
// with a comment gets no header, and its module blocks each stand before one blank line. CRLF files stay CRLF. No
// module and no provider blocks: the header alone.
std::string write_lock(const LockFile& before, const ModuleLocks& modules);

// One module block, LF line ends, as the lock-file contract lays it out, with a final LF.
std::string write_module_block(const ModuleLock& module);

inline constexpr std::string_view kLockHeader =
    "# This file is maintained automatically by \"tofu init\".\n"
    "# Manual edits may be lost in future updates.\n";
inline constexpr std::string_view kLockFileName = ".terraform.lock.hcl";
// Where module blocks stand with module_lock_file = "sidecar".
inline constexpr std::string_view kSidecarFileName = ".terraform.modules.lock.hcl";

}  // namespace modlock
