#include <fmt/format.h>

#include <algorithm>

#include "plugin/cli/over_roots.h"
#include "protocol/json.h"

namespace modlock::cli {
namespace {

RootOutcome inspect_root(const CommandLine& line, const Host& host, const std::string& root) {
  auto result = host.call("config/inspect", root_params(root, line.common));
  if (!result) {
    return failed(result.error(), line.common);
  }
  int worst = 0;
  for (const Json::Value& diagnostic : (*result)["diagnostics"]) {
    worst = diagnostic["severity"].asString() == "error" ? exit_code(Code::config_parse) : worst;
  }
  if (line.common.json) {
    return {.exit_code = worst, .json = std::move(*result)};
  }
  for (const Json::Value& module : (*result)["modules"]) {
    const std::string key = module["key"].asString();
    const auto depth = static_cast<std::size_t>(std::count(key.begin(), key.end(), '.'));
    std::string text = fmt::format("{:{}}{}  {}", "", 2 * depth, key, module["source"].asString());
    if (module.isMember("constraint")) {
      text += fmt::format("  ({})", module["constraint"].asString());
    }
    if (module.isMember("lockedVersion")) {
      text += fmt::format("  locked {}", module["lockedVersion"].asString());
    }
    print_out(text + "\n");
  }
  print_diagnostics(*result);
  print_out(fmt::format("{} module calls in {} files.\n", (*result)["modules"].size(), (*result)["files"].size()));
  return {.exit_code = worst, .json = {}};
}

// One result that belongs to no root.
int show(const CommandLine& line, const Result<Json::Value>& result,
         const std::function<void(const Json::Value&)>& print) {
  if (!result) {
    const RootOutcome outcome = failed(result.error(), line.common);
    if (line.common.json) {
      print_raw(write_json_pretty(outcome.json));
    }
    return outcome.exit_code;
  }
  if (line.common.json) {
    print_raw(write_json_pretty(*result));
  } else {
    print(*result);
  }
  return 0;
}

}  // namespace

int run_inspect(const CommandLine& line, const Host& host) {
  return over_roots(line.common, [&](const std::string& root) { return inspect_root(line, host, root); });
}

int run_versions(const CommandLine& line, const Host& host) {
  Json::Value params(Json::objectValue);
  params["source"] = line.source;
  params["includePrerelease"] = line.include_prerelease;
  params["tagPrefix"] = line.tag_prefix;
  if (!line.constraint.empty()) {
    params["constraint"] = line.constraint;
  }
  return show(line, host.call("versions/list", params), [](const Json::Value& result) {
    for (const Json::Value& version : result["versions"]) {
      const bool selected = version["version"] == result["selected"];
      print_out(fmt::format("{}{}  {}  {}\n", selected ? "* " : "  ", version["version"].asString(),
                            version["tag"].asString(), version["commit"].asString()));
    }
    print_out(fmt::format("{} versions, {} tags skipped.\n", result["versions"].size(), result["skipped"].size()));
  });
}

int run_cache_info(const CommandLine& line, const Host& host) {
  return show(line, host.call("cache/info", Json::Value(Json::objectValue)), [](const Json::Value& result) {
    const Json::Value& sizes = result["sizes"];
    print_out(fmt::format("{}\n  {} packages, {:.1f} MiB\n  {} git repositories, {:.1f} MiB\n",
                          result["directory"].asString(), sizes["packages"].asUInt64(),
                          sizes["packageBytes"].asDouble() / 1048576.0, sizes["repositories"].asUInt64(),
                          sizes["repositoryBytes"].asDouble() / 1048576.0));
  });
}

}  // namespace modlock::cli
