#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/address/version.h"
#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/config/roots.h"
#include "plugin/diff/package_diff.h"
#include "plugin/report/change_text.h"
#include "plugin/report/diff_markdown.h"
#include "plugin/workspace/work_tree.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

using AskedDiff = RootAnswer<messages::UpdateDiffResult>;

// "module.vpc=2.0.0", or "module.vpc" for the newest version.
Result<messages::DiffSubject> parse_subject(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  messages::DiffSubject subject{.subject = text.substr(0, equals), .version = {}, .from = {}};
  if (equals < text.size()) {
    subject.version = text.substr(equals + 1);
  }
  if (subject.subject.empty() || (subject.version && !Version::parse(*subject.version))) {
    return fail(Code::invalid_params, fmt::format("expected SUBJECT or SUBJECT=VERSION, found \"{}\"", text),
                "write it as module.vpc or module.vpc=1.2.0");
  }
  return subject;
}

Result<std::vector<messages::DiffSubject>> parse_subjects(const CommandLine& line) {
  std::vector<messages::DiffSubject> subjects;
  for (const std::string& text : line.updates) {
    MODLOCK_TRY(auto subject, parse_subject(text));
    subjects.push_back(std::move(subject));
  }
  if (line.diff_from.empty() && line.diff_to.empty()) {
    return subjects;
  }
  if (subjects.size() != 1 || (subjects[0].version && !line.diff_to.empty())) {
    return fail(Code::invalid_params, "--from and --to are for one subject without a version",
                "write it as: " + tofu_modlock("diff", "module.vpc", "--from", "1.0.0", "--to", "2.0.0"));
  }
  for (const std::string& version : {line.diff_from, line.diff_to}) {
    if (!version.empty() && !Version::parse(version)) {
      return fail(Code::invalid_params, fmt::format("expected a version, found \"{}\"", version), "write it as 1.2.0");
    }
  }
  if (!line.diff_from.empty()) {
    subjects[0].from = line.diff_from;
  }
  if (!line.diff_to.empty()) {
    subjects[0].version = line.diff_to;
  }
  return subjects;
}

int exit_code_of(const CommandLine& line, const messages::UpdateDiffResult& result) {
  const int from = grade_rank(line.exit_grade);
  const bool is_reached = from > 0 && std::ranges::any_of(result.changes, [&](const messages::ModuleDiff& change) {
                            return std::ranges::any_of(change.findings, [&](const auto& finding) {
                              return grade_rank(finding.grade) >= from;
                            });
                          });
  int worst = worse_exit_code(exit_code_of_diagnostics(result.diagnostics), is_reached ? exit_code(Code::frozen) : 0);
  for (const Diagnostic& diagnostic : from > 0 ? not_compared(result) : Diagnostics()) {
    worst = worse_exit_code(worst, exit_code(diagnostic.what.code));
  }
  return worst;
}

void print_files(const std::vector<messages::ChangedFile>& files, RootOutput& output) {
  constexpr std::size_t kListedFiles = 10;
  std::size_t listed = 0;
  for (const messages::ChangedFile& file : files) {
    listed += file.is_auxiliary ? 0U : 1U;
    if (!file.is_auxiliary && listed <= kListedFiles) {
      output.out(fmt::format("    {}{} {}\n", file.is_script ? "script or binary " : "", file.path, file_change(file)));
    }
  }
  if (listed > kListedFiles) {
    output.out(fmt::format("    and {} more\n", listed - kListedFiles));
  }
  output.out(count_auxiliary(files, "    and "));
}

void print_change(const messages::ModuleDiff& change, RootOutput& output) {
  output.out(fmt::format("{}  {} -> {}\n", change.subject, change.from ? side_text(change.from) : "none",
                         change.to ? side_text(change.to) : "none"));
  std::vector<std::vector<Cell>> rows;
  for (const messages::DiffFinding& finding : change.findings) {
    const Color color = finding.grade == "breaking" ? Color::red
                        : finding.grade == "risky"  ? Color::yellow
                                                    : Color::none;
    rows.push_back({{"  " + finding.grade, color}, {finding.message + " (" + finding_place(finding) + ")"}});
  }
  output.table(rows, Fit::wrap);
  const std::string lists = count_changes(change);
  output.out(fmt::format("  {}{}\n", count_files(change.files), lists.empty() ? "" : "; " + lists));
  print_files(change.files.changed, output);
  for (const std::string& line : change.files.changelog) {
    output.out(fmt::format("  the module's changelog: {}\n", line));
  }
  if (!change.comparison.empty()) {
    output.out(fmt::format("  {}\n", change.comparison));
  }
}

void print_changes(const messages::UpdateDiffResult& result, RootOutput& output) {
  std::set<std::string> subjects;  // one may have two warnings
  for (const Diagnostic& diagnostic : not_compared(result)) {
    subjects.insert(diagnostic.what.subject);
  }
  const auto moved =
      static_cast<std::size_t>(std::ranges::count_if(result.diagnostics, [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Severity::info && diagnostic.what.code == Code::tag_moved;
      }));
  const std::string rest = (moved == 0 ? "" : fmt::format(", {} moved", counted(moved, "reference"))) +
                           (subjects.empty() ? "" : fmt::format(", {} not compared", subjects.size()));
  if (result.changes.empty()) {
    output.out(fmt::format("No {}{}.\n", moved == 0 ? "module changes" : "newer versions", rest));
    return;
  }
  std::vector<messages::DiffFinding> findings;
  for (const messages::ModuleDiff& change : result.changes) {
    print_change(change, output);
    findings.insert(findings.end(), change.findings.begin(), change.findings.end());
  }
  const std::string sum = count_findings(findings);
  output.out(fmt::format("{} changed{}: {}\n", counted(result.changes.size(), "module"), rest,
                         sum.empty() ? "no findings" : sum));
}

RootOutcome print_diff(const CommandLine& line, RootOutput& output, const AskedDiff& asked) {
  const auto& [result, details] = asked;
  if (line.common.in_markdown) {
    output.out(diff_markdown(*result));
  } else if (!line.common.json) {
    print_changes(*result, output);
    output.add(details.diagnostics);
  }
  RootOutcome outcome{.exit_code = exit_code_of(line, *result), .json = messages::encode(*result)};
  describe_worst(result->diagnostics, outcome);
  return outcome;
}

}  // namespace

Result<int> run_diff(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(const auto subjects, parse_subjects(line));
  const auto ask = [&](const std::string& root, const std::vector<messages::DiffSubject>& wanted) -> AskedDiff {
    messages::UpdateDiffParams params;
    params.root = host.root_params(root, line.common);
    params.subjects = wanted;
    if (!line.lock_rev.empty()) {
      auto earlier = diff_with_revision(find_repository_root(root), line.lock_rev, host.context());
      if (!earlier) {
        return {.result = fail(std::move(earlier.error()))};
      }
      params.base = messages::DiffBase{.documents = std::move(earlier->documents), .lock = {}};
    }
    auto asked = host.call(&Engine::diff, params);
    if (!asked.result && !line.exit_grade.empty() && grade_rank(asked.result.error().subject) > 0) {
      asked.result.error().hint = fmt::format("write the grade as --exit-code={}", asked.result.error().subject);
    }
    return asked;
  };
  return run_for_subjects(subjects, line.common, host, ask,
                          [&](RootOutput& output, const AskedDiff& asked) { return print_diff(line, output, asked); });
}

}  // namespace modlock::cli
