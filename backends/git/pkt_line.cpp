#include "backends/git/pkt_line.h"

#include <fmt/format.h>

#include "backends/git/git_error.h"

namespace modlock::git {
namespace {

constexpr std::size_t kLengthDigits = 4;

int digit_of(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// nullopt where a character is no digit.
std::optional<std::size_t> length_of(std::string_view digits) {
  std::size_t length = 0;
  for (const char c : digits) {
    const int digit = digit_of(c);
    if (digit < 0) {
      return std::nullopt;
    }
    length = length * 16 + static_cast<std::size_t>(digit);
  }
  return length;
}

}  // namespace

std::string_view Packet::line() const {
  return payload.ends_with('\n') ? payload.substr(0, payload.size() - 1) : payload;
}

Result<std::optional<Packet>> take_packet(std::string_view& bytes) {
  const std::string_view digits = bytes.substr(0, kLengthDigits);
  const auto length = length_of(digits);
  const bool is_possible = length && (digits.size() < kLengthDigits || *length == 0 ||
                                      (*length >= kLengthDigits && *length <= kLargestPacket));
  if (!is_possible) {
    return fail(
        Code::bad_response,
        fmt::format("a packet of git's protocol was expected, and \"{}\" is no length of one", quotable(digits)));
  }
  if (digits.size() < kLengthDigits || bytes.size() < *length) {
    return std::nullopt;
  }
  Packet packet{*length == 0, {}};
  if (!packet.is_flush) {
    packet.payload = bytes.substr(kLengthDigits, *length - kLengthDigits);
  }
  bytes.remove_prefix(packet.is_flush ? kLengthDigits : *length);
  return packet;
}

std::string packet_line(std::string_view text) {
  return fmt::format("{:04x}{}\n", text.size() + kLengthDigits + 1, text);
}

}  // namespace modlock::git
