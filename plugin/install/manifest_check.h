#pragma once

#include <filesystem>
#include <optional>

#include "plugin/install/manifest.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"

namespace modlock {

// What a client makes of the record that modules.json has of a call, where that is not what the configuration and the
// lock say. It reads a recorded module, a local one too, where the record says, as long as the record has the call's
// source (internal/initwd/module_install.go of OpenTofu), and has it installed anew otherwise:
// - tampered: the record leads to another directory, which is there;
// - missing: of a remote call there is no record that a client would take, or it leads to nothing.
// nullopt: it takes the module from where it is to lie. `entry` is null where the call has none.
std::optional<Verdict> check_manifest_record(const ModuleNode& node, const ModuleLock* entry, const Manifest& manifest,
                                             const std::filesystem::path& root);

}  // namespace modlock
