#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// What the clients write at the top of the file.
inline constexpr std::string_view kOpenTofuLockHeader =
    "# This file is maintained automatically by \"tofu init\".\n"
    "# Manual edits may be lost in future updates.\n";
inline constexpr std::string_view kTerraformLockHeader =
    "# This file is maintained automatically by \"terraform init\".\n"
    "# Manual edits may be lost in future updates.\n";

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

// How many names at the ends of two keys are the same: 1 for "app.vpc" and "vpc".
std::size_t common_labels(std::string_view a, std::string_view b);

// What the lock says of one provider.
struct ProviderLock {
  ProviderVersion version;
  std::string constraints = {};          // ProviderConstraint::canonical(); empty: none
  std::vector<std::string> hashes = {};  // as read in file order; written they are sorted bytewise, each once

  bool operator==(const ProviderLock&) const = default;
};
using ProviderLocks = std::map<ProviderAddress, ProviderLock>;

// A dependency lock file as read: its blocks understood, everything else kept as bytes.
struct LockFile {
  std::string text = {};  // exactly as read; empty where the file does not exist
  ModuleLocks modules = {};
  std::map<std::string, Range, std::less<>> module_ranges = {};  // of each module block, for locations
  ProviderLocks providers = {};
  std::map<ProviderAddress, Range> provider_ranges = {};

  bool exists = false;
};

// Whether the block of the module is after a provider block, where Renovate's lock file writer would empty its hashes.
// False if there is no such block.
bool is_after_provider(const LockFile& lock, std::string_view key);

// Reads `.terraform.lock.hcl`. Of provider blocks it accepts what OpenTofu accepts (internal/depsfile); `default_host`
// is the client's registry, which has its say in what an address may be. Errors: LOCK_PARSE naming line and column:
// syntax; a block that is neither provider nor module; a label that is missing, more than one, or written twice; a
// provider's label that is no full address in normal form, or of a provider that is built in or legacy; an argument
// that is missing or unknown, a value that is not a string or list of strings, a version or a provider's constraints
// that are not in normal form, a provider's empty list of hashes, a hash without a scheme; of a module two hashes of a
// scheme of which a package has one (git, h1, oci). LIMIT_EXCEEDED: values nested deeper than the reader goes.
Result<LockFile> parse_lock(std::string_view text, const std::string& path,
                            std::string_view default_host = kOpenTofuRegistry);

// The text of the file with exactly these module blocks: header (that of `before`, else `header`), module blocks sorted
// bytewise by key, each after one blank line, then the provider blocks of `before` byte for byte in their order and
// formatting. If the modules equal those of `before` and none of its module blocks is after a provider block, its text
// is returned unchanged. What is not ours stays byte for byte: without module blocks (each with the one blank line
// before it) the result equals `before` without its own. Comments at the top stay with the header, other comments stay
// where they are among the provider blocks; only comments inside a module block are lost. A file that holds something
// but does not begin with a comment gets no header, and its module blocks each stand before one blank line. CRLF files
// stay CRLF. No module and no provider blocks: the header alone.
std::string write_lock(const LockFile& before, const ModuleLocks& modules,
                       std::string_view header = kOpenTofuLockHeader);

// The whole file anew, for where provider blocks change: without its module blocks (each with the blank line before it)
// it is what a client writes for these providers, every byte (SaveLocksToBytes of internal/depsfile), and nothing of an
// earlier file stays: no comment, no CRLF, no byte order mark.
std::string write_whole_lock(const ModuleLocks& modules, const ProviderLocks& providers, std::string_view header);

// One module block, LF line ends, as the lock-file contract lays it out, with a final LF.
std::string write_module_block(const ModuleLock& module);

// One provider block as a client writes it, with a final LF.
std::string write_provider_block(const ProviderAddress& address, const ProviderLock& provider);

inline constexpr std::string_view kLockFileName = ".terraform.lock.hcl";
// Where module blocks stand with module_lock_file = "sidecar".
inline constexpr std::string_view kSidecarFileName = ".terraform.modules.lock.hcl";

}  // namespace modlock
