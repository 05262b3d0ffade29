#include "backends/address/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

constexpr std::size_t kUsualNumbers = 3;

bool is_loose_identifier(char c) {
  return ascii::is_alnum(c) || c == '-' || c == '~';
}
bool is_strict_identifier(char c) {
  return ascii::is_alnum(c) || c == '-';
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, ascii::is_digit);
}

// Reads `run(.run)*` of identifier characters; empty if there is none. A dot without a run after it stays in `rest`.
std::string_view take_dotted(std::string_view& rest) {
  const std::string_view whole = rest;
  if (take_while(rest, is_loose_identifier).empty()) {
    return {};
  }
  while (rest.size() > 1 && rest[0] == '.' && is_loose_identifier(rest[1])) {
    rest.remove_prefix(1);
    take_while(rest, is_loose_identifier);
  }
  return whole.substr(0, whole.size() - rest.size());
}

std::optional<std::int64_t> to_number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

std::weak_ordering compare_numbers(const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& right) {
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::int64_t a = i < left.size() ? left[i] : 0;
    const std::int64_t b = i < right.size() ? right[i] : 0;
    if (a != b) {
      return a <=> b;
    }
  }
  return std::weak_ordering::equivalent;
}

std::weak_ordering compare_identifiers(std::string_view left, std::string_view right) {
  const bool left_numeric = is_number(left);
  const bool right_numeric = is_number(right);
  if (left_numeric != right_numeric) {
    return left_numeric ? std::weak_ordering::less : std::weak_ordering::greater;
  }
  if (left_numeric) {
    // The numbers may have any length, so the number of significant digits is compared first.
    const std::string_view a = left.substr(std::min(left.find_first_not_of('0'), left.size()));
    const std::string_view b = right.substr(std::min(right.find_first_not_of('0'), right.size()));
    if (a.size() != b.size()) {
      return a.size() <=> b.size();
    }
    if (const int order = a.compare(b); order != 0) {
      return order <=> 0;
    }
  }
  return left.compare(right) <=> 0;
}

std::weak_ordering compare_prereleases(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty()) {
    return left.empty() <=> right.empty();
  }
  const auto a = split(left, '.');
  const auto b = split(right, '.');
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const auto order = compare_identifiers(a[i], b[i]); order != 0) {
      return order;
    }
  }
  return a.size() <=> b.size();
}

// Compares one identifier of a prerelease as go-version does; empty means that the other version has more identifiers.
int compare_identifiers_as_go_version(std::string_view left, std::string_view right) {
  if (left == right) {
    return 0;
  }
  const std::optional<std::int64_t> a = to_number(left);
  const std::optional<std::int64_t> b = to_number(right);
  if (left.empty()) {
    return b ? -1 : 1;
  }
  if (right.empty()) {
    return a ? 1 : -1;
  }
  if (a.has_value() != b.has_value()) {
    return a ? -1 : 1;
  }
  if (!a && left > right) {
    return 1;
  }
  // A number that does not fit counts as the largest one, a word as zero.
  const auto weight = [](std::string_view text, const std::optional<std::int64_t>& number) {
    return number ? *number : is_number(text) ? std::numeric_limits<std::int64_t>::max() : 0;
  };
  return weight(left, a) > weight(right, b) ? 1 : -1;
}

// SemVer's rule for identifiers: none is empty, and a numeric one of a prerelease has no leading zeros.
bool are_strict_identifiers(std::string_view text, bool numbers_are_strict) {
  const auto parts = split(text, '.');
  return std::ranges::all_of(parts, [&](std::string_view part) {
    const bool leading_zero = part.size() > 1 && part[0] == '0' && is_number(part);
    return !part.empty() && std::ranges::all_of(part, is_strict_identifier) && !(numbers_are_strict && leading_zero);
  });
}

// Digits without a leading zero.
bool take_strict_number(std::string_view& rest) {
  const std::string_view digits = take_while(rest, ascii::is_digit);
  return digits.size() == 1 || (digits.size() > 1 && digits[0] != '0');
}

bool is_semver(std::string_view text) {
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    if (!are_strict_identifiers(text.substr(plus + 1), false)) {
      return false;
    }
    text = text.substr(0, plus);
  }
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    if (!are_strict_identifiers(text.substr(dash + 1), true)) {
      return false;
    }
    text = text.substr(0, dash);
  }
  return take_strict_number(text) && take(text, ".") && take_strict_number(text) && take(text, ".") &&
         take_strict_number(text) && text.empty();
}

}  // namespace

Result<Version> Version::parse(std::string_view text) {
  const auto malformed = [&] {
    return fail(Code::constraint_syntax,
                fmt::format("\"{}\" is not a version: expected numbers separated by dots, then optionally a prerelease "
                            "and metadata",
                            escape_controls(text)),
                "write a version such as 1.2.3 or 1.2.3-beta1");
  };
  const auto part_of = [&](std::string_view part) {
    return part.empty() ? Part{}
                        : Part{.begin = static_cast<std::uint32_t>(part.data() - text.data()),
                               .size = static_cast<std::uint32_t>(part.size())};
  };
  Version version;
  version.original_ = text;
  version.numbers_.reserve(kUsualNumbers);
  std::string_view rest = text;
  take(rest, "v");
  while (true) {
    const auto number = to_number(take_while(rest, ascii::is_digit));
    if (!number) {
      return malformed();
    }
    version.numbers_.push_back(*number);
    if (rest.size() < 2 || rest[0] != '.' || !ascii::is_digit(rest[1])) {
      break;
    }
    rest.remove_prefix(1);
  }
  version.given_numbers_ = static_cast<std::uint32_t>(version.numbers_.size());
  version.numbers_.resize(std::max(kUsualNumbers, version.numbers_.size()));

  std::string_view prerelease = take_dotted(rest);
  // The dash is a separator only if something of the same identifier follows it: "1.0.0-" has the prerelease "-".
  if (prerelease.size() > 1 && prerelease[0] == '-' && prerelease[1] != '.') {
    prerelease.remove_prefix(1);
  }
  version.prerelease_ = part_of(prerelease);
  if (take(rest, "+")) {
    version.metadata_ = part_of(take_dotted(rest));
    if (version.metadata().empty()) {
      return malformed();
    }
  }
  if (!rest.empty()) {
    return malformed();
  }
  return version;
}

std::string Version::to_string() const {
  std::string text;
  for (const std::int64_t number : numbers_) {
    const fmt::format_int digits(number);
    text.append(text.empty() ? "" : ".").append(digits.data(), digits.size());
  }
  if (!prerelease().empty()) {
    text.append("-").append(prerelease());
  }
  if (!metadata().empty()) {
    text.append("+").append(metadata());
  }
  return text;
}

std::weak_ordering Version::operator<=>(const Version& other) const {
  const auto order = compare_numbers(numbers_, other.numbers_);
  return order != 0 ? order : compare_prereleases(prerelease(), other.prerelease());
}

int compare_as_go_version(const Version& left, const Version& right) {
  if (left.numbers() != right.numbers()) {
    // Versions that differ only in trailing zeros are equal, regardless of the prereleases.
    const auto order = compare_numbers(left.numbers(), right.numbers());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (left.prerelease() == right.prerelease()) {
    return 0;
  }
  if (left.prerelease().empty() || right.prerelease().empty()) {
    return left.prerelease().empty() ? 1 : -1;
  }
  const auto a = split(left.prerelease(), '.');
  const auto b = split(right.prerelease(), '.');
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int order = compare_identifiers_as_go_version(i < a.size() ? a[i] : std::string_view(),
                                                        i < b.size() ? b[i] : std::string_view());
    if (order != 0) {
      return order;
    }
  }
  return 0;
}

std::optional<Version> parse_version_tag(std::string_view tag, std::string_view prefix, std::string* reason) {
  const auto skip = [&](std::string_view why) {
    if (reason != nullptr) {
      *reason = why;
    }
    return std::nullopt;
  };
  if (tag.substr(0, prefix.size()) != prefix) {
    return skip("other prefix");
  }
  const std::string_view text = tag.substr(prefix.size());
  const std::string_view bare = !text.empty() && text[0] == 'v' ? text.substr(1) : text;
  if (!is_semver(bare)) {
    return skip("not a semantic version");
  }
  auto version = Version::parse(text);
  if (!version) {
    return skip("not a semantic version");
  }
  return std::move(*version);
}

}  // namespace modlock
