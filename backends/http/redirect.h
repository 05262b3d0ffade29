#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "backends/base/context.h"
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

// How a policy names what lies at a URL of http or https, whoever leads there: as an archive, without query and
// fragment. Errors: BAD_RESPONSE.
Result<Source> archive_source(std::string_view url);

// Asks Context::check_source about a URL of another host, which a server names, before a request goes there. Errors:
// those of archive_source() and of the judge.
Result<void> check_url_allowed(std::string_view url, const Context& context);

// For HttpRequest::check_redirect: asks Context::check_source of `context`, which outlives it. Empty where every source
// is allowed.
std::function<Result<void>(std::string_view url)> redirect_policy(const Context& context);

}  // namespace modlock
