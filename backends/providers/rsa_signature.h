#pragma once

#include <string_view>

namespace modlock {

// Whether one of the signatures in a file of OpenPGP packets is of an RSA key over a binary document (RFC 4880, version
// 4, SHA-256 or longer), whenever it was made: that and the key's own validity are the caller's to judge. `public_key`
// begins with the packet of the key. False for everything else.
bool is_rsa_signed(std::string_view public_key, std::string_view document, std::string_view signatures);

}  // namespace modlock
