#pragma once

#include <string>
#include <vector>

#include "backends/base/process.h"

namespace modlock {

// The environment of a child as NAME=value texts: ours, without what the command unsets, with what it sets.
std::vector<std::string> child_environment(const Command& command);

}  // namespace modlock
