#pragma once

#include <json/value.h>

#include <string>
#include <vector>

#include "protocol/messages/config_inspect.h"

namespace modlock {

enum class GraphFormat { mermaid, dot };

// Returns the module calls and the providers of `config/inspect` as a graph. Calls that are locked to one release are
// one node, as are those with one label. Names and sources cannot break the syntax of the format.
std::string module_graph(const messages::ConfigInspectResult& inspected, GraphFormat format);

// Returns the module calls of `config/inspect` in the format 1.0 of `terraform modules -json` (internal/moduleref of
// Terraform 1.10 to 1.16): `key` is the last name of the call, `source` its address, `version` the version of a
// registry module, as in modules.json; modules that only test files call are left out. Differences: the calls are
// sorted by path, `modules` is [] instead of null if there are none, and `source` has no secrets. In addition each call
// has `path` (all its names, as in the lock file), `sourceKind`, `locked`, and, if the lock entry has them,
// `lockedVersion` (also of git and OCI modules), `commit` and `digest`. A call that cannot be resolved has the source
// as written, or "".
Json::Value terraform_modules(const std::vector<messages::InspectedModule>& modules);

// Returns whether the source of a call can be locked: it is neither a local module nor a directory of this machine.
bool has_remote_source(const messages::InspectedModule& module);

}  // namespace modlock
