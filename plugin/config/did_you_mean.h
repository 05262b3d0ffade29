#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace modlock {

// Among more names than these nothing is looked for: no need to collect them.
constexpr std::size_t kMostCompared = 256;

// `did you mean "region"?`, or empty where no name is near (two letters apart at most). Of equally near names the first
// counts. Costs little whatever the names are: long names and long lists are not compared.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace modlock
