#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
#include "backends/address/provider_version.h"
#include "protocol/base/result.h"

namespace modlock {

// What a network mirror answers (OpenTofu's provider network mirror protocol).

// The versions in `index.json`; what is no version is passed over. Errors: BAD_RESPONSE, without the URL.
Result<std::vector<ProviderVersion>> parse_mirror_versions(std::string_view json);

struct MirrorArchive {
  std::string url;                  // as written, relative to where the answer came from
  std::vector<std::string> hashes;  // "<scheme>:…" each, of any scheme
};

// The archives in `<version>.json` by platform, as it is written there. Errors: BAD_RESPONSE, without the URL (no JSON
// of that shape, a hash without a scheme).
Result<std::map<std::string, MirrorArchive>> parse_mirror_archives(std::string_view json);

}  // namespace modlock
