#include "plugin/config/provider_reference.h"

#include <fmt/format.h>

#include "backends/address/provider_address.h"
#include "plugin/config/module_call.h"
#include "plugin/config/traversal.h"
#include "plugin/hcl/characters.h"

namespace modlock {
namespace {

constexpr std::string_view kSummary = "Invalid provider configuration reference";
constexpr std::string_view kHint = "write the local name of a provider, with an alias if it has one: aws.west";

Diagnostic invalid_reference(const ConfigText& file, const Range& range, std::string_view reason) {
  return config_error(file, range, fmt::format("{}: {}", kSummary, reason), std::string(kHint));
}

}  // namespace

bool check_local_name(std::string_view name, const ConfigText& file, const Range& range, Diagnostics& diagnostics) {
  const auto normal = normalize_provider_part(name);
  if (normal && *normal == name) {
    return true;
  }
  diagnostics.push_back(config_error(
      file, range,
      fmt::format("Invalid provider local name: {} {}", hcl::quoted_for_message(name),
                  normal ? "is not in its normal form" : normal.error().message),
      normal ? fmt::format("write {}", hcl::quoted_for_message(*normal)) : "use letters, digits and single dashes"));
  return false;
}

std::optional<ProviderReference> read_provider_reference(const hcl::Expression& expression, std::string_view argument,
                                                         const ConfigText& file, Diagnostics& diagnostics) {
  constexpr std::size_t kMostSteps = 3;  // name, alias, instance key
  const auto traversal = read_traversal(expression, file.path, {.quoted = true, .dynamic_keys = true});
  if (!traversal || traversal->steps.size() > kMostSteps) {
    diagnostics.push_back(invalid_reference(
        file, expression.range,
        fmt::format("the {} argument requires a provider's local name, optionally followed by a period and an alias",
                    argument)));
    return std::nullopt;
  }
  if (traversal->quoted) {
    Diagnostic quoted =
        config_error(file, expression.range, "Quoted references are deprecated: a reference is expected without quotes",
                     "remove the quotes");
    quoted.severity = Severity::warning;
    diagnostics.push_back(std::move(quoted));
  }
  const auto& steps = traversal->steps;
  if (steps.front().key || !check_local_name(steps.front().name, file, steps.front().range, diagnostics)) {
    return std::nullopt;
  }
  ProviderReference result{.name = steps.front().name, .name_range = steps.front().range};
  if (steps.size() > 1) {
    if (steps[1].key || (steps.size() > 2 && !steps[2].key)) {
      const Range& range = steps[1].key ? steps[1].range : steps[2].range;
      diagnostics.push_back(invalid_reference(
          file, range, "a provider's local name may be followed by a period and an alias, then by an instance key"));
      return std::nullopt;
    }
    result.alias = steps[1].name;
    if (steps.size() > 2) {
      result.key = steps[2].range;
    }
  }
  return result;
}

}  // namespace modlock
