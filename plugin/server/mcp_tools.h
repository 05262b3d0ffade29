#pragma once

#include <json/value.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/rpc/method_table.h"

namespace modlock {

// What the tools of an MCP server may read.
struct McpRoots {
  std::vector<std::string> directories;  // absolute, without links: a root module is in one of these, or one of them
  // Returns the params of each method for a root module. Errors: CONFIG_PARSE (it has no configuration).
  std::function<Result<Json::Value>(const std::string& root)> params;
};

// Returns the list of tools, as `tools/list` sends it. All of them only read.
Json::Value mcp_tools();
// Returns whether there is a tool with this name.
bool has_mcp_tool(std::string_view name);

// Calls the method of a tool, and returns its result. `arguments` is an object, or null for an empty one. Errors:
// INVALID_PARAMS (an unknown argument; `root` is not absolute, or not in one of the directories); those of
// McpRoots::params and of the method.
Result<Json::Value> call_mcp_tool(const MethodTable& methods, const McpRoots& roots, std::string_view name,
                                  const Json::Value& arguments, RequestContext& request);

}  // namespace modlock
