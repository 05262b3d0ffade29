#include "backends/git/wire.h"

#include <fmt/format.h>
#include <git2.h>

#include <algorithm>
#include <charconv>

#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/deleter.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/library.h"

namespace modlock::git {
namespace {

constexpr std::size_t kLengthDigits = 4;

// Returns nullopt if a character is not a digit.
std::optional<std::size_t> length_of(std::string_view digits) {
  std::size_t length = 0;
  const char* const end = digits.data() + digits.size();
  const bool is_read = digits.empty() || std::from_chars(digits.data(), end, length, 16).ptr == end;
  return is_read ? std::optional(length) : std::nullopt;
}

constexpr std::string_view kService = "# service=git-upload-pack";
constexpr std::size_t kIdDigits = 40;

tl::unexpected<Error> unexpected_line(std::string_view expected, std::string_view found) {
  constexpr std::size_t kShown = 100;
  return fail(Code::bad_response, fmt::format("the list of references has \"{}\" where {} was expected",
                                              quotable(found.substr(0, kShown)), expected));
}

// Removes the whole packets from the front of `bytes` and takes each, until one of them ends the response. What follows
// the end is dropped.
template <typename Take, typename HasEnded>
Result<void> take_packets(std::string& bytes, const Take& take, const HasEnded& has_ended) {
  std::string_view left = bytes;
  // An error before all digits of a length would quote only a part of it.
  while (!has_ended() && left.size() >= kLengthDigits) {
    MODLOCK_TRY(const auto packet, take_packet(left));
    if (!packet) {
      break;
    }
    MODLOCK_TRY(take(*packet));
  }
  bytes.erase(0, has_ended() ? bytes.size() : bytes.size() - left.size());
  return {};
}

// Whether the name has bytes that git allows in no name (git check-ref-format), and that no message should show.
bool has_control(std::string_view name) {
  return std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; });
}

// Adds the reference of a line "<id> SP <name>". In a listing, attributes may follow.
Result<void> add_line(References& references, std::string_view line, bool is_listing) {
  constexpr std::string_view kTarget = " peeled:";
  std::string_view name = line.substr(std::min(kIdDigits + 1, line.size()));
  const std::size_t end = is_listing ? std::min(name.find(' '), name.size()) : name.size();
  const std::size_t target = name.find(kTarget, end);
  const auto peeled = target == std::string_view::npos ? "" : name.substr(target + kTarget.size(), kIdDigits);
  name = name.substr(0, end);
  if (!is_full_commit(line.substr(0, kIdDigits)) || name.empty() || line[kIdDigits] != ' ' || has_control(name) ||
      (target != std::string_view::npos && !is_full_commit(peeled))) {
    return unexpected_line("\"<id> <name>\"", line);
  }
  add_reference(references, name, ascii::lower(line.substr(0, kIdDigits)));
  if (!peeled.empty()) {
    references.back().peeled = ascii::lower(peeled);
  }
  return {};
}

constexpr std::size_t kLongestWords = 300;  // of a server's refusal
constexpr char kPackBand = 1;
constexpr char kProgressBand = 2;
constexpr char kErrorBand = 3;

bool is_prelude(std::string_view line) {
  return line.starts_with("shallow ") || line.starts_with("unshallow ") || line.starts_with("ACK ") || line == "NAK" ||
         line == "shallow-info" || line == "packfile";
}

// Makes a request of protocol v2. Only capabilities that the server offered may be sent.
std::string command_request(std::string_view command, std::string_view offered, std::string_view arguments) {
  return packet_line(fmt::format("command={}", command)) +
         (offers(offered, "agent") ? packet_line("agent=tofu-modlock") : "") +
         (offers(offered, "object-format") ? packet_line("object-format=sha1") : "") + "0001" + std::string(arguments) +
         "0000";
}

// libgit2 writes through a mapping, where a full disk would end the process. It reserves space only for the last page
// of an append, so an append shorter than a page touches no unreserved page.
constexpr std::size_t kLongestAppend = 4095;

tl::unexpected<Error> broken_pack() {
  return fail(Code::bad_response, "libgit2: " + library_reason());
}

}  // namespace

std::string_view Packet::line() const {
  return payload.ends_with('\n') ? payload.substr(0, payload.size() - 1) : payload;
}

Result<std::optional<Packet>> take_packet(std::string_view& bytes) {
  const std::string_view digits = bytes.substr(0, kLengthDigits);
  const auto length = length_of(digits);
  const bool is_possible = length && (digits.size() < kLengthDigits || *length <= 1 ||
                                      (*length >= kLengthDigits && *length <= kLargestPacket));
  if (!is_possible) {
    return fail(
        Code::bad_response,
        fmt::format("a packet of git's protocol was expected, and \"{}\" is no length of one", quotable(digits)));
  }
  if (digits.size() < kLengthDigits || bytes.size() < *length) {
    return std::nullopt;
  }
  const std::size_t size = std::max(*length, kLengthDigits);
  const Packet packet{*length == 0, bytes.substr(kLengthDigits, size - kLengthDigits), *length == 1};
  bytes.remove_prefix(size);
  return packet;
}

std::string packet_line(std::string_view text) {
  return fmt::format("{:04x}{}\n", text.size() + kLengthDigits + 1, text);
}

bool offers(std::string_view capabilities, std::string_view capability) {
  return std::ranges::any_of(split(capabilities, ' '),
                             [&](std::string_view word) { return word.substr(0, word.find('=')) == capability; });
}

Result<void> AdvertisementReader::begin(std::optional<std::uint64_t> /*length*/) {
  *this = AdvertisementReader(is_listing_);
  return {};
}

Result<void> AdvertisementReader::write(std::string_view bytes) {
  if (outcome_) {
    rest_ += bytes;
    outcome_ = take_packets(
        rest_, [this](const Packet& packet) { return take(packet); },
        [this] { return expected_ == Expected::nothing; });
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

Result<void> AdvertisementReader::take(const Packet& packet) {
  const bool may_begin = expected_ == Expected::service || expected_ == Expected::first_line;
  if (may_begin && packet.line() == "version 2") {  // git names no service before it, others do
    advertisement_.is_v2 = true;
    expected_ = Expected::capability;
    return {};
  }
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
  if (expected_ == Expected::capability) {
    const std::string_view line = packet.line();
    const std::string_view word = line.starts_with("fetch=") ? "fetch " : "";
    advertisement_.capabilities += fmt::format("{}{} ", word, line.substr(word.size()));
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
    return {};  // the server's own history is cut off here
  }
  if (line.starts_with("ERR ")) {
    return fail(Code::bad_response, std::string(kServerSaid) + quotable(scrub_urls(line.substr(4, kLongestWords))));
  }
  if (const std::size_t end = line.find('\0'); is_first && end != std::string_view::npos) {
    advertisement_.capabilities = line.substr(end + 1);
    line = line.substr(0, end);
  }
  expected_ = Expected::line;
  // Takes the place of the references if there are none.
  const bool is_stand_in = is_first && line.ends_with(" capabilities^{}");
  return is_stand_in ? Result<void>() : add_line(advertisement_.references, line, is_listing_);
}

struct PackResponse::Indexer {
  std::unique_ptr<git_indexer, Deleter<git_indexer_free>> indexer;
  git_indexer_progress progress{};  // libgit2 updates it in each call
};

PackResponse::PackResponse(const std::filesystem::path& repository)
    : packs_(repository / "objects" / "pack"), arriving_(repository / (std::string(kArriving) + random_hex(8))) {
  start_library();
}

PackResponse::~PackResponse() {
  indexer_.reset();
  (void)remove_tree(arriving_);
}

Result<void> PackResponse::begin(std::optional<std::uint64_t> /*length*/) {
  rest_.clear();
  refusal_.clear();
  has_pack_ = false;
  has_ended_ = false;
  indexer_.reset();
  MODLOCK_TRY(make_directories(arriving_));
  git_indexer* made = nullptr;
  if (git_indexer_new(&made, arriving_.c_str(), 0U, nullptr, nullptr) != 0) {
    return broken_pack();
  }
  indexer_ = std::make_unique<Indexer>();
  indexer_->indexer.reset(made);
  return {};
}

Result<void> PackResponse::write(std::string_view bytes) {
  rest_ += bytes;
  return take_packets(
      rest_, [this](const Packet& packet) { return take(packet); }, [this] { return has_ended_; });
}

Result<void> PackResponse::take(const Packet& packet) {
  if (packet.is_flush) {
    has_ended_ = has_pack_;  // the flush before the pack ends the list of cut histories
    return {};
  }
  const char band = packet.payload.empty() ? '\0' : packet.payload.front();
  if (band == kPackBand) {
    has_pack_ = true;
    return append(packet.payload.substr(1));
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
  if (has_pack_ || (!packet.is_delimiter && !is_prelude(packet.line()))) {
    return fail(Code::bad_response, fmt::format("the answer has \"{}\" where a part of a pack was expected",
                                                quotable(packet.line().substr(0, 100))));
  }
  return {};
}

Result<void> PackResponse::append(std::string_view pack) {
  while (!pack.empty()) {
    const std::string_view piece = pack.substr(0, kLongestAppend);
    if (git_indexer_append(indexer_->indexer.get(), piece.data(), piece.size(), &indexer_->progress) != 0) {
      return broken_pack();
    }
    pack.remove_prefix(piece.size());
  }
  return {};
}

Result<void> PackResponse::refuse(std::string_view said) {
  refusal_ = quotable(scrub_urls(said.substr(0, kLongestWords)));
  return fail(Code::bad_response, std::string(kServerSaid) + refusal_);
}

Result<void> PackResponse::finish() {
  if (!has_ended_) {
    return fail(Code::bad_response, "the pack breaks off");
  }
  if (git_indexer_commit(indexer_->indexer.get(), &indexer_->progress) != 0) {
    auto broken = broken_pack();
    indexer_.reset();
    return broken;
  }
  const std::string name = std::string("pack-") + git_indexer_name(indexer_->indexer.get());
  indexer_.reset();
  // A pack is readable as soon as its index exists, so the index is moved last.
  MODLOCK_TRY(rename_durably(arriving_ / (name + ".pack"), packs_ / (name + ".pack")));
  return rename_durably(arriving_ / (name + ".idx"), packs_ / (name + ".idx"));
}

std::string pack_request(const std::vector<std::string>& ids, std::string_view offered, bool is_v2) {
  std::string capabilities = "side-band-64k";
  for (const std::string_view capability : {"ofs-delta", "no-progress"}) {
    if (offers(offered, capability)) {
      capabilities += " " + std::string(capability);
    }
  }
  capabilities += offers(offered, "agent") ? " agent=tofu-modlock" : "";
  std::string wants;
  for (const std::string& id : ids) {
    wants += packet_line(wants.empty() && !is_v2 ? fmt::format("want {} {}", id, capabilities) : "want " + id);
  }
  wants += packet_line("deepen 1");
  return is_v2 ? command_request("fetch", offered,
                                 wants + packet_line("ofs-delta") + packet_line("no-progress") + packet_line("done"))
               : wants + "0000" + packet_line("done");
}

std::string list_request(const WantedReferences& wanted, std::string_view offered) {
  std::string arguments = packet_line("peel") + packet_line("ref-prefix HEAD");
  for (const std::string& prefix : wanted) {
    arguments += packet_line("ref-prefix " + prefix);
  }
  return command_request("ls-refs", offered, arguments);
}

}  // namespace modlock::git
