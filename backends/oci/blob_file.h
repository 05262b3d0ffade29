#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "backends/crypto/digest.h"
#include "backends/http/http_client.h"
#include "backends/oci/manifest.h"

namespace modlock::oci {

// Writes a blob to a file as it arrives and holds it to its descriptor: a byte too many ends the transfer. Errors:
// HASH_MISMATCH (another size or digest), IO_ERROR. `what` names the blob in messages.
class BlobFile final : public BodySink {
 public:
  BlobFile(std::filesystem::path path, Layer layer, std::string what);

  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Once everything has arrived: whether it is what the descriptor says.
  Result<void> finish();

 private:
  tl::unexpected<Error> wrong_size(std::string_view found) const;

  std::filesystem::path path_;
  Layer layer_;
  std::string what_;
  std::ofstream file_;
  Sha256 hash_;
  std::uint64_t size_ = 0;
};

}  // namespace modlock::oci
