#pragma once

#include <string>

#include "plugin/resolve/module_tree.h"

namespace modlock {

// What kinds of sources differ in where calls are resolved.

// Whether the call gets a version out of a list: it has a constraint, or comes from a registry, which offers nothing
// else.
bool chooses_version(const ModuleNode& node);

// Whether the source itself names an immutable id: a git commit (abbreviated ones too), an OCI digest.
bool names_id(const ModuleNode& node);

// The reference that the source names, in its own spelling: `?ref=`, `?tag=`; empty: its default.
std::string named_reference(const Source& source);

// Whether a locked id can be fetched without the tag that it had: a digest proves itself, a registry is asked for the
// version. A git commit has to lie on a branch or tag, and asking for the one it had is the cheapest proof.
bool needs_locked_tag(const Source& source);

// Whether a reference may move without anybody breaking a promise: a branch, HEAD, OpenTofu's default tag `latest`.
bool may_move(const Source& source, const std::string& ref);

}  // namespace modlock
