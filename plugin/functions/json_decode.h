#pragma once

#include <string_view>

#include "plugin/functions/functions.h"

namespace modlock::eval {

// The value of a JSON text as jsondecode() has it: objects and tuples, null of dynamic type. Of members of one name the
// last counts, where their types are the same. Lone surrogates become U+FFFD. A "]" or "}" behind the value ends the
// text, as in Go. Errors are in the words of Go's decoder. Nesting is limited to hcl::kMaxDepth.
FunctionResult decode_json(std::string_view text);

}  // namespace modlock::eval
