#include "backends/git/pack_response.h"

#include <fmt/format.h>

#include "backends/address/scrub.h"
#include "backends/git/git_error.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

constexpr char kPackBand = 1;
constexpr char kProgressBand = 2;
constexpr char kErrorBand = 3;

bool is_prelude(std::string_view line) {
  return line.starts_with("shallow ") || line.starts_with("unshallow ") || line.starts_with("ACK ") || line == "NAK";
}

}  // namespace

Result<void> PackResponse::begin(std::optional<std::uint64_t> /*length*/) {
  rest_.clear();
  refusal_.clear();
  has_pack_ = false;
  has_ended_ = false;
  return writer_.restart();
}

Result<void> PackResponse::write(std::string_view bytes) {
  rest_ += bytes;
  std::string_view left = rest_;
  while (!has_ended_) {
    MODLOCK_TRY(const auto packet, take_packet(left));
    if (!packet) {
      break;
    }
    if (auto taken = take(*packet); !taken) {
      return taken;
    }
  }
  rest_.erase(0, has_ended_ ? rest_.size() : rest_.size() - left.size());
  return {};
}

Result<void> PackResponse::take(const Packet& packet) {
  if (packet.is_flush) {
    has_ended_ = has_pack_;  // the one before it ends the list of where histories are cut
    return {};
  }
  const char band = packet.payload.empty() ? '\0' : packet.payload.front();
  if (band == kPackBand) {
    has_pack_ = true;
    return writer_.append(packet.payload.substr(1));
  }
  if (band == kProgressBand) {
    return {};
  }
  if (band == kErrorBand) {
    return refuse(packet.line().substr(1));
  }
  if (packet.line().starts_with("ERR ")) {
    return refuse(packet.line().substr(4));
  }
  if (has_pack_ || !is_prelude(packet.line())) {
    return fail(Code::bad_response, fmt::format("the answer has \"{}\" where a part of a pack was expected",
                                                quotable(packet.line().substr(0, 100))));
  }
  return {};
}

Result<void> PackResponse::refuse(std::string_view said) {
  constexpr std::size_t kKept = 1000;
  refusal_ = quotable(scrub_urls(said.substr(0, kKept)));
  return fail(Code::bad_response, "the server said: " + refusal_);
}

Result<void> PackResponse::finish() {
  if (!has_ended_) {
    return fail(Code::bad_response, "the pack breaks off");
  }
  return writer_.finish();
}

std::string pack_request(const std::vector<std::string>& ids, std::string_view capabilities) {
  std::string body;
  for (const std::string& id : ids) {
    body += packet_line(body.empty() ? fmt::format("want {} {}", id, capabilities) : "want " + id);
  }
  return body + packet_line("deepen 1") + "0000" + packet_line("done");
}

}  // namespace modlock::git
