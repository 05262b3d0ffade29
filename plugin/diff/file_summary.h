#pragma once

#include "plugin/diff/package_text.h"

namespace modlock {

// Lists the changed files with their lines, also in PackageText::changed, and adds a finding for each script or binary
// that was added, changed or made executable: risky if a module that is called may run it, notable in directories of
// tests, examples and CI whose files no string of these modules names.
messages::FileSummary summarize_files(PackageText& before, PackageText& after, std::vector<PackageFinding>& findings);

// Leaves one finding for each cause: the same change in other places is named, a script names its users, and what
// another finding says too is dropped.
void join_findings(std::vector<PackageFinding>& findings);

}  // namespace modlock
