#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

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

}  // namespace modlock
