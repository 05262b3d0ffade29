#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/git/references.h"
#include "backends/http/http_client.h"
#include "protocol/base/result.h"

namespace modlock::git {

// The prefix of the names of directories in a repository where packs are written.
constexpr std::string_view kArriving = "arriving-";

// One packet of git's pkt-line framing (gitprotocol-common): four hexadecimal digits of length, which include
// themselves, then the payload. 0000 is a flush, and 0001 a delimiter of protocol v2, both without payload.
struct Packet {
  bool is_flush = false;
  std::string_view payload;  // points into the parsed bytes
  bool is_delimiter = false;

  // Returns the payload without the optional line ending of a text line.
  std::string_view line() const;
};

inline constexpr std::size_t kLargestPacket = 65520;  // including the length

// Takes the first packet off `bytes`. Returns nullopt and takes nothing if the packet is incomplete. Errors:
// BAD_RESPONSE (no length, or an invalid one).
Result<std::optional<Packet>> take_packet(std::string_view& bytes);

// Returns `text` and a line ending as a packet.
std::string packet_line(std::string_view text);

// The prefix of a server's text in a BAD_RESPONSE.
inline constexpr std::string_view kServerSaid = "the server said: ";

// A server's response to GET <url>/info/refs?service=git-upload-pack (gitprotocol-http). In protocol v2 it lists no
// references, and `capabilities` has those of its fetch command as words, too.
struct Advertisement {
  std::string capabilities;  // "" if the server names none
  References references;     // in its order
  bool is_v2 = false;
};

// Whether a list of capabilities names one, with or without a value: "shallow", "agent".
bool offers(std::string_view capabilities, std::string_view capability);

// Reads an advertisement, or the response to list_request(), while it arrives. An empty repository also has one, and
// each ends with a flush. A body without a flush is truncated.
class AdvertisementReader final : public BodySink {
 public:
  explicit AdvertisementReader(bool is_listing = false)
      : is_listing_(is_listing), expected_(is_listing ? Expected::line : Expected::service) {}

  Result<void> begin(std::optional<std::uint64_t> length) override;
  // Never fails. It reads even an invalid response to its end, because the headers may explain more.
  Result<void> write(std::string_view bytes) override;

  const std::string& capabilities() const { return advertisement_.capabilities; }  // as far as they were read
  // Ends the input. Errors: BAD_RESPONSE stating what was expected where.
  Result<Advertisement> finish();

 private:
  enum class Expected { service, end_of_service, first_line, capability, line, nothing };

  Result<void> take(const Packet& packet);
  Result<void> take_line(std::string_view line);

  bool is_listing_;
  Expected expected_;
  std::string rest_ = {};  // a part of a packet
  Advertisement advertisement_ = {};
  Result<void> outcome_ = {};
};

// The response of git-upload-pack to a shallow fetch in protocol v0 with side-band-64k (gitprotocol-pack), or in v2
// (gitprotocol-v2): a list of where histories are cut, an acknowledgement, the pack in packets of one band each, and a
// flush. The pack is written into a bare repository as it arrives. libgit2 hashes each object and writes it to disk at
// once, so memory does not grow with the pack. Nothing is visible before finish(), and without finish() nothing is
// left, except a directory `arriving-…` of a process that was killed.
class PackResponse : public BodySink {
 public:
  explicit PackResponse(const std::filesystem::path& repository);
  ~PackResponse() override;
  PackResponse(const PackResponse&) = delete;
  PackResponse& operator=(const PackResponse&) = delete;

  // Errors: BAD_RESPONSE (not such a response, a refusal by the server, or an error of libgit2, also for a full disk).
  Result<void> begin(std::optional<std::uint64_t> length) override;
  Result<void> write(std::string_view bytes) override;
  // Installs the pack after all has been written. It must be complete and need no object outside itself. It is on disk
  // before it becomes visible, so a repository never has a partial pack, even after a crash. Errors: those of write();
  // BAD_RESPONSE for a truncated response; IO_ERROR if it cannot be flushed or moved.
  Result<void> finish();

  // The server's text instead of a pack, without secrets; empty if there is none.
  const std::string& refusal() const { return refusal_; }

 private:
  struct Indexer;

  Result<void> take(const Packet& packet);
  Result<void> append(std::string_view pack);
  Result<void> refuse(std::string_view said);

  std::filesystem::path packs_;
  std::filesystem::path arriving_;    // next to them: the files that libgit2 writes
  std::unique_ptr<Indexer> indexer_;  // null before the first byte and after the last
  std::string rest_;                  // a part of a packet
  bool has_pack_ = false;
  bool has_ended_ = false;
  std::string refusal_;
};

// Makes the request body for these objects, each without its history. Nothing is requested that the server has not
// `offered`.
std::string pack_request(const std::vector<std::string>& ids, std::string_view offered, bool is_v2);

// Makes the request body of protocol v2 for a list of HEAD and the wanted references, with the targets of tags.
std::string list_request(const WantedReferences& wanted, std::string_view offered);

}  // namespace modlock::git
