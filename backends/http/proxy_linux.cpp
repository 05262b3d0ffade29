#include "backends/http/curl_http_client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/text.h"
#include "backends/http/url.h"

namespace modlock::http {
namespace {

std::string variable(const char* upper, const char* lower) {
  for (const char* name : {upper, lower}) {
    const char* const value = name == nullptr ? nullptr : std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return value;
    }
  }
  return {};
}

using Address = std::array<unsigned char, 16>;
constexpr std::size_t kMapped = 12;  // an IPv4 address follows ::ffff:

std::optional<Address> parse_address(const std::string& text) {
  Address address{};
  address[kMapped - 2] = address[kMapped - 1] = 0xFF;
  const bool is_valid = ::inet_pton(AF_INET, text.c_str(), &address[kMapped]) == 1 ||
                        ::inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
  return is_valid ? std::optional(address) : std::nullopt;
}

// Whether the address is in the block "<address>/<bits>"; nullopt: the text is no block.
std::optional<bool> is_in_block(const std::optional<Address>& address, const std::string& block) {
  const std::size_t slash = std::min(block.find('/'), block.size());
  const std::string start = block.substr(0, slash);
  const auto first = parse_address(start);
  std::size_t bits = 0;
  const char* const end = block.data() + block.size();
  const std::size_t offset = start.find(':') == std::string::npos ? kMapped * 8 : 0;
  if (!first || slash == block.size() ||
      std::from_chars(block.data() + slash + 1, end, bits) != std::from_chars_result{end, std::errc()} ||
      bits + offset > first->size() * 8) {
    return std::nullopt;
  }
  for (std::size_t i = 0; address && i < bits + offset; ++i) {
    if ((((*address)[i / 8] ^ (*first)[i / 8]) >> (7 - i % 8) & 1) != 0) {
      return false;
    }
  }
  return address.has_value();
}

// Whether an entry of NO_PROXY, in lower case, names the host and the port (golang.org/x/net/http/httpproxy). For git
// (Curl_check_noproxy() of libcurl 7.88) an entry has no port and no "*.", and ".x" names x too.
bool names_host(std::string entry, const std::string& host, int port, bool of_git) {
  const auto address = parse_address(host);
  if (const auto is_inside = is_in_block(address, entry)) {
    return *is_inside;
  }
  const std::size_t colon = entry.rfind(':');
  const bool is_bracketed = entry.starts_with('[');
  if (!of_git && colon != std::string::npos && (is_bracketed ? entry[colon - 1] == ']' : entry.find(':') == colon)) {
    if (entry.substr(colon + 1) != std::to_string(port) && colon + 1 != entry.size()) {
      return false;
    }
    entry = entry.substr(is_bracketed, colon - (is_bracketed ? 2 : 0));
  }
  if (const auto named = parse_address(entry)) {
    return named == address;
  }
  entry.erase(0, entry.starts_with(of_git ? "." : "*.") ? 1 : 0);
  return !entry.empty() && (host.ends_with(entry.starts_with('.') ? entry : "." + entry) || host == entry);
}

bool is_excepted(std::string_view entries, const UrlParts& parts, bool of_git) {
  const bool is_bracketed = parts.host.starts_with('[');
  const std::string host = parts.host.substr(is_bracketed, parts.host.size() - (is_bracketed ? 2 : 0));
  for (const std::string_view listed : split(entries, ',')) {
    const std::string_view entry = trimmed(listed);
    if (entry == "*" || (!entry.empty() && names_host(ascii::lower(entry), host, parts.port, of_git))) {
      return true;
    }
  }
  return false;
}

}  // namespace

ProxySettings ProxySettings::from_environment() {
  const bool is_cgi = std::getenv("REQUEST_METHOD") != nullptr;
  return {.https = variable("HTTPS_PROXY", "https_proxy"),
          .http = variable(is_cgi ? nullptr : "HTTP_PROXY", "http_proxy"),
          .none = variable("NO_PROXY", "no_proxy")};
}

ProxySettings ProxySettings::of_git() {
  const auto first_set = [](const char* lower, const char* upper) {
    const char* const value = std::getenv(lower);
    return std::string(value != nullptr ? value : upper == nullptr ? "" : variable(upper, nullptr));
  };
  return {.https = first_set("https_proxy", "HTTPS_PROXY"),
          .http = first_set("http_proxy", nullptr),
          .none = first_set("no_proxy", "NO_PROXY"),
          .is_of_git = true};
}

std::string ProxySettings::proxy_for(std::string_view url) const {
  const auto parts = split_url(url);
  if (!parts || (!is_of_git && is_loopback(parts->host)) || is_excepted(none, *parts, is_of_git)) {
    return {};
  }
  return parts->scheme == "https" ? https : http;
}

}  // namespace modlock::http
