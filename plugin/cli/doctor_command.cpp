#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "plugin/cli/commands.h"
#include "plugin/cli/over_roots.h"

namespace modlock::cli {
namespace {

std::string table_of(const std::vector<Finding>& findings) {
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
  return table_text(rows, Fit::wrap, {.columns = terminal_columns()});
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

std::vector<Finding> examine(const CommandLine& line, const Host& host, const std::string& root) {
  const DiagnoseOptions options{.root = host.root_params(root, line.common),
                                .hosts = line.hosts,
                                .online = line.verify.online || !line.hosts.empty(),
                                .cache_origin = cache_origin(line.common)};
  Run run = host.run();
  auto findings = host.engine().diagnose(options, run);
  host.progress().request_done();
  return findings;
}

RootOutcome outcome_of(const std::vector<Finding>& findings) {
  RootOutcome outcome;
  for (const Finding& finding : findings) {
    outcome.exit_code = worse_exit_code(outcome.exit_code, finding.exit_code);
    outcome.json["checks"].append(messages::encode(finding));
  }
  outcome.json["ok"] = outcome.exit_code == 0;
  return outcome;
}

}  // namespace

Result<int> run_doctor(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(const auto roots, find_roots(line.common, host));
  auto all = mapped(roots.paths, [&](const std::string& root) { return examine(line, host, root); });
  std::vector<Finding> common;  // those of the machine
  if (!line.common.json && roots.paths.size() > 1) {
    common = filtered(all[0], [&](const Finding& one) {
      return std::ranges::all_of(all, [&](const auto& other) { return contains(other, one); });
    });
    line.common.print.out(fmt::format("All {} root modules:\n{}\n", roots.paths.size(), table_of(common)));
  }
  auto next = all.begin();
  const int worst = run_for_roots(roots, line.common, [&](RootOutput& output) {
    std::vector<Finding>& findings = *next++;
    RootOutcome outcome = outcome_of(findings);
    std::erase_if(findings, [&](const Finding& one) { return contains(common, one); });
    if (!line.common.json && !findings.empty()) {
      output.out(table_of(findings));
    }
    return outcome;
  });
  if (!line.common.json && !line.verify.online && line.hosts.empty()) {
    line.common.print.err(
        hint_text("No host was queried. To query them, run: " + tofu_modlock("doctor", "--online") + "\n",
                  place_of(roots.paths, line.common)));
  }
  return worst;
}

}  // namespace modlock::cli
