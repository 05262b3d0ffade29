#include <charconv>
#include <cmath>

#include "plugin/settings/settings.h"

namespace modlock {
namespace {

// Seconds of a unit; 0 for any other character.
double unit_seconds(char unit) {
  switch (unit) {
    case 'h':
      return 3600;
    case 'm':
      return 60;
    case 's':
      return 1;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  if (text == "0") {
    return std::chrono::seconds{0};
  }
  constexpr double kLongest = 9223372036;  // Go counts nanoseconds in 63 bits
  double total = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::size_t size = text.find_first_not_of("0123456789.");
    if (size == 0 || size == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view number = text.substr(0, size);
    double value = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
    const double unit = unit_seconds(text[size]);
    // "ms" is Go's millisecond, which nothing here is measured in.
    const bool is_milli = text.substr(size, 2) == "ms";
    if (error != std::errc{} || end != number.data() + number.size() || unit == 0 || is_milli) {
      return std::nullopt;
    }
    total += value * unit;
    if (total > kLongest) {
      return std::nullopt;
    }
    text.remove_prefix(size + 1);
  }
  return std::chrono::seconds{static_cast<std::int64_t>(std::floor(total))};
}

}  // namespace modlock
