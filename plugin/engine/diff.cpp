#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "backends/base/collections.h"
#include "backends/base/parallel.h"
#include "backends/base/single_flight_map.h"
#include "plugin/diff/call_use.h"
#include "plugin/diff/comparison_link.h"
#include "plugin/diff/package_diff.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/resolve/changes.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/subject.h"
#include "plugin/update/lookup.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// A root module with its lock and its packages, at one time.
struct State {
  std::unique_ptr<OpenRoot> open;
  ModuleTree tree;

  const ModuleLocks& locks() const { return open->lock.modules(); }
};

PackagePlace place_of(const ModuleNode* node) {
  if (node == nullptr || node->directory.empty() || node->package_directory.empty()) {
    return {};
  }
  const std::string below = node->directory.lexically_relative(node->package_directory).generic_string();
  return {node->package_directory, below == "." ? "" : below};
}

std::optional<ChangeSide> side(const ModuleLock* lock) {
  return lock == nullptr ? std::nullopt : std::optional(side_of(*lock));
}

// Compares two states of a root: each module whose lock entry differs.
class StateComparison {
 public:
  // `skipped` receives the errors of modules that cannot be compared.
  StateComparison(const State& before, const State& after, messages::UpdateDiffResult& out, Diagnostics& skipped)
      : before_(before), after_(after), out_(out), skipped_(skipped) {}

  // `is_wanted`: whether a module without an old lock entry is compared. Those in a changed module always are.
  void run(const std::function<bool(std::string_view key)>& is_wanted) {
    std::set<std::string> keys;
    for (const ModuleLocks* locks : {&before_.locks(), &after_.locks()}) {
      for (const auto& [key, lock] : *locks) {
        const bool is_compared = find_in(before_.locks(), key) != nullptr || is_wanted(key) || is_in_changed(key);
        if (key.find(':') == std::string::npos && is_compared && is_changed(key)) {
          keys.insert(key);
        }
      }
    }
    const std::vector<std::string> list(keys.begin(), keys.end());
    std::vector<Result<messages::ModuleDiff>> compared(list.size(), fail(Error{}));
    parallel_for(list.size(), core_count(), [&](std::size_t i) { compared[i] = compare(list[i]); });
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (compared[i]) {
        out_.changes.push_back(std::move(*compared[i]));
      } else {
        skipped_.push_back({Severity::error, placed(std::move(compared[i].error()), "module." + list[i])});
      }
    }
  }

 private:
  bool is_changed(const std::string& key) const {
    const ModuleLock* before = find_in(before_.locks(), key);
    const ModuleLock* after = find_in(after_.locks(), key);
    return before == nullptr || after == nullptr || before->hashes != after->hashes ||
           before->version != after->version ||
           place_of(find_in(before_.tree.nodes, key)).directory != place_of(find_in(after_.tree.nodes, key)).directory;
  }

  bool is_in_changed(const std::string& key) const {
    const std::vector<std::string> callers = lineage(key);
    return std::any_of(callers.begin(), callers.end() - 1, [&](const std::string& outer) {
      return find_in(before_.locks(), outer) != nullptr && is_changed(outer);
    });
  }

  Result<messages::ModuleDiff> compare(const std::string& key) const {
    const ModuleLock* before_lock = find_in(before_.locks(), key);
    const ModuleLock* after_lock = find_in(after_.locks(), key);
    const ModuleNode* node = find_in(after_.tree.nodes, key);
    const PackagePlace before = place_of(find_in(before_.tree.nodes, key));
    const PackagePlace after = place_of(node);
    if (after_lock == nullptr && node != nullptr) {
      return fail(Code::frozen, fmt::format("module.{} is called, but not locked", key), "run " + tofu_modlock("lock"));
    }
    if ((before_lock != nullptr && before.root.empty()) || (after_lock != nullptr && after.root.empty())) {
      return fail(Code::missing, fmt::format("the package of module.{} is not available", key),
                  "run " + tofu_modlock("install") + ", or work online");
    }
    const Context& context = after_.open->context;
    const auto use = node == nullptr ? std::nullopt : find_use(*node);
    MODLOCK_TRY(auto diff, diff_packages(before, after, use ? &*use : nullptr, after_.open->root.walk.tool, context));
    diff.subject = "module." + key;
    diff.source = (after_lock != nullptr ? after_lock : before_lock)->source;
    diff.from = side(before_lock);
    diff.to = side(after_lock);
    const auto source = parse_identity(diff.source);
    if (source && diff.from && diff.to) {
      diff.comparison = comparison_link(*source, diff.from->commit, diff.to->commit);
    }
    return diff;
  }

  using Uses = std::map<std::string, CallUse>;

  // nullopt: the caller is not known.
  std::optional<CallUse> find_use(const ModuleNode& node) const {
    if (node.call.written == nullptr || node.of_tests) {
      return std::nullopt;
    }
    const std::size_t dot = node.key.rfind('.');
    const std::string caller = dot == std::string::npos ? "" : node.key.substr(0, dot);
    const auto uses = uses_.get(caller, after_.open->context, [&] { return find_uses(caller); });
    const auto found = uses ? (*uses)->find(node.call.written->name) : Uses::const_iterator();
    return uses && found != (*uses)->end() ? std::optional(found->second) : std::nullopt;
  }

  Result<std::shared_ptr<const Uses>> find_uses(const std::string& key) const {
    const auto& modules = after_.tree.modules;
    const auto* caller = find_where(modules, [&](const auto& each) { return each.key == key && !each.of_tests; });
    if (caller == nullptr) {
      return std::make_shared<const Uses>();
    }
    const RootRequest& root = after_.open->root;
    const fs::path& directory = caller->parsed->directory;
    const auto files = read_config_files(directory, directory, root.walk.documents, ConfigKind::module, root.walk.tool,
                                         after_.open->context);
    Uses uses = find_call_uses(caller->parsed->calls, files ? std::span(*files) : std::span<const ConfigText>(),
                               caller->directory);
    for (auto& [name, use] : uses) {
      use.providers = &after_.open->lock.provider_file().providers;
      use.client_version = [this, &root, &open = *after_.open] {
        std::call_once(client_once_, [&] {
          const ClientVersion client =
              client_version_of(root.implementation, root.walk.root, open.engine().options(), open.context);
          client_version_ = client.is_known ? client.version : "";
        });
        return client_version_;
      };
    }
    return std::make_shared<const Uses>(std::move(uses));
  }

  const State& before_;
  const State& after_;
  messages::UpdateDiffResult& out_;
  Diagnostics& skipped_;
  mutable std::once_flag client_once_;
  mutable std::string client_version_;                                      // empty: not known
  mutable SingleFlightMap<std::string, std::shared_ptr<const Uses>> uses_;  // of the calls of a caller, by its key
};

class DiffPlanner {
 public:
  DiffPlanner(const Engine& engine, const messages::UpdateDiffParams& params, Run& run)
      : engine_(engine), params_(params), run_(run) {}

  Result<messages::UpdateDiffResult> diff() {
    if (params_.base) {
      messages::RootParams earlier = params_.root;
      earlier.documents.insert(earlier.documents.end(), params_.base->documents.begin(), params_.base->documents.end());
      MODLOCK_TRY(const auto before, read_state(earlier, {.path = {}, .text = params_.base->lock}));
      MODLOCK_TRY(const auto after, read_state(params_.root, params_.lock));
      StateComparison(before, after, result_, skipped_).run([](std::string_view) { return true; });
      return finished();
    }
    MODLOCK_TRY(locked_, read_state(params_.root, params_.lock));
    for (const messages::DiffSubject& subject : params_.subjects) {
      names_.push_back(full_subject(subject.subject, locked_->tree, default_registry(locked_->open->root.walk.tool))
                           .value_or(subject.subject));
    }
    name_unlocked();
    MODLOCK_TRY(auto targets, find_targets());
    if (targets.empty()) {
      return finished();
    }
    auto done = compare(targets);
    const bool are_named = !params_.subjects.empty();
    if (!done && (are_named || targets.size() == 1)) {
      return fail(std::move(done.error()));
    }
    if (!done) {  // one that cannot be updated does not hide the others
      for (const messages::DiffSubject& target : targets) {
        if (auto one = compare({target}); !one) {
          skipped_.push_back({Severity::error, placed(std::move(one.error()), target.subject)});
        }
      }
    }
    return finished();
  }

 private:
  // An error in the root module is an error.
  Result<State> read_state(const messages::RootParams& root, const messages::LockParams& lock) {
    MODLOCK_TRY(auto open, OpenRoot::open(engine_, run_, root, lock));
    // The state is only read: a rule that denies a release does not prevent its comparison with another one.
    open->root.walk.settings.deny_rules.clear();
    MODLOCK_TRY(auto tree, walk_locked_modules(*open, true));
    for (const Diagnostic& error : errors_of(tree.diagnostics)) {
      if (!error.what.subject.starts_with("module.")) {
        return fail(error.what);
      }
      skipped_.push_back(error);
    }
    return State{std::move(open), std::move(tree)};
  }

  // A call that was edited since it was locked has no old version.
  void name_unlocked() {
    for (const auto& [key, node] : locked_->tree.nodes) {
      const ModuleLock* lock = find_in(locked_->locks(), key);
      const Source& source = node.address.source;
      const bool can_be_locked = !node.is_local() && !node.of_tests && !source.is_directory() &&
                                 locked_->open->fetcher().backend(source) != nullptr;
      if (can_be_locked && (lock == nullptr || why_not_answered(node, *lock))) {
        skipped_.push_back(as_warning(node.error(
            Code::frozen, fmt::format("{} is not locked as it is called", node.subject()),
            "run " + tofu_modlock("lock") + "; then diff --lock-rev HEAD compares it with the last commit")));
      }
    }
  }

  // Adds one warning for each module that could not be read, if it is compared.
  void name_skipped() {
    std::set<std::string> named;
    for (Diagnostic& diagnostic : skipped_) {
      Error& error = diagnostic.what;
      if (!is_requested(error.subject.substr(7)) || !named.insert(error.subject).second) {
        continue;
      }
      const bool is_compared =
          std::ranges::any_of(result_.changes, [&](const auto& change) { return change.subject == error.subject; });
      const std::string note = error.subject + " was not compared";
      result_.diagnostics.push_back(
          {Severity::warning, is_compared ? std::move(error) : with_note(std::move(error), note)});
    }
  }

  bool is_requested(std::string_view key) const {
    return names_.empty() || std::ranges::any_of(names_, [&](std::string_view name) {
             return is_below(key, name.starts_with("module.") ? name.substr(7) : name);
           });
  }

  messages::UpdateDiffResult finished() {
    name_skipped();
    result_.stats = run_.stats();
    run_.diagnostics = result_.diagnostics;
    return std::move(result_);
  }

  // Returns the subjects with their new versions: the newest below the next major number if none is requested.
  Result<std::vector<messages::DiffSubject>> find_targets() {
    std::vector<messages::DiffSubject> targets;
    messages::UpdateLookupParams lookup{.root = params_.root, .lock = params_.lock, .subjects = {}};
    for (const messages::DiffSubject& subject : params_.subjects) {
      if (subject.subject.starts_with("provider.")) {
        return fail(Error{.code = Code::invalid_params,
                          .message = fmt::format("{} is a provider, and only modules can be compared", subject.subject),
                          .subject = subject.subject,
                          .hint = "name a module call"});
      }
      if (subject.version) {
        targets.push_back(subject);
      } else {
        lookup.subjects.push_back(subject.subject);
      }
    }
    if (params_.subjects.empty()) {
      for (const auto& [key, node] : locked_->tree.nodes) {
        if (!node.is_local() && !node.of_tests) {
          lookup.subjects.push_back(node.subject());
        }
      }
    }
    if (lookup.subjects.empty()) {
      return targets;
    }
    MODLOCK_TRY(const auto found, engine_.lookup(lookup, run_));
    for (const messages::LookedUpDependency& dependency : found.dependencies) {
      if (dependency.dep_type != "module") {
        continue;
      }
      if (const std::string moved = moved_words(dependency); !moved.empty()) {
        result_.diagnostics.push_back(
            {Severity::info,
             Error{.code = Code::tag_moved,
                   .message = fmt::format("{}{}{}: {}, and it is not compared", dependency.subject,
                                          dependency.ref.empty() ? "" : " ", dependency.ref, moved),
                   .subject = dependency.subject,
                   .hint = "to compare it, run: " + tofu_modlock("upgrade", "--target", dependency.subject) +
                           ", then " + tofu_modlock("diff", "--lock-rev", "HEAD")}});
        continue;
      }
      auto newest = newest_version(dependency, "diff");
      if (newest) {
        const auto asked = static_cast<std::size_t>(std::ranges::find(names_, dependency.subject) - names_.begin());
        targets.push_back({.subject = dependency.subject,
                           .version = std::move(*newest),
                           .from = asked == names_.size() ? std::nullopt : params_.subjects[asked].from});
      } else if (!params_.subjects.empty() && !(dependency.current_version.empty() && dependency.skip_reason.empty())) {
        result_.diagnostics.push_back({Severity::info, std::move(newest.error())});
      }
    }
    append(result_.diagnostics, found.diagnostics);
    return targets;
  }

  Result<State> state_at(const std::vector<messages::Update>& updates) {
    messages::UpdatePlanParams plan;
    plan.root = params_.root;
    plan.lock = params_.lock;
    plan.updates = updates;
    plan.include.providers = false;
    MODLOCK_TRY(const auto planned, plan_update(engine_, plan, run_));
    append(skipped_, errors_of(planned.diagnostics));
    return read_state(with_edits(params_.root, planned.edits), {.path = params_.lock.path, .text = {}});
  }

  Result<void> compare(const std::vector<messages::DiffSubject>& targets) {
    std::vector<messages::Update> to;
    std::vector<messages::Update> from;
    for (const messages::DiffSubject& target : targets) {
      to.push_back({.subject = target.subject, .new_version = target.version, .new_constraint = {}});
      if (target.from) {
        from.push_back({.subject = target.subject, .new_version = target.from, .new_constraint = {}});
      }
    }
    std::optional<State> earlier;
    if (!from.empty()) {
      MODLOCK_TRY(earlier, state_at(from));
    }
    MODLOCK_TRY(const auto after, state_at(to));
    StateComparison(earlier ? *earlier : *locked_, after, result_, skipped_).run([this](std::string_view key) {
      return is_requested(key);  // the plan also locks others that are not locked yet
    });
    return {};
  }

  const Engine& engine_;
  const messages::UpdateDiffParams& params_;
  Run& run_;
  std::optional<State> locked_;
  std::vector<std::string> names_ = {};  // full names of the subjects
  Diagnostics skipped_;                  // of modules that cannot be read
  messages::UpdateDiffResult result_;
};

}  // namespace

Result<messages::UpdateDiffResult> Engine::diff(const messages::UpdateDiffParams& params, Run& run) const {
  return DiffPlanner(*this, params, run).diff();
}

}  // namespace modlock
