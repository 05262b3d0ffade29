#pragma once

#include "plugin/resolve/module_tree.h"

namespace modlock {

// What `tool` refuses in how module calls pass provider configurations on, and in references to single instances of
// one: a called module lacks a configuration that its configuration_aliases name, is passed one of another provider,
// one that it configures itself or one that it does not know, or configures providers itself although its call is
// repeated or depends on something. OpenTofu looks at this only where nothing else is wrong, so nothing is reported
// where the tree has errors; calls whose module was not read are passed over. The module of a run block counts as a
// root. Each diagnostic is located in the calling module. Left out: warnings, and the `providers` of run blocks.
Diagnostics check_provider_passing(const ModuleTree& tree, ClientKind tool);

}  // namespace modlock
