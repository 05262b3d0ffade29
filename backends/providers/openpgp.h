#pragma once

#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// What a detached signature proves, judged by one published key.
struct SignatureVerdict {
  enum class Kind {
    good,
    key_expired,        // made by the key, which has expired by now; by an RSA key before or after it had
    signature_expired,  // made by a valid key, and over by now
    unknown_issuer,     // the key has nothing to do with it, or there is no signature at all
    bad                 // made by nobody who has the key, by a revoked key, or unreadable
  };
  Kind kind = Kind::unknown_issuer;
  std::string key_id = {};  // of the primary key: 16 hexadecimal digits in upper case; empty for unknown_issuer
  std::string reason = {};  // of bad: "the signature is not of this key over these bytes"
};

// Judges a binary detached OpenPGP signature of `document` by an armored public key with its subkeys, in the order of
// ProtonMail/go-crypto, which OpenTofu and Terraform use: the first signature that the key may have made counts; then
// revocation, the primary key's expiration, the signing subkey's, that of the signature. An armored signature is
// unreadable to it. Thread-safe. Errors: BAD_RESPONSE (`no public key can be read from it`).
Result<SignatureVerdict> check_detached_signature(std::string_view armored_key, std::string_view document,
                                                  std::string_view signature);

// Whether one of the signatures in a file of OpenPGP packets is of an RSA key over a binary document (RFC 4880, version
// 4, SHA-256 or longer), whenever it was made: that and the key's own validity are the caller's to judge. `public_key`
// begins with the packet of the key. False for everything else.
bool is_rsa_signed(std::string_view public_key, std::string_view document, std::string_view signatures);

}  // namespace modlock
