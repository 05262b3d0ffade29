#pragma once

#include <string>
#include <string_view>

#include "plugin/resolve/module_tree.h"

namespace modlock {

// What kinds of sources differ in where calls are resolved.

// Whether the call gets a version out of a list: it has a constraint, or comes from a registry, which offers nothing
// else.
bool chooses_version(const ModuleNode& node);

// Calls with the same text get one version, where `resolution` says so.
std::string version_group(const ModuleNode& node, Resolution resolution);

// The reference that the source names, in its own spelling: `?ref=`, `?tag=`, `?rev=`; empty: its default.
std::string named_reference(const Source& source);

// Whether a reference may move without anybody breaking a promise: a branch, HEAD, OpenTofu's default tag `latest`,
// what an external backend does not call a tag.
bool may_move(const Source& source, const std::string& ref);

// Whether a reference may give something else without anybody breaking a promise: a branch, HEAD, `latest`, and a
// partial version ("v1", "nested/v1.2"). `ref` is what Pin::ref says.
bool is_expected_to_move(const Source& source, std::string_view ref);

}  // namespace modlock
