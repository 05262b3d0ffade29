#include "backends/providers/openpgp.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/base/deleter.h"

namespace modlock {
namespace {

constexpr unsigned kSignature = 2;
constexpr unsigned kPublicKey = 6;
constexpr unsigned kPublicSubkey = 14;
constexpr std::uint64_t kVersion = 4;
constexpr std::uint64_t kBinaryDocument = 0;

template <typename T, auto free>
using OpenSsl = std::unique_ptr<T, Deleter<free>>;
using PublicKey = OpenSsl<EVP_PKEY, EVP_PKEY_free>;

// Reads fields from the front; returns empty values and fails past the end.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Big-endian.
  std::uint64_t number(std::uint64_t size) {
    std::uint64_t value = 0;
    for (const char c : take(size)) {
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  // A number after its bit count, starting with its highest set bit (RFC 4880, 3.2).
  std::string_view large_number() {
    const std::uint64_t bits = number(2);
    const std::string_view bytes = take((bits + 7) / 8);
    failed_ = failed_ || bytes.empty() || static_cast<unsigned char>(bytes.front()) >> ((bits - 1) % 8) != 1;
    return bytes;
  }

  std::string_view rest() const { return rest_; }
  bool is_over() const { return rest_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct Packet {
  unsigned tag = 0;
  std::string_view body;
};

// A packet with its length at the beginning, in the old or the new format.
std::optional<Packet> take_packet(Fields& fields) {
  const auto head = static_cast<unsigned>(fields.number(1));
  Packet packet{.tag = (head & 0x40U) != 0 ? head & 0x3FU : head >> 2U & 0x0FU, .body = {}};
  if ((head & 0x80U) == 0 || ((head & 0x40U) == 0 && (head & 3U) == 3)) {
    return std::nullopt;
  }
  if ((head & 0x40U) == 0) {
    packet.body = fields.take(fields.number(std::uint64_t{1} << (head & 3U)));
    return fields.failed() ? std::nullopt : std::optional(packet);
  }
  const std::uint64_t first = fields.number(1);
  if (first >= 224 && first < 255) {
    return std::nullopt;
  }
  const std::uint64_t size = first < 192    ? first
                             : first == 255 ? fields.number(4)
                                            : ((first - 192) << 8U) + fields.number(1) + 192;
  packet.body = fields.take(size);
  return fields.failed() ? std::nullopt : std::optional(packet);
}

bool is_rsa(std::uint64_t algorithm) {
  return algorithm == 1 || algorithm == 3;
}

const EVP_MD* hash_of(std::uint64_t algorithm) {
  return algorithm == 8 ? EVP_sha256() : algorithm == 9 ? EVP_sha384() : algorithm == 10 ? EVP_sha512() : nullptr;
}

PublicKey key_of(std::string_view public_key) {
  Fields file(public_key);
  const auto packet = take_packet(file);
  if (!packet || (packet->tag != kPublicKey && packet->tag != kPublicSubkey)) {
    return nullptr;
  }
  Fields body(packet->body);
  const std::uint64_t version = body.number(1);
  body.take(4);  // creation time
  const std::uint64_t algorithm = body.number(1);
  const std::string_view modulus = body.large_number();
  const std::string_view exponent = body.large_number();
  if (body.failed() || version != kVersion || !is_rsa(algorithm)) {
    return nullptr;
  }
  const auto number = [](std::string_view bytes) {
    return OpenSsl<BIGNUM, BN_free>(
        BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), nullptr));
  };
  const auto n = number(modulus);
  const auto e = number(exponent);
  const OpenSsl<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  const OpenSsl<OSSL_PARAM, OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const OpenSsl<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  if (parameters && EVP_PKEY_fromdata_init(context.get()) == 1) {
    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get());
  }
  return PublicKey(key);
}

bool is_signed_by(const PublicKey& key, std::string_view document, std::string_view signature) {
  Fields body(signature);
  const std::uint64_t version = body.number(1);
  const std::uint64_t type = body.number(1);
  const std::uint64_t algorithm = body.number(1);
  const EVP_MD* const hash = hash_of(body.number(1));
  const std::uint64_t hashed = body.number(2);
  body.take(hashed);
  const std::string_view head = signature.substr(0, signature.size() - body.rest().size());
  body.take(body.number(2));  // unhashed subpackets
  body.take(2);               // left 16 bits of the digest
  const std::string_view value = body.large_number();
  const auto size = static_cast<std::size_t>(EVP_PKEY_get_size(key.get()));
  if (body.failed() || version != kVersion || type != kBinaryDocument || !is_rsa(algorithm) || hash == nullptr ||
      value.size() > size) {
    return false;
  }
  std::string trailer = {'\x04', '\xFF'};
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    trailer += static_cast<char>(static_cast<unsigned char>(head.size() >> (shift - 8)));
  }
  const std::string padded = std::string(size - value.size(), '\0').append(value);
  const OpenSsl<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  bool ok = EVP_DigestVerifyInit(context.get(), nullptr, hash, nullptr, key.get()) == 1;
  for (const std::string_view part : {document, head, std::string_view(trailer)}) {
    ok = ok && EVP_DigestVerifyUpdate(context.get(), part.data(), part.size()) == 1;
  }
  return ok && EVP_DigestVerifyFinal(context.get(), reinterpret_cast<const unsigned char*>(padded.data()),
                                     padded.size()) == 1;
}

}  // namespace

bool is_rsa_signed(std::string_view public_key, std::string_view document, std::string_view signatures) {
  const PublicKey key = key_of(public_key);
  Fields file(signatures);
  while (key && !file.is_over()) {
    const auto packet = take_packet(file);
    if (!packet) {
      return false;
    }
    if (packet->tag == kSignature && is_signed_by(key, document, packet->body)) {
      return true;
    }
  }
  return false;
}

}  // namespace modlock
