#pragma once

#include <filesystem>

#include "plugin/engine/engine.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// Returns whether the directory is a unit of Terragrunt that runs another module: it has a terragrunt.hcl, and either
// no configuration of its own or a source.
bool is_unit(const std::filesystem::path& directory);

// Engine::verify() for a unit, without Terragrunt. It compares the remote source with its lock entry, and, where
// Terragrunt's cache below the unit has a download of this source, the download and the modules in it with the lock
// files. A hook of tofu-modlock that the unit does not run is an error in the diagnostics. A source that only
// Terragrunt can compute is a warning if there is no download. A unit without a source has no verdict. Changes no lock
// file, sends no request. Errors: those of OpenRoot::open(), find_unit_source() and run_hook().
Result<messages::LockVerifyResult> check_unit(const Engine& engine, const messages::LockVerifyParams& params, Run& run);

// Engine::lookup() for a unit: for its source, and for the modules in a download of it. Errors: those of
// OpenRoot::open(), find_unit_source() and Engine::lookup().
Result<messages::UpdateLookupResult> look_up_unit(const Engine& engine, const messages::UpdateLookupParams& params,
                                                  Run& run);

}  // namespace modlock::terragrunt
