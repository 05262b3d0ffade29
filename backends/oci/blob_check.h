#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/http/http_client.h"
#include "backends/oci/manifest.h"

namespace modlock::oci {

// Holds a blob that arrives to its descriptor: a byte too many ends the transfer. Errors: HASH_MISMATCH (another size
// or digest); those of the sink that takes the bytes. `what` names the blob in messages.
class BlobCheck final : public BodySink {
 public:
  BlobCheck(BodySink& sink, const Layer& layer, std::string what)
      : sink_(sink), layer_(layer), what_(std::move(what)) {}

  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Once everything has arrived, of that digest ("sha256:…"): whether it is what the descriptor says.
  Result<void> finish(std::string_view digest) const;

 private:
  tl::unexpected<Error> wrong_size(std::string_view found) const;

  BodySink& sink_;
  const Layer& layer_;
  std::string what_;
  std::uint64_t size_ = 0;
};

}  // namespace modlock::oci
