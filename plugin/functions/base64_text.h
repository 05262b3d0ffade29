#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::eval {

// In base64 with padding (RFC 4648 section 4).
std::string encode_base64(std::string_view bytes);

// The bytes of a text in base64 with its padding; line ends in it do not count. nullopt for any
// other text.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace modlock::eval
