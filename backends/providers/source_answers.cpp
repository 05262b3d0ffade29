#include "backends/providers/source_answers.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {

void order_newest_first(std::vector<ProviderVersion>& versions) {
  std::sort(versions.begin(), versions.end(), [](const ProviderVersion& left, const ProviderVersion& right) {
    const int order = compare(left, right);
    return order != 0 ? order > 0 : compare_extra(left.metadata, right.metadata) > 0;
  });
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
}

tl::unexpected<Error> provider_not_found(const ProviderAddress& provider) {
  return fail(Code::not_found,
              fmt::format("provider {} was not found in any of the search locations", provider.to_string()),
              "check the spelling of its source, and provider_installation of the CLI configuration");
}

tl::unexpected<Error> not_available(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform) {
  return fail(Code::not_found,
              fmt::format("provider {} {} is not available for {}", provider.to_string(), version.to_string(),
                          platform.to_string()),
              "choose another version, or leave the platform out");
}

Error not_as_listed(Error error) {
  error.code = error.code == Code::not_found ? Code::bad_response : error.code;
  return error;
}

}  // namespace modlock
