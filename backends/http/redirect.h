#pragma once

#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// What is done with a redirect. Pure.
struct RedirectStep {
  std::string url;             // absolute
  bool keeps_secrets = false;  // same scheme, host and port: secret headers and user-info go along
  bool becomes_get = false;    // 303, and a POST on 301 or 302 (RFC 9110 section 15.4)
};

// Where a response of `status` (301, 302, 303, 307, 308) at `url` with this Location leads. Errors, BAD_RESPONSE
// without a URL's secrets: no or an unreadable Location, a scheme other than http and https, https to http.
Result<RedirectStep> follow_redirect(std::string_view url, int status, std::string_view location, bool is_post);

bool is_redirect(int status);

}  // namespace modlock
