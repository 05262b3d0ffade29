#include <fmt/format.h>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

using AskedInstallation = RootAnswer<messages::ModulesInstallResult>;

void print_modules(const std::vector<messages::InstalledModule>& modules, std::string_view what) {
  for (const messages::InstalledModule& module : modules) {
    print_out(fmt::format("module.{}  {} {}\n", module.key, what, module.dir));
  }
}

RootOutcome install_root(const CommandLine& line, const std::string& root, AskedInstallation asked) {
  auto& [result, details] = asked;
  if (!result) {
    return failed(result.error(), line.common, root, details.error_data);
  }
  if (!line.common.json) {
    print_diagnostics(details.diagnostics, root);
    print_modules(result->installed, "installed in");
    print_modules(result->removed, "removed from");
    print_out(fmt::format("{} installed, {} already in place, {} removed.\n", result->installed.size(),
                          result->reused.size(), result->removed.size()));
  }
  return {.exit_code = 0, .json = messages::encode(*result)};
}

}  // namespace

messages::ModulesInstallParams install_params(const CommandLine& line, const Host& host, const std::string& root) {
  messages::ModulesInstallParams params;
  params.root = host.root_params(root, line.common);
  params.overrides = line.overrides;
  return params;
}

int run_install(const CommandLine& line, const Host& host) {
  return run_for_roots(
      line.common, host,
      [&](const std::string& root) { return host.call(&Engine::install, install_params(line, host, root)); },
      [&](const std::string& root, AskedInstallation asked) { return install_root(line, root, std::move(asked)); });
}

}  // namespace modlock::cli
