#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "plugin/cli/plan_result.h"
#include "plugin/report/change_text.h"

namespace modlock::cli {
namespace {

// With --recursive not every root module must have every target, but at least one must have it.
class Targets {
 public:
  explicit Targets(const CommandLine& line) : line_(line) {}

  // Removes the target that `root` lacks according to the error from `targets`. Returns false if the error is another
  // one, or if none is left.
  bool drop(const Error& error, const std::string& root, std::vector<std::string>& targets) {
    const bool lacks_target = error.code == Code::invalid_params && std::erase(targets, error.subject) > 0;
    if (!line_.common.recursive || !lacks_target) {
      return false;
    }
    const std::lock_guard guard(mutex_);
    lacking_[root].push_back(error);
    return !targets.empty();
  }
  void found(const std::vector<std::string>& targets) {
    const std::lock_guard guard(mutex_);
    found_.insert(targets.begin(), targets.end());
  }

  // Call after all roots: returns the error of a target that neither `root` nor any other root has.
  const Error* find_error(const std::string& root) const {
    const auto lacking = lacking_.find(root);
    if (lacking == lacking_.end()) {
      return nullptr;
    }
    const auto error = std::find_if(lacking->second.begin(), lacking->second.end(),
                                    [this](const Error& each) { return found_.count(each.subject) == 0; });
    return error == lacking->second.end() ? nullptr : &*error;
  }
  bool has_none(const std::string& root) const {
    const auto lacking = lacking_.find(root);
    return lacking != lacking_.end() && lacking->second.size() == line_.targets.size();
  }

 private:
  const CommandLine& line_;
  std::mutex mutex_;
  std::set<std::string> found_;
  std::map<std::string, std::vector<Error>> lacking_;  // by root
};

messages::LockPlanParams plan_params(const CommandLine& line, const Host& host, const std::string& root,
                                     const std::vector<std::string>& targets) {
  const auto named = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  messages::LockPlanParams params;
  params.root = host.root_params(root, line.common);
  params.mode = line.verb == CommandLine::Verb::upgrade ? "upgrade" : line.frozen ? "frozen" : "missing";
  params.targets = targets;
  params.include = included(line.common);
  params.platforms = line.platforms;
  params.hashes = line.hashes.empty() ? params.hashes : line.hashes;
  params.resolution = named(line.resolution);
  params.minimum_release_age = named(line.minimum_release_age);
  params.adopt = !line.no_adopt;
  params.accept_moved = line.accept_moved;
  return params;
}

using AskedPlan = RootAnswer<messages::LockPlanResult>;

// Returns the location of the first constraint on a module or a provider.
std::optional<Location> constraint_location(const messages::ConfigInspectResult& inspected,
                                            const std::string& subject) {
  for (const messages::InspectedModule& module : inspected.modules) {
    if ("module." + module.key == subject && !module.constraint_locations.empty()) {
      return module.constraint_locations.front();
    }
  }
  for (const messages::InspectedProvider& provider : inspected.providers) {
    if ("provider." + provider.address == subject && !provider.constraints.empty()) {
      return provider.constraints.front().location;
    }
  }
  return std::nullopt;
}

// Prints the newer versions that constraints exclude, after an upgrade that changed nothing. The sources of these
// modules and providers were just listed, so no request is sent.
void print_excluded(const CommandLine& line, const Host& host, const std::string& root,
                    const messages::LockPlanResult& result) {
  messages::UpdateLookupParams params;
  params.root = host.root_params(root, line.common);
  const auto add = [&](const std::string& subject, const std::optional<std::string>& constraints) {
    if (constraints) {
      params.subjects.push_back(subject);
    }
  };
  const messages::Include include = included(line.common);
  for (const messages::LockedModule& module : result.modules) {
    if (include.modules) {
      add("module." + module.key, module.constraints);
    }
  }
  for (const messages::LockedProvider& provider : result.providers) {
    if (include.providers) {
      add("provider." + provider.address, provider.constraints);
    }
  }
  if (params.subjects.empty()) {
    return;
  }
  const std::vector<std::string> constrained = params.subjects;
  if (!line.targets.empty()) {
    params.subjects = line.targets;
  }
  const auto found = host.call(&Engine::lookup, params).result;
  const auto inspected = host.call(&Engine::inspect, params.root).result;
  std::string text;
  for (const messages::LookedUpDependency& dependency : found ? found->dependencies : decltype(found->dependencies)()) {
    const auto& updates = dependency.updates;
    const auto newest = std::find_if(updates.rbegin(), updates.rend(), [](const messages::AvailableUpdate& update) {
      return !update.is_lockfile_update;
    });
    const bool is_constrained =
        std::find(constrained.begin(), constrained.end(), dependency.subject) != constrained.end();
    if (newest != updates.rend() && is_constrained) {
      const auto location = inspected ? constraint_location(*inspected, dependency.subject) : std::nullopt;
      text += fmt::format("{} {}: {} is available, but \"{}\" excludes it{}\n", dependency.subject,
                          dependency.current_version, newest->new_version, dependency.current_value,
                          location ? " (" + to_string(*location) + ")" : "");
    }
  }
  print_out(text.empty() ? "" : text + "To select one, run: tofu-modlock update SUBJECT=VERSION\n");
}

// Writes each plan at once: if another root fails, or the command is interrupted, it need not be planned again.
AskedPlan plan_and_write(const CommandLine& line, const Host& host, const std::string& root, Targets& targets) {
  std::vector<std::string> wanted = line.targets;
  AskedPlan asked = host.call(&Engine::plan, plan_params(line, host, root, wanted));
  while (!asked.result && targets.drop(asked.result.error(), root, wanted)) {
    asked = host.call(&Engine::plan, plan_params(line, host, root, wanted));
  }
  targets.found(wanted);
  if (asked.result && !line.dry_run && !line.frozen) {
    if (auto ok = host.apply(root, line.common, *asked.result); !ok) {
      return {.result = fail(std::move(ok.error()))};
    }
  }
  return asked;
}

RootOutcome lock_root(const CommandLine& line, const Host& host, const std::string& root, AskedPlan asked,
                      const Targets& targets) {
  auto& [result, details] = asked;
  if (const Error* error = targets.find_error(root)) {
    return failed(*error, line.common, root);
  }
  if (targets.has_none(root)) {
    if (!line.common.json) {
      print_out("No module call and no provider matches --target.\n");
    }
    return {.exit_code = 0, .json = Json::Value(Json::objectValue)};
  }
  if (!result) {
    return not_written(failed(result.error(), line.common, root, details.error_data));
  }
  if (!line.common.json) {
    print_plan(line, root, *result, details.diagnostics);
    const bool is_single = !line.common.recursive && line.common.directories.size() <= 1;
    if (line.verb == CommandLine::Verb::upgrade && result->edits.documents.empty() && is_single) {
      print_excluded(line, host, root, *result);
    }
  }
  const bool is_written = !result->edits.documents.empty() && !line.dry_run && !line.frozen;
  const char* const state = is_written ? "lock file written" : "nothing changed";
  const std::vector<messages::HeldMove> moved = result->moved;
  RootOutcome outcome{
      .exit_code = 0, .json = messages::encode(*result), .next = steps_after(line, host, *result), .state = state};
  if (line.install && !line.dry_run) {
    const auto installed = host.call(&Engine::install, install_params(line, host, root)).result;
    if (!installed) {
      RootOutcome incomplete = failed(installed.error(), line.common, root);
      incomplete.state = fmt::format("{}, modules not installed", state);
      return incomplete;
    }
    if (!line.common.json) {
      print_out(installed_text(*installed));
    }
  }
  if (!moved.empty()) {
    Json::Value data;
    data["moved"] = messages::encode(moved);
    RootOutcome held = failed(moved_error(moved), line.common, root, data);
    outcome.exit_code = held.exit_code;
    outcome.result = std::move(held.result);
    outcome.hint = std::move(held.hint);
    if (line.common.json) {
      outcome.json["error"] = std::move(held.json["error"]);
    }
  }
  return outcome;
}

}  // namespace

int run_lock(const CommandLine& line, const Host& host) {
  if (const std::string& age = line.minimum_release_age; !age.empty() && !parse_duration(age)) {
    return failed_everywhere({.code = Code::invalid_params,
                              .message = fmt::format("--minimum-release-age must be a duration, found \"{}\"", age),
                              .hint = "write it as 3d, 72h or 1h30m"},
                             line.common);
  }
  Targets targets(line);
  return run_for_roots(
      line.common, host, [&](const std::string& root) { return plan_and_write(line, host, root, targets); },
      [&](const std::string& root, AskedPlan asked) { return lock_root(line, host, root, std::move(asked), targets); });
}

}  // namespace modlock::cli
