#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "plugin/constraint/provider_constraint.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/lock/edit.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/subject.h"
#include "plugin/update/configuration_edit.h"
#include "plugin/update/lookup.h"
#include "protocol/base/result.h"
#include "protocol/messages/update_lookup.h"
#include "protocol/messages/update_plan.h"

namespace modlock {
namespace {

using EditedFiles = std::map<std::string, ConfigurationEditor::EditedFile>;

constexpr std::string_view kModuleSubject = "module.";

Result<RequestedUpdate> to_domain(const messages::Update& update) {
  RequestedUpdate result{.subject = update.subject, .new_version = {}, .new_constraint = update.new_constraint};
  if (update.new_version) {
    const std::string& text = *update.new_version;
    const std::string prefix = update.subject.starts_with(kModuleSubject) ? tag_prefix_of(text).value_or("") : "";
    auto version = Version::parse(std::string_view(text).substr(prefix.size()));
    result.tag = prefix.empty() && !text.starts_with('v') ? "" : text;
    if (!version) {
      return fail(Error{.code = Code::invalid_params,
                        .message = fmt::format("the new version of {} must be a version number, found \"{}\"",
                                               escape_controls(update.subject), escape_controls(*update.new_version)),
                        .subject = update.subject,
                        .hint = "write it as 1.2.0"});
    }
    result.new_version = std::move(*version);
  }
  return result;
}

// Decides one `update/plan`: the configuration first, then the lock for the new configuration.
class UpdatePlanner {
 public:
  // `continues`: past errors (PlanRequest).
  UpdatePlanner(const Engine& engine, const messages::UpdatePlanParams& params, bool continues, Run& run)
      : engine_(engine), params_(params), updates_(params.updates), continues_(continues), run_(run) {}

  Result<messages::LockPlanResult> plan() {
    MODLOCK_TRY(auto open, OpenRoot::open(engine_, run_, params_.root, params_.lock));
    MODLOCK_TRY(name_sources(open->lock));
    auto edited = open->network().with_warnings(edit_configuration(*open));
    while (!edited && leave_out(edited.error())) {
      edited = open->network().with_warnings(edit_configuration(*open));
    }
    MODLOCK_TRY(edited);
    auto locked = plan_lock(engine_, lock_params(open->root, open->lock), std::move(wanted_), run_);
    if (!locked) {
      return locked;
    }
    if (open->root.walk.settings.requested_age != std::chrono::seconds(0) && drop_young_choices(*locked)) {
      return plan();
    }
    std::vector<messages::EditedDocument> documents = configuration_documents();
    std::ranges::move(locked->edits.documents, std::back_inserter(documents));
    locked->edits.documents = std::move(documents);
    append(locked->diagnostics, unchanged_);
    locked->diagnostics.insert(locked->diagnostics.begin(), left_out_.begin(), left_out_.end());
    run_.diagnostics = locked->diagnostics;
    return locked;
  }

 private:
  // Drops the updates whose version this run chose, but whose package turned out to be too new. Returns whether there
  // are any. Only a version that a user or a bot names is an exception from the minimum release age.
  bool drop_young_choices(const messages::LockPlanResult& locked) {
    const std::size_t kept = unchanged_.size();
    for (const Change& change : locked.changes) {
      const std::string& subject = change.subject;
      const auto young = std::ranges::find_if(locked.diagnostics, [&](const auto& warning) {
        return warning.what.code == Code::setting_unserved && warning.what.subject == subject;
      });
      if (change.is_exception && young != locked.diagnostics.end() && chosen_.erase(subject) != 0) {
        std::erase_if(updates_, [&](const messages::Update& update) { return update.subject == subject; });
        unchanged_.push_back(*young);
        unchanged_.back().severity = Severity::info;
        unchanged_.back().what.notes = {"it is not used, because no one named it"};
        unchanged_.back().what.hint = "wait, or review it and run: " + tofu_modlock("update", subject + "=VERSION");
      }
    }
    return unchanged_.size() != kept;
  }

  // Replaces the name of a source, with or without a release, by the calls and providers that are locked from it.
  Result<void> name_sources(const LockDocument& lock) {
    std::vector<messages::Update> named;
    for (const messages::Update& update : updates_) {
      const std::string& name = update.subject;
      const bool is_source = name.find('/') != std::string::npos && !name.starts_with(kProviderSubject);
      MODLOCK_TRY(const auto found, is_source ? find_locked(lock, name) : std::vector<messages::FoundRelease>());
      if (is_source && found.empty() && !ProviderAddress::parse(name, kOpenTofuRegistry)) {
        return fail(unknown_subject(name, {}));
      }
      for (const messages::FoundRelease& one : found) {
        named.push_back(update);
        named.back().subject = one.subject;
        of_source_.insert(one.subject);
      }
      if (found.empty()) {
        named.push_back(update);
      }
    }
    updates_ = std::move(named);
    return {};
  }

  // Leaves out an update of a source that only the author of a package can make. Returns false for other errors, and
  // for the only update.
  bool leave_out(const Error& error) {
    const bool is_named =
        std::ranges::any_of(params_.updates, [&](const auto& update) { return update.subject == error.subject; });
    if (error.code != Code::config_non_static || updates_.size() == 1 || is_named ||
        of_source_.count(error.subject) == 0) {
      return false;
    }
    left_out_.push_back(as_warning(error));
    return std::erase_if(updates_, [&](const messages::Update& one) { return one.subject == error.subject; }) != 0;
  }

  // Sets the newest version below the next major number for each update without a version or a constraint. What has
  // none is not updated, unless `pin` changes how its version is written.
  Result<void> choose_versions() {
    messages::UpdateLookupParams lookup{.root = params_.root, .lock = params_.lock, .subjects = {}};
    std::erase_if(updates_, [&](const messages::Update& update) {
      const bool is_open = !update.new_version && !update.new_constraint;
      if (is_open) {
        lookup.subjects.push_back(update.subject);
      }
      return is_open;
    });
    if (lookup.subjects.empty()) {
      return {};
    }
    MODLOCK_TRY(const auto found, engine_.lookup(lookup, run_));
    for (const messages::LookedUpDependency& dependency : found.dependencies) {
      const auto of_subject = [&](const Diagnostic& diagnostic) {
        return diagnostic.what.subject == dependency.subject;
      };
      auto newest = newest_version(dependency, "update");
      if (!newest && newest.error().code != Code::no_matching_version) {
        const auto reason = std::find_if(found.diagnostics.rbegin(), found.diagnostics.rend(), of_subject);
        return fail(dependency.skip_reason.empty() && reason != found.diagnostics.rend() ? reason->what
                                                                                         : std::move(newest.error()));
      }
      if (newest) {
        chosen_.insert(dependency.subject);
      }
      if (newest || (params_.pin && dependency.pinned_by.empty())) {
        updates_.push_back({.subject = dependency.subject,
                            .new_version = newest.value_or(dependency.current_version),
                            .new_constraint = {}});
      }
      if (!newest) {
        if (std::ranges::none_of(found.diagnostics, [&](const Diagnostic& each) {
              return each.what.code == Code::version_ambiguous && of_subject(each);
            })) {
          unchanged_.push_back({Severity::info, std::move(newest.error())});
        }
        std::ranges::copy_if(found.diagnostics, std::back_inserter(unchanged_), [&](const Diagnostic& denied) {
          return denied.severity == Severity::info && of_subject(denied);
        });
      }
    }
    return {};
  }

  // Replaces bare names, and checks that no kind is excluded.
  Result<void> name_subjects(const ModuleTree& tree, std::string_view default_host) {
    for (messages::Update& update : updates_) {
      MODLOCK_TRY(update.subject, full_subject(update.subject, tree, default_host));
      const bool is_provider = update.subject.starts_with(kProviderSubject);
      if (!(is_provider ? params_.include.providers : params_.include.modules)) {
        return fail(Error{.code = Code::invalid_params,
                          .message = fmt::format("--include excludes {}", update.subject),
                          .subject = update.subject,
                          .hint = fmt::format("add --include {}", is_provider ? "providers" : "modules")});
      }
    }
    return {};
  }

  // Needs no requests, unless the targets include a nested call that was not read yet.
  Result<ModuleTree> read_tree(OpenRoot& open) {
    auto tree = walk_offline_modules(open.root, open);
    if (tree) {
      MODLOCK_TRY(name_subjects(*tree, default_registry(open.root.walk.tool)));
    }
    if (!tree || unread_modules(*tree).empty()) {
      return tree;
    }
    const bool misses = std::ranges::any_of(updates_, [&](const auto& update) {
      return update.subject.starts_with(kModuleSubject) &&
             tree->nodes.find(std::string_view(update.subject).substr(kModuleSubject.size())) == tree->nodes.end();
    });
    if (!misses) {
      return tree;
    }
    RootFiles files(open);
    MODLOCK_TRY(const auto request, files.make_request({}));
    auto plan = make_plan(request, open.fetcher(), open.context, files);
    return plan ? Result<ModuleTree>(std::move(plan->tree)) : fail(std::move(plan.error()));
  }

  Result<void> edit_configuration(OpenRoot& open) {
    const RootRequest& root = open.root;
    MODLOCK_TRY(const auto tree, read_tree(open));
    Diagnostics errors;
    MODLOCK_TRY(const auto values, read_variable_values(root.walk.root, root.walk.variables, root.walk.documents,
                                                        root.walk.bounds, errors));
    for (const Diagnostics& all : {tree.diagnostics, unmatched_rules(root.walk.settings, tree, known_locks(open))}) {
      append(errors, errors_of(all));
    }
    MODLOCK_TRY(check_errors(errors));
    MODLOCK_TRY(choose_versions());
    ConfigurationEditor editor(root.walk, tree, *values, open.fetcher(), params_.pin);
    for (const messages::Update& update : updates_) {
      const auto wanted = to_domain(update);
      auto done = wanted ? editor.apply(*wanted) : fail(wanted.error());
      if (!done) {
        errors.push_back({Severity::error, std::move(done.error())});
      }
    }
    for (const auto& [key, listed] : editor.pinned()) {
      if (auto moved = find_move(open, tree.nodes.at(key), listed); moved && !params_.accept_moved) {
        errors.push_back({Severity::error, std::move(*moved)});
      }
    }
    MODLOCK_TRY(check_errors(errors));
    MODLOCK_TRY(files_, editor.files());
    wanted_ = {editor.versions(), editor.provider_versions(), former_calls(tree), continues_};
    return {};
  }

  // A commit that is written for the locked version must be the locked one.
  static std::optional<Error> find_move(OpenRoot& open, const ModuleNode& node, const ListedVersion& listed) {
    const ModuleLock* lock = find_in(open.lock.modules(), node.key);
    if (!lock || (lock->parsed_version() != listed.version && node.address.source.named_tag() != listed.tag)) {
      return std::nullopt;
    }
    const Backend& backend = *open.fetcher().backend(node.address.source);
    const std::string id = backend.id_of(lock->hashes);
    if (id.empty() || id == listed.id) {
      return std::nullopt;
    }
    return node.error(Code::hash_mismatch,
                      fmt::format("the tag {} of {} was locked as {} and is now {}", listed.tag, node.subject(),
                                  backend.id_hash(id), backend.id_hash(listed.id)),
                      "find out why it moved; to accept it, add --accept-moved");
  }

  std::map<std::string, PlanRequest::FormerCall, std::less<>> former_calls(const ModuleTree& tree) const {
    std::map<std::string, PlanRequest::FormerCall, std::less<>> calls;
    for (const messages::Update& update : updates_) {
      const ModuleNode* node = find_in(tree.nodes, update.subject.substr(update.subject.find('.') + 1));
      if (update.subject.starts_with(kModuleSubject) && node) {
        calls[node->key] = {node->address.source.identity(), node->constraints_text()};
      }
    }
    return calls;
  }

  // Locked versions stay if possible. A provider needs another version if a new constraint excludes the locked one.
  messages::LockPlanParams lock_params(const RootRequest& root, const LockDocument& lock) const {
    messages::LockPlanParams params;
    params.root = params_.root;
    params.lock = params_.lock;
    params.include = params_.include;
    params.accept_moved = params_.accept_moved;
    for (const auto& [path, file] : files_) {
      params.root.documents.push_back({path, file.after});
    }
    for (const messages::Update& update : updates_) {
      if (!update.subject.starts_with(kProviderSubject) || update.new_version) {
        continue;
      }
      const auto address = ProviderAddress::parse(std::string_view(update.subject).substr(kProviderSubject.size()),
                                                  default_registry(root.walk.tool));
      const auto& locked = lock.provider_file().providers;
      const auto entry = address ? locked.find(*address) : locked.end();
      const auto constraint = ProviderConstraint::parse(*update.new_constraint);
      if (entry != locked.end() && constraint && !constraint->allows(entry->second.version)) {
        params.mode = PlanMode::upgrade;
        params.targets.push_back(update.subject);
      }
    }
    return params;
  }

  std::vector<messages::EditedDocument> configuration_documents() const {
    std::vector<messages::EditedDocument> documents;
    for (const auto& [path, file] : files_) {
      if (auto document = make_document_edit(path, file.before, file.after)) {
        document->is_configuration = true;
        add_document(documents, std::move(*document), engine_.options());
      }
    }
    return documents;
  }

  const Engine& engine_;
  const messages::UpdatePlanParams& params_;
  std::vector<messages::Update> updates_;  // with full subjects once the tree was read
  std::set<std::string> of_source_;        // subjects that the name of a source stands for
  std::set<std::string> chosen_;           // subjects whose version this run chose
  bool continues_;
  Run& run_;
  Diagnostics left_out_;   // of updates of a source
  Diagnostics unchanged_;  // of subjects that are not updated
  EditedFiles files_;      // by path
  WantedVersions wanted_;
};

}  // namespace

Result<messages::LockPlanResult> Engine::update(const messages::UpdatePlanParams& params, Run& run) const {
  return UpdatePlanner(*this, params, false, run).plan();
}

Result<messages::LockPlanResult> plan_update(const Engine& engine, const messages::UpdatePlanParams& params, Run& run) {
  return UpdatePlanner(engine, params, true, run).plan();
}

Result<messages::UpdateLookupResult> Engine::lookup(const messages::UpdateLookupParams& params, Run& run) const {
  MODLOCK_TRY(auto open, OpenRoot::open(*this, run, params.root, params.lock));
  RootRequest& root = open->root;
  const LockDocument& lock = open->lock;
  const Network& network = open->network();
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
  MODLOCK_TRY(auto result, network.with_warnings(look_up({.tree = *tree,
                                                          .modules = lock.modules(),
                                                          .providers = lock.provider_file().providers,
                                                          .default_host = default_registry(root.walk.tool),
                                                          .subjects = params.subjects,
                                                          .settings = root.walk.settings},
                                                         open->fetcher(), *providers, open->context)));
  result.stats = run.stats();
  result.diagnostics.insert(result.diagnostics.begin(), tree->diagnostics.begin(), tree->diagnostics.end());
  append(result.diagnostics, errors_of(unmatched_rules(root.walk.settings, *tree, known_locks(*open))));
  run.diagnostics = result.diagnostics;
  return result;
}

}  // namespace modlock
