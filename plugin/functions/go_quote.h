#pragma once

#include <string>
#include <string_view>

namespace modlock::eval {

// A string literal as OpenTofu's messages show texts (%q of Go's fmt): "a\nb", with control characters and what is
// not printable escaped.
std::string go_quoted(std::string_view text);

}  // namespace modlock::eval
