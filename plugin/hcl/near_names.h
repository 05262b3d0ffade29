#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::hcl {

// For "did you mean": returns the name that differs in the fewest bytes (Levenshtein distance), the first one of
// several. nullopt if all names differ in more than two bytes.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known);

// did_you_mean() returns nothing for more names than this, so there is no need to collect more.
constexpr std::size_t kMostCompared = 256;

// `did you mean "region"?`, or empty if no name is similar. Always cheap: long names and long lists are not compared.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace modlock::hcl
