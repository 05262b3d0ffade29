#pragma once

#include <json/value.h>

#include <cstddef>
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

inline constexpr std::size_t kMaxJsonDepth = 128;
// Limit for the objects, arrays, strings, numbers, booleans and nulls of one text; member names do not count. It bounds
// memory, because a parsed value uses about 200 bytes: 8 MiB of zeros would need 800 MiB.
inline constexpr std::size_t kMaxJsonValues = 1'000'000;

// The result of a byte-level scan of one JSON text.
struct JsonScan {
  // The first reason to reject valid JSON. INVALID_REQUEST: parsers disagree about it (a duplicate member name, a lone
  // surrogate). LIMIT_EXCEEDED: it has over kMaxJsonValues values.
  std::optional<Error> rejection = {};
  // The source text of the value of the member "id", if the text is an object with exactly one such member.
  std::optional<std::string_view> id = {};
};

// Scans one text byte by byte, strictly by the grammar of RFC 8259. Errors: PARSE_ERROR as in `parse_json`; the message
// contains the byte offset. The views point into `text`.
Result<JsonScan> scan_json(std::string_view text);

// Appends the escape sequence of an ASCII character: `\n`, `\"`, `\u003c`.
void append_json_escape(std::string& out, char character);

}  // namespace modlock
