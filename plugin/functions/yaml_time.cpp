#include "plugin/functions/yaml_time.h"

#include <fmt/format.h>

#include <array>

namespace modlock::eval {
namespace {

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    const int year = number(4, 4);
    const bool dashed = accept("-");
    const int month = number(1, 2);
    const bool dashed_again = accept("-");
    const int day = number(1, 2);
    if (year < 0 || !dashed || month < 1 || month > 12 || !dashed_again || day < 1 || day > days_in(year, month)) {
      return std::nullopt;
    }
    const std::string date = fmt::format("{:04}-{:02}-{:02}T", year, month, day);
    if (text_.empty()) {
      return date + "00:00:00Z";
    }
    const bool is_zoned = !accept(" ");
    if (is_zoned && !accept("T") && !accept("t")) {
      return std::nullopt;
    }
    const auto clock = read_clock();
    const auto zone = is_zoned ? read_zone() : std::optional<std::string>("Z");
    return clock && zone && text_.empty() ? std::optional(date + *clock + *zone) : std::nullopt;
  }

 private:
  bool accept(std::string_view wanted) {
    if (!text_.starts_with(wanted)) {
      return false;
    }
    text_.remove_prefix(wanted.size());
    return true;
  }

  // A number of that many digits, -1 where there is none.
  int number(std::size_t least, std::size_t most) {
    std::size_t size = 0;
    int value = 0;
    for (; size < most && size < text_.size() && is_digit(text_[size]); ++size) {
      value = value * 10 + (text_[size] - '0');
    }
    text_.remove_prefix(size);
    return size < least ? -1 : value;
  }

  std::optional<std::string> read_clock() {
    const int hour = number(1, 2);
    const bool has_minute = accept(":");
    const int minute = number(1, 2);
    const bool has_second = accept(":");
    const int second = number(1, 2);
    if (hour < 0 || hour > 23 || !has_minute || minute < 0 || minute > 59 || !has_second || second < 0 || second > 59) {
      return std::nullopt;
    }
    if (text_.size() > 1 && (text_[0] == '.' || text_[0] == ',') && is_digit(text_[1])) {
      text_.remove_prefix(1);
      while (!text_.empty() && is_digit(text_.front())) {
        text_.remove_prefix(1);
      }
    }
    return fmt::format("{:02}:{:02}:{:02}", hour, minute, second);
  }

  std::optional<std::string> read_zone() {
    if (accept("Z")) {
      return "Z";
    }
    const char sign = text_.starts_with('+') ? '+' : '-';
    if (!accept("+") && !accept("-")) {
      return std::nullopt;
    }
    const int hour = number(2, 2);
    const bool has_minute = accept(":");
    const int minute = number(2, 2);
    if (hour < 0 || hour > 24 || !has_minute || minute < 0 || minute > 60) {
      return std::nullopt;
    }
    return hour == 0 && minute == 0 ? "Z" : fmt::format("{}{:02}:{:02}", sign, hour, minute);
  }

  static int days_in(int year, int month) {
    constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && is_leap ? 29 : kDays[static_cast<std::size_t>(month) - 1];
  }

  std::string_view text_;
};

}  // namespace

std::optional<std::string> yaml_time(std::string_view text) {
  return TimeReader(text).read();
}

}  // namespace modlock::eval
