#include "plugin/report/sarif.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/base/build_info.h"
#include "backends/base/collections.h"
#include "plugin/diff/package_diff.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct Rule {
  std::string_view id;  // the verdict
  std::string_view level;
  std::string_view text;
};

// Returns a rule for each verdict but `held`, which is the first one.
std::vector<Rule> verdict_rules() {
  std::vector<Rule> rules;
  for (std::size_t i = 1; i < messages::names_of(static_cast<const VerdictKind*>(nullptr)).size(); ++i) {
    const auto kind = static_cast<VerdictKind>(i);
    rules.push_back({to_string(kind), exit_code(kind) == 0 ? "note" : "error", traits(kind).sentence});
  }
  return rules;
}

// Brackets in a message are links, unless they are escaped.
Json::Value message(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '[' || c == ']' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  Json::Value out(Json::objectValue);
  out["text"] = escaped;
  return out;
}

Json::Value region(const Range& range) {
  Json::Value out(Json::objectValue);
  out["startLine"] = range.start.line;
  out["endLine"] = range.end.line;
  out["byteOffset"] = range.start.byte;
  out["byteLength"] = range.end.byte - range.start.byte;
  return out;
}

Json::Value place(const Location& location, const std::string& root, const std::string& base) {
  Json::Value out(Json::objectValue);
  Json::Value& physical = out["physicalLocation"];
  const fs::path path = (fs::path(root) / location.path).lexically_normal();
  const std::string relative = path.lexically_relative(base).generic_string();
  if (relative.empty() || relative.starts_with("..")) {
    physical["artifactLocation"]["uri"] = "file://" + percent_encoded(path.generic_string(), "/");
  } else {
    physical["artifactLocation"]["uri"] = percent_encoded(relative, "/");
    physical["artifactLocation"]["uriBaseId"] = "%SRCROOT%";
  }
  if (location.range) {
    physical["region"] = region(*location.range);
  }
  return out;
}

std::string sentence(const messages::Verdict& verdict) {
  std::string text = verdict.subject + " is " + std::string(to_string(verdict.kind));
  if (!verdict.detail.empty()) {
    text += ": " + verdict.detail;
  }
  for (const std::string& path : verdict.paths) {
    text += "\n- " + path;
  }
  if (verdict.more_paths != 0) {
    text += "\n- and " + std::to_string(verdict.more_paths) + " more";
  }
  return text;
}

// Returns a result of a rule. `where` is its place in the files, or empty.
Json::Value new_result(std::string_view rule, std::size_t index, std::string_view level, std::string_view text,
                       const std::string& subject, Json::Value where) {
  Json::Value out(Json::objectValue);
  out["ruleId"] = std::string(rule);
  out["ruleIndex"] = Json::Value::UInt64(index);
  out["level"] = std::string(level);
  out["message"] = message(text);
  Json::Value& logical = where["logicalLocations"].append(Json::objectValue);
  logical["fullyQualifiedName"] = subject;
  logical["kind"] = "module";
  out["locations"].append(std::move(where));
  return out;
}

Json::Value to_result(const messages::Verdict& verdict, std::span<const Rule> rules, const std::string& root,
                      const std::string& base) {
  const std::size_t index = static_cast<std::size_t>(verdict.kind) - 1;
  Json::Value out = new_result(rules[index].id, index, rules[index].level, sentence(verdict), verdict.subject,
                               verdict.location ? place(*verdict.location, root, base) : Json::objectValue);
  // Identifies the same finding, even if the block moved in its file.
  out["partialFingerprints"]["subject/v1"] = std::string(to_string(verdict.kind)) + " " + verdict.subject;
  Json::Value properties(Json::objectValue);
  if (!verdict.expected.empty()) {
    properties["expected"] = verdict.expected;
  }
  if (!verdict.actual.empty()) {
    properties["actual"] = verdict.actual;
  }
  if (verdict.descends) {
    properties["descends"] = *verdict.descends;
  }
  if (verdict.commits_behind) {
    properties["commitsBehind"] = Json::Value::UInt64(*verdict.commits_behind);
  }
  if (!properties.empty()) {
    out["properties"] = std::move(properties);
  }
  return out;
}

Json::Value to_notification(const Diagnostic& said, const std::string& root, const std::string& base) {
  Json::Value out(Json::objectValue);
  out["level"] = said.severity == Severity::info ? "note" : std::string(to_string(said.severity));
  out["message"] = message(said.what.message + (said.what.hint.empty() ? "" : "\n" + said.what.hint.text()));
  out["descriptor"]["id"] = std::string(to_string(said.what.code));
  if (said.what.location) {
    out["locations"].append(place(*said.what.location, root, base));
  }
  return out;
}

Json::Value driver(std::span<const Rule> rules) {
  Json::Value out(Json::objectValue);
  out["name"] = "tofu-modlock";
  out["version"] = std::string(kVersion);
  for (const Rule& rule : rules) {
    Json::Value& item = out["rules"].append(Json::objectValue);
    item["id"] = std::string(rule.id);
    item["shortDescription"] = message(std::string(rule.text));
    item["defaultConfiguration"]["level"] = std::string(rule.level);
  }
  return out;
}

// Returns a run without results.
Json::Value new_run(std::span<const Rule> rules, bool is_successful, const Diagnostics& said, const std::string& root,
                    const std::string& base, int exit_code) {
  Json::Value run(Json::objectValue);
  run["tool"]["driver"] = driver(rules);
  run["originalUriBaseIds"]["%SRCROOT%"]["uri"] =
      "file://" + percent_encoded(base, "/") + (base.ends_with('/') ? "" : "/");
  Json::Value& invocation = run["invocations"].append(Json::objectValue);
  invocation["executionSuccessful"] = is_successful;
  invocation["exitCode"] = exit_code;
  for (const Diagnostic& diagnostic : said) {
    invocation["toolExecutionNotifications"].append(to_notification(diagnostic, root, base));
  }
  run["results"] = Json::arrayValue;
  return run;
}

std::string_view level_of(std::string_view grade) {
  return grade == "breaking" ? "error" : grade == "risky" ? "warning" : "note";
}

// A finding is at the call if the call has to change, and otherwise at the lock file, which decides the version: the
// files of the package are not in the repository.
Json::Value to_result(const messages::ModuleDiff& change, const messages::DiffFinding& finding,
                      std::span<const Rule> rules, const std::string& root, const std::string& base) {
  const auto rule = std::ranges::find_if(rules, [&](const Rule& one) { return one.id == finding.rule; });
  const auto& inside = finding.after ? finding.after : finding.before;
  Json::Value out = new_result(
      finding.rule, static_cast<std::size_t>(rule - rules.begin()), level_of(finding.grade),
      change.subject + ": " + finding.message + (inside ? " (" + to_string(*inside) + " of the package)" : ""),
      change.subject, place(finding.call.value_or(Location{std::string(kLockFileName), std::nullopt}), root, base));
  out["partialFingerprints"]["finding/v1"] = finding.rule + " " + change.subject + " " + finding.message;
  out["properties"]["grade"] = finding.grade;
  return out;
}

}  // namespace

Json::Value sarif_run(const Result<messages::LockVerifyResult>& result, const std::string& root,
                      const std::string& base, int exit_code) {
  const Diagnostics said = result ? result->diagnostics : Diagnostics{{Severity::error, result.error()}};
  const std::vector<Rule> rules = verdict_rules();
  Json::Value run = new_run(rules, result.has_value(), said, root, base, exit_code);
  for (const messages::Verdict& verdict : result ? result->verdicts : std::vector<messages::Verdict>()) {
    if (verdict.kind != VerdictKind::held) {
      run["results"].append(to_result(verdict, rules, root, base));
    }
  }
  return run;
}

Json::Value sarif_run(const Result<messages::UpdateDiffResult>& result, const std::string& root,
                      const std::string& base, int exit_code) {
  const auto rules = mapped(diff_rules(), [](const DiffRule& rule) {
    return Rule{rule.name, level_of(rule.grade), rule.text};
  });
  const Diagnostics said = result ? result->diagnostics : Diagnostics{{Severity::error, result.error()}};
  Json::Value run = new_run(rules, result.has_value(), said, root, base, exit_code);
  for (const messages::ModuleDiff& change : result ? result->changes : std::vector<messages::ModuleDiff>()) {
    for (const messages::DiffFinding& finding : change.findings) {
      run["results"].append(to_result(change, finding, rules, root, base));
    }
  }
  return run;
}

Json::Value sarif_log(Json::Value runs, const std::string& note) {
  if (!note.empty()) {
    Json::Value& added = runs[0]["invocations"][0]["toolExecutionNotifications"].append(Json::Value());
    added["level"] = "note";
    added["message"]["text"] = note;
  }
  Json::Value out(Json::objectValue);
  out["$schema"] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
  out["version"] = "2.1.0";
  out["runs"] = std::move(runs);
  return out;
}

}  // namespace modlock
