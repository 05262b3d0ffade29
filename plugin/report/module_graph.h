#pragma once

#include <string>

#include "protocol/messages/config_inspect.h"

namespace modlock {

enum class GraphFormat { mermaid, dot };

// Returns the module calls and the providers of `config/inspect` as a graph. Calls that are locked to one release are
// one node, as are those with one label. Names and sources cannot break the syntax of the format.
std::string module_graph(const messages::ConfigInspectResult& inspected, GraphFormat format);

}  // namespace modlock
