#include "plugin/resolve/predecessor.h"

#include <fmt/format.h>

namespace modlock {
namespace {

std::optional<ProviderAddress> same_type(const ProviderAddress& address, std::string_view from, std::string_view to) {
  if (address.host_ascii() != from || address.name_space() != "hashicorp") {
    return std::nullopt;
  }
  auto other = ProviderAddress::parse(fmt::format("{}/hashicorp/{}", to, address.type()), kOpenTofuRegistry);
  return other ? std::optional(std::move(*other)) : std::nullopt;
}

}  // namespace

std::optional<ProviderAddress> successor_of(const ProviderAddress& address) {
  return same_type(address, kTerraformRegistry, kOpenTofuRegistry);
}

std::optional<ProviderAddress> predecessor_of(const ProviderAddress& address) {
  return same_type(address, kOpenTofuRegistry, kTerraformRegistry);
}

}  // namespace modlock
