#include "backends/git/advertisement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "backends/git/git_error.h"
#include "backends/git/pkt_line.h"
#include "backends/scrub.h"

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

// The next packet, which has to be there.
Result<Packet> next(std::string_view& body) {
  auto packet = take_packet(body);
  if (!packet) {
    return fail(std::move(packet.error()));
  }
  if (!*packet) {
    return fail(Code::bad_response, "the list of references breaks off");
  }
  return **packet;
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
    references.push_back({std::string(name), id, id});
    return {};
  }
  name.remove_suffix(kPeeled.size());
  if (!references.empty() && references.back().name == name) {
    references.back().commit = std::move(id);
  }
  return {};
}

// The line that names the service, and the flush behind it.
Result<void> take_service(std::string_view& body) {
  const auto service = next(body);
  if (!service) {
    return fail(service.error());
  }
  if (service->is_flush || service->line() != kService) {
    return unexpected_line(fmt::format("\"{}\"", kService), service->line());
  }
  const auto end = next(body);
  if (!end) {
    return fail(end.error());
  }
  return end->is_flush ? Result<void>() : unexpected_line("a flush", end->line());
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

Result<Advertisement> parse_advertisement(std::string_view body) {
  if (auto fine = take_service(body); !fine) {
    return fail(std::move(fine.error()));
  }
  Advertisement advertisement;
  constexpr std::size_t kShortLine = 4 + kIdDigits + 1 + std::string_view("refs/tags/v1").size();
  advertisement.references.reserve(body.size() / kShortLine);
  for (bool is_first = true;;) {
    const auto packet = next(body);
    if (!packet) {
      return fail(packet.error());
    }
    if (packet->is_flush) {
      return advertisement;
    }
    std::string_view line = packet->line();
    if (is_first && line == "version 1") {
      continue;
    }
    if (line.starts_with("shallow ")) {
      continue;  // where the server's own history is cut off
    }
    if (line.starts_with("ERR ")) {
      return fail(Code::bad_response, fmt::format("the server said: {}", quotable(scrub_urls(line.substr(4)))));
    }
    if (const std::size_t end = line.find('\0'); is_first && end != std::string_view::npos) {
      advertisement.capabilities = line.substr(end + 1);
      line = line.substr(0, end);
    }
    // Stands for the names where there are none.
    const bool is_stand_in = is_first && line.ends_with(" capabilities^{}");
    is_first = false;
    if (is_stand_in) {
      continue;
    }
    if (auto added = add_reference(advertisement.references, line); !added) {
      return fail(std::move(added.error()));
    }
  }
}

}  // namespace modlock::git
