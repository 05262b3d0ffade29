#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/providers/authentication.h"
#include "backends/providers/openpgp.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Two bytes give the size of a public key; what follows it is a signature. Nothing signs two documents at once, and
// what is no list of checksums is told so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kDocument = "checksums\n";
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = (std::size_t{data[0]} << 8U | data[1]) % (bytes.size() + 1);
  const std::string_view key = bytes.substr(0, cut);
  const std::string_view signature = bytes.substr(cut);
  const bool is_signed = modlock::is_rsa_signed(key, kDocument, signature);
  require(!is_signed || !modlock::is_rsa_signed(key, "other\n", signature));
  if (const auto hashes = modlock::provider_registry::hashes_of(bytes)) {
    for (const std::string& hash : *hashes) {
      require(hash.size() == 67 && hash.starts_with("zh:"));
    }
  }
  return 0;
}
