#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::http {

// The parts of a URL of the wire, as they are written there: nothing is decoded.
struct UrlParts {
  std::string scheme;  // lower case
  std::optional<std::string_view> user_info = {};
  std::string host;               // lower case, IPv6 addresses in brackets; never empty
  int port = 0;                   // given or the scheme's own; 0 where neither is known
  bool has_port = false;          // given, and not the scheme's own
  std::string_view path;          // with its leading slash, or empty
  std::string_view query;         // with its "?", or empty
  std::string authority() const;  // host, and the port where has_port
};

// nullopt for what is no absolute URL with a host: a bad scheme, host or port, control characters, blanks.
std::optional<UrlParts> split_url(std::string_view url);

// "https://host:443": what decides about secrets.
std::string origin_of(const UrlParts& parts);

// The URL without user-info and fragment.
std::string without_user_info(std::string_view url);

}  // namespace modlock::http
