#pragma once

#include <functional>
#include <string_view>

#include "backends/address/source.h"
#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

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
