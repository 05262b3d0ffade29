#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// A provider version as apparentlymart/go-versions reads it, the library behind OpenTofu's provider versions: one to
// three numbers (padded with zeros), `-prerelease`, `+metadata`.
struct ProviderVersion {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::string prerelease = {};
  std::string metadata = {};

  // Errors: CONSTRAINT_SYNTAX in go-versions' words, naming the text.
  static Result<ProviderVersion> parse(std::string_view text);
  std::string to_string() const;
  bool operator==(const ProviderVersion&) const = default;
};

// Negative, zero or positive: numbers, then a release above its prereleases, then prereleases in go-versions' own order
// (not SemVer's: of two that share their first parts the one with fewer parts is smaller). Metadata does not count.
int compare(const ProviderVersion& left, const ProviderVersion& right);

// The order of two prereleases, which is also that of metadata where constraints are sorted for the lock file.
int compare_extra(std::string_view left, std::string_view right);

// The first item of a constraint, or a version, cut into tokens as go-versions' scanner does (its state machine
// raw_scan.rl). Nothing is checked here: both parsers say what is wrong with the tokens in their own words.
struct ScannedItem {
  std::string_view op;   // any bytes but digits, ASCII letters, white space, "." and "*"
  std::string_view sep;  // white space and "v"; `op` again where no number follows it
  std::array<std::string_view, 3> numbers = {};
  std::size_t number_count = 0;  // may be more than three
  std::string_view prerelease;   // without its dash
  std::string_view metadata;     // without its plus sign
  std::string_view rest;         // from the first byte on that does not belong to the item
};
ScannedItem scan_item(std::string_view text);

// The version that the tokens spell, numbers that are not there as zero. nullopt where a number is too large for 64
// bits or is a wildcard.
std::optional<ProviderVersion> version_of(const ScannedItem& item);

// "*", "x" or "X", which the scanner takes for a number.
bool is_wildcard(std::string_view number);

// Without ASCII white space at both ends.
std::string_view trim_spaces(std::string_view text);

}  // namespace modlock
