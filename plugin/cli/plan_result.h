#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugin/cli/over_roots.h"

namespace modlock::cli {

// What commands do with the result of `lock/plan` or `update/plan`.

// Prints its changes, with --dry-run as a unified diff too, and what to do with them.
void print_plan(const CommandLine& line, const std::string& root, const messages::LockPlanResult& result,
                const Diagnostics& diagnostics);

// HASH_MISMATCH for the module calls of `moved` in the result: each keeps what is locked.
Error moved_error(const std::vector<messages::HeldMove>& moved);

// "module.vpc  1.0.0 -> 1.1.0  (~> 1.0)": one change of a result, for people.
std::string change_line(const messages::Change& change);

// Its changes as Markdown for the text of a change request; empty where nothing changes.
std::string plan_markdown(const messages::LockPlanResult& result);

// "3.19.0", "main at commit 1a2b3c4d5e6f", "commit 1a2b3c4d5e6f", "its content": a side of a change.
std::string side_text(const std::optional<messages::ChangeSide>& side);

}  // namespace modlock::cli
