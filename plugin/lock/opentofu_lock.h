#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "backends/address/version.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"

namespace modlock {

// The lock file of OpenTofu's draft RFC o#4071. No release reads or writes it. tofu-modlock never writes it.
inline constexpr std::string_view kOpenTofuLockFileName = ".opentofu.lock.hcl";

// A module block of that file.
struct OpenTofuModuleLock {
  std::string source;                   // Source::identity() of the call
  std::string package;                  // the immutable address of the package, as written
  std::optional<Version> version = {};  // of a registry that hosts the package
  std::string commit = {};              // of a git package
  std::string digest = {};              // of an OCI package: "sha256:…"
  std::string h1 = {};                  // of a package that a registry hosts; the one of a git package includes `.git`
};

struct OpenTofuLock {
  std::map<std::string, OpenTofuModuleLock, std::less<>> modules;  // by key
  ProviderLocks providers;
};

// Reads `.opentofu.lock.hcl`. Module blocks without a package that has a commit, a digest or a version are left out:
// floating calls, and archives, whose checksum is in the call. Unknown arguments of module blocks are ignored, because
// the draft can still change. Errors: those of parse_lock() for syntax and provider blocks.
Result<OpenTofuLock> parse_opentofu_lock(std::string_view text, const std::string& path,
                                         std::string_view default_host = kOpenTofuRegistry);

}  // namespace modlock
