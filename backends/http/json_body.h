#pragma once

#include <json/value.h>

#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// Whether what a server sent is a page for people.
bool is_html(std::string_view body);

// parse_json of what a server sent. Errors: BAD_RESPONSE (no JSON, or ambiguous; an HTML page is named as such and has
// a hint, no other error has), LIMIT_EXCEEDED (too many values). The message completes a sentence after a colon.
Result<Json::Value> parse_json_body(std::string_view body);

}  // namespace modlock
