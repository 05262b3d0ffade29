#include "plugin/server/mcp_tools.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backends/base/files.h"
#include "plugin/engine/root_request.h"
#include "protocol/messages/openrpc.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// A method as a tool. The message of its params describes it and its arguments.
struct Tool {
  const char* name;
  const char* method;
  const char* params;
  std::vector<std::string_view> arguments;  // besides the directory
  const char* call = nullptr;  // the message that has the arguments, as the param `call`; null: the params have them
  const char* directory = "root";  // the argument with the directory
};

constexpr const char* kArgumentsHint = "tools/list shows the arguments";

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      {"roots", "workspace/roots", "WorkspaceRootsParams", {}, nullptr, "directory"},
      {"inspect", "config/inspect", "ConfigInspectParams", {}},
      // A call, so that no request can name a source that the configuration does not have.
      {"versions", "versions/list", "VersionsListParams", {"subject"}, "CallOfRoot"},
      {"explain", "lock/explain", "LockExplainParams", {"subject"}},
      {"verify", "lock/verify", "LockVerifyParams", {"online"}},
      {"diff", "update/diff", "UpdateDiffParams", {"subjects"}},
      {"lock_plan", "lock/plan", "LockPlanParams", {"mode", "targets"}},
      {"update_plan", "update/plan", "UpdatePlanParams", {"updates"}},
  };
  return kTools;
}

bool is_of_root(const Tool& tool) {
  return std::string_view(tool.directory) == "root";
}

bool has_argument(const Tool& tool, std::string_view name) {
  return std::find(tool.arguments.begin(), tool.arguments.end(), name) != tool.arguments.end();
}

const Tool* find_tool(std::string_view name) {
  const auto found = std::find_if(tools().begin(), tools().end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools().end() ? nullptr : &*found;
}

// Replaces references by the types that they name: the schema of a tool stands alone.
void inline_types(Json::Value& schema, const Json::Value& types) {
  if (schema.isObject() && schema.isMember("$ref")) {
    const std::string reference = schema["$ref"].asString();
    schema = types[reference.substr(reference.rfind('/') + 1)];
  }
  if (schema.isObject()) {
    schema.removeMember("title");  // which is for generators
  }
  if (schema.isObject() || schema.isArray()) {
    for (Json::Value& below : schema) {
      inline_types(below, types);
    }
  }
}

Json::Value input_schema(const Tool& tool, const Json::Value& types) {
  Json::Value schema;
  schema["type"] = "object";
  schema["additionalProperties"] = false;
  Json::Value& directory = schema["properties"][tool.directory];
  directory["type"] = "string";
  directory["description"] =
      fmt::format("the absolute directory {}, or its file:// URI; may be absent if the server has one directory",
                  is_of_root(tool) ? "of the root module" : "to search");
  const Json::Value& params = types[tool.call != nullptr ? tool.call : tool.params];
  for (const std::string_view argument : tool.arguments) {
    schema["properties"][std::string(argument)] = params["properties"][std::string(argument)];
  }
  for (const Json::Value& name : params["required"]) {
    if (has_argument(tool, name.asString())) {
      schema["required"].append(name);
    }
  }
  inline_types(schema, types);
  return schema;
}

Result<std::string> find_directory(const McpRoots& roots, const char* name, const Json::Value& argument) {
  if (argument.isNull() && roots.directories.size() == 1) {
    return roots.directories.front();
  }
  MODLOCK_TRY(const auto path, decode_path(name, argument.isString() ? argument.asString() : ""));
  if (!path.is_absolute()) {
    return fail(Code::invalid_params, fmt::format("{} must be an absolute directory", name),
                fmt::format("name one in {}", fmt::join(roots.directories, ", ")));
  }
  std::error_code error;
  const fs::path directory = fs::canonical(path, error);
  if (error || std::none_of(roots.directories.begin(), roots.directories.end(),
                            [&](const std::string& allowed) { return is_inside(directory, allowed); })) {
    return fail(
        Code::invalid_params,
        fmt::format("{} \"{}\" is not an existing directory that this server may read", name, argument.asString()),
        fmt::format("name one in {}, or start tofu-modlock mcp with another --root",
                    fmt::join(roots.directories, ", ")));
  }
  return directory.string();
}

}  // namespace

Json::Value mcp_tools() {
  const Json::Value types = messages::json_schema_document()["definitions"];
  Json::Value list = Json::arrayValue;
  for (const Tool& tool : tools()) {
    Json::Value one;
    one["name"] = tool.name;
    one["description"] = types[tool.params]["description"];
    one["inputSchema"] = input_schema(tool, types);
    one["annotations"]["readOnlyHint"] = true;
    list.append(std::move(one));
  }
  return list;
}

bool has_mcp_tool(std::string_view name) {
  return find_tool(name) != nullptr;
}

Result<Json::Value> call_mcp_tool(const MethodTable& methods, const McpRoots& roots, std::string_view name,
                                  const Json::Value& arguments, RequestContext& request) {
  const Tool& tool = *find_tool(name);
  if (!arguments.isNull() && !arguments.isObject()) {
    return fail(Code::invalid_params, "expected an object at params.arguments", kArgumentsHint);
  }
  MODLOCK_TRY(const std::string directory, find_directory(roots, tool.directory, arguments[tool.directory]));
  Json::Value params;
  params[tool.directory] = directory;
  if (is_of_root(tool)) {
    MODLOCK_TRY(params, roots.params(directory));
  }
  for (const std::string& given : arguments.getMemberNames()) {
    if (has_argument(tool, given)) {
      params[given] = arguments[given];
    } else if (given != tool.directory) {
      return fail(Code::invalid_params, fmt::format("{} has no argument \"{}\"", name, given), kArgumentsHint);
    }
  }
  if (tool.call != nullptr) {
    Json::Value of_call;
    of_call["call"].swap(params);
    params.swap(of_call);
  }
  return methods.call(tool.method, params, request).map_error([](Error error) {
    // An agent has the schema of the tool.
    error.hint = error.reason == Reason::params ? kArgumentsHint : error.hint;
    return error;
  });
}

}  // namespace modlock
