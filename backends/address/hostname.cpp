#include "backends/address/hostname.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <idn2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/deleter.h"

namespace modlock {
namespace {

bool is_host_character(char c) {
  return ascii::is_digit(c) || ascii::is_lower(c) || c == '-' || c == '.' || !ascii::is_ascii(c);
}

bool has_only_name_characters(std::string_view text) {
  return std::ranges::all_of(text, is_host_character);
}

// Whether the label has only letters, digits and inner dashes, but not two dashes at the position of IDNA prefixes.
// Empty labels are left to the resolver.
bool is_plain_label(std::string_view label) {
  if (label.empty()) {
    return true;
  }
  return has_only_name_characters(label) && label.front() != '-' && label.back() != '-' &&
         label.substr(2 < label.size() ? 2 : label.size(), 2) != "--";
}

using Idn2Text = std::unique_ptr<char, Deleter<idn2_free>>;

// Returns nullopt if there is no ASCII form.
std::optional<std::string> to_ascii(const std::string& name) {
  char* raw = nullptr;
  if (idn2_to_ascii_8z(name.c_str(), &raw, IDN2_NONTRANSITIONAL) != IDN2_OK) {
    return std::nullopt;
  }
  return std::string(Idn2Text(raw).get());
}

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

// OpenTofu requires the readable form, not punycode. Only the last label may be empty.
bool is_readable(std::string_view name) {
  name.remove_suffix(name.ends_with('.') ? 1 : 0);
  return std::ranges::none_of(split(name, '.'),
                              [](std::string_view label) { return label.empty() || label.starts_with("xn--"); });
}

}  // namespace

std::optional<HostForms> lookup_host(std::string_view name) {
  std::string lower = ascii::lower(name);
  if (std::ranges::all_of(lower, ascii::is_ascii) && lower.find("xn--") == std::string::npos) {
    if (!std::ranges::all_of(split(lower, '.'), is_plain_label)) {
      return std::nullopt;
    }
    return HostForms{lower, lower};
  }
  if (!has_only_name_characters(lower)) {
    return std::nullopt;
  }
  // Under its STD3 rules libidn2 drops characters that map to a forbidden one, so the rules are applied to its result.
  const auto mapped = to_ascii(lower);
  if (!mapped || !has_only_name_characters(*mapped)) {
    return std::nullopt;
  }
  char* raw = nullptr;
  if (idn2_to_unicode_8z8z(mapped->c_str(), &raw, 0) != IDN2_OK) {
    return std::nullopt;
  }
  const std::string display = Idn2Text(raw).get();
  // "xn--…" may encode a text that is not a valid name.
  return to_ascii(display) == mapped ? std::optional(HostForms{*mapped, display}) : std::nullopt;
}

std::pair<std::string, std::string> split_port(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = std::min(host.find(':', bracket == std::string_view::npos ? 0 : bracket), host.size());
  return {std::string(host.substr(0, colon)), std::string(host.substr(colon))};
}

std::string host_in_ascii(const std::string& host) {
  const auto [name, port] = split_port(host);
  const auto forms = lookup_host(name);
  return forms ? forms->ascii + port : host;
}

std::optional<HostForms> parse_service_host(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto port = normalise_port(text.substr(name.size()));
  if (!port || !is_readable(name)) {
    return std::nullopt;
  }
  auto host = lookup_host(name);
  // Mapping may produce an invalid name: some characters map to a dot or to nothing.
  if (!host || !is_readable(host->display)) {
    return std::nullopt;
  }
  host->ascii += *port;
  host->display += *port;
  return host;
}

bool is_odd_ip_address(std::string host) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (host.starts_with('[') && host.ends_with(']')) {
    in6_addr address{};
    host = host.substr(1, host.size() - 2);
    return ::inet_pton(AF_INET6, host.c_str(), &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address) ||
           host != ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  }
  in_addr address{};
  return ::inet_aton(host.c_str(), &address) != 0 && host != ::inet_ntop(AF_INET, &address, text.data(), text.size());
}

}  // namespace modlock
