#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/git/pack_writer.h"
#include "backends/git/pkt_line.h"
#include "backends/http/http_client.h"

namespace modlock::git {

// The answer of git-upload-pack to a shallow fetch in protocol v0 with side-band-64k (gitprotocol-pack): where
// histories are cut, an acknowledgement, then the pack in packets of a band each, and a flush. The pack goes into a
// repository as it arrives.
class PackResponse : public BodySink {
 public:
  explicit PackResponse(const std::filesystem::path& repository) : writer_(repository) {}

  // Errors: BAD_RESPONSE (no such answer, a refusal of the server's, or what PackWriter says).
  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Once all has been written: puts the pack in place. Errors: those of write(), and BAD_RESPONSE where it broke off.
  Result<void> finish();

  // What the server said instead of a pack, without its secrets; empty: nothing.
  const std::string& refusal() const { return refusal_; }

 private:
  Result<void> take(const Packet& packet);
  Result<void> refuse(std::string_view said);

  PackWriter writer_;
  std::string rest_;  // a part of a packet
  bool has_pack_ = false;
  bool has_ended_ = false;
  std::string refusal_;
};

// The body of the request for these objects, each without its history. `capabilities`: those of the packets, out of
// what the server offers.
std::string pack_request(const std::vector<std::string>& ids, std::string_view capabilities);

}  // namespace modlock::git
