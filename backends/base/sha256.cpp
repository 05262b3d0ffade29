#define OPENSSL_SUPPRESS_DEPRECATED  // in favour of what looks through the providers first
#include <openssl/sha.h>

#include "backends/base/digest.h"

namespace modlock {

// The functions come from the static library, of which nothing else is linked: without providers they need nothing.
struct Sha256::State {
  State() { SHA256_Init(&context); }

  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  SHA256_Update(&state_->context, bytes.data(), bytes.size());
}

std::array<std::uint8_t, 32> Sha256::finish() {
  std::array<std::uint8_t, 32> digest{};
  SHA256_Final(digest.data(), &state_->context);
  SHA256_Init(&state_->context);
  return digest;
}

}  // namespace modlock
