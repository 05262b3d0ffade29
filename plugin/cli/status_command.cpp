#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "plugin/cli/over_roots.h"
#include "plugin/install/verdict.h"
#include "plugin/update/lookup.h"
#include "protocol/messages/error_json.h"

namespace modlock::cli {
namespace {

using Updates = RootAnswer<messages::UpdateLookupResult>;

// The answer of `verify`, and the available updates unless offline mode is on.
struct AskedStatus {
  Result<messages::LockVerifyResult> result;
  CallDetails details = {};
  std::optional<Updates> updates = {};
};

AskedStatus ask_status(const CommandLine& line, const Host& host, const std::string& root) {
  const messages::RootParams params = host.root_params(root, line.common);
  auto verified = host.verify({.root = params, .lock = {}, .include = line.common.include, .names_ignored = true});
  AskedStatus asked{std::move(verified.result), std::move(verified.details)};
  if (asked.result && !host.engine().options().offline) {
    asked.updates = host.look_up({.root = params, .lock = {}, .subjects = {}});
  }
  return asked;
}

// Returns the newer versions of a subject: "-" if there are none, "?" if they are not known.
std::string newer_text(const std::optional<Updates>& updates, const std::string& subject) {
  if (!updates || !updates->result) {
    return "?";
  }
  const auto* const dependency =
      find_by(updates->result->dependencies, subject, &messages::LookedUpDependency::subject);
  const auto* const failed = find_where(updates->details.diagnostics, [&](const Diagnostic& diagnostic) {
    return !subject.empty() && diagnostic.what.subject == subject;
  });
  std::string text = dependency == nullptr ? "" : moved_words(*dependency);
  if (text.empty() && (dependency == nullptr || dependency->updates.empty())) {
    return failed == nullptr ? "-" : fmt::format("? ({})", to_string(failed->what.code));
  }
  for (const messages::AvailableUpdate& update : dependency->updates) {
    text += (text.empty() ? "" : ", ") + std::string(update.new_version);
  }
  return text;
}

RootOutcome status_root(const CommandLine& line, RootOutput& output, const AskedStatus& asked) {
  const auto& verdicts = asked.result->verdicts;
  RootOutcome outcome{.exit_code = exit_code(verdicts, asked.details.diagnostics), .json = {}};
  describe_verdicts(verdicts, asked.details.diagnostics, outcome);
  if (line.common.json) {
    outcome.json["verify"] = messages::encode(*asked.result);
    if (asked.updates) {
      outcome.json["updates"] =
          asked.updates->result ? messages::encode(*asked.updates->result) : to_json(asked.updates->result.error(), {});
    }
    return outcome;
  }
  std::vector<std::vector<Cell>> rows = {{{"SUBJECT"}, {"LOCKED"}, {"INSTALLED"}, {"NEWER"}, {"VERDICT"}}};
  const bool has_newer = asked.updates && asked.updates->result &&
                         std::ranges::any_of(asked.updates->result->dependencies,
                                             [](const auto& dependency) { return !dependency.updates.empty(); });
  for (const messages::Verdict& verdict : verdicts) {
    const VerdictTraits& shown = traits(verdict.kind == VerdictKind::denied ? verdict.other : verdict.kind);
    const std::string version = locked_version(verdict);
    const std::string newer = newer_text(asked.updates, verdict.subject);
    rows.push_back({{verdict.subject},
                    {version.empty() ? "-" : version},
                    {verdict.replaced_by.empty() ? std::string(shown.installed) : "replaced by " + verdict.replaced_by},
                    {newer},
                    {std::string(verdict_text(verdict.kind)), verdict_color(verdict.kind)}});
  }
  output.table(rows, Fit::wrap);
  output.out(verdict_sum(verdicts) + "\n" + (has_newer ? select_hint(output) : ""));
  output.add(asked.details.diagnostics);
  if (asked.updates) {
    output.add(asked.updates->details.diagnostics);
    if (!asked.updates->result) {
      output.add({{Severity::warning, asked.updates->result.error()}});
    }
  } else {
    output.err("Newer versions are not known in offline mode.\n");
  }
  if (outcome.exit_code != 0) {
    output.err(output.hint("For details, run " + tofu_modlock("verify") + ".\n"));
  }
  return outcome;
}

}  // namespace

Result<int> run_status(const CommandLine& line, const Host& host) {
  return run_for_roots(
      line.common, host, [&](const std::string& root) { return ask_status(line, host, root); },
      [&](RootOutput& output, const AskedStatus& asked) { return status_root(line, output, asked); });
}

}  // namespace modlock::cli
