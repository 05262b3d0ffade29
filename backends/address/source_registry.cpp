#include "backends/address/source_registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/service_host.h"
#include "backends/address/source_text.h"

namespace modlock {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_lower_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}
bool is_alphanumeric(char c) {
  return is_lower_alphanumeric(c) || (c >= 'A' && c <= 'Z');
}
bool is_name_character(char c) {
  return is_alphanumeric(c) || c == '-' || c == '_';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), is_name_character);
}

bool is_system(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), is_lower_alphanumeric);
}

std::optional<std::string> parse_host(std::string_view text) {
  const auto host = parse_service_host(text);
  if (!host || host->ascii.find('.') == std::string::npos || host->ascii == "github.com" ||
      host->ascii == "bitbucket.org") {
    return std::nullopt;
  }
  return host->display;
}

}  // namespace

std::string RegistryAddress::to_string() const {
  return fmt::format("{}/{}{}{}", host, module, subdir.empty() ? "" : "//", subdir);
}

std::optional<RegistryAddress> parse_registry_address(std::string_view text, std::string_view default_host) {
  auto [package, subdir] = split_subdir(text);
  auto parts = split(package, '/');
  if (leads_outside(subdir) || (parts.size() != 3 && parts.size() != 4)) {
    return std::nullopt;
  }
  std::optional<std::string> host(default_host);
  if (parts.size() == 4) {
    host = parse_host(parts[0]);
    parts.erase(parts.begin());
  }
  if (!host || !is_name(parts[0]) || !is_name(parts[1]) || !is_system(parts[2])) {
    return std::nullopt;
  }
  return RegistryAddress{std::move(*host), fmt::format("{}", fmt::join(parts, "/")), std::move(subdir)};
}

}  // namespace modlock
