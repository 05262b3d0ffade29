#include <fmt/format.h>

#include <algorithm>

#include "backends/source_text.h"
#include "plugin/config/roots.h"
#include "plugin/install/overrides.h"
#include "plugin/install/package_lookup.h"
#include "plugin/install/recorded_modules.h"
#include "plugin/lock/copy.h"
#include "plugin/resolve/call_kind.h"
#include "plugin/server/handlers.h"
#include "plugin/server/known_tree.h"
#include "plugin/server/lock_edits.h"
#include "plugin/server/plan_request.h"
#include "plugin/server/provider_request.h"
#include "plugin/server/run_clock.h"
#include "protocol/messages/encode.h"

namespace modlock {
namespace {

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
  return lock.counts_inline() ? *lock.beside : lock.file;
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
                      .targets = module_targets(params.targets),
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
  if (request.mode == PlanMode::upgrade && request.targets.empty() && !params.targets.empty()) {
    request.mode = PlanMode::missing;
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

namespace {

// The modules of a root where nobody wants them locked: as they are installed or locked. What is locked and nowhere on
// this machine is fetched.
Result<ModuleTree> read_tree(RootRequest& root, const LockDocument& lock, Origin& origin, const Service& service,
                             const Context& context) {
  auto tree = walk_known_modules(root, effective_lock(lock), service, context);
  if (!tree || unread_modules(*tree).empty()) {
    return tree;
  }
  PlanRequest request = frozen_plan(root, lock, context);
  request.lock = effective_lock(lock);
  auto plan = make_plan(request, origin, context);
  if (!plan) {
    return fail(std::move(plan.error()));
  }
  if (const auto unread = unread_modules(plan->tree); !unread.empty()) {
    const ModuleNode& node = plan->tree.nodes.find(unread.front())->second;
    return fail(Error{.code = Code::missing,
                      .message = fmt::format("module \"{}\" is neither locked nor installed, so nobody knows which "
                                             "providers it needs",
                                             node.key),
                      .subject = node.subject(),
                      .location = node.call.source.location,
                      .hint = "lock modules too (without --include providers), or let the client install them"});
  }
  return std::move(plan->tree);
}

// Decides one `lock/plan`: modules first, then the providers that those need.
class LockPlanner {
 public:
  LockPlanner(const Service& service, messages::LockPlanParams params, RequestContext& request)
      : service_(service),
        params_(std::move(params)),
        request_(request),
        context_(make_context(request, service, clock_.stats)) {}

  Result<Json::Value> run() {
    auto root = open_root(params_.root, service_);
    if (!root) {
      return fail(std::move(root.error()));
    }
    auto lock = open_lock(*root, params_.lock);
    if (!lock) {
      return fail(std::move(lock.error()));
    }
    add_policy(root->walk.settings, params_);
    context_.judge_source = source_judge(root->walk.settings);
    const auto network = service_.network(root->implementation.tool, root->implementation.version);
    if (auto ok = plan(*root, *lock, *network); !ok) {
      return fail(network->with_warnings(std::move(ok.error())));
    }
    const Diagnostics& unread = network->warnings();
    diagnostics_.insert(diagnostics_.end(), unread.begin(), unread.end());
    return answer(*root, *lock);
  }

 private:
  Result<void> plan(RootRequest& root, const LockDocument& lock, const Network& network) {
    Origin origin(network.backends(), service_.store(), context_, service_.fresh_since());
    std::optional<ModuleTree> tree;
    if (params_.include.modules) {
      if (auto ok = plan_modules(root, lock, origin); !ok) {
        return ok;
      }
    } else if (params_.include.providers) {
      auto read = read_tree(root, lock, origin, service_, context_);
      if (!read) {
        return fail(std::move(read.error()));
      }
      tree = std::move(*read);
      std::copy(tree->diagnostics.begin(), tree->diagnostics.end(), std::back_inserter(diagnostics_));
      judge_releases(*tree, root.implementation, service_.options(), context_, diagnostics_);
      if (has_errors(diagnostics_)) {
        return fail(first_error());
      }
    }
    return params_.include.providers ? plan_providers_of(root, lock, tree ? *tree : modules_->tree, network)
                                     : Result<void>();
  }

  Error first_error() const {
    Diagnostics errors;
    std::copy_if(diagnostics_.begin(), diagnostics_.end(), std::back_inserter(errors),
                 [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
    return combine(std::move(errors));
  }

  Result<void> plan_modules(const RootRequest& root, const LockDocument& lock, Origin& origin) {
    const auto plan_request = make_plan_request(root, lock, params_, service_, context_);
    if (!plan_request) {
      return fail(plan_request.error());
    }
    auto plan = make_plan(*plan_request, origin, context_);
    if (!plan) {
      return fail(std::move(plan.error()));
    }
    modules_ = std::move(*plan);
    judge_overrides(
        {.tree = modules_->tree, .locks = modules_->modules, .root = root.walk.root, .bounds = root.walk.bounds},
        modules_->diagnostics);
    diagnostics_ = std::move(modules_->diagnostics);
    return {};
  }

  Result<void> plan_providers_of(const RootRequest& root, const LockDocument& lock, const ModuleTree& tree,
                                 const Network& network) {
    auto provider_request = make_provider_request(root, lock, tree, params_, diagnostics_);
    if (!provider_request) {
      return fail(std::move(provider_request.error()));
    }
    const ReleaseHashes known(service_.store(), release_rules(root.implementation));
    provider_request->known = &known;
    if (has_errors(diagnostics_)) {
      return fail(first_error());
    }
    const auto source = network.provider_source();
    auto plan = plan_providers(*provider_request, *source, context_);
    if (!plan) {
      Error error = std::move(plan.error());
      if (params_.include.modules && exit_code(error) == exit_code(Code::unreachable)) {
        error.notes.push_back("nothing is locked; modules alone are with --include modules");
      }
      return fail(std::move(error));
    }
    providers_ = std::move(*plan);
    diagnostics_.insert(diagnostics_.end(), providers_->diagnostics.begin(), providers_->diagnostics.end());
    return {};
  }

  Result<Json::Value> answer(const RootRequest& root, const LockDocument& lock) {
    std::vector<Change> changes = modules_ ? std::move(modules_->changes) : std::vector<Change>{};
    if (providers_) {
      changes.insert(changes.end(), providers_->changes.begin(), providers_->changes.end());
    }
    if (params_.mode == "frozen" && !changes.empty()) {
      return fail(frozen_error(changes, lock.path, request_));
    }
    const ModuleLocks& modules = modules_ ? modules_->modules : lock.file.modules;
    messages::LockPlanResult result{
        .edits = lock_edit(lock, {.modules = modules, .providers = providers_ ? &*providers_ : nullptr}, root.walk.tool,
                           service_.options()),
        .changes = to_messages(changes),
        .modules = modules_ ? locked_modules(*modules_) : std::vector<messages::LockedModule>{},
        .providers = providers_ ? to_messages(*providers_) : std::vector<messages::LockedProvider>{},
        .stats = clock_.message()};
    request_.diagnostics = diagnostics_;
    result.diagnostics = std::move(diagnostics_);
    return messages::encode(result);
  }

  const Service& service_;
  const messages::LockPlanParams params_;
  RequestContext& request_;
  RunClock clock_;
  Context context_;
  std::optional<Plan> modules_;
  std::optional<ProviderPlan> providers_;
  Diagnostics diagnostics_;
};

}  // namespace

Result<Json::Value> handle_lock_plan(const Service& service, const Json::Value& params, RequestContext& request) {
  auto decoded = messages::decode_lock_plan(params, request.unknown_params);
  if (!decoded) {
    return fail(std::move(decoded.error()));
  }
  return LockPlanner(service, std::move(*decoded), request).run();
}

}  // namespace modlock
