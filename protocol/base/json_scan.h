#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

inline constexpr std::size_t kMaxJsonDepth = 128;

// What a byte-level reading of one JSON text found out.
struct JsonScan {
  // INVALID_REQUEST for legal JSON that readers understand differently: a duplicate member name, a lone surrogate.
  std::optional<Error> ambiguity = {};
  // The source text of the value of the member "id", where the text is an object with exactly one such member.
  std::optional<std::string_view> id = {};
};

// Reads one text byte by byte, by the grammar of RFC 8259 and nothing looser. Errors: PARSE_ERROR as `parse_json` has
// it; the message names the byte offset. The views point into `text`.
Result<JsonScan> scan_json(std::string_view text);

}  // namespace modlock
