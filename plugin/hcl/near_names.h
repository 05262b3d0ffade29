#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace modlock::hcl {

// For "did you mean": the name that differs in the fewest bytes (Levenshtein distance), the first of equals; nullopt
// where all differ in more than two.
std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace modlock::hcl
