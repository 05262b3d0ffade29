#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "plugin/config/source_text.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/value/client_kind.h"
#include "protocol/base/result.h"
#include "protocol/messages/root_params.h"

namespace modlock {

// The source of a package that another program (Terragrunt) downloads for a unit, and in which the client then runs.
struct UnitSource {
  SourceText source = {};                   // as in a module call
  std::optional<std::string> version = {};  // the constraint of a registry module
};

// What Engine::lock_unit_source(), restore_unit_source() and verify_unit_source() have to know about a unit.
struct UnitSourceOptions {
  messages::RootParams root;         // the working directory of the client, which contains the lock file
  std::string key;                   // of the lock entry; contains a colon, as the keys of hosts do
  std::filesystem::path downloaded;  // the directory of the downloaded package
  // Returns the source as this client would understand it; nullopt: there is none. Adds warnings.
  std::function<Result<std::optional<UnitSource>>(ClientKind tool, Diagnostics& warnings)> find_source;
  // Returns whether a file below `downloaded` was replaced on purpose. Such files count as unchanged.
  std::function<bool(const std::filesystem::path& file)> is_replaced;
};

struct LockedUnitSource {
  std::optional<ModuleLock> entry = {};  // nullopt: there is no source that can be locked
  bool was_locked = false;               // the lock file had an entry of this key
  bool is_written = false;               // the lock file was changed
};

}  // namespace modlock
