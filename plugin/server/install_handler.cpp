#include <algorithm>

#include "plugin/install/installer.h"
#include "plugin/server/handlers.h"
#include "plugin/server/plan_request.h"
#include "plugin/server/run_clock.h"
#include "protocol/messages/modules_install.h"

namespace modlock {
namespace {

// Changes that leave a call without an entry that counts; others (an entry nobody calls) do not stand in the way.
bool stops_install(const Change& change) {
  return change.action == Action::added || change.action == Action::updated ||
         change.action == Action::source_changed || change.action == Action::hashes_added;
}

std::vector<messages::InstalledModule> to_messages(const std::vector<InstalledModule>& modules) {
  std::vector<messages::InstalledModule> out;
  for (const InstalledModule& module : modules) {
    out.push_back({module.key, module.directory, module.h1});
  }
  return out;
}

struct Installation {
  InstallReport report;
  Diagnostics diagnostics;
};

Result<Installation> install_once(const Service& service, const RootRequest& root, const LockDocument& lock,
                                  const Context& context, RequestContext& request) {
  const Network& network = service.network(root.implementation.tool, root.implementation.version);
  Origin origin(network.backends(), service.store(), context);
  auto plan = make_plan(frozen_plan(root, lock, context), origin, context);
  if (!plan) {
    return fail(network.with_warnings(std::move(plan.error())));
  }
  std::vector<Change> blocking;
  std::copy_if(plan->changes.begin(), plan->changes.end(), std::back_inserter(blocking), stops_install);
  if (!blocking.empty()) {
    return fail(frozen_error(blocking, lock.path, request));
  }
  auto report =
      install_modules({.plan = *plan, .lock = effective_lock(lock), .data = root.data}, service.store(), context);
  if (!report) {
    return fail(std::move(report.error()));
  }
  return Installation{std::move(*report), std::move(plan->diagnostics)};
}

}  // namespace

Result<Json::Value> handle_modules_install(const Service& service, const Json::Value& params, RequestContext& request) {
  RunClock clock;
  auto decoded = messages::decode_modules_install(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  if (decoded->overrides.value_or(false)) {
    return fail(Code::invalid_params, "modules/install: override files are not written by this release",
                "leave overrides out, and write constraints into .tofu-modlock.hcl");
  }
  Context context = make_context(request, service, clock.stats);
  context.offline = decoded->offline.value_or(context.offline);
  auto root = open_root(decoded->root, service);
  if (!root) {
    return fail(std::move(root.error()));
  }
  context.judge_source = source_judge(root->walk.settings);
  auto lock = open_lock(*root, decoded->lock);
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  auto done = install_once(service, *root, *lock, context, request);
  if (!done && done.error().code == Code::hash_mismatch) {
    // A damaged package was dropped from the store; the second try fetches it anew, and its mismatch is final.
    done = install_once(service, *root, *lock, context, request);
  }
  if (!done) {
    return fail(std::move(done.error()));
  }
  request.diagnostics = done->diagnostics;
  return messages::encode(messages::ModulesInstallResult{.installed = to_messages(done->report.installed),
                                                         .reused = to_messages(done->report.reused),
                                                         .removed = to_messages(done->report.removed),
                                                         .manifest = done->report.manifest,
                                                         .diagnostics = std::move(done->diagnostics),
                                                         .stats = clock.message()});
}

}  // namespace modlock
