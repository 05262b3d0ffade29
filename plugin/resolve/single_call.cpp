#include "plugin/resolve/single_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/resolve/changes.h"
#include "plugin/resolve/version_resolver.h"
#include "protocol/base/result.h"

namespace modlock {

Result<SingleCall> plan_single_call(const PlanRequest& request, ModuleNode node, SourceFetcher& fetcher,
                                    const Context& context) {
  ModuleTree tree;
  ModuleNode& placed = tree.nodes.emplace(node.key, node).first->second;
  VersionResolver resolver(request, fetcher, context);
  resolver.start_walk();
  MODLOCK_TRY(resolver.visit(std::array{&placed}));
  SingleCall call;
  Diagnostics errors;
  for (const Diagnostic& diagnostic : resolver.diagnostics()) {
    (diagnostic.severity == Severity::error ? errors : call.warnings).push_back(diagnostic);
  }
  if (!errors.empty()) {
    return fail(combine(std::move(errors)));
  }
  if (const auto reason = resolver.frozen_out().find(node.key); reason != resolver.frozen_out().end()) {
    return fail(Error{.code = Code::frozen,
                      .message = fmt::format("the lock file does not answer {} ({})", node.key, reason->second),
                      .subject = node.key,
                      .location = node.call.source.location});
  }
  const auto resolved = resolver.resolved().find(node.key);
  if (resolved == resolver.resolved().end()) {
    call.is_served = false;
    return call;
  }
  call.package = {resolved->second.package_directory, resolved->second.package_subdir};
  call.lock = new_module_locks(request, tree, resolver, fetcher).find(node.key)->second;
  return call;
}

}  // namespace modlock
