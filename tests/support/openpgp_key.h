#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace modlock::test {

// A signing key as RFC 4880 has it (version 4, RSA of 2048 bits, SHA-256), made by the openssl program: another hand
// than the library that is to judge its signatures.
class OpenPgpKey {
 public:
  enum class Validity { current, expired };
  // When a signature was made: a day after the key, when that, if it expires, was over, or now.
  enum class Made { early, late, now };
  // `expired`: for a year; its signatures were made while it was valid.
  explicit OpenPgpKey(Validity validity = Validity::current);

  // The public key with a user id, in ASCII armor.
  const std::string& armored() const { return armored_; }
  // 16 hexadecimal digits in upper case.
  const std::string& id() const { return id_; }

  // A detached signature of a binary document, not armored; or one that is itself over since a year.
  std::string sign(std::string_view document, Validity validity = Validity::current, Made made = Made::early) const;

 private:
  // A signature packet of some type over `document`, with these subpackets beside the time.
  std::string signature(std::string_view document, char type, Made made, const std::string& subpackets) const;

  struct RsaKey;
  static std::shared_ptr<const RsaKey> free_rsa_key();

  std::shared_ptr<const RsaKey> rsa_ = free_rsa_key();
  std::uint32_t created_;
  std::string issuer_;  // the key's id as bytes
  std::string id_;
  std::string armored_;
};

}  // namespace modlock::test
