#include "plugin/cli/over_roots.h"

#include <fmt/format.h>

#include "protocol/error_json.h"
#include "protocol/json.h"

namespace modlock::cli {
namespace {

std::string place(const Json::Value& location) {
  std::string text = location["path"].asString();
  if (location.isMember("range")) {
    const Json::Value& start = location["range"]["start"];
    text += fmt::format(":{}:{}", start["line"].asUInt64(), start["column"].asUInt64());
  }
  return text;
}

}  // namespace

RootOutcome failed(const Error& error, const CommonFlags& flags, const Json::Value& error_data) {
  RootOutcome outcome{.exit_code = exit_code(error), .json = {}};
  if (flags.json) {
    outcome.json["error"] = to_json(error, error_data);
  } else {
    print_err(render(error));
  }
  return outcome;
}

int over_roots(const CommonFlags& flags, const std::function<RootOutcome(const std::string& root)>& work) {
  const auto roots = find_roots(flags);
  if (!roots) {
    const RootOutcome outcome = failed(roots.error(), flags);
    if (flags.json) {
      print_raw(write_json_pretty(outcome.json));
    }
    return outcome.exit_code;
  }
  int worst = 0;
  Json::Value results(Json::arrayValue);
  for (const std::string& root : *roots) {
    if (roots->size() > 1 && !flags.json) {
      print_out(fmt::format("{}{}:\n", worst == 0 && root == roots->front() ? "" : "\n", root));
    }
    RootOutcome outcome = work(root);
    worst = worse_exit_code(worst, outcome.exit_code);
    if (roots->size() > 1 && outcome.json.isObject()) {
      outcome.json["root"] = root;
    }
    results.append(std::move(outcome.json));
  }
  if (flags.json) {
    Json::Value several;
    if (roots->size() > 1) {
      several["results"] = results;
    }
    print_raw(write_json_pretty(roots->size() == 1 ? results[0] : several));
  }
  return worst;
}

void print_diagnostics(const Json::Value& result) {
  for (const Json::Value& diagnostic : result["diagnostics"]) {
    const std::string severity = diagnostic["severity"].asString();
    const std::string_view heading = severity == "error" ? "Error" : severity == "warning" ? "Warning" : "Info";
    std::string text =
        fmt::format("{}: {} [{}]\n", heading, diagnostic["message"].asString(), diagnostic["code"].asString());
    if (diagnostic.isMember("location")) {
      text += fmt::format("  at {}\n", place(diagnostic["location"]));
    }
    for (const Json::Value& note : diagnostic["notes"]) {
      text += fmt::format("  note: {}\n", note.asString());
    }
    if (diagnostic.isMember("hint")) {
      text += fmt::format("  to do: {}\n", diagnostic["hint"].asString());
    }
    print_err(text);
  }
}

}  // namespace modlock::cli
