#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plugin/hcl/parser.h"

namespace modlock::hcl::test {

// A tree in one line, without ranges: `(+ 1 (. a b))`, `"text" {x}` for templates.
std::string shape(const Expression& expression);

// The shape of the value of `a = <text>`, or "error: " and the first message.
std::string shape_of_value(std::string_view text);

// `a=1;module<x>{b=2;}`
std::string outline(const Body& body);

// What the range is of, and that with the range: "2:3-2:6 text".
std::string slice(std::string_view text, const Range& range);
std::string show(std::string_view text, const Range& range);

std::string repeat(std::string_view what, std::size_t count);

// "main.tf:1:5-1:8 message", and " (hint)" where there is one.
std::string to_line(const Error& error);

}  // namespace modlock::hcl::test
