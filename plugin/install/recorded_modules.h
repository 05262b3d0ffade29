#pragma once

#include <functional>
#include <optional>

#include "backends/base/context.h"
#include "plugin/install/data_directory.h"
#include "plugin/resolve/plan.h"
#include "protocol/base/result.h"

namespace modlock {

// Returns PlanRequest::recorded for a data directory: what a client installed for a call if the record has the source
// of the call (a git source with a constraint may have any reference) and the directory exists. The version is that of
// the record and only for registry modules. The commit is the one that is checked out in the directory. If a client
// copied the directory without `.git` from that of another call, it is the commit there. `context` outlives the
// function. Errors: those of read_manifest(); IO_ERROR for a record with an invalid version.
Result<std::function<std::optional<InstalledRecord>(const ModuleNode&)>> find_installed_records(
    const DataDirectory& data, const Context& context);

}  // namespace modlock
