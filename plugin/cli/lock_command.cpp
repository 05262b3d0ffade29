#include <fmt/format.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "plugin/cli/plan_result.h"
#include "plugin/lock/locked_text.h"
#include "plugin/terragrunt/unit_check.h"
#include "plugin/update/update_options.h"

namespace modlock::cli {
namespace {

messages::LockPlanParams plan_params(const CommandLine& line, const Host& host, const std::string& root,
                                     const std::vector<std::string>& targets) {
  messages::LockPlanParams params = line.plan;
  params.root = host.root_params(root, line.common);
  params.mode = line.upgrade  ? messages::PlanMode::upgrade
                : line.frozen ? messages::PlanMode::frozen
                              : messages::PlanMode::missing;
  params.targets = targets;
  params.include = line.common.include;
  params.hashes = messages::named<messages::HashSet>(line.hashes).value_or(params.hashes);
  params.adopt = !line.no_adopt;
  return params;
}

// Names the module calls of the configuration that a tag in their source pins. Only `outdated` queries their sources.
Hint pinned_text(const std::vector<messages::LockedModule>& pinned) {
  constexpr std::size_t kNamedCalls = 3;
  const auto calls = mapped(pinned, [](const messages::LockedModule& module) {
    return fmt::format("module.{} ({})", module.key, pin_text(module.source, module.ref));
  });
  return pinned.empty()
             ? Hint()
             : fmt::format("Pinned in the configuration: {}\nTo list newer tags, run: ", some_of(calls, kNamedCalls)) +
                   tofu_modlock("outdated") + "\n";
}

// Adds the newer versions that constraints exclude, after an upgrade that changed nothing. The sources of these
// modules and providers were just listed, so no request is sent.
void print_excluded(const CommandLine& line, const Host& host, RootOutput& output,
                    const messages::LockPlanResult& result) {
  const messages::Include& include = line.common.include;
  output.out(include.modules ? output.hint(pinned_text(pinned_calls(result.modules, line.targets))) : "");
  const std::vector<std::string> constrained = constrained_subjects(result, include);
  if (constrained.empty()) {
    return;
  }
  const messages::UpdateLookupParams params{.root = host.root_params(output.root(), line.common),
                                            .lock = {},
                                            .subjects = line.targets.empty() ? constrained : line.targets};
  const auto found = host.call(&Engine::lookup, params).result;
  const auto inspected = host.call(&Engine::inspect, params.root).result;
  std::string text;
  for (const ExcludedVersion& one : excluded_versions(constrained, found.value_or(messages::UpdateLookupResult()),
                                                      inspected ? &*inspected : nullptr)) {
    text += fmt::format("{} {}: {} is available, but \"{}\" excludes it{}\n", one.subject, one.current, one.newest,
                        one.constraint, one.location ? " (" + to_string(*one.location) + ")" : "");
  }
  output.out(text.empty() ? "" : text + select_hint(output));
}

RootOutcome lock_root(const CommandLine& line, const Host& host, RootOutput& output, const WrittenUpdate& asked) {
  const auto& result = asked.result;
  if (!line.common.json) {
    print_plan(line, output, *result, asked.details.diagnostics);
    const bool is_single = !line.common.recursive && line.common.directories.size() <= 1;
    if (line.upgrade && result->edits.documents.empty() && is_single) {
      print_excluded(line, host, output, *result);
    }
  }
  const bool is_written = !result->edits.documents.empty() && !line.dry_run && !line.frozen;
  const char* const state = is_written ? "lock file written" : "nothing changed";
  RootOutcome outcome{.exit_code = 0,
                      .json = messages::encode(*result),
                      .result = result_words(line, *result),
                      .next = steps_after(line, host, output.root(), *result),
                      .state = state};
  for (const messages::LockedModule& module : result->modules) {
    outcome.sources.insert(module.source);
  }
  if (auto incomplete = install_after(line, host, output, state)) {
    return std::move(*incomplete);
  }
  if (!line.common.json) {
    print_diff_summary(line, output, asked);
  }
  return add_held(std::move(outcome), line, output, *result);
}

// Returns the error for a subject in the place of a directory.
std::optional<Error> find_misplaced_subject(const CommandLine& line) {
  for (const std::string& word : line.common.directories) {
    const bool has_version = word.find('=') != std::string::npos;
    const bool may_be_subject =
        has_version || line.upgrade || word.starts_with("module.") || word.starts_with("provider.");
    if (may_be_subject && !path_is_directory(word)) {
      return Error{.code = Code::invalid_params,
                   .message = fmt::format("{} is not a directory", word),
                   .hint = fmt::format("name a directory with a root module; to {}, run: ",
                                       has_version ? "select a version" : "upgrade one module or provider") +
                           (has_version ? tofu_modlock("update", word) : tofu_modlock("upgrade", "--target", word))};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<int> run_lock(const CommandLine& given, const Host& host) {
  CommandLine line = given;
  line.common.knows_units = line.frozen;
  const auto is_unit = [&](const std::string& root) { return line.frozen && terragrunt::is_unit(root); };
  if (const auto error = find_misplaced_subject(line)) {
    return fail(*error);
  }
  return run_for_subjects(
      line.targets, line.common, host,
      [&](const std::string& root, const std::vector<std::string>& targets) {
        // Writes each plan at once: if another root fails, or the command is interrupted, it need not be planned again.
        return is_unit(root)
                   ? WrittenUpdate{.result = messages::LockPlanResult{}}
                   : write_update(line, host, root, host.call(&Engine::plan, plan_params(line, host, root, targets)));
      },
      [&](RootOutput& output, const WrittenUpdate& asked) {
        if (asked.result && line.frozen && (is_unit(output.root()) || terragrunt::runs_copy(output.root()))) {
          // A client checks the providers of a root module, and Terragrunt installs them.
          const auto checked = host.verify({.root = host.root_params(output.root(), line.common),
                                            .lock = {},
                                            .include = {line.common.include.modules, false}});
          if (!checked.result || checked.result->is_of_terragrunt) {
            return verify_root(line.common, host, output, checked);
          }
        }
        return lock_root(line, host, output, asked);
      });
}

}  // namespace modlock::cli
