#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"

namespace modlock {

// How a piece of text is written, and so what has to be escaped in it.
enum class Quoting {
  quoted,       // "…" of native syntax
  heredoc,      // <<EOT of native syntax
  json,         // "…" of JSON, read as a template
  json_literal  // "…" of JSON, read as it stands
};

// Where each byte of a literal piece of text stands in its file: one offset per byte, and that of the end. `range` is
// the piece as written. Bytes that one escape stands for share its place. Nothing where the two do not line up, as
// behind strip markers, which take blanks away.
std::vector<std::size_t> places_of(std::string_view text, const Range& range, Quoting quoting, std::string_view file);

// How text is written inside of such a piece.
std::string spell(std::string_view text, Quoting quoting);

}  // namespace modlock
