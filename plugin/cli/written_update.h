#pragma once

#include <string>
#include <vector>

#include "plugin/cli/plan_result.h"

namespace modlock::cli {

using Texts = std::vector<messages::Document>;

// A plan that was written, and the differences between the packages before and after it.
struct WrittenUpdate {
  Result<messages::LockPlanResult> result;
  CallDetails details = {};
  Result<messages::UpdateDiffResult> diff = {};
  std::string notes = {};       // about subjects that are not updated
  bool is_planned = true;       // false: no subject has a newer version
  bool is_since_commit = true;  // the lock files were those of the last commit before
};

// Writes a plan as write_plan() does, and compares the packages, except for `lock`. `committed` are earlier texts of
// files that were changed before this command.
WrittenUpdate write_update(const CommandLine& line, const Host& host, const std::string& root, AskedPlan asked,
                           const Texts& committed = {});

// Prints which modules have changes to read, and the command that prints them. `preview` is that of a dry run.
void print_diff_summary(const CommandLine& line, const std::string& root, const WrittenUpdate& written,
                        const std::string& preview = {});

}  // namespace modlock::cli
