#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

inline constexpr std::size_t kMaxJsonDepth = 128;
// Objects, arrays, strings, numbers, true, false and null of one text; member names do not count. A value takes some
// 200 bytes once it is read, so this is what bounds memory: 8 MiB of zeros would take 800 MiB.
inline constexpr std::size_t kMaxJsonValues = 1'000'000;

// What a byte-level reading of one JSON text found out.
struct JsonScan {
  // The first reason not to use legal JSON. INVALID_REQUEST: readers understand it differently (a duplicate member
  // name, a lone surrogate). LIMIT_EXCEEDED: it has over kMaxJsonValues values.
  std::optional<Error> rejection = {};
  // The source text of the value of the member "id", where the text is an object with exactly one such member.
  std::optional<std::string_view> id = {};
};

// Reads one text byte by byte, by the grammar of RFC 8259 and nothing looser. Errors: PARSE_ERROR as `parse_json` has
// it; the message names the byte offset. The views point into `text`.
Result<JsonScan> scan_json(std::string_view text);

}  // namespace modlock
