#pragma once

#include <json/value.h>

#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// Returns whether a response is a web page for people.
bool is_html(std::string_view body);

// Like parse_json, for a server's response. Errors: BAD_RESPONSE (not JSON, or ambiguous; an HTML page is named as such
// with a hint, other errors have none), LIMIT_EXCEEDED (too many values). The message completes a sentence after a
// colon.
Result<Json::Value> parse_json_body(std::string_view body);

}  // namespace modlock
