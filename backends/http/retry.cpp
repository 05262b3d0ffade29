#include "backends/http/retry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace modlock {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDelay{500};
constexpr milliseconds kLongestDelay{8'000};
constexpr milliseconds kLongestWait{60'000};
constexpr std::chrono::seconds kDay{86'400};

bool may_succeed_later(const Attempt& attempt) {
  if (attempt.failure) {
    return *attempt.failure == Code::unreachable || *attempt.failure == Code::timeout;
  }
  constexpr std::array kStatuses = {408, 429, 500, 502, 503, 504};
  return std::find(kStatuses.begin(), kStatuses.end(), attempt.status) != kStatuses.end();
}

// Digits only, at most `largest`; nullopt for anything else.
std::optional<int> number(std::string_view text, int largest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size() && text[0] != '-';
  return all && value <= largest ? std::optional(value) : std::nullopt;
}

std::optional<unsigned> month(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const found = std::find(kMonths.begin(), kMonths.end(), text);
  return found == kMonths.end() ? std::nullopt : std::optional(static_cast<unsigned>(found - kMonths.begin()) + 1);
}

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) {
      result.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

// A two-digit year is in the past if it would otherwise be more than 50 years ahead (RFC 9110 section 5.6.7).
int full_year(int year, std::chrono::system_clock::time_point now) {
  const auto today = std::chrono::floor<std::chrono::days>(now);
  const int this_year = static_cast<int>(std::chrono::year_month_day(today).year());
  const int guess = this_year / 100 * 100 + year;
  return guess > this_year + 50 ? guess - 100 : guess;
}

// The three forms of an HTTP date: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
// "Sun Nov  6 08:49:37 1994".
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text, std::chrono::system_clock::time_point now) {
  const std::vector<std::string_view> part = words(text, " ,-:");
  const bool is_asctime = part.size() == 7;
  if (!is_asctime && (part.size() != 8 || part[7] != "GMT")) {
    return std::nullopt;
  }
  const auto month_number = month(part[is_asctime ? 1 : 2]);
  const auto day = number(part[is_asctime ? 2 : 1], 31);
  const auto written_year = number(part[is_asctime ? 6 : 3], 9999);
  const std::size_t clock = is_asctime ? 3 : 4;
  const auto hour = number(part[clock], 23);
  const auto minute = number(part[clock + 1], 59);
  const auto second = number(part[clock + 2], 60);
  if (!month_number || !day || !written_year || !hour || !minute || !second) {
    return std::nullopt;
  }
  const int year = part[3].size() == 2 && !is_asctime ? full_year(*written_year, now) : *written_year;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(*month_number),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

}  // namespace

std::optional<milliseconds> retry_delay(const Attempt& attempt, int retries, double jitter) {
  if (attempt.number >= retries || !may_succeed_later(attempt)) {
    return std::nullopt;
  }
  milliseconds full = kFirstDelay;
  for (int i = 0; i < attempt.number && full < kLongestDelay; ++i) {
    full *= 2;
  }
  const milliseconds half = std::min(full, kLongestDelay) / 2;
  const milliseconds delay = half + milliseconds(static_cast<std::int64_t>(static_cast<double>(half.count()) * jitter));
  const milliseconds floor = attempt.retry_after.value_or(milliseconds(0));
  return floor > kLongestWait ? std::nullopt : std::optional(std::max(delay, floor));
}

std::optional<milliseconds> parse_retry_after(std::string_view value, std::chrono::system_clock::time_point now) {
  if (value.empty()) {
    return std::nullopt;
  }
  if (value.find_first_not_of("0123456789") == std::string_view::npos) {
    const auto seconds = number(value, static_cast<int>(kDay.count()));
    return seconds ? std::chrono::seconds(*seconds) : kDay;
  }
  const auto date = parse_date(value, now);
  if (!date) {
    return std::nullopt;
  }
  return std::clamp(*date - std::chrono::floor<std::chrono::seconds>(now), std::chrono::seconds(0), kDay);
}

}  // namespace modlock
