#include "plugin/resolve/single_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugin/resolve/changes.h"
#include "plugin/resolve/chooser.h"
#include "protocol/result.h"

namespace modlock {

Result<SingleCall> plan_single_call(const PlanRequest& request, ModuleNode node, Origin& origin,
                                    const Context& context) {
  ModuleTree tree;
  ModuleNode& placed = tree.nodes.emplace(node.key, node).first->second;
  Chooser chooser(request, origin, context);
  chooser.start_walk();
  MODLOCK_TRY(chooser.visit(std::array{&placed}));
  SingleCall call;
  Diagnostics errors;
  for (const Diagnostic& diagnostic : chooser.diagnostics()) {
    (diagnostic.severity == Severity::error ? errors : call.warnings).push_back(diagnostic);
  }
  if (!errors.empty()) {
    return fail(combine(std::move(errors)));
  }
  if (const auto reason = chooser.frozen_out().find(node.key); reason != chooser.frozen_out().end()) {
    return fail(Error{.code = Code::frozen,
                      .message = fmt::format("the lock file does not answer {} ({})", node.key, reason->second),
                      .subject = node.key,
                      .location = node.call.source.location});
  }
  const auto resolved = chooser.resolved().find(node.key);
  if (resolved == chooser.resolved().end()) {
    call.is_served = false;
    return call;
  }
  call.package = {resolved->second.package_directory, resolved->second.package_subdir};
  call.lock = new_module_locks(request, tree, chooser, origin).find(node.key)->second;
  return call;
}

}  // namespace modlock
