#pragma once

#include <filesystem>

#include "plugin/engine/engine.h"
#include "protocol/base/result.h"

namespace modlock::terragrunt {

// Returns whether the directory is a unit of Terragrunt that runs another module: it has a terragrunt.hcl, and either
// no configuration of its own or a source.
bool is_unit(const std::filesystem::path& directory);

// Returns whether the directory is a root module in place and a unit of Terragrunt: it has configuration and a
// terragrunt.hcl without a source, and Terragrunt has copied it to its cache, as all versions since 1.0 do before they
// run a client.
bool runs_copy(const std::filesystem::path& directory);

// Engine::verify(), where Terragrunt or else a client runs. Without Terragrunt, and without a change of a lock file.
//
// Of a unit (is_unit()), it compares the remote source with its lock entry, and, where Terragrunt's cache below the
// unit has a download of this source, or a copy of a unit without one, its files and the modules in it with the lock
// files. A hook of tofu-modlock that the unit does not run is an error in the diagnostics. A source that only
// Terragrunt can compute is a warning if there is no download. Without a source and a copy there is no verdict. Sends
// no request.
//
// Of a root module that Terragrunt copied (runs_copy()), the result is that for the copy, with the lock files of the
// unit, or that for the directory itself if it is worse. What is only missing there has the verdict of the copy.
//
// Of any other root module, it is that of Engine::verify().
//
// Errors: those of Engine::verify(), OpenRoot::open(), find_unit_source() and run_hook().
Result<messages::LockVerifyResult> check(const Engine& engine, const messages::LockVerifyParams& params, Run& run);

// Engine::lookup() for a unit: for its source, and for the modules in a download of it. Errors: those of
// OpenRoot::open(), find_unit_source() and Engine::lookup().
Result<messages::UpdateLookupResult> look_up_unit(const Engine& engine, const messages::UpdateLookupParams& params,
                                                  Run& run);

}  // namespace modlock::terragrunt
