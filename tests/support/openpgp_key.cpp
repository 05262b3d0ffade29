#include "tests/support/openpgp_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

#include "backends/base/digest.h"
#include "tests/support/base64.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

constexpr std::uint32_t kDay = 24 * 3600;
constexpr std::uint32_t kYear = 365 * kDay;
constexpr char kRsa = 1;
constexpr char kSha256 = 8;

enum Packet : unsigned { kSignature = 2, kPublicKey = 6, kUserId = 13 };
enum Subpacket : unsigned { kCreated = 2, kSignatureLifetime = 3, kKeyLifetime = 9, kIssuer = 16, kKeyFlags = 27 };
enum SignatureType : char { kDocument = 0x00, kCertification = 0x13 };

std::string big(std::uint64_t value, unsigned size) {
  std::string bytes;
  while (size > 0) {
    bytes += static_cast<char>(value >> (8 * --size) & 0xFFU);
  }
  return bytes;
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// A number with the count of its bits in front.
std::string multiprecision(std::string bytes) {
  bytes.erase(0, bytes.find_first_not_of('\0'));
  std::uint64_t bits = bytes.size() * 8;
  for (unsigned mask = 0x80; (static_cast<unsigned char>(bytes.at(0)) & mask) == 0; mask >>= 1U) {
    --bits;
  }
  return big(bits, 2) + bytes;
}

std::string packet(Packet tag, const std::string& body) {
  return big(0xC0U | tag, 1) + '\xFF' + big(body.size(), 4) + body;
}

std::string subpacket(Subpacket type, const std::string& body) {
  return big(body.size() + 1, 1) + big(type, 1) + body;
}

std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = 0xB704CE;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 16U;
    for (int i = 0; i < 8; ++i) {
      crc <<= 1U;
      crc ^= (crc & 0x1000000U) != 0 ? 0x1864CFBU : 0U;
    }
  }
  return crc & 0xFFFFFFU;
}

std::string armor(std::string_view bytes) {
  const std::string text = base64_of(bytes);
  std::string lines;
  for (std::size_t i = 0; i < text.size(); i += 64) {
    lines += text.substr(i, 64) + "\n";
  }
  return fmt::format("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}={}\n-----END PGP PUBLIC KEY BLOCK-----\n", lines,
                     base64_of(big(checksum(bytes), 3)));
}

}  // namespace

struct OpenPgpKey::RsaKey {
  RsaKey() {
    run({"openssl", "genrsa", "-out", path, "2048"});
    const std::string text = run({"openssl", "rsa", "-in", path, "-noout", "-modulus"});
    modulus = from_hex(text.substr(text.find('=') + 1, 512));
  }

  TemporaryDirectory directory;
  std::string path = (directory / "key.pem").string();
  std::string modulus;
};

// Making one takes a tenth of a second, so that of a key that is gone serves again.
std::shared_ptr<const OpenPgpKey::RsaKey> OpenPgpKey::free_rsa_key() {
  static std::mutex mutex;
  static std::vector<std::shared_ptr<const RsaKey>> made;
  const std::lock_guard lock(mutex);
  const auto is_free = [](const auto& key) { return key.use_count() == 1; };
  const auto found = std::find_if(made.begin(), made.end(), is_free);
  return found != made.end() ? *found : made.emplace_back(std::make_shared<const RsaKey>());
}

OpenPgpKey::OpenPgpKey(Validity validity) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  created_ = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()) - 2 * kYear;
  const std::string key =
      big(4, 1) + big(created_, 4) + kRsa + multiprecision(rsa_->modulus) + multiprecision(big(65537, 3));
  const std::string hashed_key = "\x99" + big(key.size(), 2) + key;
  const std::vector<std::uint8_t> fingerprint = hash_of(Hash::sha1, hashed_key);
  issuer_ = std::string(fingerprint.end() - 8, fingerprint.end());
  for (const char c : issuer_) {
    id_ += fmt::format("{:02X}", static_cast<unsigned char>(c));
  }
  const std::string user = "Test signer <signer@example.test>";
  std::string subpackets = subpacket(kKeyFlags, big(0x03, 1));
  if (validity == Validity::expired) {
    subpackets += subpacket(kKeyLifetime, big(kYear, 4));
  }
  const std::string certification =
      signature(hashed_key + "\xB4" + big(user.size(), 4) + user, kCertification, Made::early, subpackets);
  armored_ = armor(packet(kPublicKey, key) + packet(kUserId, user) + certification);
}

std::string OpenPgpKey::sign(std::string_view document, Validity validity, Made made) const {
  const bool expires = validity == Validity::expired;
  return signature(document, kDocument, made, expires ? subpacket(kSignatureLifetime, big(kYear, 4)) : std::string());
}

std::string OpenPgpKey::signature(std::string_view document, char type, Made made,
                                  const std::string& subpackets) const {
  const std::uint32_t age = made == Made::early ? kDay : made == Made::late ? kYear + kDay : 2 * kYear;
  const std::string hashed_subpackets = subpacket(kCreated, big(created_ + age, 4)) + subpackets;
  const std::string hashed = big(4, 1) + type + kRsa + kSha256 + big(hashed_subpackets.size(), 2) + hashed_subpackets;
  const std::string signed_bytes = std::string(document) + hashed + "\x04\xFF" + big(hashed.size(), 4);
  const std::vector<std::uint8_t> digest = hash_of(Hash::sha256, signed_bytes);
  const std::string number = run({"openssl", "dgst", "-sha256", "-sign", rsa_->path}, {}, {}, signed_bytes);
  const std::string unhashed = subpacket(kIssuer, issuer_);
  return packet(kSignature, hashed + big(unhashed.size(), 2) + unhashed +
                                std::string(digest.begin(), digest.begin() + 2) + multiprecision(number));
}

}  // namespace modlock::test
