#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/git/pack_writer.h"
#include "backends/git/references.h"
#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock::git {

// One packet of git's pkt-line framing (gitprotocol-common): four hexadecimal digits of length, themselves counted,
// then the payload; 0000 is a flush, which has none. Those that only protocol v2 has (0001, 0002) are an error.
struct Packet {
  bool is_flush = false;
  std::string_view payload;  // into the bytes it was taken from

  // Of a line of text: without the line end that senders may leave out.
  std::string_view line() const;
};

inline constexpr std::size_t kLargestPacket = 65520;  // length and all

// Takes the packet that `bytes` begin with off them; nullopt, and nothing taken, where they hold a part of it only.
// Errors: BAD_RESPONSE (no length, or none that a packet can have).
Result<std::optional<Packet>> take_packet(std::string_view& bytes);

// `text` as a packet, with its line end.
std::string packet_line(std::string_view text);

// Before the words of a server in a BAD_RESPONSE.
inline constexpr std::string_view kServerSaid = "the server said: ";

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
