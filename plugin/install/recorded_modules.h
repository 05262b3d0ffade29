#pragma once

#include <functional>
#include <optional>

#include "backends/base/context.h"
#include "plugin/install/data_directory.h"
#include "plugin/resolve/plan.h"
#include "protocol/base/result.h"

namespace modlock {

// PlanRequest::recorded for a data directory: what a client installed for a call, where its record has the source of
// the call (of a git repository with a constraint any reference will do) and its directory is there. The version is the
// record's, of registry modules alone; the commit is what is checked out in the tree, or where a client copied it
// without its `.git` from that of another call, in that one. `context` outlives the function.
// Errors: those of read_manifest(); IO_ERROR too for a record whose version is none.
Result<std::function<std::optional<InstalledRecord>(const ModuleNode&)>> find_installed_records(
    const DataDirectory& data, const Context& context);

}  // namespace modlock
