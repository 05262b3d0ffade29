#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace modlock::http {

// Returns whether two header names are equal, ignoring the case of ASCII letters.
bool same_name(std::string_view left, std::string_view right);

// Returns the media type of a Content-Type, without its parameters, in lower case.
std::string media_type(std::string_view content_type);

// Shortens the text to at most `size` bytes and an ellipsis, without splitting a character.
std::string cut_text(std::string text, std::size_t size);

// "30 s", "1500 ms".
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace modlock::http
