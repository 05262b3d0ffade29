#include "plugin/terragrunt/hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "plugin/config/roots.h"
#include "plugin/engine/plan_request.h"
#include "plugin/lock/local_git.h"
#include "plugin/lock/locked_text.h"
#include "plugin/report/change_text.h"
#include "plugin/terragrunt/repository_files.h"
#include "plugin/terragrunt/source_lock.h"
#include "plugin/terragrunt/unit_lock.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

Error not_known(const fs::path& unit, bool is_replaced) {
  return {.code = Code::config_non_static,
          .message = fmt::format(
              "the source of the unit {} is {}, so it is neither locked nor checked", unit.string(),
              is_replaced ? "replaced by --source or a variable" : "computed, and Terragrunt did not print it"),
          .subject = std::string(kUnitSourceKey),
          .hint = is_replaced ? "run without the flag --source and the variable TG_SOURCE"
                              : "run: terragrunt render --format json, and correct what fails; or write the source as "
                                "a literal; to allow it for this unit, use --allow-unchecked-source"};
}

// Returns the error for a source that no lock entry can describe.
Error not_lockable(Error error, const fs::path& unit) {
  error.message =
      fmt::format("the source of the unit {} is neither locked nor checked: {}", unit.string(), error.message);
  error.subject = std::string(kUnitSourceKey);
  error.hint = "to allow it for this unit, use --allow-unchecked-source";
  return error;
}

std::string how_to_lock_again() {
  return fmt::format("run TOFU_MODLOCK_TARGET={} terragrunt init --source-update", kUnitSourceKey);
}

// Returns the error with the hint for a source that no longer matches its lock entry.
Error not_accepted(Error error) {
  if (error.code == Code::hash_mismatch) {
    error.subject = kUnitSourceKey;
    error.hint = "review what the source has now; to lock it, " + how_to_lock_again();
  }
  return error;
}

Error moved_source(const HeldMove& move, const ModuleLock& entry) {
  return not_accepted({.code = Code::hash_mismatch,
                       .message = fmt::format("the tag of \"{}\" was moved; the locked content is kept", entry.source),
                       .notes = {fmt::format("{} is locked, {} is offered", move.locked, move.offered)}});
}

// Returns the error for a verdict on the source of a unit.
Result<void> to_result(const Verdict& verdict, const HookOptions& options) {
  Error error{.subject = verdict.subject};
  if (verdict.kind == VerdictKind::held) {
    return {};
  }
  if (verdict.kind == VerdictKind::not_locked) {
    error.code = Code::frozen;
    error.message = fmt::format("the lock file does not match {} ({})", verdict.subject, verdict.detail);
    error.location = verdict.location;
  } else if (verdict.kind == VerdictKind::missing) {
    error.code = Code::missing;
    error.message =
        fmt::format("the cache does not have the package of {} from \"{}\"", verdict.subject, verdict.source);
    error.hint = "run: terragrunt init";
  } else {
    error.code = Code::hash_mismatch;
    error.message = fmt::format("the files that Terragrunt downloaded for {} do not match the lock entry for \"{}\"",
                                options.unit.string(), verdict.source);
    error.notes = verdict.paths;
    error.hint = fmt::format(
        "to get the locked files, delete {} and run terragrunt init, with --no-cas if Terragrunt's own store has "
        "a changed file; to lock what the source has now, review it, {}",
        options.downloaded.string(), how_to_lock_again());
  }
  return fail(std::move(error));
}

// Returns the error for added files whose origin is not known.
Error not_answered(const Error& reason, const HookOptions& options) {
  return {
      .code = Code::hash_mismatch,
      .message = fmt::format("the download of {} has files that are neither locked nor in the repository, and it is "
                             "not known whether they came with it: {}",
                             options.unit.string(), reason.message),
      .subject = std::string(kUnitSourceKey),
      .hint = fmt::format("delete {} and run terragrunt init", options.downloaded.string())};
}

class Hook {
 public:
  Hook(const Engine& engine, Run& run, const HookOptions& options, const HookReports& reports)
      : engine_(engine),
        run_(run),
        options_(options),
        reports_(reports),
        lock_(options.unit, options.root.root, find_client(engine.options()).tool),
        files_(options.repository, options.unit, engine.store().root(), engine.context_for(run)) {}

  Result<Verdicts> run() {
    if (options_.command == kReadConfig) {
      return place_source();
    }
    if (options_.is_after) {
      return contains(kLocking, options_.command) ? restore() : Verdicts();
    }
    if (contains(kLocking, options_.command)) {
      return prepare();
    }
    return contains(kUsing, options_.command) ? verify() : Verdicts();
  }

 private:
  // Reads the root once for all steps of the hook.
  Result<void> open_root(OpenRoot::Merging merging = OpenRoot::Merging::no) {
    MODLOCK_TRY(open_, OpenRoot::open(engine_, run_, options_.root, {}, merging));
    return {};
  }

  void report_diagnostics() const { reports_.diagnostics(std::exchange(run_.diagnostics, {})); }

  // Terragrunt's cache still has the lock file of the last run.
  Result<void> check_deleted() const {
    MODLOCK_TRY(const bool is_deleted, lock_.is_deleted());
    if (is_deleted && engine_.options().in_ci) {
      const fs::path kept = UnitLock::kept_place(options_.unit);
      return fail(Error{.code = Code::frozen,
                        .message = fmt::format(
                            "the unit {} has no lock file{}, only that of an earlier run in {}", options_.unit.string(),
                            kept == options_.unit ? "" : " in " + kept.string(), options_.root.root)});
    }
    if (is_deleted) {
      reports_.change("the unit has no lock file; that of the last run is used again");
    }
    return {};
  }

  UnitSourceOptions source_options(ModuleNode source) const {
    return {.downloaded = options_.downloaded,
            .source = std::move(source),
            .is_own = [this](const fs::path& file) { return is_own(file); },
            .may_be_generated =
                [this](const fs::path& file) { return generated(file) == RepositoryFiles::Generated::perhaps; },
            .may_query = contains(kLocking, options_.command),
            .accepts_moved = is_source_targeted()};
  }

  // Returns the source, if it can be locked. Warns of one that is replaced or not supported.
  Result<std::optional<UnitSourceOptions>> find_source() {
    MODLOCK_TRY(const auto found, determine_source(open_->root.walk.tool));
    if (!found.is_known) {
      MODLOCK_TRY(accept_unchecked(not_known(options_.unit, found.is_replaced), found.is_replaced));
    }
    MODLOCK_TRY(auto call, call_of_unit(*open_, found.is_replaced ? std::nullopt : found.source));
    if (call.unchecked) {
      MODLOCK_TRY(accept_unchecked(not_lockable(*call.unchecked, options_.unit), true));
    }
    return call.node ? std::optional(source_options(std::move(*call.node))) : std::nullopt;
  }

  // A source that is computed is confirmed by the name of the directory that Terragrunt has chosen for it, or found by
  // that name. Outside of Terragrunt these names prove nothing: they may be part of a checkout.
  Result<FoundSource> determine_source(ClientKind tool) const {
    MODLOCK_TRY(auto found, find_unit_source(options_.unit, options_.source, tool, options_.repository));
    found.is_replaced = found.is_replaced || options_.is_source_replaced;
    found.is_known = found.is_known && !found.is_replaced;
    const bool is_sure = found.is_known && (found.is_literal || !options_.in_terragrunt ||
                                            is_downloaded_as(download_name(found, options_.unit)));
    if (is_sure || found.is_replaced) {
      return found;
    }
    if (const auto entry = locked_source(); entry && (options_.in_terragrunt || options_.is_check)) {
      const auto version = read_file(options_.downloaded / kVersionFile);
      for (const DownloadName& name : download_names(*entry, tool)) {
        if (is_downloaded_as(name) && version && *version == name.version &&
            is_at(options_.root.root, options_.downloaded, name)) {
          return FoundSource{.source = source_of(*entry)};
        }
      }
    }
    if (options_.in_terragrunt) {
      found = render_unit_source(options_.unit, tool, engine_.context_for(run_));
    }
    return found.is_known || !is_own_copy() ? std::move(found) : FoundSource();
  }

  static bool is_at(const fs::path& working_directory, const fs::path& downloaded, const DownloadName& name) {
    return working_directory.lexically_relative(downloaded) == (name.subdir.empty() ? "." : name.subdir);
  }

  bool is_downloaded_as(const std::optional<DownloadName>& name) const {
    return name && options_.downloaded.filename() == name->directory;
  }

  std::optional<ModuleLock> locked_source() const {
    const ModuleLock* entry = find_in(open_->lock.modules(), kUnitSourceKey);
    return entry == nullptr ? std::nullopt : std::optional(*entry);
  }

  // Terragrunt downloads nothing to a directory that has the version it wants. Directories of other versions are left
  // to Terragrunt, because they have data of the client.
  Result<Verdicts> place_source() {
    if (options_.upgrade || options_.place.empty()) {
      return {};
    }
    MODLOCK_TRY(lock_.take_kept());
    MODLOCK_TRY(open_root());
    const ClientKind tool = open_->root.walk.tool;
    MODLOCK_TRY(auto found, find_unit_source(options_.unit, options_.source, tool, options_.repository));
    const auto entry = locked_source();
    if (entry && !found.is_known && !found.is_replaced && options_.in_terragrunt && !engine_.options().in_ci) {
      // Another version may be wanted, and would be downloaded over this one. In CI it is rejected.
      found = render_unit_source(options_.unit, tool, engine_.context_for(run_));
    }
    if (!entry || found.is_replaced || (found.is_known && !found.source)) {
      return {};
    }
    std::vector<DownloadName> names = download_names(*entry, tool);
    if (const auto own = found.is_known ? download_name(found, options_.unit) : std::nullopt) {
      names.insert(names.begin(), *own);
    }
    for (const DownloadName& name : names) {
      const fs::path place = place_of(name);
      std::error_code ignored;
      if (!place.empty()) {
        MODLOCK_TRY(fs::exists(fs::symlink_status(place, ignored))
                        ? Result<void>()
                        : place_source(found.is_known ? *found.source : source_of(*entry), place, name.version));
        return {};
      }
    }
    return {};
  }

  // Returns the directory above `options_.place` that has this name; empty: there is none.
  fs::path place_of(const DownloadName& name) const {
    fs::path place = options_.place;
    while (!place.empty() && place.filename() != name.directory) {
      place = place.has_relative_path() ? place.parent_path() : fs::path();
    }
    return is_at(options_.place, place, name) ? place : fs::path();
  }

  Result<void> place_source(const UnitSource& source, const fs::path& place, const std::string& version) {
    const fs::path arriving = place.string() + "." + random_hex(8);
    MODLOCK_TRY(const auto call, call_of_unit(*open_, source));
    const auto placed = [&]() -> Result<void> {
      MODLOCK_TRY(const bool is_copied, call.node ? copy_unit_source(*open_, *call.node, arriving) : false);
      if (!is_copied) {
        return {};
      }
      MODLOCK_TRY(write_file_atomically(arriving / kVersionFile, version));
      std::error_code error;
      fs::rename(arriving, place, error);  // fails if another process was faster
      if (!error) {
        record_download(engine_.store(), place / kVersionFile, {});
      }
      return {};
    }();
    (void)remove_tree(arriving);
    return placed;
  }

  // Errors: FROZEN if a source that is not checked is not acceptable: in CI, and everywhere if it is not known.
  Result<void> accept_unchecked(Error error, bool is_known) const {
    if (options_.allows_unchecked_source) {
      return {};
    }
    if (!is_known || options_.strict || engine_.options().in_ci) {
      error.code = Code::frozen;
      return fail(std::move(error));
    }
    reports_.diagnostics({{Severity::warning, std::move(error)}});
    return {};
  }

  // Returns whether all that was downloaded is code of the user's repository: a local module that Terragrunt has
  // copied. A package can contain Terragrunt's list of copied files, so that list alone proves nothing.
  bool is_own_copy() const {
    const bool is_copied = path_exists(options_.downloaded / ".terragrunt-source-manifest");
    const auto files = is_copied ? loadable_files(options_.downloaded) : Result<std::vector<std::string>>();
    return files && !files->empty() && std::all_of(files->begin(), files->end(), [&](const std::string& name) {
             return is_own(options_.downloaded / name);
           });
  }

  bool is_own(const fs::path& file) const {
    return is_of_unit(file) || files_.have_copy_of(file) || generated(file) == RepositoryFiles::Generated::yes;
  }

  RepositoryFiles::Generated generated(const fs::path& file) const {
    return files_.generated(file, file.lexically_relative(options_.root.root).generic_string());
  }

  // Terragrunt copies the files of the unit to the working directory. The client changes the lock file.
  bool is_of_unit(const fs::path& file) const {
    const fs::path name = file.lexically_relative(options_.root.root);
    std::error_code ignored;
    if (name.empty() || *name.begin() == ".." || fs::is_symlink(fs::symlink_status(file, ignored))) {
      return false;
    }
    // After init the client may have changed a lock file of the package.
    return name == kLockFileName ? fs::exists(options_.unit / name, ignored) || !contains(kLocking, options_.command)
                                 : have_same_bytes(options_.unit / name, file);
  }

  bool is_source_targeted() const {
    return !engine_.options().in_ci && std::ranges::count(options_.targets, kUnitSourceKey) != 0;
  }

  static std::string source_line(const ModuleLock& entry, std::string_view how) {
    return fmt::format("{}  {}  {}", kUnitSourceKey, entry.source, how);
  }

  Result<void> lock_source(PlanMode mode) {
    MODLOCK_TRY(const auto source, find_source());
    if (!source) {
      return {};
    }
    const auto locked = lock_unit_source(*open_, *source, mode);
    if (!locked || locked->moved) {
      return fail(locked ? moved_source(*locked->moved, locked->entry) : not_accepted(locked.error()));
    }
    MODLOCK_TRY(verify_source(*source, locked->entry));
    if (!locked->change.empty()) {
      MODLOCK_TRY(write_unit_source(*open_, locked->entry));
      lines_.push_back(source_line(locked->entry, locked->change));
    }
    return {};
  }

  Result<void> verify_source(const UnitSourceOptions& options, const std::optional<ModuleLock>& planned = {}) {
    MODLOCK_TRY(const auto verified, verify_unit_source(*open_, options, planned));
    report_diagnostics();
    MODLOCK_TRY(to_result(verified.verdict, options_));
    if (!verified.unanswered) {
      return {};
    }
    Error error = not_answered(*verified.unanswered, options_);
    if (options_.strict || engine_.options().in_ci) {
      return fail(std::move(error));
    }
    reports_.diagnostics({{Severity::warning, std::move(error)}});
    return {};
  }

  // The lock file under version control is elsewhere if Terragrunt copied or generated the unit.
  void warn_of_ignored_lock() const {
    const fs::path kept = UnitLock::kept_place(options_.unit);
    const auto warnings = kept == fs::path(options_.root.root)
                              ? Result<Diagnostics>()
                              : warn_of_ignored_files(find_repository_root(kept), {(kept / kLockFileName).string()},
                                                      engine_.context_for(run_));
    reports_.diagnostics(warnings.value_or(Diagnostics()));
  }

  Result<void> lock_modules(PlanMode mode, bool with_providers = false) {
    messages::LockPlanParams params;
    params.mode = mode;
    params.include.providers = with_providers;
    params.targets = mode == PlanMode::upgrade ? options_.targets : params.targets;
    std::erase(params.targets, kUnitSourceKey);
    const auto plan = plan_root(*open_, params);
    report_diagnostics();
    MODLOCK_TRY(const auto planned, plan);
    auto ok = engine_.apply(options_.root, planned, {.modules = true, .providers = true}, run_);
    report_diagnostics();
    MODLOCK_TRY(ok);
    if (!planned.edits.documents.empty()) {
      MODLOCK_TRY(open_->read_lock_again());
      warn_of_ignored_lock();
    }
    std::ranges::transform(planned.changes, std::back_inserter(lines_), change_line);
    if (!planned.moved.empty()) {
      moved_ = moved_error(planned.moved);
    }
    return {};
  }

  Result<messages::ModulesInstallResult> install() {
    messages::ModulesInstallParams params;
    params.strict = false;  // a hook has no flag to allow Git LFS pointers, so they are a warning
    auto installed = install_root(*open_, params);
    Diagnostics restored = errors_of(run_.diagnostics);
    std::erase_if(run_.diagnostics, [](const Diagnostic& each) { return each.severity == Severity::error; });
    report_diagnostics();
    // After the client has run, what differs is its download.
    return !installed || restored.empty() || options_.is_after ? std::move(installed)
                                                               : fail(combine(std::move(restored)));
  }

  // Lets the client download the calls that need no lock, because `init` gets -get=false. It keeps what is installed.
  Result<Verdicts> get_unlocked() {
    const std::string named = environment_variable("TG_CTX_TF_PATH");
    const std::string client = named.empty() ? open_->root.implementation.command : named;
    const auto got = run_command(
        {.argv = {client, "get", "-no-color", "-update=false"}, .directory = options_.root.root, .keeps_tokens = true},
        open_->context);
    if (!got || got->exit_code != 0) {
      return fail(Error{.code = got ? Code::unreachable : got.error().code,
                        .message = "the client cannot download the calls that are not locked",
                        .notes = {got ? got->error_output : got.error().message},
                        .hint = "run: terragrunt run -- get"});
    }
    return verify_modules();
  }

  // In CI no one reviews a new lock, so nothing is locked.
  Result<void> lock_and_install() {
    const bool in_ci = engine_.options().in_ci;
    const bool has_targets = !options_.targets.empty();
    const bool has_modules = options_.targets.size() != static_cast<std::size_t>(is_source_targeted());
    const PlanMode mode = in_ci                             ? PlanMode::frozen
                          : options_.upgrade || has_modules ? PlanMode::upgrade
                                                            : PlanMode::missing;
    MODLOCK_TRY(open_root(mode == PlanMode::missing ? OpenRoot::Merging::yes : OpenRoot::Merging::no));
    const bool keeps_source = has_targets && !is_source_targeted();
    MODLOCK_TRY(lock_source(in_ci ? mode : keeps_source ? PlanMode::missing : has_targets ? PlanMode::upgrade : mode));
    if (!in_ci) {
      // The client would select providers of any age.
      const Settings& settings = open_->root.walk.settings;
      MODLOCK_TRY(lock_modules(mode, !settings.providers.empty() || settings.requested_age.has_value()));
    }
    open_->refuses_unlocked = in_ci;
    MODLOCK_TRY(const auto installed, install());
    has_unlocked_ = !installed.unlocked.empty();
    return in_ci ? Result<void>() : lock_.give_back(open_->root.data, open_->context);
  }

  // A command that is refused leaves every lock file as it was.
  Result<Verdicts> prepare() {
    MODLOCK_TRY(const auto data, find_data_directory(options_.root.root, options_.root.data_dir));
    MODLOCK_TRY(UnitLock::forget(data));
    MODLOCK_TRY(options_.command == "providers" ? Result<void>() : check_deleted());
    MODLOCK_TRY(lock_.take_over(data, engine_.context_for(run_)));
    if (options_.command == "providers") {
      MODLOCK_TRY(lock_.remember(data));
      return {};
    }
    MODLOCK_TRY(const auto before, lock_.texts());
    if (auto ok = lock_and_install(); !ok) {
      (void)lock_.put_back(before, data, engine_.context_for(run_));
      return fail(std::move(ok.error()));
    }
    std::ranges::for_each(lines_, reports_.change);
    MODLOCK_TRY(moved_ ? fail(*moved_) : lock_.remember(data));
    const bool gets = has_unlocked_ && options_.command == "init" && !open_->context.offline;
    return gets ? get_unlocked() : Verdicts();
  }

  // Writes what the client dropped, and replaces the downloads of `get -update` with the locked versions. If something
  // was not locked, the hook before the command has reported it.
  Result<Verdicts> restore() {
    MODLOCK_TRY(const auto data, find_data_directory(options_.root.root, options_.root.data_dir));
    MODLOCK_TRY(const auto restored, lock_.restore(data, engine_.context_for(run_)));
    for (const auto& [key, entry] : restored) {
      reports_.change(key == kUnitSourceKey ? source_line(entry, "restored")
                                            : fmt::format("module.{}  {}  restored{}", key, locked_text(entry),
                                                          entry.constraints ? "  (" + *entry.constraints + ")" : ""));
    }
    if (options_.command == "providers" || (restored.empty() && options_.command != "get")) {
      return {};
    }
    MODLOCK_TRY(open_root());
    const auto done = install();
    const bool is_reported = !done && (done.error().code == Code::offline_miss || done.error().code == Code::frozen);
    return done || is_reported ? Result<Verdicts>() : fail(done.error());
  }

  Result<Verdicts> verify() {
    if (!options_.is_check) {
      MODLOCK_TRY(check_deleted());
      MODLOCK_TRY(const auto data, find_data_directory(options_.root.root, options_.root.data_dir));
      MODLOCK_TRY(lock_.take_over(data, engine_.context_for(run_)));
    }
    MODLOCK_TRY(open_root());
    MODLOCK_TRY(const auto source, find_source());
    MODLOCK_TRY(source ? verify_source(*source) : Result<void>());
    return verify_modules();
  }

  // Outside CI a call that cannot be locked is only a warning.
  Result<Verdicts> verify_modules() {
    messages::LockVerifyParams params;
    params.include.providers = false;
    auto result = verify_root(*open_, params);
    report_diagnostics();
    MODLOCK_TRY(auto verified, std::move(result));
    std::erase_if(verified.verdicts,
                  [&](const Verdict& verdict) { return verdict.is_unlockable && !engine_.options().in_ci; });
    return std::move(verified.verdicts);
  }

  const Engine& engine_;
  Run& run_;
  const HookOptions& options_;
  const HookReports& reports_;
  const UnitLock lock_;
  const RepositoryFiles files_;
  std::unique_ptr<OpenRoot> open_;  // from open_root() on
  bool has_unlocked_ = false;       // calls that the client has to download
  std::vector<std::string> lines_;  // about changes of the lock file
  std::optional<Error> moved_;      // tags that were moved; the other modules are locked
};

}  // namespace

Result<Verdicts> run_hook(const Engine& engine, Run& run, const HookOptions& options, const HookReports& reports) {
  return Hook(engine, run, options, reports).run();
}

}  // namespace modlock::terragrunt
