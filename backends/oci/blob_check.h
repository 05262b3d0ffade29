#pragma once

#include <cstdint>
#include <string>

#include "backends/download/package_download.h"
#include "backends/http/http_client.h"
#include "backends/oci/manifest.h"

namespace modlock::oci {

// Holds a package that arrives to the descriptor of its blob: a byte too many ends the transfer. Errors: HASH_MISMATCH
// (another size or digest); those of PackageDownload, which has SHA-512 as its other hash where the descriptor's digest
// is of that. `what` names the blob in messages.
class BlobCheck final : public BodySink {
 public:
  BlobCheck(PackageDownload& package, const Layer& layer, std::string what)
      : package_(package), layer_(layer), what_(std::move(what)) {}

  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Once everything has arrived: whether it is what the descriptor says.
  Result<void> finish();

 private:
  tl::unexpected<Error> wrong_size(std::string_view found) const;

  PackageDownload& package_;
  const Layer& layer_;
  std::string what_;
  std::uint64_t size_ = 0;
};

}  // namespace modlock::oci
