#include <fmt/format.h>

#include <cstdlib>

#include "plugin/cli/commands.h"
#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

void print(const std::vector<Finding>& findings) {
  std::vector<std::vector<Cell>> rows;
  for (const Finding& finding : findings) {
    rows.push_back({{finding.check}, {fmt::format("{:<7}", messages::to_string(finding.verdict))}, {finding.found}});
    for (const std::string& detail : finding.details) {
      rows.push_back({{}, {}, {detail}});
    }
    if (!finding.hint.empty()) {
      rows.push_back({{}, {}, {"hint: " + finding.hint}});
    }
  }
  print_out(table_text(rows, Fit::wrap, {.columns = terminal_columns()}));
}

// Returns the source of the cache directory setting.
std::string cache_origin(const CommonFlags& flags) {
  const auto is_set = [](const char* name, const std::string& value) {
    const char* set = std::getenv(name);
    return set != nullptr && (value.empty() ? *set != '\0' : value == set);
  };
  if (!flags.cache_dir.empty()) {
    return is_set("TOFU_MODLOCK_CACHE_DIR", flags.cache_dir) ? "TOFU_MODLOCK_CACHE_DIR" : "--cache-dir";
  }
  return is_set("XDG_CACHE_HOME", "") ? "XDG_CACHE_HOME" : "the default";
}

RootOutcome examine(const CommandLine& line, const Host& host, const std::string& root) {
  const DiagnoseOptions options{.root = host.root_params(root, line.common),
                                .hosts = line.hosts,
                                .online = line.verify.online || !line.hosts.empty(),
                                .cache_origin = cache_origin(line.common)};
  Run run = host.run();
  const std::vector<Finding> findings = host.engine().diagnose(options, run);
  host.progress().request_done();
  RootOutcome outcome;
  for (const Finding& finding : findings) {
    outcome.exit_code = worse_exit_code(outcome.exit_code, finding.exit_code);
    outcome.json["checks"].append(messages::encode(finding));
  }
  outcome.json["ok"] = outcome.exit_code == 0;
  if (!line.common.json) {
    print(findings);
    print_err(options.online
                  ? ""
                  : with_root("No host was queried. To query them, run: " + tofu_modlock("doctor", "--online") + "\n"));
  }
  return outcome;
}

}  // namespace

Result<int> run_doctor(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(const auto roots, find_roots(line.common, host));
  return run_for_roots(roots, line.common, [&](const std::string& root) { return examine(line, host, root); });
}

}  // namespace modlock::cli
