#pragma once

#include <string>
#include <string_view>

#include "plugin/value/value.h"

namespace modlock::eval {

class TextBuilder;

// JSON as jsonencode() writes it: no blanks, members sorted, and "<", ">", "&", U+2028 and U+2029 escaped in strings.
// Marks do not show.
void append_json(TextBuilder& out, const Value& value);

}  // namespace modlock::eval
