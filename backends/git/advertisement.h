#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/git/pkt_line.h"
#include "backends/git/references.h"
#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock::git {

// What a server answers to GET <url>/info/refs?service=git-upload-pack in protocol v0 or v1 (gitprotocol-http).
struct Advertisement {
  std::string capabilities;  // "" where the server names none
  References references;     // in its order
};

// Whether a list of capabilities names one, with or without a value: "shallow", "agent".
bool offers(std::string_view capabilities, std::string_view capability);

// Reads an advertisement while it arrives. An empty repository has one of its own, which ends with a flush as every
// other: a body without it is broken off.
class AdvertisementReader final : public BodySink {
 public:
  Result<void> begin(std::optional<std::uint64_t> length) override;
  // Never fails: what is none is taken to its end, for the rest of the answer tells more about it.
  Result<void> write(std::string_view bytes) override;

  const std::string& body() const { return body_; }  // all that was written
  std::string take_body() { return std::move(body_); }
  // What was written is all. Errors: BAD_RESPONSE saying what was expected where.
  Result<Advertisement> finish();

 private:
  enum class Expected { service, end_of_service, first_line, line, nothing };

  Result<void> read_packets();
  Result<void> take(const Packet& packet);
  Result<void> take_line(std::string_view line);

  std::string body_ = {};
  std::size_t read_ = 0;  // bytes of it
  Expected expected_ = Expected::service;
  Advertisement advertisement_ = {};
  Result<void> outcome_ = {};
};

// A whole one. Errors as AdvertisementReader::finish().
Result<Advertisement> parse_advertisement(std::string_view body);

}  // namespace modlock::git
