#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace modlock::http {

// Whether two header names are the same, without regard to the case of ASCII letters.
bool same_name(std::string_view left, std::string_view right);

// Lower case of ASCII letters.
std::string lower_case(std::string_view text);

// The media type of a Content-Type, without its parameters, in lower case.
std::string media_type(std::string_view content_type);

// At most `size` bytes and an ellipsis, cut between characters.
std::string cut_text(std::string text, std::size_t size);

// "30 s", "1500 ms".
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace modlock::http
