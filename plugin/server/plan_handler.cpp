#include <fmt/format.h>

#include <algorithm>

#include "backends/source_text.h"
#include "plugin/config/roots.h"
#include "plugin/install/overrides.h"
#include "plugin/install/package_lookup.h"
#include "plugin/install/recorded_modules.h"
#include "plugin/lock/copy.h"
#include "plugin/lock/edit.h"
#include "plugin/resolve/call_kind.h"
#include "plugin/server/handlers.h"
#include "plugin/server/plan_request.h"
#include "plugin/server/run_clock.h"
#include "protocol/messages/encode.h"

namespace modlock {
namespace {

PlanMode parse_mode(const std::string& text) {
  return text == "upgrade" ? PlanMode::upgrade : text == "frozen" ? PlanMode::frozen : PlanMode::missing;
}

Resolution parse_resolution(const std::optional<std::string>& text, const Settings& settings) {
  if (!text) {
    return settings.resolution.value_or(Resolution::automatic);
  }
  return *text == "unified" ? Resolution::unified : *text == "per-call" ? Resolution::per_call : Resolution::automatic;
}

// Lists of the host narrow what the settings allow, and are checked after them.
void add_policy(Settings& settings, const messages::LockPlanParams& params) {
  const auto written = [](const std::string& text) { return Written{text, Location{"params.policy", std::nullopt}}; };
  for (const std::string& glob : params.deny) {
    settings.deny_sources.push_back(written(glob));
  }
  if (!params.allow.empty()) {
    AllowList& list = settings.allow_lists.emplace_back();
    std::transform(params.allow.begin(), params.allow.end(), std::back_inserter(list.globs), written);
  }
}

// Module blocks that a stock tofu dropped come back from our copy, else from the last commit that had some.
Result<ModuleLocks> restorable_blocks(const RootRequest& root, const LockDocument& lock, const Context& context) {
  auto copy = load_lock_copy(root.data.path);
  if (!copy || *copy) {
    return copy ? Result<ModuleLocks>(std::move(**copy)) : fail(std::move(copy.error()));
  }
  // Two processes are saved where nothing is under version control.
  std::error_code ignored;
  const auto real_root = std::filesystem::weakly_canonical(root.walk.root, ignored);
  if (!std::filesystem::exists(find_repository_root(real_root) / ".git", ignored)) {
    return ModuleLocks{};
  }
  auto committed = committed_module_locks(root.walk.root, lock.path, context);
  if (!committed) {
    return fail(std::move(committed.error()));
  }
  return std::move(*committed).value_or(ModuleLocks{});
}

std::optional<messages::ChangeSide> to_message(const std::optional<ChangeSide>& side) {
  if (!side) {
    return std::nullopt;
  }
  return messages::ChangeSide{side->version, side->ref, side->commit, side->digest};
}

void add_edit(messages::WorkspaceEdit& out, const std::string& path, const LockFile& before, const std::string& after,
              const ServiceOptions& options) {
  auto edit =
      make_document_edit(path, before.exists ? std::optional<std::string_view>(before.text) : std::nullopt, after);
  if (!edit) {
    return;
  }
  messages::EditedDocument document{.path = edit->path,
                                    .operation = before.exists ? "modify" : "create",
                                    .base_sha256 = edit->base_sha256,
                                    .new_text = std::nullopt,
                                    .edits = std::nullopt,
                                    .result_sha256 = edit->result_sha256};
  if (options.edits_as_full_text) {
    document.new_text = edit->new_text;
  }
  if (options.edits_as_ranges) {
    document.edits.emplace();
    for (TextEdit& change : edit->edits) {
      document.edits->push_back(
          {change.start, change.end, std::move(change.old_text), std::move(change.new_text), change.range});
    }
  }
  out.documents.push_back(std::move(document));
}

messages::WorkspaceEdit lock_edit(const LockDocument& lock, const ModuleLocks& modules, const ServiceOptions& options) {
  messages::WorkspaceEdit out;
  if (lock.file.exists || !modules.empty()) {
    add_edit(out, lock.path, lock.file, write_lock(lock.file, modules), options);
  }
  if (lock.inline_file) {
    add_edit(out, std::string(kLockFileName), *lock.inline_file, write_lock(*lock.inline_file, {}), options);
  }
  return out;
}

std::vector<messages::LockedModule> locked_modules(const Plan& plan) {
  std::vector<messages::LockedModule> out;
  for (const auto& [key, lock] : plan.modules) {
    const auto node = plan.tree.nodes.find(key);
    out.push_back({.key = key,
                   .source = lock.source,
                   .version = lock.version,
                   .ref = node == plan.tree.nodes.end() ? "" : named_reference(node->second.address.source),
                   .commit = lock.hash_value("git"),
                   .digest = lock.hash_value("oci"),
                   .constraints = lock.constraints,
                   .hashes = lock.hashes});
  }
  return out;
}

}  // namespace

std::vector<messages::Change> to_messages(const std::vector<Change>& changes) {
  std::vector<messages::Change> out;
  for (const Change& change : changes) {
    out.push_back({.subject = change.subject,
                   .action = std::string(to_string(change.action)),
                   .from = to_message(change.from),
                   .to = to_message(change.to),
                   .constraints = change.constraints,
                   .reason = change.reason});
  }
  return out;
}

LockFile effective_lock(const LockDocument& lock) {
  return lock.inline_file && !lock.file.exists ? *lock.inline_file : lock.file;
}

PlanRequest frozen_plan(const RootRequest& root, const LockDocument& lock, const Context& context) {
  return {.walk = root.walk,
          .lock = lock.file,
          .mode = PlanMode::frozen,
          .resolution = Resolution::per_call,
          .installed = find_installed(root, context)};
}

std::function<std::optional<PlacedPackage>(const ModuleNode&, std::string_view)> find_installed(
    const RootRequest& root, const Context& context) {
  auto manifest = read_manifest(root.data.manifest());
  return
      [&data = root.data, &context, manifest = manifest.value_or(Manifest{})](
          const ModuleNode& node, std::string_view h1) { return installed_package(node, h1, data, manifest, context); };
}

Error frozen_error(const std::vector<Change>& changes, const std::string& lock_path, RequestContext& request) {
  std::string named;
  for (const Change& change : changes) {
    named += fmt::format("{}{} ({})", named.empty() ? "" : ", ", change.subject, change.reason);
  }
  request.error_data["changes"] = messages::encode_list(to_messages(changes));
  return Error{.code = Code::frozen,
               .message = fmt::format("{} does not answer the configuration: {}", lock_path, named),
               .subject = changes.front().subject,
               .hint = "run: tofu-modlock lock, review the change and commit it"};
}

Result<PlanRequest> make_plan_request(const RootRequest& root, const LockDocument& lock,
                                      const messages::LockPlanParams& params, const Service& service,
                                      const Context& context) {
  PlanRequest request{.walk = root.walk,
                      .lock = effective_lock(lock),
                      .mode = parse_mode(params.mode),
                      .targets = params.targets,
                      .resolution = parse_resolution(params.resolution, root.walk.settings)};
  if (params.minimum_release_age) {
    request.minimum_release_age = parse_duration(*params.minimum_release_age);
    if (!request.minimum_release_age) {
      return fail(Code::invalid_params,
                  fmt::format("policy.minimumReleaseAge must be a duration, found \"{}\"",
                              escape_controls(*params.minimum_release_age)),
                  "write it in hours, minutes and seconds: \"72h\" or \"1h30m\"; a day is \"24h\"");
    }
  }
  request.installed = find_installed(root, context);
  request.judge = [&root, &service, &context](const ModuleTree& tree, Diagnostics& diagnostics) {
    judge_releases(tree, root.implementation, service.options(), context, diagnostics);
  };
  if (request.mode != PlanMode::frozen) {
    auto restorable = restorable_blocks(root, lock, context);
    if (!restorable) {
      return fail(std::move(restorable.error()));
    }
    request.restorable = std::move(*restorable);
  }
  if (params.adopt && is_first_lock(request)) {
    auto recorded = find_recorded(root.data, context);
    if (!recorded) {
      return fail(std::move(recorded.error()));
    }
    request.recorded = std::move(*recorded);
  }
  return request;
}

Result<Json::Value> handle_lock_plan(const Service& service, const Json::Value& params, RequestContext& request) {
  RunClock clock;
  Context context = make_context(request, service, clock.stats);
  auto decoded = messages::decode_lock_plan(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  auto root = open_root(decoded->root, service);
  if (!root) {
    return fail(std::move(root.error()));
  }
  auto lock = open_lock(*root, decoded->lock);
  if (!lock) {
    return fail(std::move(lock.error()));
  }
  if (!decoded->include.modules) {
    return messages::encode(messages::LockPlanResult{.stats = clock.message()});
  }
  add_policy(root->walk.settings, *decoded);
  context.judge_source = source_judge(root->walk.settings);
  auto plan_request = make_plan_request(*root, *lock, *decoded, service, context);
  if (!plan_request) {
    return fail(std::move(plan_request.error()));
  }
  const auto network = service.network(root->implementation.tool, root->implementation.version);
  Origin origin(network->backends(), service.store(), context, service.fresh_since());
  auto plan = make_plan(*plan_request, origin, context);
  if (!plan) {
    return fail(network->with_warnings(std::move(plan.error())));
  }
  judge_overrides({.tree = plan->tree, .locks = plan->modules, .root = root->walk.root, .bounds = root->walk.bounds},
                  plan->diagnostics);
  const Diagnostics& unread = network->warnings();
  plan->diagnostics.insert(plan->diagnostics.end(), unread.begin(), unread.end());
  if (plan_request->mode == PlanMode::frozen && !plan->changes.empty()) {
    return fail(frozen_error(plan->changes, lock->path, request));
  }
  request.diagnostics = plan->diagnostics;
  return messages::encode(messages::LockPlanResult{.edits = lock_edit(*lock, plan->modules, service.options()),
                                                   .changes = to_messages(plan->changes),
                                                   .modules = locked_modules(*plan),
                                                   .diagnostics = std::move(plan->diagnostics),
                                                   .stats = clock.message()});
}

}  // namespace modlock
