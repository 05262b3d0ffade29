#include "plugin/resolve/provider_need.h"
#include "protocol/base/result.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {
namespace {

Result<ProviderNeed> make_need(const ProviderAddress& address, const std::vector<RequiredBy>& uses) {
  ProviderNeed need{.address = address, .module = uses.front().module, .location = uses.front().requirement.location};
  std::vector<ProviderConstraint> all;
  for (const RequiredBy& use : uses) {
    if (!use.requirement.constraint) {
      continue;
    }
    const auto& [text, location] = *use.requirement.constraint;
    auto constraint = ProviderConstraint::parse(text);
    if (!constraint) {
      Error error = std::move(constraint.error());
      error.subject = need.subject();
      error.location = location;
      return fail(std::move(error));
    }
    all.push_back(*constraint);
    need.constraints.push_back({std::move(*constraint), text, use.module, location});
  }
  need.merged = ProviderConstraint::merge(all);
  return need;
}

}  // namespace

std::string ProviderNeed::who_needs_it() const {
  if (location.path.empty()) {
    return "the state needs it";
  }
  return module.empty() ? "the root module needs it" : fmt::format("module \"{}\" needs it", module);
}

std::string ProviderConstraintUse::sentence() const {
  return module.empty() ? fmt::format("the root module requires \"{}\"", text)
                        : fmt::format("module \"{}\" requires \"{}\"", module, text);
}

Result<std::vector<ProviderNeed>> find_needs(const ModuleTree& tree, const StateProviders& state, NeedsOf needs_of,
                                             std::string_view default_host) {
  auto required = required_providers(tree, needs_of == NeedsOf::init);
  if (needs_of == NeedsOf::init) {
    for (const ProviderRequirement& requirement : state.providers) {
      std::vector<RequiredBy>& uses = required[requirement.address];
      if (uses.empty()) {
        uses.push_back({"", requirement});
      }
    }
  }
  std::vector<ProviderNeed> needs;
  for (const auto& [address, uses] : required) {
    if (address.is_builtin(default_host)) {
      continue;
    }
    MODLOCK_TRY(auto need, make_need(address, uses));
    needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace modlock
