#pragma once

#include <string>
#include <string_view>

namespace modlock {

// Appends a string with its quotes, escaped no further than JSON requires, with U+FFFD for each byte that is no UTF-8.
void append_json_string(std::string& out, std::string_view text);

// Compact JSON, which has to be valid, as people read it: two spaces of indentation, a final LF.
std::string indent_json(std::string_view compact);

}  // namespace modlock
