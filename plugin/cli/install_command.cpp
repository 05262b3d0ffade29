#include <fmt/format.h>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

using AskedInstallation = RootAnswer<messages::ModulesInstallResult>;

void print_modules(const messages::ModulesInstallResult& result, RootOutput& output) {
  std::vector<std::vector<Cell>> rows;
  for (const messages::InstalledModule& module : result.installed) {
    rows.push_back({{"installed", Color::green},
                    {"module." + module.key},
                    {module.directory},
                    {module.replaced_by.empty() ? "" : "replaced by " + module.replaced_by}});
  }
  for (const messages::InstalledModule& module : result.removed) {
    rows.push_back({{"removed", Color::red}, {"module." + module.key}, {module.directory}});
  }
  output.table(rows, Fit::cut_middle);
}

RootOutcome install_root(const CommandLine& line, RootOutput& output, AskedInstallation asked) {
  auto& [result, details] = asked;
  if (!line.common.json) {
    output.add(details.diagnostics);
    print_modules(*result, output);
    output.out(installed_text(*result));
  }
  return with_restored({.exit_code = 0, .json = messages::encode(*result), .state = "installed"}, details.diagnostics);
}

}  // namespace

std::string installed_text(const messages::ModulesInstallResult& result) {
  std::string text = fmt::format("{} installed", result.installed.size());
  if (!result.reused.empty()) {
    text += fmt::format(", {} already in place", result.reused.size());
  }
  if (!result.removed.empty()) {
    text += fmt::format(", {} removed", result.removed.size());
  }
  return text + ".\n";
}

messages::ModulesInstallParams install_params(const CommandLine& line, const Host& host, const std::string& root) {
  messages::ModulesInstallParams params = line.installation;
  params.root = host.root_params(root, line.common);
  if (line.remote_only) {
    params.remote_only = true;
  }
  if (!line.from.empty()) {
    params.from = line.from.starts_with("oci://") ? line.from : std::filesystem::absolute(line.from).string();
  }
  for (const std::string& replacement : line.replacements) {
    const std::string key = replacement.substr(0, replacement.find('=')).substr(std::string_view("module.").size());
    params.replaced[key] = std::filesystem::absolute(replacement.substr(replacement.find('=') + 1)).string();
  }
  return params;
}

Result<int> run_install(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.only_locks = !line.from.empty();  // for units of Terragrunt, which have no configuration, it fills the cache
  return run_for_roots(
      flags, host,
      [&](const std::string& root) -> AskedInstallation {
        auto missing = line.from.empty() ? std::nullopt : find_missing_files(root);
        return missing ? AskedInstallation{.result = fail(*std::move(missing))}
                       : host.call(&Engine::install, install_params(line, host, root));
      },
      [&](RootOutput& output, AskedInstallation asked) { return install_root(line, output, std::move(asked)); });
}

}  // namespace modlock::cli
