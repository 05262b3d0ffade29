#include "backends/base/digest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "protocol/base/system_reason.h"

namespace modlock {
namespace {

constexpr std::size_t kHashPiece = std::size_t{128} << 10U;
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, int reason) {
  return fail(Code::io_error, fmt::format("cannot read \"{}\": {}", path.string(), system_reason(reason)),
              std::string(system_advice(reason)));
}

}  // namespace

struct RunningHash::State {
  explicit State(Hash chosen) : algorithm(chosen) { start(); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start() { must(context != nullptr && EVP_DigestInit_ex(context, openssl_hash(algorithm), nullptr) == 1); }

  Hash algorithm;
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

RunningHash::RunningHash(Hash algorithm) : state_(std::make_unique<State>(algorithm)) {}
RunningHash::~RunningHash() = default;
RunningHash::RunningHash(RunningHash&&) noexcept = default;
RunningHash& RunningHash::operator=(RunningHash&&) noexcept = default;

void RunningHash::update(std::string_view bytes) {
  must(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::vector<std::uint8_t> RunningHash::finish() {
  std::vector<std::uint8_t> digest(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  must(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1);
  digest.resize(size);
  state_->start();
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
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return cannot_read(path, errno);
  }
  Sha256 sha;
  std::array<char, kHashPiece> piece;  // not filled: most files are small
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got > 0) {
      sha.update({piece.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      const int reason = errno;
      ::close(file);
      return cannot_read(path, reason);
    }
  }
  ::close(file);
  return sha.finish();
}

std::vector<std::uint8_t> hash_of(Hash algorithm, std::string_view bytes) {
  RunningHash hash(algorithm);
  hash.update(bytes);
  return hash.finish();
}

std::string hex(std::span<const std::uint8_t> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string base64(std::string_view bytes) {
  return base64(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

std::string base64(std::span<const std::uint8_t> bytes) {
  const std::size_t size = bytes.size();
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    const std::size_t count = std::min<std::size_t>(size - i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = (bits << 8U) | (k < count ? bytes[i + k] : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kBase64[(bits >> (18U - 6U * k)) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::size_t digits = 0;
  std::size_t padding = 0;
  std::uint32_t bits = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') {
      continue;
    }
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t value = kBase64.find(c);
    if (value == std::string_view::npos || padding != 0) {
      return std::nullopt;
    }
    bits = ((bits << 6U) | static_cast<std::uint32_t>(value)) & 0xFFFFFFU;
    ++digits;
    if (digits % 4 != 1) {
      const std::size_t spare = digits % 4 == 2 ? 4 : digits % 4 == 3 ? 2 : 0;
      out += static_cast<char>((bits >> spare) & 0xFFU);
    }
  }
  const std::size_t wanted = (4 - digits % 4) % 4;
  return wanted == 3 || padding != wanted ? std::nullopt : std::optional(std::move(out));
}

std::string random_hex(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  must(::getentropy(bytes.data(), bytes.size()) == 0);
  return hex(bytes);
}

}  // namespace modlock
