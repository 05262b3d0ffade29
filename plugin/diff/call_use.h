#pragma once

#include <map>
#include <span>
#include <string>

#include "plugin/config/module_call.h"
#include "plugin/diff/package_diff.h"

namespace modlock {

// Returns what a calling module uses of its module calls, by their names: the arguments that it sets, and the outputs
// that its files reference. `directory` is that of the calling module; locations begin with it.
std::map<std::string, CallUse> find_call_uses(std::span<const ModuleCallSyntax> calls,
                                              std::span<const ConfigText> files, const std::string& directory);

}  // namespace modlock
