#include "plugin/update/lookup.h"

#include <algorithm>

#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "protocol/base/result.h"
#include "protocol/messages/update_lookup.h"

namespace modlock {
Result<messages::UpdateLookupResult> Engine::lookup(const messages::UpdateLookupParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  RootRequest& root = open->root;
  const LockDocument& lock = open->lock;
  const Context& context = open->context;
  const Network& network = open->network();
  const LockFile effective = effective_lock(lock);
  auto tree = walk_locked_modules(*open);
  if (!tree) {
    // A deleted source does not hide the others.
    Error error = network.with_warnings(std::move(tree.error()));
    tree = walk_offline_modules(root, *open);
    if (!tree) {
      return fail(std::move(tree.error()));
    }
    const bool is_known = std::ranges::any_of(
        tree->diagnostics, [&](const Diagnostic& known) { return known.what.message == error.message; });
    if (!is_known) {
      tree->diagnostics.push_back({Severity::warning, std::move(error)});
    }
  }
  const auto providers = network.provider_source(root.walk.root);
  auto found = look_up({.tree = *tree,
                        .modules = effective.modules,
                        .providers = lock.provider_file().providers,
                        .default_host = default_registry(root.walk.tool),
                        .subjects = params.subjects,
                        .settings = root.walk.settings},
                       open->fetcher(), *providers, context);
  if (!found) {
    return fail(network.with_warnings(std::move(found.error())));
  }
  messages::UpdateLookupResult result = std::move(*found);
  result.stats = run.stats();
  result.diagnostics.insert(result.diagnostics.begin(), tree->diagnostics.begin(), tree->diagnostics.end());
  append(result.diagnostics, errors_of(unmatched_rules(root.walk.settings, *tree, known_locks(*open))));
  run.diagnostics = result.diagnostics;
  return result;
}

}  // namespace modlock
