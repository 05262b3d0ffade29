#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "backends/address/provider_version.h"

namespace modlock {

// The first item of a constraint, or a version, cut into tokens as go-versions' scanner does (its state machine
// raw_scan.rl). Nothing is judged here: both parsers say what is wrong with the tokens in their own words.
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
