#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// Turns a package address as a person writes it (without "//subdir") into one with a getter, as go-getter's Detect does
// with OpenTofu's detectors: github.com/o/r becomes git::https://github.com/o/r.git. A URL with a scheme is returned
// unchanged. The result may contain a subdirectory. Errors: SOURCE_INVALID; SOURCE_UNSUPPORTED for bitbucket.org
// shorthands.
Result<std::string> detect_package(std::string_view address);

// Reads a normalized package address ("getter::url" or "url", without "//subdir"): its Source, without subdir, and the
// URL for the getter. The errors are those of parse_source; `shown` names the address in them.
struct RemotePackage {
  Source source;
  std::string url;
};
Result<RemotePackage> describe_package(std::string_view package, const std::string& shown);

// Returns whether the address has a `depth`, so that the clients clone only a branch or a tag.
bool is_shallow(const SourceAddress& address);

// Returns the ssh URL for "host:path", which git reads as an address of ssh if a slash does not come first: the host is
// often an alias of ssh's configuration. nullopt: the text is a URL, or has a user.
std::optional<std::string> ssh_url(std::string_view text);

// Turns a source of git-remote-codecommit ("git::codecommit::region://repository", otherwise unsupported) into one of
// git, whose program then runs that helper. Changes no other address. For users who allow the helper.
void serve_by_git_helper(SourceAddress& address);

}  // namespace modlock
