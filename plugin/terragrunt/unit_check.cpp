#include "plugin/terragrunt/unit_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/terragrunt/hook.h"
#include "plugin/terragrunt/source_lock.h"
#include "plugin/terragrunt/unit_lock.h"
#include "plugin/terragrunt/unit_source.h"
#include "plugin/update/lookup.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

// A directory of a downloaded source, and the working directory in it.
struct Download {
  fs::path directory;
  fs::path working_directory;
};

struct OpenUnit {
  fs::path path = {};  // symbolic links resolved
  fs::path repository = {};
  std::unique_ptr<Engine> engine = {};  // with the settings of the unit
  std::unique_ptr<OpenRoot> root = {};
  ModuleLocks locked = {};
  FoundSource found = {};
  UnitCall call = {};  // the source; that of the lock entry if it is computed
  // Those of this source. If it is computed, and none is that of the lock entry, all.
  std::vector<Download> downloads = {};
};

// Returns the parameters of a directory in which the lock files of the unit apply, not those of a package.
messages::RootParams with_locks_of(const fs::path& unit, const fs::path& root, messages::RootParams params) {
  params.root = root.string();
  for (const std::string_view name : {kLockFileName, kSidecarFileName}) {
    if (const auto text = read_file(UnitLock::kept_place(unit) / name);
        text || (root != unit && read_file(root / name))) {
      params.documents.push_back({std::string(name), text.value_or("")});
    }
  }
  return params;
}

// A local source has no version that can be computed. Neither has a unit without one, which is its own.
std::vector<Download> find_downloads(const OpenUnit& unit, const std::vector<DownloadName>& names) {
  const bool is_local = unit.found.is_known && !unit.call.node;
  std::vector<Download> own;
  std::vector<Download> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache_of(unit.path), ignored)) {
    const auto version = read_file(entry.path() / kVersionFile);
    const DownloadName* name = find_where(names, [&](const DownloadName& each) {
      return entry.path().filename() == each.directory && version && (is_local || *version == each.version);
    });
    if (name != nullptr) {
      own.push_back({entry.path(), name->subdir.empty() ? entry.path() : entry.path() / name->subdir});
    } else if (version) {
      all.push_back({entry.path(), entry.path()});
    }
  }
  return own.empty() && !unit.found.is_known ? all : own;
}

Result<OpenUnit> open_unit(const Engine& engine, Run& run, const messages::RootParams& params) {
  std::error_code ignored;
  OpenUnit unit{.path = fs::weakly_canonical(params.root, ignored)};
  unit.repository = find_repository_root(unit.path);
  EngineOptions options = engine.options();
  options.settings_place = SettingsDirectories{unit.path, unit.repository};
  unit.engine = std::make_unique<Engine>(std::move(options));
  MODLOCK_TRY(unit.engine->open());
  MODLOCK_TRY(unit.root, OpenRoot::open(*unit.engine, run, with_locks_of(unit.path, unit.path, params), {}));
  const ClientKind tool = unit.root->root.walk.tool;
  MODLOCK_TRY(unit.found, find_unit_source(unit.path, "", tool, unit.repository));
  unit.locked = unit.root->lock.modules();
  std::optional<UnitSource> source = unit.found.source;
  std::vector<DownloadName> names;
  if (const ModuleLock* entry = find_in(unit.locked, kUnitSourceKey)) {
    names = download_names(*entry, tool);
    source = unit.found.is_known ? source : source_of(*entry);
  }
  if (auto own = unit.found.is_known ? download_name(unit.found, unit.path) : std::nullopt) {
    names.push_back(std::move(*own));
  }
  MODLOCK_TRY(unit.call, call_of_unit(*unit.root, source));
  unit.downloads = find_downloads(unit, names);
  return unit;
}

// A hook of modlock.hcl.
struct OwnHook {
  std::string_view name;
  std::string_view type;
  std::span<const std::string_view> commands;
  bool is_in_shell = false;  // which may end without a start of tofu-modlock
};
constexpr std::array<OwnHook, 4> kHooks = {{
    {"modlock_place", "after_hook", {&kReadConfig, 1}, true},
    {"modlock_install", "before_hook", kLocking},
    {"modlock_restore", "after_hook", kLocking, true},
    {"modlock_verify", "before_hook", kUsing},
}};

// Returns whether a hook runs the program for this unit, and not another program with these arguments.
bool starts_program(std::vector<std::string> words, const OwnHook& hook, const OpenUnit& unit) {
  if (hook.is_in_shell && words.size() > 2 && words[0] == "sh" && words[1] == "-c") {
    return words[2].find("modlock hook ") != std::string::npos;
  }
  std::erase(words, "--strict");
  if (const auto at = std::find(words.begin(), words.end(), "--allow-unchecked-source"); words.end() - at > 1) {
    words.erase(at, at + 2);
  }
  if (words.size() != 6 || fs::path(words[0]).filename() != "tofu-modlock") {
    return false;
  }
  words.front() = unit.repository.empty() ? words.back() : unit.repository.string();
  return words ==
         std::vector<std::string>{words.front(), "hook", "--unit", unit.path.string(), "--root", words.front()};
}

// Returns whether the unit runs the hook; nullopt: a file that may have it cannot be read. The first file that has a
// hook wins, and in it the last one.
std::optional<bool> runs_hook(const UnitConfig& config, const OwnHook& hook, const OpenUnit& unit) {
  for (const UnitFile& file : config.files()) {
    if (file.path.empty()) {
      return std::nullopt;
    }
    std::optional<bool> runs;
    for (const hcl::Block& block : block_in(file.parsed.body, "terraform").blocks) {
      if (block.type == hook.type && !block.labels.empty() && block.labels.front().text == hook.name) {
        const auto commands = texts_in(config.value_of(file, block.body.find("commands"), true));
        const auto has = [&](std::string_view command) { return contains(commands, command); };
        runs = block.body.find("if") == nullptr && block.body.find("working_dir") == nullptr &&
               std::ranges::all_of(hook.commands, has) &&
               starts_program(texts_in(config.value_of(file, block.body.find("execute"), true)), hook, unit);
      }
    }
    if (runs) {
      return runs;
    }
  }
  return false;
}

Result<void> check_hooks(const OpenUnit& unit, Diagnostics& found) {
  MODLOCK_TRY(const auto config, UnitConfig::read(unit.path, unit.repository, {}));
  std::string missing;
  bool is_sure = true;  // in CI, doubt is an error
  for (const OwnHook& hook : kHooks) {
    if (const auto runs = runs_hook(config, hook, unit); !runs.value_or(false)) {
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", hook.name);
      is_sure = is_sure && runs;
    }
  }
  if (!missing.empty()) {
    const bool is_error = is_sure || unit.engine->options().in_ci;
    found.push_back({is_error ? Severity::error : Severity::warning,
                     {.code = is_error ? Code::frozen : Code::config_non_static,
                      .message = fmt::format(
                          "the unit {} {} the hooks of tofu-modlock: {}", unit.path.string(),
                          is_sure ? "does not run" : "includes a file that cannot be read, perhaps with", missing),
                      .subject = std::string(kUnitSourceKey),
                      .hint = is_sure ? "include the modlock.hcl of this version in terragrunt.hcl, and do not "
                                        "override its hooks"
                                      : "include modlock.hcl after this file"}});
  }
  return {};
}

// Adds the result of the checks before `plan`.
Result<void> check_download(const OpenUnit& unit, const Download& download, const messages::RootParams& params,
                            Run& run, messages::LockVerifyResult& result) {
  const HookReports reports{.change = [](const std::string&) {},
                            .diagnostics = [&](const Diagnostics& found) { append(result.diagnostics, found); }};
  auto verdicts = run_hook(*unit.engine, run,
                           {.command = "plan",
                            .root = with_locks_of(unit.path, download.working_directory, params),
                            .unit = unit.path,
                            .repository = unit.repository,
                            .downloaded = download.directory,
                            .is_check = true},
                           reports);
  if (!verdicts) {
    Error error = std::move(verdicts.error());
    error.hint = unit.found.is_known ? error.hint : "run: terragrunt init";
    return fail(std::move(error));
  }
  std::ranges::move(*verdicts, std::back_inserter(result.verdicts));
  return {};
}

}  // namespace

bool is_unit(const fs::path& directory) {
  if (!path_exists(directory / "terragrunt.hcl")) {
    return false;
  }
  const auto found = has_configuration(directory)
                         ? find_unit_source(directory, "", ClientKind::opentofu, find_repository_root(directory))
                         : FoundSource{.is_known = false};
  return !found || !found->is_known || found->source;
}

bool runs_copy(const fs::path& directory) {
  std::error_code ignored;
  const fs::path unit = fs::weakly_canonical(directory, ignored);
  const auto name = download_name(FoundSource(), unit);
  return path_exists(unit / "terragrunt.hcl") && has_configuration(unit) && !is_unit(unit) &&
         path_exists(cache_of(unit) / name->directory / kVersionFile);
}

namespace {

Result<messages::LockVerifyResult> check_unit(const Engine& engine, const messages::LockVerifyParams& params,
                                              Run& run) {
  MODLOCK_TRY(const auto unit, open_unit(engine, run, params.root));
  messages::LockVerifyResult result{.is_of_terragrunt = true};
  const auto& node = unit.call.node;
  if (node) {
    result.verdicts.push_back(find_entry(*node, unit.locked));
  }
  if (node || !unit.found.is_known || !unit.locked.empty()) {
    MODLOCK_TRY(check_hooks(unit, result.diagnostics));
  }
  const bool is_checked = (!node || result.verdicts.front().kind == VerdictKind::held) && !unit.call.unchecked;
  for (const Download& download : is_checked ? unit.downloads : std::vector<Download>()) {
    MODLOCK_TRY(check_download(unit, download, params.root, run, result));
  }
  if (unit.call.unchecked || (!unit.found.is_known && unit.downloads.empty())) {
    result.diagnostics.push_back(
        {Severity::warning,
         {.code = Code::config_non_static,
          .message = fmt::format("the source of the unit {} is not checked: {}", unit.path.string(),
                                 unit.call.unchecked ? unit.call.unchecked->message : "only Terragrunt can compute it"),
          .subject = std::string(kUnitSourceKey),
          .hint = unit.call.unchecked ? "" : "run: terragrunt init"}});
  }
  result.ok = exit_code(result.verdicts, {}) == 0;
  run.diagnostics = result.diagnostics;
  return result;
}

// Returns the result for the copy. What is not installed in the unit itself has the verdict of the copy, if that has
// one. All else in the unit that is worse than the copy stays: a checkout can contain a copy, which hides nothing.
Result<messages::LockVerifyResult> check_copy(const Engine& engine, const messages::LockVerifyParams& params,
                                              messages::LockVerifyResult own, Run& run) {
  MODLOCK_TRY(const auto unit, open_unit(engine, run, params.root));
  if (unit.downloads.empty()) {
    return own;
  }
  messages::LockVerifyParams of_copy = params;
  of_copy.root = with_locks_of(unit.path, unit.downloads.front().working_directory, params.root);
  MODLOCK_TRY(auto copy, unit.engine->verify(of_copy, run));
  copy.is_of_terragrunt = true;
  for (Verdict& verdict : own.verdicts) {
    const bool is_in_copy = std::ranges::count(copy.verdicts, verdict.subject, &Verdict::subject) != 0;
    if (verdict.kind == VerdictKind::missing && !is_in_copy) {
      copy.verdicts.push_back(verdict);
    }
  }
  std::erase_if(own.verdicts, [](const Verdict& verdict) { return verdict.kind == VerdictKind::missing; });
  const int code = exit_code(copy.verdicts, copy.diagnostics);
  if (const int of_own = exit_code(own.verdicts, own.diagnostics); worse_exit_code(code, of_own) != code) {
    run.diagnostics = own.diagnostics;
    return own;
  }
  copy.ok = code == 0;
  return copy;
}

}  // namespace

Result<messages::LockVerifyResult> check(const Engine& engine, const messages::LockVerifyParams& params, Run& run) {
  if (is_unit(params.root.root)) {
    return check_unit(engine, params, run);
  }
  MODLOCK_TRY(auto own, engine.verify(params, run));
  return runs_copy(params.root.root) ? check_copy(engine, params, std::move(own), run) : std::move(own);
}

Result<messages::UpdateLookupResult> look_up_unit(const Engine& engine, const messages::UpdateLookupParams& params,
                                                  Run& run) {
  MODLOCK_TRY(auto unit, open_unit(engine, run, params.root));
  OpenRoot& root = *unit.root;
  ModuleTree tree;
  if (unit.call.node) {
    tree.nodes.emplace(kUnitSourceKey, *unit.call.node);
  }
  const auto providers = root.network().provider_source(unit.path);
  MODLOCK_TRY(auto result, look_up({.tree = tree,
                                    .modules = unit.locked,
                                    .providers = {},
                                    .default_host = default_registry(root.root.walk.tool),
                                    .settings = root.root.walk.settings},
                                   root.fetcher(), *providers, root.context));
  for (messages::LookedUpDependency& dependency : result.dependencies) {
    dependency.subject = kUnitSourceKey;
  }
  for (const Download& download : unit.downloads) {
    MODLOCK_TRY(auto more,
                unit.engine->lookup({.root = with_locks_of(unit.path, download.working_directory, params.root)}, run));
    std::ranges::move(more.dependencies, std::back_inserter(result.dependencies));
    append(result.diagnostics, more.diagnostics);
  }
  std::erase_if(result.dependencies, [&](const auto& dependency) {
    return !params.subjects.empty() && !contains(params.subjects, dependency.subject);
  });
  run.diagnostics = result.diagnostics;
  return result;
}

}  // namespace modlock::terragrunt
