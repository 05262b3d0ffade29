#include "plugin/terragrunt/hook.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plugin/engine/client_program.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/backup.h"
#include "plugin/report/change_text.h"
#include "plugin/terragrunt/unit_lock.h"

namespace modlock::terragrunt {
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

class Hook {
 public:
  Hook(const Engine& engine, const RunOptions& run_options, const HookOptions& options, HookReporter& reporter)
      : engine_(engine),
        run_options_(run_options),
        options_(options),
        reporter_(reporter),
        lock_(options.unit, options.root.root, find_client(engine.options()).tool),
        source_(engine, run_options, options.root.data_dir.value_or(""), options.source_rules,
                {options.downloaded, options.root.root, options.unit},
                [this](const std::string& text) { reporter_.change(text); }) {}

  Result<WrongVerdicts> run() {
    if (options_.is_after) {
      return is_one_of(options_.command, kLocking) ? without_verdicts(restore()) : WrongVerdicts();
    }
    if (is_one_of(options_.command, kInstalling)) {
      return without_verdicts(prepare());
    }
    return is_one_of(options_.command, kUsing) ? verify() : WrongVerdicts();
  }

 private:
  static Result<WrongVerdicts> without_verdicts(const Result<void>& ok) {
    return ok ? Result<WrongVerdicts>() : fail(ok.error());
  }

  template <typename Params, typename Output>
  Result<Output> call(Result<Output> (Engine::*method)(const Params&, Run&) const, const Params& params) const {
    Run run(run_options_);
    auto result = (engine_.*method)(params, run);
    reporter_.diagnostics(run.diagnostics);
    return result;
  }

  // Params about the modules of the working directory.
  template <typename Params>
  Params module_params() const {
    Params params;
    params.root = options_.root;
    params.include.providers = false;
    return params;
  }

  Result<DataDirectory> data_directory() const {
    return find_data_directory(options_.root.root, options_.root.data_dir);
  }

  Result<void> take_over() const {
    MODLOCK_TRY(const auto data, data_directory());
    return lock_.take_over(data, Run(run_options_).context(engine_.options().offline));
  }

  Result<void> lock_modules(const char* mode) {
    auto params = module_params<messages::LockPlanParams>();
    params.mode = mode;
    MODLOCK_TRY(const auto planned, call(&Engine::plan, params));
    Run run(run_options_);
    auto ok = engine_.apply(options_.root, planned, {.modules = true, .providers = true}, run);
    reporter_.diagnostics(run.diagnostics);
    MODLOCK_TRY(ok);
    MODLOCK_TRY(lock_.give_back());
    for (const messages::Change& change : planned.changes) {
      reporter_.change(change_line(change));
    }
    return planned.moved.empty() ? Result<void>() : fail(moved_error(planned.moved));
  }

  Result<void> install() {
    messages::ModulesInstallParams params;
    params.root = options_.root;
    MODLOCK_TRY(call(&Engine::install, params));
    return {};
  }

  // In CI no one reviews a new lock, so nothing is locked.
  Result<void> prepare() {
    MODLOCK_TRY(take_over());
    const PlanMode mode = engine_.options().in_ci ? PlanMode::frozen
                          : options_.upgrade      ? PlanMode::upgrade
                                                  : PlanMode::missing;
    MODLOCK_TRY(const auto warnings, source_.prepare(mode));
    reporter_.diagnostics(warnings);
    if (mode != PlanMode::frozen) {
      MODLOCK_TRY(lock_modules(mode == PlanMode::upgrade ? "upgrade" : "missing"));
    }
    return install();
  }

  // Replaces the downloads of `init -upgrade` with the locked versions. If something was not locked, the hook before
  // the command has reported it.
  Result<void> restore() {
    MODLOCK_TRY(const auto data, data_directory());
    MODLOCK_TRY(const auto known, load_lock_backup(data.path));
    if (!known) {
      return {};
    }
    auto ok = source_.restore(known->modules);
    ok = ok ? lock_modules("missing") : ok;
    if (!ok && ok.error().code == Code::offline_miss) {
      return {};
    }
    return ok && options_.command != "providers" ? install() : ok;
  }

  Result<WrongVerdicts> verify() {
    MODLOCK_TRY(take_over());
    MODLOCK_TRY(source_.verify());
    MODLOCK_TRY(auto verified, call(&Engine::verify, module_params<messages::LockVerifyParams>()));
    std::erase_if(verified.verdicts, [](const messages::Verdict& verdict) {
      const auto kind = parse_verdict_kind(verdict.verdict);
      return kind && exit_code(*kind) == 0;
    });
    return std::move(verified.verdicts);
  }

  const Engine& engine_;
  const RunOptions& run_options_;
  const HookOptions& options_;
  HookReporter& reporter_;
  const UnitLock lock_;
  UnitSourceLock source_;
};

}  // namespace

fs::path find_downloaded_source(const fs::path& working_directory) {
  std::error_code ignored;
  for (fs::path directory = working_directory; directory != directory.parent_path();
       directory = directory.parent_path()) {
    if (fs::exists(directory / ".terragrunt-source-version", ignored)) {
      return directory;
    }
  }
  return working_directory;
}

Result<WrongVerdicts> run_hook(const Engine& engine, const RunOptions& run_options, const HookOptions& options,
                               HookReporter& reporter) {
  return Hook(engine, run_options, options, reporter).run();
}

}  // namespace modlock::terragrunt
