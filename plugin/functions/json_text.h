#pragma once

#include <string>
#include <string_view>

#include "plugin/functions/functions.h"
#include "plugin/value/value.h"

namespace modlock::eval {

class TextBuilder;

// JSON as jsonencode() writes it: no blanks, members sorted, and "<", ">", "&", U+2028 and U+2029 escaped in strings.
// Marks do not show.
void append_json(TextBuilder& out, const Value& value);

// The value of a JSON text as jsondecode() has it: objects and tuples, null of dynamic type. Of members of one name the
// last counts, where their types are the same. Lone surrogates become U+FFFD. A "]" or "}" behind the value ends the
// text, as in Go. Errors are in the words of Go's decoder. Nesting is limited to hcl::kMaxDepth.
FunctionResult decode_json(std::string_view text);

}  // namespace modlock::eval
