#include "backends/address/provider_scan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace modlock {
namespace {

constexpr std::string_view kSpace = " \t\n\v\f\r";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_space(char c) {
  return kSpace.find(c) != std::string_view::npos;
}
bool is_operator(char c) {
  return !is_digit(c) && !is_letter(c) && !is_space(c) && c != '.' && c != '*';
}
bool is_separator(char c) {
  return is_space(c) || c == 'v';
}
bool is_extra(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '-';
}

template <typename Predicate>
std::string_view take_while(std::string_view& rest, Predicate predicate) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), predicate);
  const std::string_view taken = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

std::string_view take_number(std::string_view& rest) {
  std::string_view number = take_while(rest, is_digit);
  if (number.empty() && is_wildcard(rest.substr(0, 1))) {
    number = rest.substr(0, 1);
    rest.remove_prefix(1);
  }
  return number;
}

bool take(std::string_view& rest, char c) {
  const bool found = !rest.empty() && rest[0] == c;
  rest.remove_prefix(found ? 1 : 0);
  return found;
}

}  // namespace

ScannedItem scan_item(std::string_view text) {
  ScannedItem item;
  item.rest = text;
  item.op = take_while(item.rest, is_operator);
  item.sep = take_while(item.rest, is_separator);
  std::string_view number = take_number(item.rest);
  if (number.empty() && item.sep.empty()) {
    item.sep = item.op;
  }
  while (!number.empty()) {
    if (item.number_count < item.numbers.size()) {
      item.numbers[item.number_count] = number;
    }
    ++item.number_count;
    if (!take(item.rest, '.')) {
      break;
    }
    number = take_number(item.rest);
  }
  // A number has to stand right before: behind a dot, a dash belongs to what is left over.
  if (number.empty()) {
    return item;
  }
  if (take(item.rest, '-')) {
    item.prerelease = take_while(item.rest, is_extra);
    if (item.prerelease.empty()) {
      return item;
    }
  }
  if (take(item.rest, '+')) {
    item.metadata = take_while(item.rest, is_extra);
  }
  return item;
}

std::optional<ProviderVersion> version_of(const ScannedItem& item) {
  ProviderVersion version{.prerelease = std::string(item.prerelease), .metadata = std::string(item.metadata)};
  const std::array<std::uint64_t*, 3> numbers = {&version.major, &version.minor, &version.patch};
  for (std::size_t i = 0; i < std::min(item.number_count, numbers.size()); ++i) {
    const std::string_view digits = item.numbers[i];
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *numbers[i]);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return std::nullopt;
    }
  }
  return version;
}

bool is_wildcard(std::string_view number) {
  return number == "*" || number == "x" || number == "X";
}

std::string_view trim_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

}  // namespace modlock
