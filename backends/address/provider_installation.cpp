#include "backends/address/provider_installation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/address/hostname.h"
#include "backends/address/source_text.h"

namespace modlock {
namespace {

constexpr std::string_view kWildcard = "*";

tl::unexpected<Error> invalid(std::string_view pattern, std::string_view why) {
  return fail(Code::source_invalid,
              fmt::format("invalid provider matching pattern \"{}\": {}", printable_address(pattern), why),
              "write it as \"hashicorp/aws\", \"example.com/acme/*\" or \"example.com/*/*\"");
}

bool fits(const std::string& part, const std::string& name) {
  return part == kWildcard || part == name;
}

bool any_matches(const std::vector<ProviderPattern>& patterns, const ProviderAddress& provider) {
  return std::ranges::any_of(patterns, [&](const ProviderPattern& pattern) { return pattern.matches(provider); });
}

}  // namespace

Result<ProviderPattern> ProviderPattern::parse(std::string_view text, std::string_view default_host) {
  const auto parts = split(text, '/');
  if (parts.size() != 2 && parts.size() != 3) {
    return invalid(text, "must have either two or three slash-separated segments");
  }
  const std::string_view host = parts.size() == 3 ? parts[0] : default_host;
  ProviderPattern pattern;
  pattern.host_ = kWildcard;
  if (host != kWildcard) {
    auto forms = parse_service_host(host);
    if (!forms) {
      return invalid(text, fmt::format("\"{}\" is not a host name with an optional port", printable_address(host)));
    }
    pattern.host_ = std::move(forms->ascii);
  }
  for (const auto& [given, part] :
       {std::pair(parts[parts.size() - 2], &pattern.namespace_), std::pair(parts[parts.size() - 1], &pattern.type_)}) {
    auto name = given == kWildcard ? Result<std::string>(given) : normalize_provider_part(given);
    if (!name) {
      return invalid(text, fmt::format("\"{}\" is neither the wildcard * nor a name", printable_address(given)));
    }
    *part = std::move(*name);
  }
  if (pattern.host_ == kWildcard && (pattern.namespace_ != kWildcard || pattern.type_ != kWildcard)) {
    return invalid(text, "hostname can be a wildcard only if both namespace and provider type are also wildcards");
  }
  if (pattern.namespace_ == kWildcard && pattern.type_ != kWildcard) {
    return invalid(text, "namespace can be a wildcard only if the provider type is also a wildcard");
  }
  return pattern;
}

bool ProviderPattern::matches(const ProviderAddress& provider) const {
  return fits(host_, provider.host_ascii()) && fits(namespace_, provider.name_space()) && fits(type_, provider.type());
}

bool ProviderInstallation::Method::serves(const ProviderAddress& provider) const {
  return !any_matches(exclude, provider) && (include.empty() || any_matches(include, provider));
}

}  // namespace modlock
