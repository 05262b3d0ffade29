#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plugin/cli/over_roots.h"
#include "plugin/lock/locked_text.h"

namespace modlock::cli {
namespace {

constexpr std::size_t kListedVersions = 6;  // versions in one line

// Formats "1.3.0, 1.2.5, 1.2.4 and 12 more".
std::string some_of(const std::vector<std::string>& texts) {
  std::string line;
  for (std::size_t i = 0; i < texts.size() && i < kListedVersions; ++i) {
    line += (i == 0 ? "" : ", ") + texts[i];
  }
  return texts.size() > kListedVersions ? fmt::format("{} and {} more", line, texts.size() - kListedVersions) : line;
}

// Versions that are rejected for the same reason share a line.
std::string rejected_lines(const std::vector<messages::Rejection>& rejected) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const messages::Rejection& one : rejected) {
    auto at =
        std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& entry) { return entry.first == one.why; });
    if (at == by_reason.end()) {
      at = by_reason.insert(at, {one.why, {}});
    }
    at->second.push_back(one.version);
  }
  std::string text;
  for (const auto& [why, versions] : by_reason) {
    text += fmt::format("    rejects {}: {}\n", some_of(versions), why);
  }
  return text;
}

std::string step_text(const messages::ExplainedStep& step) {
  std::string text = "\n  " + step.constraint;
  if (!step.subject.empty()) {
    text += "  " + step.subject;
  }
  if (step.location) {
    text += "  at " + to_string(*step.location);
  }
  return text + "\n    keeps " + (step.kept.empty() ? "nothing" : some_of(step.kept)) + "\n" +
         rejected_lines(step.rejected);
}

std::string explanation_text(const messages::LockExplainResult& result) {
  const messages::Selected& selected = result.selected;
  const std::string version = locked_text({.key = result.subject,
                                           .version = selected.version,
                                           .source = result.source,
                                           .hashes = {origin_of(selected.commit, selected.digest)}});
  std::string text = result.subject + (version.empty() ? "" : "  " + version) + "\n";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      text += fmt::format("  {:<12}{}\n", name, value);
    }
  };
  add("source", result.source);
  add("found as", selected.ref);
  add("commit", selected.commit);
  add("digest", selected.digest);
  add("first seen", selected.first_seen);
  add("claimed", selected.claimed);
  for (const std::string& signer : selected.signers) {
    add("signed by", signer);
  }
  add("because", selected.reason);
  for (const messages::ExplainedStep& step : result.chain) {
    text += step_text(step);
  }
  return text;
}

}  // namespace

Result<int> run_explain(const CommandLine& line, const Host& host) {
  if (!line.find.empty() || !line.credentials.empty()) {
    return line.find.empty() ? run_explain_credentials(line, host) : run_find(line, host);
  }
  if (line.subject.empty()) {
    return fail(Code::invalid_params, "the subject is missing: a module call or a provider",
                "name one that `" + tofu_modlock("tree") + "` lists");
  }
  const auto ask = [&](const std::string& root) {
    return host.call(
        &Engine::explain,
        messages::LockExplainParams{.root = host.root_params(root, line.common), .lock = {}, .subject = line.subject});
  };
  return run_for_roots(line.common, host, ask, [&](const std::string& root, const auto& asked) {
    if (!line.common.json) {
      print_diagnostics(asked.details.diagnostics, root);
      print_out(explanation_text(*asked.result));
    }
    return RootOutcome{.exit_code = 0, .json = messages::encode(*asked.result)};
  });
}

}  // namespace modlock::cli
