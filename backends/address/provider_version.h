#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock {

// A provider version as apparentlymart/go-versions reads it, the library that OpenTofu uses for provider versions: one
// to three numbers (padded with zeros), `-prerelease`, `+metadata`.
struct ProviderVersion {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::string prerelease = {};
  std::string metadata = {};

  // Errors: CONSTRAINT_SYNTAX with go-versions' wording, naming the text.
  static Result<ProviderVersion> parse(std::string_view text);
  std::string to_string() const;
  bool operator==(const ProviderVersion&) const = default;
};

// Returns a negative number, zero or a positive number. The numbers come first; then a release is above its
// prereleases; then prereleases have go-versions' own order (not SemVer's: if two share their first parts, the one with
// fewer parts is smaller). Metadata is ignored.
int compare(const ProviderVersion& left, const ProviderVersion& right);

// Compares two prereleases. The same order sorts metadata when constraints are sorted for the lock file.
int compare_extra(std::string_view left, std::string_view right);

// The first item of a constraint, or a version, split into tokens as go-versions' scanner does (its state machine
// raw_scan.rl). Nothing is checked here: both parsers report invalid tokens in their own wording.
struct ScannedItem {
  std::string_view op;   // any bytes except digits, ASCII letters, white space, "." and "*"
  std::string_view sep;  // white space and "v"; `op` again if no number follows it
  std::array<std::string_view, 3> numbers = {};
  std::size_t number_count = 0;  // may be more than three
  std::string_view prerelease;   // without its dash
  std::string_view metadata;     // without its plus sign
  std::string_view rest;         // from the first byte that does not belong to the item
};
ScannedItem scan_item(std::string_view text);

// Returns the version of the tokens, with missing numbers as zero. nullopt if a number is too large for 64 bits or is a
// wildcard.
std::optional<ProviderVersion> version_of(const ScannedItem& item);

// Returns whether it is "*", "x" or "X", which the scanner accepts as a number.
bool is_wildcard(std::string_view number);

}  // namespace modlock
