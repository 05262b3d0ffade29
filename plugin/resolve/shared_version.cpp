#include "plugin/resolve/shared_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace modlock {
namespace {

using Calls = std::vector<const ModuleNode*>;

bool all_allow(const Calls& calls, const Version& version) {
  return std::all_of(calls.begin(), calls.end(), [&](const ModuleNode* node) {
    return std::all_of(node->constraints.begin(), node->constraints.end(),
                       [&](const ConstraintUse& use) { return use.constraint.allows(version); });
  });
}

bool could_share(const Calls& calls, const std::vector<Version>& taken, const Listing* listing) {
  const bool among_taken =
      std::any_of(taken.begin(), taken.end(), [&](const Version& version) { return all_allow(calls, version); });
  return among_taken || (listing != nullptr &&
                         std::any_of(listing->versions.begin(), listing->versions.end(),
                                     [&](const ListedVersion& listed) { return all_allow(calls, listed.version); }));
}

Diagnostic warning(const std::string& package, const Calls& calls) {
  Error error{
      .code = Code::constraint_conflict,
      .message = fmt::format("{} calls of \"{}\" get different versions: none satisfies all of their "
                             "constraints",
                             calls.size(), package),
      .subject = calls.front()->subject(),
      .location = calls.front()->call.source.location,
      .hint = "as OpenTofu, each registry call is resolved on its own; --resolution unified makes this an error"};
  for (const ModuleNode* node : calls) {
    error.related.push_back(
        {fmt::format("module \"{}\" requires version \"{}\"", node->key, node->constraints_text().value_or("any")),
         node->call.version ? node->call.version->location : node->call.source.location});
  }
  return {Severity::warning, std::move(error)};
}

}  // namespace

Diagnostics warn_of_unshared_versions(const ModuleTree& tree,
                                      const std::map<std::string, ResolvedModule, std::less<>>& resolved,
                                      const SourceFetcher& fetcher) {
  std::map<std::string, Calls> by_package;
  for (const auto& [key, node] : tree.nodes) {
    if (node.address.source.is_registry() && resolved.find(key) != resolved.end()) {
      by_package[node.address.source.package_identity()].push_back(&node);
    }
  }
  Diagnostics warnings;
  for (const auto& [package, calls] : by_package) {
    std::vector<Version> taken;
    for (const ModuleNode* node : calls) {
      if (const auto& version = resolved.find(node->key)->second.version) {
        taken.push_back(*version);
      }
    }
    if (!could_share(calls, taken, fetcher.known_listing(calls.front()->address))) {
      warnings.push_back(warning(package, calls));
    }
  }
  return warnings;
}

}  // namespace modlock
