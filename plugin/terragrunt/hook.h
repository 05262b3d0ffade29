#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/engine/engine.h"
#include "plugin/terragrunt/unit_source_lock.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// A call by Terragrunt: before or after which command of the client, and for which unit.
struct HookOptions {
  std::string command;  // of the client: "init", "plan"
  bool is_after = false;
  bool upgrade = false;              // `init -upgrade`
  messages::RootParams root;         // the working directory
  std::filesystem::path unit;        // absolute, symbolic links resolved
  std::filesystem::path downloaded;  // the directory of the downloaded source, which contains the working directory
  UnitSourceRules source_rules;
};

// Receives reports while a hook runs.
class HookReporter {
 public:
  virtual ~HookReporter() = default;
  virtual void change(const std::string& text) = 0;  // one line for each lock entry that changes
  virtual void diagnostics(const Diagnostics& diagnostics) = 0;
};

// Installed content that differs from the locked content; empty: no problems.
using WrongVerdicts = std::vector<messages::Verdict>;

// Runs the hook. Before `init` and `get` it locks missing entries (with `upgrade`: newer versions) and installs; in CI
// it locks nothing. After them, and after `providers lock`, it restores the entries that the client has dropped. Before
// commands that use modules it verifies what is installed. Errors: those of Engine::plan(), apply(), install() and
// verify(), of UnitSourceLock and of UnitLock; HASH_MISMATCH if tags were moved (moved_error()).
Result<WrongVerdicts> run_hook(const Engine& engine, const RunOptions& run_options, const HookOptions& options,
                               HookReporter& reporter);

// Returns the directory of the downloaded source that contains `working_directory`, or `working_directory` if there is
// none.
std::filesystem::path find_downloaded_source(const std::filesystem::path& working_directory);

}  // namespace modlock::terragrunt
