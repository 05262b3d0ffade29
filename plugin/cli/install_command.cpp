#include <fmt/format.h>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

void print_modules(const Json::Value& modules, std::string_view what) {
  for (const Json::Value& module : modules) {
    print_out(fmt::format("module.{}  {} {}\n", module["key"].asString(), what, module["dir"].asString()));
  }
}

RootOutcome install_root(const CommandLine& line, const std::string& root, Asked asked) {
  auto& [result, told] = asked;
  if (!result) {
    return failed(result.error(), line.common, root, told.error_data);
  }
  if (!line.common.json) {
    const Json::Value& tree = result->tree();
    print_diagnostics(told.diagnostics, root);
    print_modules(tree["installed"], "installed in");
    print_modules(tree["removed"], "removed from");
    print_out(fmt::format("{} installed, {} already in place, {} removed.\n", tree["installed"].size(),
                          tree["reused"].size(), tree["removed"].size()));
  }
  return {.exit_code = 0, .json = std::move(*result)};
}

}  // namespace

Json::Value install_params(const CommandLine& line, const Host& host, const std::string& root) {
  Json::Value params = host.root_params(root, line.common);
  if (line.overrides) {
    params["overrides"] = *line.overrides;
  }
  return params;
}

int run_install(const CommandLine& line, const Host& host) {
  return over_roots(
      line.common, host,
      [&](const std::string& root) { return ask(host, "modules/install", install_params(line, host, root)); },
      [&](const std::string& root, Asked asked) { return install_root(line, root, std::move(asked)); });
}

}  // namespace modlock::cli
