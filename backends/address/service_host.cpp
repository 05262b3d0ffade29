#include "backends/address/service_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace modlock {
namespace {

constexpr int kHttpsPort = 443;
constexpr int kHighestPort = 65535;

// ":8443" for ":8443" and ":08443", nothing for ":443".
std::optional<std::string> normalise_port(std::string_view text) {
  if (text.empty()) {
    return std::string();
  }
  const std::string_view digits = text.substr(1);
  int port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || port < 0 ||
      port > kHighestPort) {
    return std::nullopt;
  }
  return port == kHttpsPort ? std::string() : fmt::format(":{}", port);
}

// Punycode is for machines: OpenTofu wants the readable form. No label may be empty but one at the end.
bool is_readable(std::string_view name) {
  if (name.empty()) {
    return false;
  }
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.substr(0, 4) == "xn--") {
      return false;
    }
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return true;
}

}  // namespace

std::optional<HostForms> parse_service_host(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto port = normalise_port(text.substr(name.size()));
  if (!port || !is_readable(name)) {
    return std::nullopt;
  }
  auto host = lookup_host(name);
  // Mapping may give what could not be written itself: some characters stand for a dot or for nothing.
  if (!host || !is_readable(host->display)) {
    return std::nullopt;
  }
  host->ascii += *port;
  host->display += *port;
  return host;
}

}  // namespace modlock
