#pragma once

#include "protocol/messages/lock_verify.h"

namespace modlock {

using messages::Verdict;
using messages::VerdictKind;

int exit_code(VerdictKind kind);

// Returns the worse verdict, with the detail of the other added to its own, and the paths of the other if it has none.
Verdict merge(Verdict left, Verdict right);

}  // namespace modlock
