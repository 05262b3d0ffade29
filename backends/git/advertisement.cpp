#include "backends/git/advertisement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "backends/address/scrub.h"
#include "backends/git/git_error.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

constexpr std::string_view kService = "# service=git-upload-pack";
constexpr std::string_view kPeeled = "^{}";
constexpr std::size_t kIdDigits = 40;

tl::unexpected<Error> unexpected_line(std::string_view expected, std::string_view found) {
  constexpr std::size_t kShown = 100;
  return fail(Code::bad_response, fmt::format("the list of references has \"{}\" where {} was expected",
                                              quotable(found.substr(0, kShown)), expected));
}

// Bytes that git allows in no name (git check-ref-format), and that no message should show.
bool has_control(std::string_view name) {
  return std::any_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; });
}

// "<id> SP <name>"; a peeled name stands behind its tag.
Result<void> add_reference(References& references, std::string_view line) {
  std::string_view name = line.substr(std::min(kIdDigits + 1, line.size()));
  if (!is_full_commit(line.substr(0, kIdDigits)) || name.empty() || line[kIdDigits] != ' ' || has_control(name)) {
    return unexpected_line("\"<id> <name>\"", line);
  }
  std::string id(line.substr(0, kIdDigits));
  std::transform(id.begin(), id.end(), id.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + ('a' - 'A')) : c; });
  if (!name.ends_with(kPeeled)) {
    references.push_back({std::string(name), std::move(id)});
    return {};
  }
  name.remove_suffix(kPeeled.size());
  if (!references.empty() && references.back().name == name) {
    references.back().peeled = std::move(id);
  }
  return {};
}

}  // namespace

bool offers(std::string_view capabilities, std::string_view capability) {
  while (!capabilities.empty()) {
    const std::string_view word = capabilities.substr(0, capabilities.find(' '));
    if (word.substr(0, word.find('=')) == capability) {
      return true;
    }
    capabilities.remove_prefix(std::min(word.size() + 1, capabilities.size()));
  }
  return false;
}

Result<void> AdvertisementReader::begin(std::optional<std::uint64_t> /*length*/) {
  *this = AdvertisementReader();
  return {};
}

Result<void> AdvertisementReader::write(std::string_view bytes) {
  body_ += bytes;
  if (outcome_) {
    outcome_ = read_packets();
  }
  return {};
}

Result<Advertisement> AdvertisementReader::finish() {
  if (!outcome_) {
    return fail(outcome_.error());
  }
  if (expected_ != Expected::nothing) {
    return fail(Code::bad_response, "the list of references breaks off");
  }
  return std::move(advertisement_);
}

Result<void> AdvertisementReader::read_packets() {
  while (expected_ != Expected::nothing) {
    constexpr std::size_t kLength = 4;  // before that arrived, what is none would be shown in part
    std::string_view rest = std::string_view(body_).substr(read_);
    MODLOCK_TRY(const auto packet,
                rest.size() < kLength ? Result<std::optional<Packet>>(std::nullopt) : take_packet(rest));
    if (!packet) {
      return {};
    }
    if (auto taken = take(*packet); !taken) {
      return taken;
    }
    read_ = body_.size() - rest.size();
  }
  return {};
}

Result<void> AdvertisementReader::take(const Packet& packet) {
  if (expected_ == Expected::service) {
    expected_ = Expected::end_of_service;
    return !packet.is_flush && packet.line() == kService
               ? Result<void>()
               : unexpected_line(fmt::format("\"{}\"", kService), packet.line());
  }
  if (expected_ == Expected::end_of_service) {
    expected_ = Expected::first_line;
    return packet.is_flush ? Result<void>() : unexpected_line("a flush", packet.line());
  }
  if (packet.is_flush) {
    expected_ = Expected::nothing;
    return {};
  }
  return take_line(packet.line());
}

Result<void> AdvertisementReader::take_line(std::string_view line) {
  const bool is_first = expected_ == Expected::first_line;
  if (is_first && line == "version 1") {
    return {};
  }
  if (line.starts_with("shallow ")) {
    return {};  // where the server's own history is cut off
  }
  if (line.starts_with("ERR ")) {
    return fail(Code::bad_response, fmt::format("the server said: {}", quotable(scrub_urls(line.substr(4)))));
  }
  if (const std::size_t end = line.find('\0'); is_first && end != std::string_view::npos) {
    advertisement_.capabilities = line.substr(end + 1);
    line = line.substr(0, end);
  }
  expected_ = Expected::line;
  // Stands for the names where there are none.
  const bool is_stand_in = is_first && line.ends_with(" capabilities^{}");
  return is_stand_in ? Result<void>() : add_reference(advertisement_.references, line);
}

Result<Advertisement> parse_advertisement(std::string_view body) {
  AdvertisementReader reader;
  (void)reader.write(body);
  return reader.finish();
}

}  // namespace modlock::git
