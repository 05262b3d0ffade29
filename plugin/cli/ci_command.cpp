#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "backends/base/environment.h"
#include "backends/base/text.h"
#include "plugin/cli/foreground_child.h"
#include "plugin/cli/plan_result.h"
#include "plugin/client/client_environment.h"
#include "plugin/terragrunt/unit_check.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

using AskedInstallation = RootAnswer<messages::ModulesInstallResult>;

// Returns the subcommand of a client's command: "init". Empty: none.
std::string_view subcommand(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (!command[i].starts_with('-')) {
      return command[i];
    }
  }
  return {};
}

// Returns whether exit code 2 of the command means a plan with changes.
bool asks_for_changes(const std::vector<std::string>& command) {
  return subcommand(command) == "plan" && std::ranges::any_of(command, [](std::string_view argument) {
           return argument == "-detailed-exitcode" || argument == "--detailed-exitcode";
         });
}

Result<void> check_upgrade(const std::vector<std::string>& command) {
  const auto refuse = [](const std::string& place, Hint hint) {
    return fail(Code::invalid_params, fmt::format("{} has -upgrade, and init must not change the lock file", place),
                std::move(hint));
  };
  for (const std::string& argument : command) {
    if (subcommand(command) == "init" && is_upgrade(argument)) {
      return refuse("the command", "remove -upgrade; to lock newer versions, run: " + tofu_modlock("upgrade"));
    }
  }
  if (const std::string name = command.empty() ? "" : upgrade_variable(); !name.empty()) {
    return refuse(fmt::format("the environment variable {}", name), fmt::format("remove -upgrade from {}", name));
  }
  return {};
}

// Init downloads no modules, except calls that are not locked, and leaves the lock file as it is, unless its own
// arguments say otherwise: they come later.
std::map<std::string, std::string> client_environment(const messages::Include& include, bool has_unlocked) {
  constexpr const char* kName = "TF_CLI_ARGS_init";
  const std::string own = environment_variable(kName);
  return {{kName, fmt::format("{}{}-input=false{}{}", has_unlocked ? "" : "-get=false ",
                              include.providers ? "-lockfile=readonly " : "", own.empty() ? "" : " ", own)}};
}

class Ci {
 public:
  Ci(const CommandLine& line, const Host& host) : line_(line), host_(host), include_(line.common.include) {}

  int run(const Roots& found) {
    const std::vector<std::string>& roots = found.paths;
    const Printer& print = line_.common.print;
    // Sources are asked in parallel. A client has the terminal for itself.
    auto prepared =
        call_for_roots(roots, line_.common, host_, [this](const std::string& root) { return prepare(root); });
    std::vector<RootOutcome> rows;
    auto outputs = outputs_of(roots);
    for (RootOutput& output : outputs) {
      const bool has_heading = roots.size() > 1 && !line_.command.empty();
      print.out(has_heading ? fmt::format("{}{}:\n", rows.empty() ? "" : "\n", shown_path(output.root())) : "");
      RootOutcome outcome = finish(output, std::move(prepared[rows.size()]));
      if (has_heading) {
        output.print_texts(print);
      }
      failures_ += outcome.exit_code == 0 ? 0U : 1U;
      outcome.root = output.root();
      rows.push_back(std::move(outcome));
    }
    print_outputs(outputs, line_.common);
    for (const RootOutcome& row : rows) {
      print_unlocked_root(row.root, row.exit_code, line_.common, roots.size() > 1);
    }
    print_rows(rows, line_.common);
    // A failure of our own is worse than any of the client, and an error of the client (1) than its other codes.
    const int worst = worst_ != 0 ? worst_ : client_worst_;
    print.err(fmt::format("{}: {} ok{}{}{}.{}{}\n", counted(roots.size(), "root module"), roots.size() - failures_,
                          failures_ == 0 ? "" : fmt::format(", {} failed", failures_),
                          worst == 0 ? "" : fmt::format(" (exit code {})", worst), fmt::join(checked_for_, ""),
                          found.left_out().empty() ? "" : " ", found.left_out()));
    return worst;
  }

 private:
  AskedInstallation prepare(const std::string& root) const {
    if (terragrunt::is_unit(root)) {
      return {.result = messages::ModulesInstallResult{}};  // by Terragrunt
    }
    const messages::LockPlanParams params{.root = host_.root_params(root, line_.common),
                                          .lock = {},
                                          .mode = messages::PlanMode::frozen,
                                          .targets = {},
                                          .include = include_};
    auto installation = install_params(line_, host_, root);
    installation.is_ci = true;
    auto planned = host_.call(&Engine::plan, params);
    return planned.result ? host_.call(&Engine::install, installation)
                          : AskedInstallation{.result = fail(std::move(planned.result.error())),
                                              .details = std::move(planned.details)};
  }

  RootOutcome finish(RootOutput& output, AskedInstallation prepared) {
    const std::string& root = output.root();
    if (!prepared.result) {
      return own(failed(prepared.result.error(), line_.common, output, prepared.details.error_data));
    }
    output.add(prepared.details.diagnostics);
    const bool is_unit = terragrunt::is_unit(root);
    output.out(is_unit ? "" : installed_text(*prepared.result));
    if (auto restored = with_restored({}, prepared.details.diagnostics); restored.exit_code != 0) {
      return own(std::move(restored));
    }
    if (line_.verify.age) {
      // Providers that are not installed yet are no finding here.
      auto judged = verify(root, include_.providers, true);
      if (judged.result) {
        std::erase_if(judged.result->verdicts, [](const auto& one) { return !one.is_too_new; });
      }
      if (!judged.result || exit_code(judged.result->verdicts, judged.details.diagnostics) != 0) {
        return own(verify_root(line_.common, host_, output, judged));
      }
    }
    std::string changes;
    if (!line_.command.empty() && !is_unit) {
      output.print_texts(line_.common.print);
      flush_out();  // the client writes to the same stream
      const auto code = run_in_foreground(
          line_.command, root, client_environment(include_, !prepared.result->unlocked.empty()), host_.interrupt());
      if (!code) {
        return own(failed(code.error(), line_.common, output));
      }
      if (*code != 0) {
        client_worst_ = client_worst_ == 0 || *code == 1 ? *code : client_worst_;
      }
      if (*code == 2 && asks_for_changes(line_.command)) {
        changes = ", the plan has changes";
      } else if (*code != 0) {
        return {.exit_code = *code, .json = {}, .result = fmt::format("exit code {}", *code), .hint = "see its output"};
      }
    }
    // Without init, no providers are expected.
    auto verified = verify(root, include_.providers && subcommand(line_.command) == "init", false);
    if (!verified.result || exit_code(verified.result->verdicts, verified.details.diagnostics) != 0) {
      return own(verify_root(line_.common, host_, output, verified));
    }
    output.add(verified.details.diagnostics);
    checked_for_.insert(checked_for_text(verified.result->checked_for));
    return {.exit_code = 0, .json = {}, .result = verdict_sum(verified.result->verdicts) + changes};
  }

  RootAnswer<messages::LockVerifyResult> verify(const std::string& root, bool with_providers, bool age) const {
    return host_.verify({.root = host_.root_params(root, line_.common),
                         .lock = {},
                         .age = age,
                         .include = {include_.modules, with_providers}});
  }

  RootOutcome own(RootOutcome outcome) {
    worst_ = worse_exit_code(worst_, outcome.exit_code);
    return outcome;
  }

  const CommandLine& line_;
  const Host& host_;
  const messages::Include include_;
  int worst_ = 0;         // exit code of this program
  int client_worst_ = 0;  // of the client
  std::size_t failures_ = 0;
  std::set<std::string> checked_for_;  // checked_for_text() of the roots
};

}  // namespace

Result<int> run_ci(const CommandLine& line, const Host& host) {
  if (line.common.json) {
    return fail(Code::invalid_params, "ci has no --json", "run lock --frozen, install and verify with --json");
  }
  MODLOCK_TRY(check_upgrade(line.command));
  auto roots = find_roots(line.common, host);
  const auto is_missing = [](const std::string& directory) { return !path_is_directory(directory); };
  if (!roots && line.command.empty() && std::ranges::any_of(line.common.directories, is_missing)) {
    Hint::Words words = line.common.directories;
    words.insert(words.begin(), {"ci", "--"});
    roots.error().hint += "; write -- before the client's command: " + Hint::command(std::move(words));
  }
  return roots.map([&](const auto& found) { return Ci(line, host).run(found); });
}

}  // namespace modlock::cli
