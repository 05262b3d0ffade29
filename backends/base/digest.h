#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

struct evp_md_ctx_st;  // EVP_MD_CTX of OpenSSL

namespace modlock {

enum class Hash { md5, sha1, sha256, sha512 };

// A running hash. Movable, not copyable.
class RunningHash {
 public:
  explicit RunningHash(Hash algorithm);

  void update(std::string_view bytes);
  // Returns the raw bytes (16, 20, 32 or 64) and resets the object.
  std::vector<std::uint8_t> finish();

 private:
  void start();

  Hash algorithm_;
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// A running SHA-256. Movable, not copyable.
class Sha256 {
 public:
  void update(std::string_view bytes) { hash_.update(bytes); }
  // Returns the 32 raw bytes and resets the object.
  std::array<std::uint8_t, 32> finish();

 private:
  RunningHash hash_{Hash::sha256};
};

// Returns 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
// Returns the hash of a file's content, which is read in pieces. Errors: IO_ERROR naming the path.
Result<std::array<std::uint8_t, 32>> sha256_file(const std::filesystem::path& path);
// The same for an open file.
Result<std::array<std::uint8_t, 32>> sha256_file(int file, const std::filesystem::path& path);

// Returns the raw bytes of the hash of a text: 16, 20, 32 or 64.
std::vector<std::uint8_t> hash_of(Hash algorithm, std::string_view bytes);

// Returns the 32 raw bytes of HMAC-SHA-256.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

std::string hex(std::span<const std::uint8_t> bytes);
// Uses the standard alphabet, with padding (RFC 4648 section 4).
std::string base64(std::string_view bytes);
std::string base64(std::span<const std::uint8_t> bytes);
// The reverse of base64(). Ignores line endings, as Go's decoder does; nullopt for any other text.
std::optional<std::string> decode_base64(std::string_view text);
// Returns `size` random bytes, at most 256, as lower-case hexadecimal digits, for names that must not clash.
std::string random_hex(std::size_t size);

}  // namespace modlock
