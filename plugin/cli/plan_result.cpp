#include "plugin/cli/plan_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "backends/base/files.h"
#include "backends/base/text.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/lock/backup.h"
#include "plugin/lock/edit.h"
#include "plugin/lock/lock_file.h"
#include "plugin/lock/locked_text.h"
#include "plugin/report/change_text.h"
#include "plugin/report/diff_markdown.h"
#include "plugin/resolve/plan.h"
#include "plugin/workspace/block_placement.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// Returns "signed, key ID 0123456789ABCDEF"; empty for subjects that are removed, not signed or not asked for.
std::string signature_of(const messages::Change& change, const std::vector<messages::LockedProvider>& providers) {
  const auto provider =
      std::ranges::find_if(providers, [&](const auto& one) { return "provider." + one.address == change.subject; });
  const bool is_signed =
      change.action != Action::removed && provider != providers.end() && provider->signature.status == "signed";
  return is_signed ? fmt::format("signed, key ID {}", provider->signature.key_id) : "";
}

// The installed version determines what is locked, and a checkout may contain its own data directory.
Hint adoption_words(const std::vector<messages::Change>& changes, bool dry_run) {
  const auto count = std::ranges::count(changes, Action::adopted, &messages::Change::action);
  if (count == 0) {
    return {};
  }
  return fmt::format(
             "\n{} locked to the installed version, which may differ from what {} now (adopted).\n"
             "If you did not install it yourself, select versions from the sources: ",
             count == 1 ? "1 module is" : fmt::format("{} modules are", count),
             count == 1 ? "its source gives" : "their sources give") +
         (dry_run ? tofu_modlock("lock", "--no-adopt") : tofu_modlock("upgrade")) + "\n";
}

Color color_of(const messages::Change& change) {
  const bool is_new =
      change.action == Action::added || change.action == Action::adopted || change.action == Action::restored;
  return is_new ? Color::green : change.action == Action::removed ? Color::red : Color::yellow;
}

using EditedDocuments = std::vector<messages::EditedDocument>;

// "main.tf, versions.tf and .terraform.lock.hcl".
std::string path_list(const EditedDocuments& documents) {
  std::string text;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    text += i == 0 ? "" : i + 1 < documents.size() ? ", " : " and ";
    text += documents[i].path;
  }
  return text;
}

// Describes the written and the deleted lock files. A plan may have both: a setting moved the blocks to another file.
std::string lock_words(const EditedDocuments& documents, bool locks_providers) {
  EditedDocuments created;
  EditedDocuments changed;
  EditedDocuments deleted;
  for (const messages::EditedDocument& document : documents) {
    const auto& operation = document.operation;
    (operation == EditOperation::create   ? created
     : operation == EditOperation::remove ? deleted
                                          : changed)
        .push_back(document);
  }
  std::string text = "\n";
  if (!created.empty()) {
    text += fmt::format(
        "tofu-modlock has created the lock file{} {} to record the selected {}.\n"
        "Include {} in version control, so that everyone gets the same {}.\n",
        created.size() == 1 ? "" : "s", path_list(created), locks_providers ? "versions" : "module versions",
        created.size() == 1 ? "this file" : "these files", locks_providers ? "modules and providers" : "modules");
  }
  if (!changed.empty()) {
    text += fmt::format(
        "tofu-modlock has changed the {}selections in {}.\n"
        "Review and commit the change if it is what you intended.\n",
        locks_providers ? "" : "module ", path_list(changed));
  }
  if (!deleted.empty()) {
    text += fmt::format("tofu-modlock has deleted {}, which no longer contains used blocks.\n", path_list(deleted));
  }
  return text;
}

std::string closing_words(const messages::LockPlanResult& result, bool dry_run) {
  const EditedDocuments& documents = result.edits.documents;
  if (documents.empty()) {
    return fmt::format("The lock file is up to date{}.\n", checked_for_text(result.checked_for));
  }
  if (dry_run) {
    return fmt::format("{} would change; nothing was written.\n", path_list(documents));
  }
  if (documents.front().is_configuration) {
    return fmt::format("\ntofu-modlock has changed {}.\nReview and commit the change if it is what you intended.\n",
                       path_list(documents));
  }
  return lock_words(documents, std::ranges::any_of(result.changes, [](const auto& change) {
                      return change.subject.starts_with("provider.");
                    }));
}

// Colors a diff as git does: file headers bold, hunk headers cyan, removed lines red, added lines green.
std::string coloured_diff(std::string_view diff) {
  constexpr std::size_t kHeaderLines = 2;
  std::string out;
  std::size_t number = 0;
  for (const std::string& line : lines_of(diff)) {
    const char mark = line.empty() ? ' ' : line.front();
    const std::string_view colour = number++ < kHeaderLines ? "1"
                                    : mark == '@'           ? "36"
                                    : mark == '-'           ? "31"
                                    : mark == '+'           ? "32"
                                                            : "";
    out += colour.empty() ? std::string(line) : fmt::format("\x1b[{}m{}\x1b[0m", colour, line);
    out += '\n';
  }
  return out;
}

// Returns the texts of the files that these edits change.
Texts texts_before(const messages::WorkspaceEdit& edits) {
  return mapped(edits.documents, [](const auto& edit) { return messages::Document{edit.path, edit.before}; });
}

// Returns the differences between the packages before and after a plan; none if it changes no module. Errors: those of
// Engine::diff().
Result<messages::UpdateDiffResult> compare_packages(const CommandLine& line, const Host& host, const std::string& root,
                                                    const messages::LockPlanResult& plan, Texts earlier) {
  const bool has_modules = std::ranges::any_of(
      plan.changes, [](const messages::Change& change) { return change.subject.starts_with("module."); });
  if (line.common.json || !has_modules) {
    return messages::UpdateDiffResult();
  }
  messages::UpdateDiffParams params;
  params.root = host.root_params(root, line.common);
  if (line.dry_run) {
    params.root = with_edits(std::move(params.root), plan.edits);
  }
  params.base = messages::DiffBase{.documents = std::move(earlier), .lock = {}};
  return host.call(&Engine::diff, params).result;
}

// Returns whether each lock file among the texts is the one of the last commit. Without one, a comparison with the
// commit would show other changes than those of the update.
bool are_committed(const Texts& texts, const std::string& root, const Context& context) {
  return std::ranges::all_of(texts, [&](const messages::Document& document) {
    const std::string name = fs::path(document.path).filename().string();
    const bool is_lock = name == kLockFileName || name == kSidecarFileName;
    return !is_lock || is_committed_lock(root, document.path, document.text, context);
  });
}

// Returns the command that prints the findings of a written update; empty: there is none.
Hint::Words diff_command(const CommandLine& line, const std::string& root, bool is_since_commit) {
  const bool is_in_git = path_exists(find_repository_root(root) / ".git");
  return is_in_git && is_since_commit
             ? Hint::Words{"diff", "--lock-rev", line.from_diff.empty() ? "HEAD" : line.from_diff}
             : Hint::Words();
}

// Returns the command that compares the two releases of a call in the root or a local module; empty: they have no
// version.
Hint::Words diff_of_versions(const messages::ModuleDiff& change) {
  const auto version_of = [](const std::optional<messages::ChangeSide>& side) -> std::string {
    const auto prefix = side ? tag_prefix_of(side->ref) : std::nullopt;
    return side && side->version ? *side->version : prefix ? side->ref.substr(prefix->size()) : "";
  };
  const std::string from = version_of(change.from);
  const std::string to = version_of(change.to);
  return from.empty() || to.empty() ? Hint::Words() : Hint::Words{"diff", change.subject, "--from", from, "--to", to};
}

}  // namespace

WrittenUpdate write_update(const CommandLine& line, const Host& host, const std::string& root, PlanAnswer asked,
                           const Texts& committed) {
  Texts before = asked.result && line.common.compares ? texts_before(asked.result->edits) : Texts();
  WrittenUpdate written{.result = std::move(asked.result), .details = std::move(asked.details)};
  if (written.result && !line.dry_run && !line.frozen) {
    if (auto ok = host.apply(root, line.common, *written.result); !ok) {
      return {.result = fail(std::move(ok.error()))};
    }
  }
  if (written.result && line.common.compares) {
    written.is_since_commit = !line.dry_run && (!committed.empty() || are_committed(before, root, host.context()));
    before.insert(before.end(), committed.begin(), committed.end());
    written.diff = compare_packages(line, host, root, *written.result, std::move(before));
  }
  return written;
}

void print_diff_summary(const CommandLine& line, RootOutput& output, const WrittenUpdate& written) {
  const bool as_markdown = line.output_format == "markdown";
  if (!written.diff) {
    output.out(fmt::format("{}The packages were not compared: {}\n", as_markdown ? "\n" : "",
                           as_markdown ? code_span(written.diff.error().message) : written.diff.error().message));
    return;
  }
  const messages::UpdateDiffResult& diff = *written.diff;
  if (as_markdown) {
    const std::string text = diff_markdown(diff);
    output.out(text.empty() ? "" : "\n" + text);
    return;
  }
  const Hint::Words since_commit =
      line.dry_run ? Hint::Words() : diff_command(line, output.root(), written.is_since_commit);
  Hint commands;
  for (const messages::ModuleDiff& change : diff.changes) {
    if (std::ranges::all_of(change.findings, [](const auto& finding) { return finding.grade == "notable"; })) {
      continue;
    }
    output.out(fmt::format("{} has changes to read: {}\n", change.subject, count_findings(change.findings)));
    const bool is_inside = std::ranges::any_of(diff.changes, [&](const messages::ModuleDiff& other) {
      return change.subject.starts_with(other.subject + ".");  // the command of the outer module shows it
    });
    const Hint::Words command = !since_commit.empty() ? since_commit
                                : is_inside           ? Hint::Words()
                                                      : diff_of_versions(change);
    const bool is_said = command.empty() || (command == since_commit && !commands.empty());
    commands += is_said ? Hint() : "To read them, run: " + Hint::command(command) + "\n";
  }
  for (const Diagnostic& diagnostic : not_compared(diff)) {
    output.out(fmt::format("{} was not compared: {}\n", diagnostic.what.subject, diagnostic.what.message));
  }
  output.out(output.hint(commands));
}

RootOutcome add_held(RootOutcome outcome, const CommandLine& line, RootOutput& output,
                     const messages::LockPlanResult& result) {
  if (result.moved.empty()) {
    return outcome;
  }
  Json::Value data;
  data["moved"] = messages::encode(result.moved);
  RootOutcome held = failed(moved_error(result.moved), line.common, output, data);
  outcome.exit_code = held.exit_code;
  outcome.result = std::move(held.result);
  outcome.hint = std::move(held.hint);
  if (line.common.json) {
    outcome.json["error"] = std::move(held.json["error"]);
  }
  return outcome;
}

std::optional<RootOutcome> install_after(const CommandLine& line, const Host& host, RootOutput& output,
                                         const std::string& state) {
  if (!line.install || line.dry_run) {
    return std::nullopt;
  }
  const auto [installed, details] = host.call(&Engine::install, install_params(line, host, output.root()));
  if (!installed) {
    RootOutcome incomplete = failed(installed.error(), line.common, output);
    incomplete.state = fmt::format("{}, modules not installed", state);
    return incomplete;
  }
  if (!line.common.json && line.output_format != "markdown") {
    output.out(installed_text(*installed));
  }
  auto restored = with_restored({.exit_code = 0, .json = {}, .state = state}, details.diagnostics);
  if (restored.exit_code == 0) {
    return std::nullopt;
  }
  output.add(details.diagnostics);
  return restored;
}

std::string result_words(const CommandLine& line, const messages::LockPlanResult& result) {
  return result.edits.documents.empty() ? "up to date" : line.dry_run ? "would change" : "changed";
}

NextSteps steps_after(const CommandLine& line, const Host& host, const std::string& root,
                      const messages::LockPlanResult& result) {
  NextSteps next;
  const bool is_wrapped = std::getenv("TG_CTX_TF_PATH") != nullptr;  // Terragrunt and the wrapper run the next commands
  if (is_wrapped || line.dry_run || line.frozen || result.edits.documents.empty()) {
    return next;
  }
  const Hint::Words overrides = {"install", "--overrides"};
  for (const Diagnostic& diagnostic : result.diagnostics) {
    diagnostic.what.hint.text([&](const Hint::Words& command) {
      next.install = command == overrides ? "install --overrides" : next.install;
      return std::string();
    });
  }
  for (const messages::Change& change : result.changes) {
    const bool is_version = change.action == Action::added || change.action == Action::updated ||
                            change.action == Action::moved || change.action == Action::source_changed ||
                            change.action == Action::renamed || change.action == Action::restored ||
                            change.action == Action::merged;
    const bool is_module = change.subject.starts_with("module.");
    next.install = next.install.empty() && is_version && is_module && !line.install ? "install" : next.install;
    next.init = is_version && next.init.empty() ? client_name(host, root) : next.init;
  }
  if (places_first_blocks_inline(root, result.edits, host.engine().options().user_settings)) {
    next.placed_inline = {root};
  }
  return next;
}

void print_plan(const CommandLine& line, RootOutput& output, const messages::LockPlanResult& result,
                const Diagnostics& diagnostics) {
  output.add(diagnostics);
  std::vector<std::vector<Cell>> rows;
  for (const messages::Change& change : result.changes) {
    const std::string signature = signature_of(change, result.providers);
    ChangeText text = change_text(change);
    text.note += text.note.empty() || signature.empty() ? signature : "  " + signature;
    rows.push_back({{change.subject}, {text.what, color_of(change)}, {text.note}});
  }
  output.table(rows, Fit::wrap, line.color);
  output.out(output.hint(adoption_words(result.changes, line.dry_run)));
  if (line.dry_run) {
    for (const messages::EditedDocument& document : result.edits.documents) {
      const std::string diff = unified_diff(document.path, document.before, text_after(document.before, document));
      output.raw(wants_colour(line.color) ? coloured_diff(diff) : diff);
    }
  }
  output.out(closing_words(result, line.dry_run));
}

}  // namespace modlock::cli
