#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/engine/engine.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// The commands that Terragrunt runs hooks for.
inline constexpr std::string_view kReadConfig = "terragrunt-read-config";
// These may write the lock file; all but `providers` install modules.
inline constexpr std::array<std::string_view, 3> kLocking = {"init", "get", "providers"};
inline constexpr std::array<std::string_view, 6> kUsing = {"plan", "apply", "destroy", "refresh", "import", "test"};

// A call by Terragrunt: before or after which command of the client, and for which unit.
struct HookOptions {
  std::string command;  // of the client: "init", "plan"
  bool is_after = false;
  bool upgrade = false;                   // `init -upgrade`
  std::vector<std::string> targets = {};  // modules to lock again before init, also if their tags were moved
  messages::RootParams root;              // the working directory
  std::filesystem::path unit;             // absolute, symbolic links resolved
  std::filesystem::path repository;       // of the user, which contains the unit
  std::filesystem::path downloaded;      // the directory of the downloaded source, which contains the working directory
  std::string source = {};               // of the unit, if --source specifies it
  std::filesystem::path place = {};      // before the download: the working directory that Terragrunt will use
  bool in_terragrunt = false;            // Terragrunt runs the hook, so it has chosen the directories
  bool is_source_replaced = false;       // by a flag of Terragrunt
  bool allows_unchecked_source = false;  // a source that is not checked is ignored
  bool strict = false;                   // one that is replaced or not supported is an error, as in CI; else a warning
  bool is_check = false;                 // no hook: it runs without Terragrunt, and changes no lock file
};

// Receive reports while a hook runs.
struct HookReports {
  std::function<void(const std::string& text)> change;  // one line for each lock entry that changes
  std::function<void(const Diagnostics& diagnostics)> diagnostics;
};

using Verdicts = std::vector<messages::Verdict>;

// Runs the hook. After `terragrunt-read-config`, before Terragrunt downloads the source of the unit, it puts the locked
// package where Terragrunt would download it to, if nothing is there. Before `init` and `get` it locks missing entries
// (with `upgrade`: newer versions; with `targets`: of these modules) and installs; in CI it locks nothing. After them,
// and after `providers lock`, it restores the entries that the client has dropped. Before commands that use modules it
// verifies what is installed, and returns the verdicts. Errors: those of Engine::plan(), apply(), install(), verify()
// and lock_unit_source(), and of UnitLock; HASH_MISMATCH if tags were moved (moved_error()), or if the downloaded
// source is not the locked one; FROZEN and MISSING if that cannot be determined.
Result<Verdicts> run_hook(const Engine& engine, Run& run, const HookOptions& options, const HookReports& reports);

}  // namespace modlock::terragrunt
