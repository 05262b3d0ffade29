#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/package/tree_summary.h"
#include "protocol/base/result.h"

namespace modlock::cli {

// What Terragrunt has made of a package: where it put it, where in it the client runs, and the unit, whose files it has
// copied there.
struct DownloadedSource {
  std::filesystem::path directory;
  std::filesystem::path working_directory;
  std::filesystem::path unit;
};

// How the downloaded files differ from the locked ones, as compare_trees() tells what a client would load: those that
// were changed or deleted. Files that the unit puts there count as they are, and so does what Terragrunt has generated.
// Others that were added are not looked for: hooks do that. Errors: IO_ERROR; cancellation.
Result<std::vector<std::string>> differing_files(const TreeSummary& locked, const DownloadedSource& downloaded,
                                                 const Context& context);

}  // namespace modlock::cli
