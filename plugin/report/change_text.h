#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"
#include "protocol/messages/lock_plan.h"

namespace modlock {

// The texts for a change of a plan.
struct ChangeText {
  std::string what;  // "1.0.0 -> 1.1.0", "1.0.0", "removed (was 1.0.0)"
  std::string note;  // "adopted  (~> 1.0)", "renamed from module.net", ""
};
ChangeText change_text(const messages::Change& change);
// Returns a change as a line: "module.vpc  1.0.0 -> 1.1.0  (~> 1.0)".
std::string change_line(const messages::Change& change);

// Returns one side of a change: "3.19.0", "main (1a2b3c4d5e6f)", "commit 1a2b3c4d5e6f", "its content".
std::string side_text(const std::optional<messages::ChangeSide>& side);

// Returns the text as a code span of Markdown, which it cannot end, and in which no host looks for people, issues and
// addresses. Characters that move or hide others are escaped, line endings are spaces. Empty: an empty text.
std::string code_span(std::string_view untrusted);

// Returns the changes of a plan as Markdown for the text of a pull request; empty if nothing changes.
std::string plan_markdown(const messages::LockPlanResult& result);

// Returns HASH_MISMATCH for module calls whose tag was moved at the source. Their lock entries are kept.
Error moved_error(const std::vector<messages::HeldMove>& moved);

}  // namespace modlock
