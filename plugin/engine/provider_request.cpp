#include "plugin/engine/plan_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/environment.h"
#include "plugin/engine/open_root.h"
#include "plugin/resolve/subject.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

// Returns the platforms of the request, or else those of the settings, or else this machine. `init` uses only this
// machine.
Result<std::vector<Platform>> find_platforms(const messages::LockPlanParams& params, HashSet hashes,
                                             const Settings& settings) {
  std::vector<Platform> platforms;
  for (const std::string& text : params.platforms) {
    MODLOCK_TRY(auto platform, Platform::parse(text));
    platforms.push_back(std::move(platform));
  }
  if (hashes == HashSet::init && platforms.size() > 1) {
    return fail(Code::invalid_params,
                fmt::format("hashes \"init\" are those of one platform, found {}", platforms.size()),
                "name one platform, or use hashes \"superset\" or \"providers-lock\"");
  }
  if (platforms.empty() && hashes != HashSet::init) {
    platforms = settings.platforms;
  }
  if (platforms.empty()) {
    platforms.push_back(Platform::current());
  }
  sort_unique(platforms);
  return platforms;
}

Result<std::set<ProviderAddress>> find_targets(const std::vector<std::string>& targets,
                                               const std::vector<ProviderNeed>& needs, std::string_view default_host) {
  std::set<ProviderAddress> found;
  for (const std::string& target : targets) {
    if (!target.starts_with(kProviderSubject)) {
      continue;
    }
    auto address = ProviderAddress::parse(std::string_view(target).substr(kProviderSubject.size()), default_host);
    const bool known =
        address && std::ranges::any_of(needs, [&](const ProviderNeed& need) { return need.address == *address; });
    if (!known) {
      return fail(unknown_subject(target, provider_subjects(needs, default_host)));
    }
    found.insert(std::move(*address));
  }
  return found;
}

std::string why_needs_are_unknown(const StateProviders& state, const ModuleTree& tree) {
  if (const auto unread = unread_modules(tree); !unread.empty()) {
    return fmt::format("module \"{}\" could not be read", unread.front());
  }
  return state.unreadable;
}

}  // namespace

Result<StateProviders> read_state(const RootRequest& root, const ModuleTree& tree) {
  return read_state_providers(root.walk.root, tree.modules.front().parsed->state, root.data.path, root.walk.workspace,
                              root.walk.tool, keys_of(required_providers(tree)), root.walk.documents, root.walk.bounds);
}

Result<ProviderPlanRequest> make_provider_request(const OpenRoot& open, const ModuleTree& tree,
                                                  const messages::LockPlanParams& params, Diagnostics& diagnostics) {
  const RootRequest& root = open.root;
  const std::string_view default_host = default_registry(root.walk.tool);
  const HashSet hashes = params.hashes;
  MODLOCK_TRY(auto platforms, find_platforms(params, hashes, root.walk.settings));
  MODLOCK_TRY(auto state, hashes == HashSet::providers_lock ? Result<StateProviders>() : read_state(root, tree));
  append(diagnostics, state.diagnostics);
  MODLOCK_TRY(auto needs,
              find_needs(tree, state, hashes == HashSet::providers_lock ? NeedsOf::providers_lock : NeedsOf::init,
                         default_host));
  ProviderPlanRequest request{.needs = std::move(needs),
                              .unknown_needs = why_needs_are_unknown(state, tree),
                              .locked = open.lock.provider_file().providers,
                              .mode = params.mode,
                              .hashes = hashes,
                              .platforms = std::move(platforms),
                              .tool = root.walk.tool,
                              .deny_rules = root.walk.settings.deny_rules,
                              .settings = root.walk.settings};
  if (!params.targets.empty()) {
    MODLOCK_TRY(request.targets, find_targets(params.targets, request.needs, default_host));
  }
  return request;
}

std::string release_rules(const ClientProgram& implementation) {
  const ProcessEnvironment environment = current_environment();
  return fmt::format("{} {} {} {}", to_string(implementation.tool), implementation.version,
                     environment.variable("OPENTOFU_ENFORCE_GPG_VALIDATION"),
                     environment.variable("OPENTOFU_ENFORCE_GPG_EXPIRATION"));
}

Result<std::optional<std::chrono::seconds>> requested_age(const std::string& text) {
  const auto age = parse_duration(text);
  return age || text.empty()
             ? Result<std::optional<std::chrono::seconds>>(age)
             : fail(Code::invalid_params,
                    fmt::format("the minimum release age must be a duration, found \"{}\"", escape_controls(text)),
                    "write --minimum-release-age or TOFU_MODLOCK_MINIMUM_RELEASE_AGE as 3d, 72h or 1h30m");
}

std::vector<std::string> module_targets(const std::vector<std::string>& targets) {
  std::vector<std::string> modules;
  std::ranges::copy_if(targets, std::back_inserter(modules),
                       [](const std::string& target) { return !target.starts_with(kProviderSubject); });
  return modules;
}

std::vector<messages::LockedProvider> to_messages(const ProviderPlan& plan) {
  std::vector<messages::LockedProvider> out;
  for (const auto& [address, lock] : plan.providers) {
    messages::LockedProvider provider{.address = address.to_string(),
                                      .version = lock.version.to_string(),
                                      .constraints = lock.constraints,
                                      .hashes = lock.hashes};
    if (const auto found = plan.signatures.find(address); found != plan.signatures.end()) {
      using Status = ProviderSignature::Status;
      const Status status = found->second.status;
      provider.signature.status = status == Status::signed_by_key ? "signed"
                                  : status == Status::skipped     ? "skipped"
                                                                  : "none";
      provider.signature.key_id = found->second.key_id;
    }
    out.push_back(std::move(provider));
  }
  return out;
}

}  // namespace modlock
