#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"
#include "protocol/messages/lock_verify.h"

namespace modlock {

using messages::Verdict;
using messages::VerdictKind;

// What a verdict is for people and programs.
struct VerdictTraits {
  std::optional<Code> code;    // whose exit code it has; nullopt: 0
  std::string_view sentence;   // of its rule in SARIF; empty: it has none
  std::string_view reason;     // in a table, instead of a long detail
  Hint hint;                   // empty: none, or one that depends on the source (denied)
  std::string_view installed;  // whether the locked version is installed, in a table
  bool needs_install = false;  // `install` or the client ends it
};
const VerdictTraits& traits(VerdictKind kind);

int exit_code(VerdictKind kind);
// Returns the exit code of `verify` for one root: that of the worst verdict or error.
int exit_code(const std::vector<Verdict>& verdicts, const Diagnostics& diagnostics);

// Sets kind and detail of a verdict, and returns it.
Verdict& judge(Verdict& verdict, VerdictKind kind, std::string detail);

// Returns the worse verdict, with the detail of the other added to its own, and the paths of the other if it has none.
Verdict merge(Verdict left, Verdict right);

}  // namespace modlock
