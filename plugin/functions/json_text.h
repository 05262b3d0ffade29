#pragma once

#include <string>
#include <string_view>

#include "plugin/functions/functions.h"
#include "plugin/value/value.h"

namespace modlock::eval {

class TextBuilder;

// A string as Go's json.Marshal writes it: "<", ">", "&", U+2028 and U+2029 are escaped.
std::string json_string(std::string_view text);

// The JSON of jsonencode(): no blanks, members sorted, and strings as json_string() writes them. Marks are ignored.
void append_json(TextBuilder& out, const Value& value);

// The value that jsondecode() returns: objects and tuples, null of dynamic type. The last of several members with the
// same name is used, if their types are the same. Lone surrogates become U+FFFD. A "]" or "}" after the value ends the
// text, as in Go. Errors have the wording of Go's decoder. Nesting is limited to hcl::kMaxDepth.
FunctionResult decode_json(std::string_view text);

}  // namespace modlock::eval
