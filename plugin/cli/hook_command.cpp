#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "backends/address/source_text.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/lock_writing.h"
#include "plugin/cli/over_roots.h"
#include "plugin/cli/plan_result.h"
#include "plugin/cli/source_hook.h"
#include "plugin/cli/terragrunt_retry.h"
#include "plugin/cli/unit_lock.h"
#include "plugin/config/roots.h"
#include "plugin/engine/client_program.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/backup.h"
#include "plugin/settings/directory_glob.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

template <std::size_t size>
bool is_one_of(const std::string& command, const std::array<std::string_view, size>& names) {
  return std::find(names.begin(), names.end(), command) != names.end();
}

constexpr std::array<std::string_view, 2> kInstalling = {"init", "get"};
// After these the client may have written the lock file.
constexpr std::array<std::string_view, 3> kLocking = {"init", "get", "providers"};
constexpr std::array<std::string_view, 6> kUsing = {"plan", "apply", "destroy", "refresh", "import", "test"};

void say(std::string text) {
  print_err(without_retry_words(std::move(text)));
}

// One call by Terragrunt: a command of the client, before or after which it stands, for one unit.
class Hook {
 public:
  Hook(const CommandLine& line, const Host& host)
      : line_(line),
        host_(host),
        unit_(line.unit),
        root_(line.common.directories.front()),
        lock_(unit_, root_, find_client(host.engine().options()).tool),
        source_(line, host, {line.common.bounds.back(), root_, unit_},
                [this](const std::string& text) { tell(text); }) {}

  Result<void> run() {
    if (line_.after) {
      return is_one_of(line_.client_command, kLocking) ? restore() : Result<void>();
    }
    if (is_one_of(line_.client_command, kInstalling)) {
      return prepare();
    }
    return is_one_of(line_.client_command, kUsing) ? verify() : Result<void>();
  }
  int exit_code() const { return exit_code_; }

 private:
  template <typename Params, typename Output>
  Result<Output> call(Result<Output> (Engine::*method)(const Params&, Run&) const, const Params& params) const {
    auto asked = host_.call(method, params);
    show(asked.details.diagnostics);
    return std::move(asked.result);
  }

  void show(const Diagnostics& diagnostics) const {
    SourceExcerpts excerpts(root_);
    for (const Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.severity != Severity::info) {
        say(render(diagnostic.what, diagnostic.severity == Severity::error ? "Error" : "Warning", &excerpts));
      }
    }
  }

  // Params about the modules of the working directory.
  template <typename Params>
  Params params() const {
    Params params;
    params.root = host_.root_params(root_, line_.common);
    params.include.providers = false;
    return params;
  }

  // One line for each thing that changes; units run side by side.
  void tell(const std::string& text) const {
    const fs::path unit = unit_.lexically_relative(line_.common.settings_up_to);
    say(fmt::format("{}: {}\n", unit.generic_string(), text));
  }

  Result<DataDirectory> data_directory() const {
    const std::string& named = line_.common.data_dir;
    return find_data_directory(root_, named.empty() ? std::nullopt : std::optional(named));
  }

  Result<void> take_over() const {
    const auto data = data_directory();
    return data ? lock_.take_over(*data, host_.context()) : fail(data.error());
  }

  Result<void> lock_modules(const char* mode) {
    auto asked = params<messages::LockPlanParams>();
    asked.mode = mode;
    const auto planned = call(&Engine::plan, asked);
    auto ok = planned ? write_planned_lock(line_.common, host_, root_, *planned) : fail(planned.error());
    ok = ok ? lock_.give_back() : ok;
    if (!ok) {
      return ok;
    }
    for (const messages::Change& change : planned->changes) {
      tell(change_line(change));
    }
    return planned->moved.empty() ? ok : fail(moved_error(planned->moved));
  }

  Result<void> install() {
    messages::ModulesInstallParams asked;
    asked.root = host_.root_params(root_, line_.common);
    const auto installed = call(&Engine::install, asked);
    return installed ? Result<void>() : fail(installed.error());
  }

  // Where nobody reviews what is locked, nothing is.
  Result<void> prepare() {
    auto ok = take_over();
    const PlanMode mode = host_.engine().options().in_ci ? PlanMode::frozen
                          : line_.upgrade                ? PlanMode::upgrade
                                                         : PlanMode::missing;
    if (ok) {
      const auto warnings = source_.prepare(mode);
      ok = warnings ? Result<void>() : fail(warnings.error());
      show(warnings.value_or(Diagnostics{}));
    }
    if (ok && mode != PlanMode::frozen) {
      ok = lock_modules(mode == PlanMode::upgrade ? "upgrade" : "missing");
    }
    return ok ? install() : ok;
  }

  // What `init -upgrade` has downloaded anew makes room for what is locked. Where something was not locked, the hook
  // before the command has said so.
  Result<void> restore() {
    const auto data = data_directory();
    const auto known = data ? load_lock_backup(data->path) : fail(data.error());
    if (!known || !*known) {
      return known ? Result<void>() : fail(known.error());
    }
    auto ok = source_.restore((*known)->modules);
    ok = ok ? lock_modules("missing") : ok;
    if (!ok && ok.error().code == Code::offline_miss) {
      return {};
    }
    return ok && line_.client_command != "providers" ? install() : ok;
  }

  Result<void> verify() {
    auto ok = take_over();
    ok = ok ? source_.verify() : ok;
    if (!ok) {
      return ok;
    }
    MODLOCK_TRY(const auto verified, call(&Engine::verify, params<messages::LockVerifyParams>()));
    std::string wrong;
    for (const messages::Verdict& verdict : verified.verdicts) {
      const auto kind = parse_verdict_kind(verdict.verdict).value_or(VerdictKind::tampered);
      const int code = modlock::exit_code(kind);
      exit_code_ = worse_exit_code(exit_code_, code);
      if (code != 0) {
        wrong += fmt::format("  {}  {}: {}\n", verdict.subject, to_string(kind), verdict.detail);
        for (const std::string& path : verdict.paths) {
          wrong += fmt::format("    {}\n", path);
        }
      }
    }
    if (!wrong.empty()) {
      say(fmt::format("Error: what is installed for {} is not what is locked\n{}  to do: run: terragrunt init\n",
                      unit_.string(), wrong));
    }
    return {};
  }

  const CommandLine& line_;
  const Host& host_;
  const fs::path unit_;
  const std::string root_;
  const UnitLock lock_;
  SourceHook source_;
  int exit_code_ = 0;
};

// Where Terragrunt has put the source of a unit, of which the working directory is a part; itself where it is none.
fs::path downloaded_source(const fs::path& working_directory) {
  std::error_code ignored;
  for (fs::path directory = working_directory; directory != directory.parent_path();
       directory = directory.parent_path()) {
    if (fs::exists(directory / ".terragrunt-source-version", ignored)) {
      return directory;
    }
  }
  return working_directory;
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
                fmt::format("--unit {} does not lie below --root {}", unit->string(), repository.string()),
                "name the directory of the repository that holds the unit");
  }
  std::error_code error;
  const fs::path working_directory = fs::current_path(error);
  if (error) {
    return fail(Code::io_error, fmt::format("the current directory cannot be told: {}", error.message()));
  }
  for (const std::string& glob : line.allow_unchecked_source) {
    if (const auto parsed = DirectoryGlob::parse(glob); !parsed) {
      return fail(Code::invalid_params,
                  fmt::format("--allow-unchecked-source \"{}\" {}", escape_controls(glob), parsed.error().message),
                  "name units relative to --root: \"live/prod/vpc\", \"live/*/vpc\" or \"live/**\"");
    }
  }
  line.common.directories = {working_directory.string()};
  line.unit = line.common.settings_from = unit->string();
  line.common.settings_up_to = repository.string();
  line.common.bounds = {repository.string(), downloaded_source(working_directory).string()};
  line.common.offline = line.common.offline || line.after;
  return {};
}

int run_hook(const CommandLine& line, const Host& host) {
  Hook hook(line, host);
  auto ok = hook.run();
  if (ok) {
    return hook.exit_code();
  }
  Error error = std::move(ok.error());
  if (error.code == Code::frozen && (error.subject != kUnitSourceKey || error.hint.empty())) {
    error.hint =
        "run terragrunt init where the variable CI is not set, review the change of the lock file and commit it";
  }
  SourceExcerpts excerpts(line.common.directories.front());
  say(render(error, "Error", &excerpts));
  return exit_code(error);
}

}  // namespace modlock::cli
