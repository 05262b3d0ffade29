#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::http {

// The parts of a URL as sent over the network; nothing is decoded.
struct UrlParts {
  std::string scheme;  // lower case
  std::optional<std::string_view> user_info = {};
  std::string host;               // lower case, IPv6 addresses in brackets; never empty
  int port = 0;                   // given or the scheme's default; 0 if neither is known
  bool has_port = false;          // given, and not the scheme's default
  std::string_view path;          // with its leading slash, or empty
  std::string_view query;         // with its "?", or empty
  std::string authority() const;  // host, and the port if has_port
};

// Returns nullopt if the text is not an absolute URL with a host: a bad scheme, host or port, control characters,
// blanks.
std::optional<UrlParts> split_url(std::string_view url);

// Returns whether UrlParts::host is "localhost", 127.0.0.0/8 or [::1].
bool is_loopback(std::string_view host);

// Returns "https://host:443", the scope of secrets.
std::string origin_of(const UrlParts& parts);

// Removes user-info and fragment from the URL.
std::string without_user_info(std::string_view url);

}  // namespace modlock::http
