#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "backends/address/source_text.h"
#include "backends/base/environment.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/over_roots.h"
#include "plugin/client/client_environment.h"
#include "plugin/config/roots.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/locked_text.h"
#include "plugin/settings/directory_glob.h"
#include "plugin/terragrunt/hook.h"
#include "plugin/terragrunt/terragrunt_retry.h"
#include "plugin/terragrunt/unit_source.h"
#include "protocol/base/result.h"
#include "protocol/base/system_reason.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

void print_without_retry_words(const Printer& print, std::string text) {
  print.err(terragrunt::without_retry_words(std::move(text)));
}

// Terragrunt runs the commands that hints name for root modules.
std::string unit_command(const Hint::Words& words) {
  if (words.front() != "upgrade") {
    return words == Hint::Words{"lock"} ? "terragrunt init without the variable CI"
           : words.front() == "update"  ? "terragrunt init, after you change its source in the configuration"
                                        : command_text(words);
  }
  std::string targets;
  for (std::size_t i = 2; i < words.size(); ++i) {
    targets += words[i - 1] != "--target" ? "" : (targets.empty() ? "" : ",") + words[i];
  }
  return targets.empty() ? "terragrunt init -upgrade"
                         : fmt::format("TOFU_MODLOCK_TARGET={} terragrunt init", shell_word(targets));
}

Error for_unit(Error error) {
  error.hint = error.hint.text(&unit_command);
  return error;
}

std::string unit_in_repository(const CommandLine& line) {
  return fs::path(line.unit).lexically_relative(line.repository).generic_string();
}

// The steps of a hook have the same warnings about a call.
void print_new(const Diagnostics& diagnostics, const CommandLine& line, std::set<std::string>& printed) {
  SourceExcerpts excerpts(line.common.directories.front());
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::info && printed.insert(diagnostic.what.message).second) {
      const bool is_error = diagnostic.severity == Severity::error;
      print_without_retry_words(line.common.print,
                                render(for_unit(diagnostic.what), is_error ? "Error" : "Warning", &excerpts));
    }
  }
}

bool allows_unchecked_source(const CommandLine& line) {
  return std::ranges::any_of(line.allow_unchecked_source, [unit = unit_in_repository(line)](const std::string& text) {
    const auto glob = DirectoryGlob::parse(text);
    return glob && glob->matches(unit);
  });
}

// Returns the directory that Terragrunt names, with every link resolved. A link of the repository must not lead out of
// it. The user has named a directory elsewhere with --download-dir or a variable.
fs::path find_place(const CommandLine& line) {
  const fs::path named = fs::path(line.unit_place).lexically_normal();
  std::error_code error;
  fs::path place = named.empty() ? named : fs::weakly_canonical(named, error);
  const bool is_elsewhere = *named.lexically_relative(line.repository).begin() == "..";
  return named.empty() || error || (!is_elsewhere && !confine(named, {line.repository})) ? fs::path() : place;
}

terragrunt::HookOptions hook_options(const CommandLine& line, const Host& host) {
  return {.command = line.client_command,
          .is_after = line.after,
          .upgrade = line.upgrade || (line.client_command != "get" && !upgrade_variable().empty()),
          .targets = line.targets,
          .root = host.root_params(line.common.directories.front(), line.common),
          .unit = line.unit,
          .repository = line.repository,
          .downloaded = line.common.engine.workspace_roots.back(),
          .source = line.unit_source,
          .place = find_place(line),
          .in_terragrunt = !environment_variable("TG_CTX_HOOK_NAME").empty(),
          .is_source_replaced = line.is_source_replaced,
          .allows_unchecked_source = allows_unchecked_source(line),
          .strict = line.verify.strict};
}

Result<terragrunt::Verdicts> run(const CommandLine& line, const Host& host) {
  std::set<std::string> printed;
  terragrunt::HookReports reports;
  // Units run in parallel, so each line names its unit.
  reports.change = [&](const std::string& text) {
    print_without_retry_words(line.common.print, fmt::format("{}: {}\n", unit_in_repository(line), text));
  };
  reports.diagnostics = [&](const Diagnostics& diagnostics) {
    host.progress().request_done();
    print_new(diagnostics, line, printed);
  };
  Run run = host.run();
  return without_exceptions(
      "tofu-modlock", [&] { return terragrunt::run_hook(host.engine(), run, hook_options(line, host), reports); });
}

Result<fs::path> directory_at(const std::string& path, const char* flag) {
  std::error_code error;
  fs::path directory = fs::canonical(path, error);
  if (error || !fs::is_directory(directory, error)) {
    return fail(Code::invalid_params, fmt::format("{} must be a directory, found \"{}\"", flag, path),
                "in terragrunt.hcl: --unit get_terragrunt_dir() and --root get_repo_root()");
  }
  return directory;
}

}  // namespace

Result<void> prepare_hook(CommandLine& line) {
  const auto unit = directory_at(line.unit, "--unit");
  MODLOCK_TRY(const auto repository, unit ? directory_at(line.repository, "--root") : unit);
  if (auto inside = confine(*unit, {repository}); !inside) {
    return fail(Code::invalid_params,
                fmt::format("--unit {} is not below --root {}", unit->string(), repository.string()),
                "name the directory of the repository that holds the unit");
  }
  std::error_code error;
  const fs::path working_directory = fs::current_path(error);
  if (error) {
    return fail(Code::io_error, fmt::format("cannot determine the current directory: {}", error.message()));
  }
  for (const std::string& glob : line.allow_unchecked_source) {
    if (const auto parsed = DirectoryGlob::parse(glob); !parsed) {
      return fail(Code::invalid_params,
                  fmt::format("--allow-unchecked-source \"{}\" {}", escape_controls(glob), parsed.error().message),
                  "name units relative to --root: \"live/prod/vpc\", \"live/*/vpc\" or \"live/**\"");
    }
  }
  line.common.directories = {working_directory.string()};
  line.unit = unit->string();
  line.repository = repository.string();
  EngineOptions& engine = line.common.engine;
  engine.settings_place = SettingsDirectories{line.unit, line.repository};
  engine.workspace_roots = {repository, terragrunt::find_downloaded_source(working_directory)};
  engine.offline = engine.offline || line.after;
  return {};
}

int print_wrong(const std::vector<messages::Verdict>& verdicts, const std::string& unit, const Printer& print) {
  int code = 0;
  std::string lines;
  for (const messages::Verdict& verdict : verdicts) {
    if (modlock::exit_code(verdict.kind) == 0) {
      continue;
    }
    code = worse_exit_code(code, modlock::exit_code(verdict.kind));
    lines += fmt::format("  {}  {}: {}\n", verdict.subject, to_string(verdict.kind), verdict.detail);
    for (const std::string& path : verdict.paths) {
      lines += fmt::format("    {}\n", path);
    }
  }
  if (!lines.empty()) {
    print_without_retry_words(
        print,
        fmt::format("Error: the installed modules of {} do not match the lock file\n{}  hint: run: terragrunt init\n",
                    unit, lines));
  }
  return code;
}

Result<int> run_hook(const CommandLine& line, const Host& host) {
  auto wrong = run(line, host);
  if (wrong) {
    return print_wrong(*wrong, line.unit, line.common.print);
  }
  Error error = for_unit(std::move(wrong.error()));
  if (error.code == Code::frozen && error.hint.empty()) {
    error.hint = review_lock_hint().text(&unit_command);
  }
  SourceExcerpts excerpts(line.common.directories.front());
  print_without_retry_words(line.common.print, render(error, "Error", &excerpts));
  return exit_code(error);
}

}  // namespace modlock::cli
