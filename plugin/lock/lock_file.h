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
#include "backends/address/version.h"
#include "protocol/base/result.h"

namespace modlock {

// The headers that the clients write at the top of the file.
inline constexpr std::string_view kOpenTofuLockHeader =
    "# This file is maintained automatically by \"tofu init\".\n"
    "# Manual edits may be lost in future updates.\n";
inline constexpr std::string_view kTerraformLockHeader =
    "# This file is maintained automatically by \"terraform init\".\n"
    "# Manual edits may be lost in future updates.\n";

// The lock entry of one module call.
struct ModuleLock {
  std::string key;                          // "vpc.nested"; keys with a colon belong to hosts
  std::optional<std::string> version = {};  // canonical, without `v`
  std::string source = {};                  // Source::identity()
  std::optional<std::string> constraints = {};
  std::vector<std::string> hashes = {};  // sorted bytewise, without duplicates

  // Returns the value of the first hash of that scheme ("git", "h1"), without the scheme; empty if there is none.
  std::string hash_value(std::string_view scheme) const;
  // Returns the first hash that identifies the origin of the content instead of the content itself ("git:…", "oci:…",
  // "zh:…", or an unknown scheme); empty if there is none.
  std::string origin_hash() const;
  // Returns `version`; nullopt if there is none.
  std::optional<Version> parsed_version() const;

  bool operator==(const ModuleLock&) const = default;
};
using ModuleLocks = std::map<std::string, ModuleLock, std::less<>>;

// Returns those entries whose keys have the most names in common with a key at their ends: "app.vpc" and "vpc" have
// one.
std::vector<const ModuleLock*> closest_entries(std::string_view key, std::vector<const ModuleLock*> entries);

// The lock entry of one provider.
struct ProviderLock {
  ProviderVersion version;
  std::string constraints = {};          // ProviderConstraint::canonical(); empty: none
  std::vector<std::string> hashes = {};  // in file order when read; sorted bytewise without duplicates when written

  bool operator==(const ProviderLock&) const = default;
};
using ProviderLocks = std::map<ProviderAddress, ProviderLock>;

// A dependency lock file as read: its blocks are parsed, everything else is kept as bytes.
struct LockFile {
  std::string text = {};  // exactly as read; empty if the file does not exist
  ModuleLocks modules = {};
  std::map<std::string, Range, std::less<>> module_ranges = {};  // of each module block, for locations
  ProviderLocks providers = {};
  std::map<ProviderAddress, Range> provider_ranges = {};

  bool exists = false;
};

// Whether the block of the module is after a provider block: Renovate's lock file writer would empty its hashes there.
// False if there is no such block.
bool is_after_provider(const LockFile& lock, std::string_view key);

// Reads `.terraform.lock.hcl`. Accepts the same provider blocks as OpenTofu (internal/depsfile); the valid addresses
// depend on `default_host`, the client's registry. Errors: LOCK_PARSE naming line and column: syntax errors; a block
// that is neither provider nor module; a label that is missing, not the only one, or used twice; a provider's label
// that is not a full address in normal form, or names a built-in or legacy provider; a missing or unknown argument; a
// value that is not a string or list of strings; a version or a provider's constraints that are not in normal form; a
// provider's empty list of hashes; a hash without a scheme; in a module two hashes of a scheme of which a package has
// one (git, h1, oci). LIMIT_EXCEEDED: values are nested too deeply.
Result<LockFile> parse_lock(std::string_view text, const std::string& path,
                            std::string_view default_host = kOpenTofuRegistry);

// Returns the text of the file with exactly these module blocks: the header (that of `before`, else `header`), the
// module blocks sorted bytewise by key, each after one blank line, then the provider blocks of `before` byte for byte
// in their order and formatting. If the modules equal those of `before` and none of its module blocks is after a
// provider block, its text is returned unchanged. Everything except module blocks stays byte for byte: without module
// blocks (each with the one blank line before it) the result equals `before` without its own. Comments at the top stay
// with the header; other comments stay where they are among the provider blocks; only comments inside a module block
// are lost. A file with content that does not begin with a comment gets no header, and each of its module blocks is
// followed by one blank line instead. CRLF files stay CRLF, and so do single lines of unchanged blocks. Without module
// and provider blocks the result is only the header.
std::string write_lock(const LockFile& before, const ModuleLocks& modules,
                       std::string_view header = kOpenTofuLockHeader);

// Returns the whole file written from scratch, for changes of provider blocks. Without its module blocks (each with the
// blank line before it) it is byte for byte the file that a client writes for these providers (SaveLocksToBytes of
// internal/depsfile). Nothing of an earlier file is kept: no comments, no CRLF, no byte order mark.
std::string write_whole_lock(const ModuleLocks& modules, const ProviderLocks& providers, std::string_view header);

// One module block in the layout of the lock-file contract, with LF line endings and a final LF.
std::string write_module_block(const ModuleLock& module);

// One provider block as a client writes it, with a final LF.
std::string write_provider_block(const ProviderAddress& address, const ProviderLock& provider);

inline constexpr std::string_view kLockFileName = ".terraform.lock.hcl";
// Contains the module blocks if module_lock_file = "sidecar".
inline constexpr std::string_view kSidecarFileName = ".terraform.modules.lock.hcl";

// Returns the name of the file with the module blocks that apply if no setting selects one, by the text of the sidecar
// (nullopt: there is none): the sidecar if it has any. For decisions before the files are read as locks: they may have
// conflict markers.
std::string_view file_with_blocks(const std::optional<std::string>& sidecar);

// Returns whether the module blocks of the sidecar apply, not those of the lock file. `setting` is
// Settings::uses_sidecar. True: if the sidecar exists; false: if it exists and the lock file has none; not set: if it
// has any.
bool uses_sidecar_blocks(const LockFile& lock, const LockFile& sidecar, std::optional<bool> setting);

// Returns the lock file with the module blocks that apply.
LockFile with_module_blocks(LockFile lock, LockFile sidecar, std::optional<bool> setting);

// Checks files of which no setting selects one. Errors: LOCK_PARSE if both have an entry for a call, and they differ.
Result<void> check_one_placement(const LockFile& lock, const LockFile& sidecar);

}  // namespace modlock
