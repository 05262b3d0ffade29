#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

constexpr std::size_t kShown = 6;  // versions in one line

// "1.3.0, 1.2.5, 1.2.4 and 12 more"
std::string some_of(const std::vector<std::string>& texts) {
  std::string line;
  for (std::size_t i = 0; i < texts.size() && i < kShown; ++i) {
    line += (i == 0 ? "" : ", ") + texts[i];
  }
  return texts.size() > kShown ? fmt::format("{} and {} more", line, texts.size() - kShown) : line;
}

// ".tofu-modlock.hcl:2:13"
std::string place_text(const Json::Value& location) {
  const Json::Value& start = location["range"]["start"];
  return location["path"].asString() +
         (start.isObject() ? fmt::format(":{}:{}", start["line"].asUInt(), start["column"].asUInt()) : "");
}

// Versions that are rejected for one reason share a line.
std::string rejected_lines(const Json::Value& rejected) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const Json::Value& one : rejected) {
    const std::string why = one["why"].asString();
    auto at = std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& entry) { return entry.first == why; });
    if (at == by_reason.end()) {
      at = by_reason.insert(at, {why, {}});
    }
    at->second.push_back(one["version"].asString());
  }
  std::string text;
  for (const auto& [why, versions] : by_reason) {
    text += fmt::format("    rejects {}: {}\n", some_of(versions), why);
  }
  return text;
}

std::string step_text(const Json::Value& step) {
  std::string text = "\n  " + step["constraint"].asString();
  if (step.isMember("subject")) {
    text += "  " + step["subject"].asString();
  }
  if (step.isMember("location")) {
    text += "  at " + place_text(step["location"]);
  }
  std::vector<std::string> kept;
  for (const Json::Value& one : step["kept"]) {
    kept.push_back(one.asString());
  }
  return text + "\n    keeps " + (kept.empty() ? "nothing" : some_of(kept)) + "\n" + rejected_lines(step["rejected"]);
}

std::string explanation_text(const Json::Value& result) {
  const Json::Value& selected = result["selected"];
  std::string text =
      result["subject"].asString() + (selected.isMember("version") ? "  " + selected["version"].asString() : "") + "\n";
  const auto add = [&](const char* name, const Json::Value& value) {
    if (!value.asString().empty()) {
      text += fmt::format("  {:<12}{}\n", name, value.asString());
    }
  };
  add("source", result["source"]);
  add("found as", selected["ref"]);
  add("commit", selected["commit"]);
  add("digest", selected["digest"]);
  add("first seen", selected["firstSeen"]);
  add("because", selected["reason"]);
  for (const Json::Value& step : result["chain"]) {
    text += step_text(step);
  }
  return text;
}

RootOutcome explain_root(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  params["subject"] = line.subject;
  Told told;
  auto result = host.call("lock/explain", params, &told);
  if (!result) {
    return failed(result.error(), line.common, root, told.error_data);
  }
  if (!line.common.json) {
    print_diagnostics(told.diagnostics, root);
    print_out(explanation_text(*result));
  }
  return {.exit_code = 0, .json = std::move(*result)};
}

}  // namespace

int run_explain(const CommandLine& line, const Host& host) {
  return over_roots(line.common, host, [&](const std::string& root) { return explain_root(line, host, root); });
}

}  // namespace modlock::cli
