#pragma once

#include <string>
#include <string_view>

#include "plugin/hcl/parser.h"

namespace modlock::hcl::test {

// A tree in one line, without ranges: `(+ 1 (. a b))`, `"text" {x}` for templates.
std::string shape(const Expression& expression);

// The shape of the value of `a = <text>`, or "error: " and the first message.
std::string shape_of_value(std::string_view text);

// "main.tf:1:5-1:8 message", and " (hint)" where there is one.
std::string to_line(const Error& error);

}  // namespace modlock::hcl::test
