#pragma once

#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// Turns a package address as a person writes it (without "//subdir") into one with a getter: github.com/o/r becomes
// git::https://github.com/o/r.git. What go-getter's Detect does with the detectors OpenTofu gives it; a URL with a
// scheme comes back as it is. The result may have a subdirectory of its own.
// Errors: SOURCE_INVALID; SOURCE_UNSUPPORTED for bitbucket.org shorthands.
Result<std::string> detect_package(std::string_view address);

// What a normalised package address ("getter::url" or "url", without "//subdir") says: its Source, without subdir, and
// the URL for the getter. The errors are those of parse_source; `shown` names the address in them.
struct RemotePackage {
  Source source;
  std::string url;
};
Result<RemotePackage> describe_package(std::string_view package, const std::string& shown);

}  // namespace modlock
