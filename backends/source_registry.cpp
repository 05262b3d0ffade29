#include "backends/source_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "backends/hostname.h"
#include "backends/source_text.h"

namespace modlock {
namespace {

constexpr std::string_view kDefaultHost = "registry.opentofu.org";
constexpr std::size_t kLongestName = 64;
constexpr int kHttpsPort = 443;
constexpr int kHighestPort = 65535;

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

std::vector<std::string_view> split_slashes(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t slash = text.find('/');
    parts.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(slash + 1);
  }
}

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

// Punycode is for machines: OpenTofu wants the readable form, and no label may be empty but one at the end.
bool has_readable_labels(std::string_view name) {
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.substr(0, 4) == "xn--") {
      return false;
    }
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return true;
}

std::optional<std::string> parse_host(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto port = normalise_port(text.substr(name.size()));
  if (!port || name.empty() || !has_readable_labels(name)) {
    return std::nullopt;
  }
  const auto host = lookup_host(name);
  if (!host || host->ascii.find('.') == std::string::npos) {
    return std::nullopt;
  }
  if (port->empty() && (host->ascii == "github.com" || host->ascii == "bitbucket.org")) {
    return std::nullopt;
  }
  return host->display + *port;
}

}  // namespace

std::string RegistryAddress::to_string() const {
  return fmt::format("{}/{}{}{}", host, module, subdir.empty() ? "" : "//", subdir);
}

std::optional<RegistryAddress> parse_registry_address(std::string_view text) {
  auto [package, subdir] = split_subdir(text);
  auto parts = split_slashes(package);
  if (leads_outside(subdir) || (parts.size() != 3 && parts.size() != 4)) {
    return std::nullopt;
  }
  std::optional<std::string> host(kDefaultHost);
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
