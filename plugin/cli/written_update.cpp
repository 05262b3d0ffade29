#include "plugin/cli/written_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/shell_word.h"
#include "plugin/config/roots.h"
#include "plugin/engine/apply.h"
#include "plugin/lock/backup.h"
#include "plugin/lock/lock_file.h"
#include "plugin/report/diff_markdown.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// Returns the texts of the files that these edits change.
Texts texts_before(const std::string& root, const messages::WorkspaceEdit& edits) {
  Texts texts;
  for (const messages::EditedDocument& edit : edits.documents) {
    texts.push_back({edit.path, read_file(fs::path(root) / edit.path).value_or(std::string())});
  }
  return texts;
}

// Returns the differences between the packages before and after a plan; none if it changes no module. Errors: those of
// Engine::diff().
Result<messages::UpdateDiffResult> compare_packages(const CommandLine& line, const Host& host, const std::string& root,
                                                    const messages::LockPlanResult& plan, Texts earlier) {
  const bool has_modules = std::any_of(plan.changes.begin(), plan.changes.end(), [](const messages::Change& change) {
    return change.subject.starts_with("module.");
  });
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
  return std::all_of(texts.begin(), texts.end(), [&](const messages::Document& document) {
    const std::string name = fs::path(document.path).filename().string();
    if (name != kLockFileName && name != kSidecarFileName) {
      return true;
    }
    RunningHash hash(Hash::sha1);
    hash.update(fmt::format("blob {}", document.text.size()) + '\0' + document.text);
    const auto digest = hash.finish();
    const auto committed = committed_lock_id(root, document.path, context);
    return committed && *committed == hex(digest.data(), digest.size());
  });
}

// Returns the command that prints the findings of a written update; empty: there is none.
std::string diff_command(const CommandLine& line, const std::string& root, bool is_since_commit) {
  std::error_code ignored;
  const bool is_in_git = fs::exists(find_repository_root(root) / ".git", ignored);
  return is_in_git && is_since_commit
             ? "tofu-modlock diff --lock-rev " + shell_word(line.from_diff.empty() ? "HEAD" : line.from_diff)
             : "";
}

}  // namespace

WrittenUpdate write_update(const CommandLine& line, const Host& host, const std::string& root, AskedPlan asked,
                           const Texts& committed) {
  Texts before = asked.result ? texts_before(root, asked.result->edits) : Texts();
  auto [result, details] = write_plan(line, host, root, std::move(asked));
  WrittenUpdate written{.result = std::move(result), .details = std::move(details)};
  if (written.result && line.verb != CommandLine::Verb::lock) {
    written.is_since_commit = !committed.empty() || are_committed(before, root, host.context());
    before.insert(before.end(), committed.begin(), committed.end());
    written.diff = compare_packages(line, host, root, *written.result, std::move(before));
  }
  return written;
}

void print_diff_summary(const CommandLine& line, const std::string& root, const WrittenUpdate& written,
                        const std::string& preview) {
  const bool as_markdown = line.output_format == "markdown";
  if (!written.diff) {
    print_out(
        fmt::format("{}The packages were not compared: {}\n", as_markdown ? "\n" : "", written.diff.error().message));
    return;
  }
  const messages::UpdateDiffResult& diff = *written.diff;
  if (as_markdown) {
    const std::string text = diff_markdown(diff);
    print_out(text.empty() ? "" : "\n" + text);
    return;
  }
  bool is_quiet = true;
  for (const messages::ModuleDiff& change : diff.changes) {
    if (std::all_of(change.findings.begin(), change.findings.end(),
                    [](const auto& finding) { return finding.grade == "notable"; })) {
      continue;
    }
    print_out(fmt::format("{} has changes to read: {}\n", change.subject, count_findings(change.findings)));
    is_quiet = false;
  }
  for (const Diagnostic& diagnostic : not_compared(diff)) {
    print_out(fmt::format("{} was not compared: {}\n", diagnostic.what.subject, diagnostic.what.message));
  }
  const std::string command = is_quiet       ? ""
                              : line.dry_run ? preview
                                             : diff_command(line, root, written.is_since_commit);
  print_out(command.empty() ? "" : with_root(fmt::format("To read them, run: {}\n", command)));
}

}  // namespace modlock::cli
