#include "plugin/config/did_you_mean.h"

#include <fmt/format.h>

#include "plugin/hcl/near_names.h"

namespace modlock {
namespace {

constexpr std::size_t kLongestName = 64;

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > kLongestName || known.size() > kMostCompared) {
    return {};
  }
  const auto nearest = hcl::nearest_name(name, known);
  return nearest ? fmt::format("did you mean \"{}\"?", *nearest) : std::string{};
}

}  // namespace modlock
