#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace modlock::git
