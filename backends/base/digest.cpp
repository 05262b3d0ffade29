#include "backends/base/digest.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "backends/base/descriptor.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

constexpr std::size_t kHashPiece = std::size_t{128} << 10U;

// This fails only without memory or without OpenSSL's default provider. Callers cannot handle that.
void must(bool ok) {
  if (!ok) {
    throw std::runtime_error("there is no hash or no randomness");
  }
}

// Fetched once, because a search among the providers costs more than hashing a short text.
const EVP_MD* openssl_hash(Hash algorithm) {
  static const std::array<EVP_MD*, 4> kFound = {
      EVP_MD_fetch(nullptr, "MD5", nullptr), EVP_MD_fetch(nullptr, "SHA1", nullptr),
      EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MD_fetch(nullptr, "SHA512", nullptr)};
  return kFound.at(static_cast<std::size_t>(algorithm));
}

}  // namespace

RunningHash::RunningHash(Hash algorithm) : algorithm_(algorithm), context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  start();
}

void RunningHash::start() {
  must(context_ && EVP_DigestInit_ex(context_.get(), openssl_hash(algorithm_), nullptr) == 1);
}

void RunningHash::update(std::string_view bytes) {
  must(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::vector<std::uint8_t> RunningHash::finish() {
  std::vector<std::uint8_t> digest(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  must(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  digest.resize(size);
  start();
  return digest;
}

std::array<std::uint8_t, 32> Sha256::finish() {
  const std::vector<std::uint8_t> digest = hash_.finish();
  std::array<std::uint8_t, 32> bytes{};
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return bytes;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return hex(sha.finish());
}

Result<std::array<std::uint8_t, 32>> sha256_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() ? sha256_file(file.get(), path) : system_failure("read", path, errno);
}

Result<std::array<std::uint8_t, 32>> sha256_file(int file, const std::filesystem::path& path) {
  Sha256 sha;
  std::array<char, kHashPiece> piece;  // not filled: most files are small
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got == 0) {
      return sha.finish();
    }
    if (got > 0) {
      sha.update({piece.data(), static_cast<std::size_t>(got)});
    } else if (errno != EINTR) {
      return system_failure("read", path, errno);
    }
  }
}

std::vector<std::uint8_t> hash_of(Hash algorithm, std::string_view bytes) {
  RunningHash hash(algorithm);
  hash.update(bytes);
  return hash.finish();
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  must(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
            reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), mac.data(), &size) != nullptr);
  return {mac.begin(), mac.begin() + size};
}

std::string hex(std::span<const std::uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string base64(std::string_view bytes) {
  return base64(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the NUL that OpenSSL writes
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == '\r' || c == '\n'; });
  const std::size_t padding = digits.size() - (digits.find_last_not_of('=') + 1);
  if (digits.size() % 4 != 0 || padding > 2 || digits.find_first_not_of(kDigits) < digits.size() - padding) {
    return std::nullopt;
  }
  std::string bytes(digits.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(digits.data()),
                  static_cast<int>(digits.size()));
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string random_hex(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  must(::getentropy(bytes.data(), bytes.size()) == 0);
  return hex(bytes);
}

}  // namespace modlock
