#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "protocol/base/result.h"

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

namespace modlock {

struct RedirectStep {
  std::string url;             // absolute
  bool keeps_secrets = false;  // same scheme, host and port: secret headers and user-info are sent again
  bool becomes_get = false;    // 303, and a POST on 301 or 302 (RFC 9110 section 15.4)
};

// Returns the next step after a response of `status` (301, 302, 303, 307, 308) at `url` with this Location. Pure.
// Errors, BAD_RESPONSE without a URL's secrets: a missing or unreadable Location, a scheme other than http and https,
// https to http.
Result<RedirectStep> follow_redirect(std::string_view url, int status, std::string_view location, bool is_post);

bool is_redirect(int status);

// Returns the source by which a policy identifies a URL of http or https: an archive, without query and fragment.
// Errors: BAD_RESPONSE.
Result<Source> archive_source(std::string_view url);

// Checks a URL of another host, which a server names, with Context::check_source before the request is sent. Errors:
// those of archive_source() and of check_source.
Result<void> check_url_allowed(std::string_view url, const Context& context);

// Checks a redirect from one URL to another, which is `source`, with Context::check_source. Errors: those of `source`,
// archive_source() and check_source.
Result<void> check_redirect_allowed(std::string_view from, std::string_view to, const Result<Source>& source,
                                    const Context& context);

}  // namespace modlock
