#pragma once

#include <string>
#include <string_view>

#include "backends/address/source.h"

namespace modlock {

// What a normalised package address ("getter::url" or "url", without "//subdir") says: its Source, without subdir, and
// the URL for the getter. The errors are those of parse_source; `shown` names the address in them.
struct RemotePackage {
  Source source;
  std::string url;
};
Result<RemotePackage> describe_package(std::string_view package, const std::string& shown);

}  // namespace modlock
