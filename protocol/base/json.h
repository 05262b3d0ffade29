#pragma once

#include <json/value.h>

#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// Reads one JSON text strictly: RFC 8259 in valid UTF-8, with only whitespace before or after the value. Errors:
// PARSE_ERROR (invalid JSON: invalid UTF-8, BOM, NUL or other raw control bytes, text after the value, nesting over
// 128) and INVALID_REQUEST (ambiguous JSON: duplicate member names, lone surrogates), both with the byte offset;
// LIMIT_EXCEEDED (over kMaxJsonValues values). All are found before anything is built.
Result<Json::Value> parse_json(std::string_view text);

// Returns the text of a member; nullopt if `object` is not an object or has no such string.
std::optional<std::string> string_member(const Json::Value& object, const char* name);

// Returns compact JSON, with members in bytewise order of their names, and only the escapes that JSON requires. No line
// ending.
std::string write_json(const Json::Value& value);

// Returns JSON for people: two spaces of indentation, a final LF.
std::string write_json_pretty(const Json::Value& value);

}  // namespace modlock
