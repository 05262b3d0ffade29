#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// The result of verifying a detached signature with one published key.
struct SignatureVerdict {
  enum class Kind {
    good,
    key_expired,        // made by the key, which is now expired; for RSA keys also if made after expiration
    signature_expired,  // made by a valid key, and now expired
    unknown_issuer,     // not made by this key, or there is no signature
    bad                 // not a signature by the key, made by a revoked key, or unreadable
  };
  Kind kind = Kind::unknown_issuer;
  std::string key_id = {};  // of the primary key: 16 hexadecimal digits in upper case; empty for unknown_issuer
  std::chrono::system_clock::time_point made = {};  // as its maker says
  std::string reason = {};                          // for bad: "the signature is not of this key over these bytes"
};

// Verifies a binary detached OpenPGP signature of `document` with an armored public key and its subkeys. Checks in the
// order of ProtonMail/go-crypto, which OpenTofu and Terraform use: the first signature that the key may have made is
// used; then revocation, expiration of the primary key, of the signing subkey and of the signature. An armored
// signature is unreadable. Thread-safe. Errors: BAD_RESPONSE (`no public key can be read from it`).
Result<SignatureVerdict> check_detached_signature(std::string_view armored_key, std::string_view document,
                                                  std::string_view signature);

// Whether one of the signatures in a file of OpenPGP packets was made by an RSA key over a binary document (RFC 4880,
// version 4, SHA-256 or longer), at any time. The caller checks the time and the validity of the key. `public_key`
// begins with the packet of the key. False in all other cases.
bool is_rsa_signed(std::string_view public_key, std::string_view document, std::string_view signatures);

}  // namespace modlock
