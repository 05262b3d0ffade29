#pragma once

#include "plugin/diff/package_text.h"
#include "protocol/messages/update_diff.h"

namespace modlock {

// Lists the changed files with their lines, and adds a finding for each script or binary that was added, changed or
// made executable: risky if a module that is called may run it, notable in directories of tests, examples and CI whose
// files no string of these modules names.
void summarize_files(const PackageText& before, const PackageText& after, messages::ModuleDiff& out);

}  // namespace modlock
