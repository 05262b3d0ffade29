#include "backends/store/first_seen.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "backends/base/digest.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

using Time = FirstSeen::Time;

struct Line {
  Time time;
  std::string_view thing;  // "<id> <name>"
};

// Names come from outside. A name with a line break is never recorded.
bool is_plain(std::string_view text) {
  return text.find_first_of("\r\n") == std::string_view::npos;
}

std::string thing_of(std::string_view name, std::string_view id) {
  return fmt::format("{} {}", id.empty() ? "-" : id, name);
}

std::string line_text(Time time, std::string_view thing) {
  return fmt::format("{} {}\n", std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(),
                     thing);
}

// Skips malformed lines, because the end of a file may be truncated.
std::vector<Line> read_lines(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    std::int64_t seconds = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
    const auto used = static_cast<std::size_t>(rest - line.data());
    constexpr std::int64_t kLatest = 253402300799;  // the year 9999
    if (error == std::errc{} && seconds >= 0 && seconds <= kLatest && line.substr(used, 1) == " ") {
      lines.push_back({Time(std::chrono::seconds(seconds)), line.substr(used + 1)});
    }
  }
  return lines;
}

struct Noted {
  std::vector<Time> times;  // of the observations
  std::string text;         // the new content of the file; empty if nothing is new
};

// `text` is the current content of the file.
Noted note_in(std::string_view text, std::span<const Observation> observations, Time now) {
  std::vector<Line> lines = read_lines(text);
  bool is_new = false;
  Time latest = now;
  std::unordered_map<std::string_view, Time> known;
  for (Line& line : lines) {
    if (line.time > now + FirstSeen::kLongestSetback) {
      line.time = now;
      is_new = true;
    }
    latest = std::max(latest, line.time);
    known.emplace(line.thing, line.time);
  }
  Noted noted;
  const std::size_t around = line_text(latest, "- ").size();
  std::size_t size = text.size();
  for (const Observation& observation : observations) {
    size += observation.name.size() + observation.id.size() + around;
  }
  noted.text.reserve(size);  // while a text grows, its old copy is in memory too
  for (const Line& line : lines) {
    noted.text += line_text(line.time, line.thing);
  }
  for (const Observation& observation : observations) {
    const std::string thing = thing_of(observation.name, observation.id);
    const auto found = known.find(thing);
    noted.times.push_back(found == known.end() ? latest : found->second);
    if (found == known.end() && is_plain(thing)) {
      noted.text += line_text(latest, thing);
      is_new = true;
    }
  }
  if (!is_new) {
    noted.text.clear();
  }
  return noted;
}

}  // namespace

std::filesystem::path FirstSeen::file_of(const std::string& package) const {
  return store_.seen_directory() / sha256_hex(package);
}

std::vector<Time> FirstSeen::note(const std::string& package, std::span<const Observation> observations, Time now,
                                  const Context& context) const {
  now = std::chrono::floor<std::chrono::seconds>(now);
  if (now < kEarliest) {
    return std::vector<Time>(observations.size(), now);
  }
  const std::filesystem::path file = file_of(package);
  Noted noted = note_in(read_file(file).value_or(""), observations, now);
  if (noted.text.empty() || !store_.make(store_.seen_directory())) {
    return noted.times;
  }
  // Reads again under the lock, so that records of another process are not lost. If this fails, the observations are
  // recorded later with a later time, never with an earlier one.
  if (const auto held = store_.hold("seen-" + sha256_hex(package), context)) {
    const auto text = read_file(file);
    std::string().swap(noted.text);  // frees it
    noted = note_in(text.value_or(""), observations, now);
    const bool is_whole = text || text.error().code == Code::not_found;  // else its unread content would be lost
    if (is_whole && !noted.text.empty()) {
      (void)write_file_atomically(file, noted.text);
    }
  }
  return noted.times;
}

std::optional<Time> FirstSeen::find(const Source& source, std::string_view name, std::string_view id) const {
  const std::string text = read_file(file_of(source.package_identity())).value_or("");
  const std::string thing = thing_of(name, id);
  std::optional<Time> first;
  for (const Line& line : read_lines(text)) {
    const bool same =
        name.empty() ? !id.empty() && line.thing.substr(0, line.thing.find(' ')) == id : line.thing == thing;
    if (same && (!first || line.time < *first)) {
      first = line.time;
    }
  }
  return first;
}

std::string FirstSeen::other_id(const Source& source, std::string_view name, std::string_view id) const {
  const std::string text = read_file(file_of(source.package_identity())).value_or("");
  std::string other;
  for (const Line& line : read_lines(text)) {
    const std::size_t space = std::min(line.thing.find(' '), line.thing.size());
    const std::string_view noted = line.thing.substr(0, space);
    if (line.thing == thing_of(name, noted) && noted != "-" && noted != id) {
      other = noted;
    }
  }
  return other;
}

std::string time_text(Time time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace modlock
