#include "plugin/server/mcp_tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "plugin/engine/root_request.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct ToolArgument {
  const char* name;
  const char* schema;  // without `description`
  const char* what;
  bool is_required = false;
};

struct Tool {
  const char* name;
  const char* method;  // of the protocol; the arguments are its params
  const char* what;
  std::vector<ToolArgument> arguments;  // besides `root`
};

constexpr const char* kArgumentsHint = "tools/list shows the arguments";
constexpr const char* kText = R"({"type":"string"})";
constexpr const char* kFlag = R"({"type":"boolean"})";
constexpr ToolArgument kSubject{"subject", kText, "a module call of the configuration: module.vpc, module.vpc.nested",
                                true};

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      {"inspect",
       "config/inspect",
       "Module calls and providers of a root module, with the version, commit or digest that the lock file has. Use "
       "these versions. Reads only files.",
       {}},
      {"versions",
       "versions/list",
       "The versions that the source of a module call offers, newest first, and the one that an upgrade would select.",
       {kSubject}},
      {"explain",
       "lock/explain",
       "Why the lock file has this version of a module or provider.",
       {{"subject", kText, "module.vpc, module.vpc.nested or provider.hashicorp/aws", true}}},
      {"verify",
       "lock/verify",
       "Whether the lock file matches the configuration and the installed modules.",
       {{"online", kFlag, "also compare with the sources: moved tags and vanished modules"}}},
      {"diff",
       "update/diff",
       "What updates of modules change: variables, providers, provisioners, scripts, and findings with a grade.",
       {{"subjects",
         R"({"type":"array","items":{"type":"object","properties":{"subject":{"type":"string"},)"
         R"("version":{"type":"string"},"from":{"type":"string"}},"required":["subject"],"additionalProperties":false}})",
         "module calls with a new version and an old one; absent: every module call with an update"}}},
      {"lock_plan",
       "lock/plan",
       "The edits that would lock new module calls or, with mode \"upgrade\", newer versions. Writes nothing.",
       {{"mode", R"({"type":"string","enum":["missing","upgrade","frozen"]})", "absent: missing"},
        {"targets", R"({"type":"array","items":{"type":"string"}})", "module calls to upgrade; absent: all of them"}}},
      {"update_plan",
       "update/plan",
       "The edits of configuration and lock file that would change modules or providers to these versions. Writes "
       "nothing.",
       {{"updates",
         R"({"type":"array","minItems":1,"items":{"type":"object","properties":{"subject":{"type":"string"},)"
         R"("newVersion":{"type":"string"}},"required":["subject","newVersion"],"additionalProperties":false}})",
         "subjects (module.vpc, provider.hashicorp/aws) and their new versions", true}}},
  };
  return kTools;
}

const Tool* find_tool(std::string_view name) {
  const auto found = std::find_if(tools().begin(), tools().end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools().end() ? nullptr : &*found;
}

Json::Value schema_of(const ToolArgument& argument) {
  Json::Value schema = parse_json(argument.schema).value();
  schema["description"] = argument.what;
  return schema;
}

Json::Value input_schema(const Tool& tool) {
  Json::Value schema;
  schema["type"] = "object";
  schema["additionalProperties"] = false;
  schema["required"] = Json::arrayValue;
  Json::Value& properties = schema["properties"];
  properties["root"] =
      schema_of({"root", kText,
                 "the absolute directory of the root module, or its file:// URI; may be absent if the server "
                 "has one directory"});
  for (const ToolArgument& argument : tool.arguments) {
    properties[argument.name] = schema_of(argument);
    if (argument.is_required) {
      schema["required"].append(argument.name);
    }
  }
  return schema;
}

bool is_inside(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first == directory.end();
}

Result<std::string> find_root(const McpRoots& roots, const Json::Value& argument) {
  if (argument.isNull() && roots.directories.size() == 1) {
    return roots.directories.front();
  }
  MODLOCK_TRY(const auto path, decode_path("root", argument.isString() ? argument.asString() : ""));
  if (!path.is_absolute()) {
    return fail(Code::invalid_params, "root must be an absolute directory",
                fmt::format("name one in {}", fmt::join(roots.directories, ", ")));
  }
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (error || std::none_of(roots.directories.begin(), roots.directories.end(),
                            [&](const std::string& directory) { return is_inside(root, directory); })) {
    return fail(Code::invalid_params,
                fmt::format("root \"{}\" is not an existing directory that this server may read", argument.asString()),
                fmt::format("name one in {}, or start tofu-modlock mcp with another --root",
                            fmt::join(roots.directories, ", ")));
  }
  return root.string();
}

}  // namespace

Json::Value mcp_tools() {
  Json::Value list = Json::arrayValue;
  for (const Tool& tool : tools()) {
    Json::Value one;
    one["name"] = tool.name;
    one["description"] = tool.what;
    one["inputSchema"] = input_schema(tool);
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
  MODLOCK_TRY(const std::string root, find_root(roots, arguments["root"]));
  MODLOCK_TRY(Json::Value params, roots.params(root));
  for (const std::string& given : arguments.getMemberNames()) {
    const bool is_known = std::any_of(tool.arguments.begin(), tool.arguments.end(),
                                      [&](const ToolArgument& argument) { return argument.name == given; });
    if (is_known) {
      params[given] = arguments[given];
    } else if (given != "root") {
      return fail(Code::invalid_params, fmt::format("{} has no argument \"{}\"", name, given), kArgumentsHint);
    }
  }
  if (name == "versions") {
    // A call, so that no request can name a source that the configuration does not have.
    Json::Value of_call;
    of_call["call"].swap(params);
    params.swap(of_call);
  }
  return methods.call(tool.method, params, request).map_error([](Error error) {
    // An agent has the schema of the tool.
    error.hint = error.hint.starts_with("docs/protocol.md") ? kArgumentsHint : error.hint;
    return error;
  });
}

}  // namespace modlock
