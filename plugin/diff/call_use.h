#pragma once

#include <span>
#include <string>

#include "plugin/config/module_call.h"
#include "plugin/diff/package_diff.h"

namespace modlock {

// Returns what a calling module uses of a module call: the arguments that it sets, and the outputs that the files of
// the caller reference. `directory` is that of the calling module; locations begin with it.
CallUse find_call_use(const ModuleCallSyntax& call, std::span<const ConfigText> files, const std::string& directory);

}  // namespace modlock
