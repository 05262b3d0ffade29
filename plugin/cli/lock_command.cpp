#include <fmt/format.h>

#include "plugin/cli/lock_writing.h"
#include "plugin/cli/plan_result.h"

namespace modlock::cli {
namespace {

Json::Value plan_params(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  params["mode"] = line.verb == CommandLine::Verb::upgrade ? "upgrade" : line.frozen ? "frozen" : "missing";
  for (const std::string& target : line.targets) {
    params["targets"].append(target);
  }
  for (const std::string& platform : line.platforms) {
    params["platforms"].append(platform);
  }
  if (!line.hashes.empty()) {
    params["hashes"] = line.hashes;
  }
  if (!line.resolution.empty()) {
    params["policy"]["resolution"] = line.resolution;
  }
  if (!line.minimum_release_age.empty()) {
    params["policy"]["minimumReleaseAge"] = line.minimum_release_age;
  }
  if (line.no_adopt) {
    params["policy"]["adopt"] = false;
  }
  if (line.accept_moved) {
    params["policy"]["acceptMoved"] = true;
  }
  return params;
}

// What is planned is written at once: where another root fails, or the command is ended, it need not be asked again.
Asked plan_and_write(const CommandLine& line, const Host& host, const std::string& root) {
  Asked asked = ask(host, "lock/plan", plan_params(line, host, root));
  if (asked.result && !line.dry_run && !line.frozen) {
    if (auto ok = write_planned_lock(line.common, host, root, asked.result->tree()); !ok) {
      return {.result = fail(std::move(ok.error()))};
    }
  }
  return asked;
}

RootOutcome lock_root(const CommandLine& line, const Host& host, const std::string& root, Asked asked) {
  auto& [result, told] = asked;
  if (!result) {
    return failed(result.error(), line.common, root, told.error_data);
  }
  if (!line.common.json) {
    print_plan(line, root, result->tree(), told.diagnostics);
  }
  RootOutcome outcome{.exit_code = 0, .json = std::move(*result)};
  if (line.install && !line.dry_run) {
    auto installed = host.call("modules/install", install_params(line, host, root));
    if (!installed) {
      return failed(installed.error(), line.common, root);
    }
    if (!line.common.json) {
      print_out(fmt::format("{} installed, {} already in place.\n", (*installed)["installed"].size(),
                            (*installed)["reused"].size()));
    }
  }
  if (outcome.json.tree().isMember("moved")) {
    Json::Value data;
    data["moved"] = outcome.json.tree()["moved"];
    RootOutcome held = failed(moved_error(data["moved"]), line.common, root, data);
    outcome.exit_code = held.exit_code;
    outcome.result = std::move(held.result);
    outcome.to_do = std::move(held.to_do);
    if (line.common.json) {
      outcome.json.tree()["error"] = std::move(held.json.tree()["error"]);
    }
  }
  return outcome;
}

}  // namespace

int run_lock(const CommandLine& line, const Host& host) {
  return over_roots(
      line.common, host, [&](const std::string& root) { return plan_and_write(line, host, root); },
      [&](const std::string& root, Asked asked) { return lock_root(line, host, root, std::move(asked)); });
}

}  // namespace modlock::cli
