#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::hcl {

// For "did you mean": the name that differs in the fewest bytes (Levenshtein distance), the first of equals; nullopt
// where all differ in more than two.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known);

// Among more names than these did_you_mean() looks for nothing: no need to collect them.
constexpr std::size_t kMostCompared = 256;

// `did you mean "region"?`, or empty where no name is near. Costs little whatever the names are: long names and long
// lists are not compared.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace modlock::hcl
