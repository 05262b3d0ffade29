#pragma once

#include <functional>
#include <string_view>

#include "backends/context.h"
#include "backends/source.h"
#include "protocol/result.h"

namespace modlock {

// How a policy names what lies at a URL of http or https, whoever leads there: as an archive, without query and
// fragment. Errors: BAD_RESPONSE.
Result<Source> archive_source(std::string_view url);

// For HttpRequest::judge_redirect: asks Context::judge_source of `context`, which outlives it. Empty where every source
// is allowed.
std::function<Result<void>(std::string_view url)> redirect_judge(const Context& context);

}  // namespace modlock
