#pragma once

#include <json/value.h>

#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// Reads one JSON text strictly: RFC 8259 in valid UTF-8, nothing before or after the value but whitespace.
// Errors: PARSE_ERROR (bytes that are no JSON: invalid UTF-8, BOM, NUL or other raw control bytes, text after the
// value, nesting over 128), INVALID_REQUEST (JSON that is ambiguous: duplicate member names, lone surrogates), both
// with the byte offset, or LIMIT_EXCEEDED (over kMaxJsonValues values). All of them are found before anything is built.
Result<Json::Value> parse_json(std::string_view text);

// Returns the text of a member; nullopt if `object` is not an object or has no such string.
std::optional<std::string> string_member(const Json::Value& object, const char* name);

// Compact, members in bytewise order of their names, UTF-8 unescaped but for what JSON requires. No line end.
std::string write_json(const Json::Value& value);

// For people: two spaces of indentation, a final LF.
std::string write_json_pretty(const Json::Value& value);

}  // namespace modlock
