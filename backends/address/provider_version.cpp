#include "backends/address/provider_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/text.h"

namespace modlock {
namespace {

constexpr std::array<std::string_view, 3> kNumberNames = {"major", "minor", "patch"};
constexpr std::array<std::string_view, 9> kConstraintOperators = {">", ">=", "<", "<=", "!", "!=", "~>", "^", "~"};

// Describes the problem with the start of a version, which must have no operator or prefix.
std::optional<std::string> start_problem(const ScannedItem& item) {
  if (std::ranges::find(kConstraintOperators, item.op) != kConstraintOperators.end()) {
    return fmt::format("can't use constraint operator \"{}\"; an exact version is required", item.op);
  }
  if (!item.op.empty()) {
    return fmt::format("invalid sequence \"{}\" at start of specification", item.op);
  }
  if (item.sep.find('v') != std::string_view::npos) {
    return "a \"v\" prefix should not be used";
  }
  if (!item.sep.empty()) {
    return "extraneous spaces at start of specification";
  }
  return std::nullopt;
}

std::optional<std::string> rest_problem(const ScannedItem& item, std::string_view text) {
  if (item.rest.empty()) {
    return std::nullopt;
  }
  const std::string_view rest = trimmed(item.rest);
  if (rest.empty()) {
    return "extraneous spaces at end of specification";
  }
  if (rest[0] == ',' || rest[0] == '|') {
    return "can't specify multiple versions; a single exact version is required";
  }
  if (rest[0] == '-') {
    return "can't specify version range; a single exact version is required";
  }
  if (trimmed(text).substr(0, rest.size()) == rest) {
    return "invalid specification; required format is three positive integers separated by periods";
  }
  return fmt::format("invalid characters \"{}\"", rest);
}

std::optional<std::string> number_problem(const ScannedItem& item) {
  if (item.number_count > item.numbers.size()) {
    return "too many numbered portions; only three are allowed (major, minor, patch)";
  }
  for (std::size_t i = 0; i < item.numbers.size(); ++i) {
    if (is_wildcard(item.numbers[i])) {
      return fmt::format("can't use wildcard for {} number; an exact version is required", kNumberNames[i]);
    }
  }
  return std::nullopt;
}

bool all_digits(std::string_view text) {
  return std::ranges::all_of(text, ascii::is_digit);
}

int sign(int order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int compare_parts(std::string_view left, std::string_view right) {
  const bool left_numeric = all_digits(left);
  const bool right_numeric = all_digits(right);
  if (left_numeric != right_numeric) {
    return left_numeric ? -1 : 1;
  }
  if (left_numeric && left.size() != right.size()) {
    return left.size() < right.size() ? -1 : 1;
  }
  return sign(left.compare(right));
}

bool is_operator(char c) {
  return !ascii::is_alnum(c) && !ascii::is_space(c) && c != '.' && c != '*';
}
bool is_separator(char c) {
  return ascii::is_space(c) || c == 'v';
}
bool is_extra(char c) {
  return ascii::is_alnum(c) || c == '.' || c == '-';
}

std::string_view take_number(std::string_view& rest) {
  std::string_view number = take_while(rest, ascii::is_digit);
  if (number.empty() && is_wildcard(rest.substr(0, 1))) {
    number = rest.substr(0, 1);
    rest.remove_prefix(1);
  }
  return number;
}

}  // namespace

int compare_extra(std::string_view left, std::string_view right) {
  while (left != right) {
    const std::size_t left_dot = left.find('.');
    const std::size_t right_dot = right.find('.');
    const bool left_ends = left_dot == std::string_view::npos;
    const bool right_ends = right_dot == std::string_view::npos;
    // The one with fewer parts is smaller, regardless of the current parts.
    if (left_ends != right_ends) {
      return left_ends ? -1 : 1;
    }
    const int order = compare_parts(left.substr(0, left_dot), right.substr(0, right_dot));
    if (order != 0 || left_ends) {
      return order;
    }
    left.remove_prefix(left_dot + 1);
    right.remove_prefix(right_dot + 1);
  }
  return 0;
}

Result<ProviderVersion> ProviderVersion::parse(std::string_view text) {
  const auto malformed = [&](std::string_view problem) {
    return fail(Code::constraint_syntax,
                fmt::format("\"{}\" is not a provider version: {}", escape_controls(text), escape_controls(problem)),
                "write a version such as 1.2.3 or 1.2.3-beta1");
  };
  if (trimmed(text).empty()) {
    return malformed("empty specification");
  }
  const ScannedItem item = scan_item(text);
  for (const auto& problem : {start_problem(item), rest_problem(item, text), number_problem(item)}) {
    if (problem) {
      return malformed(*problem);
    }
  }
  auto version = version_of(item);
  if (!version) {
    return malformed("a number is too large");
  }
  return std::move(*version);
}

std::string ProviderVersion::to_string() const {
  return fmt::format("{}.{}.{}{}{}{}{}", major, minor, patch, prerelease.empty() ? "" : "-", prerelease,
                     metadata.empty() ? "" : "+", metadata);
}

int compare(const ProviderVersion& left, const ProviderVersion& right) {
  const std::array<std::uint64_t, 3> a = {left.major, left.minor, left.patch};
  const std::array<std::uint64_t, 3> b = {right.major, right.minor, right.patch};
  if (a != b) {
    return a < b ? -1 : 1;
  }
  if (left.prerelease.empty() || right.prerelease.empty()) {
    return left.prerelease.empty() == right.prerelease.empty() ? 0 : left.prerelease.empty() ? 1 : -1;
  }
  return compare_extra(left.prerelease, right.prerelease);
}

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
    if (!take(item.rest, ".")) {
      break;
    }
    number = take_number(item.rest);
  }
  // A number must come directly before: a dash after a dot belongs to the rest.
  if (number.empty()) {
    return item;
  }
  if (take(item.rest, "-")) {
    item.prerelease = take_while(item.rest, is_extra);
    if (item.prerelease.empty()) {
      return item;
    }
  }
  if (take(item.rest, "+")) {
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

}  // namespace modlock
