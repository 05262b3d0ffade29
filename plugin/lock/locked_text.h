#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "plugin/lock/lock_file.h"

// What messages show of a locked version.
namespace modlock {

// Returns the argument of a source that names a reference: "?ref=v1.2.0", "?tag=1.2.0".
std::string pin_text(const std::string& source, const std::string& ref);

// Returns the text before the version in a tag: "network/" for "network/v1.2.0". nullopt: the tag names no version.
std::optional<std::string> tag_prefix_of(std::string_view tag);

// Returns the command that selects another release of a module: a tag or commit that its source names is changed there.
Hint reselect_command(std::string_view source, std::string_view subject);
// Advice if the lock file is not up to date.
Hint review_lock_hint();

// The start of what is said of an entry whose fields cannot all be true, so that no package can match it.
inline constexpr std::string_view kContradiction = "the lock file contradicts itself";

// Returns the first digits of a commit or digest, which may follow its scheme.
std::string short_id(std::string_view id);

// Returns the origin hash of a commit, a digest or the checksum of an archive, of which at most one is not empty.
std::string origin_of(const std::string& commit, const std::string& digest, const std::string& checksum);

// Returns an origin hash with its kind: "commit 8f2c…", "manifest sha256:…", "archive 9a0b…".
std::string origin_words(std::string_view hash);

// Returns "1.2.0", "v1.2.0 (8f2c01ab34cd)" for the reference that a source names, "commit 8f2c01ab34cd", or empty if
// none of the three is known.
std::string locked_text(const std::optional<std::string>& version, std::string_view ref, std::string_view origin);
std::string locked_text(const ModuleLock& lock);

// A locked call or provider ("module.vpc", "provider.hashicorp/aws") and its version, which may be empty.
struct LockedSubject {
  std::string name;
  std::string version;
};
// Returns those of a root, of the module blocks that apply. A lock file that cannot be read has none.
std::vector<LockedSubject> locked_subjects(const std::filesystem::path& root);

}  // namespace modlock
