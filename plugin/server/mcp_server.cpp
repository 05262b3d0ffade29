#include "plugin/server/mcp_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include "backends/base/build_info.h"
#include "backends/base/files.h"
#include "plugin/engine/open_root.h"
#include "protocol/base/json.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/openrpc.h"
#include "protocol/rpc/line_reader.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStateless = "2026-07-28";
// With a handshake, the newest first.
constexpr std::array<std::string_view, 2> kVersions = {"2025-11-25", "2025-06-18"};
constexpr const char* kVersionMember = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesMember = "io.modelcontextprotocol/clientCapabilities";
constexpr int kUnsupportedVersion = -32022;
constexpr int kCacheMilliseconds = 3'600'000;  // the list of tools changes only with the program
constexpr const char* kInstructions =
    "Versions, commits and digests of OpenTofu and Terraform modules and providers, from lock files. Take versions "
    "from inspect or versions instead of guessing them. Nothing is written: apply the edits of a plan with "
    "tofu-modlock "
    "update, upgrade or lock.";

Json::Value server_info() {
  Json::Value info;
  info["name"] = "tofu-modlock";
  info["version"] = std::string(kVersion);
  return info;
}

// What servers say of themselves in both forms.
Json::Value description() {
  Json::Value result;
  result["capabilities"]["tools"] = Json::objectValue;
  result["instructions"] = kInstructions;
  return result;
}

Json::Value initialize_result(const Json::Value& params) {
  Json::Value result = description();
  result["serverInfo"] = server_info();
  const auto wanted = string_member(params, "protocolVersion");
  const bool is_spoken = wanted && std::ranges::find(kVersions, *wanted) != kVersions.end();
  result["protocolVersion"] = is_spoken ? *wanted : std::string(kVersions.front());
  return result;
}

Json::Value discover_result() {
  Json::Value result = description();
  result["supportedVersions"].append(kStateless);
  for (const std::string_view version : kVersions) {
    result["supportedVersions"].append(std::string(version));
  }
  result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
  return result;
}

// Members that stateless results have in addition.
Json::Value completed(Json::Value result, bool may_be_cached) {
  result["resultType"] = "complete";
  if (may_be_cached) {
    result["ttlMs"] = kCacheMilliseconds;
    result["cacheScope"] = "public";
  }
  return result;
}

std::string unsupported_version(const std::string& id, const std::string& requested) {
  Json::Value error;
  error["code"] = kUnsupportedVersion;
  error["message"] = fmt::format("the protocol version \"{}\" is not supported", requested);
  error["data"]["supported"].append(kStateless);
  error["data"]["requested"] = requested;
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", id, write_json(error));
}

Json::Value tool_result(const Result<Json::Value>& called, const Json::Value& error_data) {
  Json::Value result;
  result["isError"] = !called;
  Json::Value& structured = result["structuredContent"];
  if (called) {
    structured = *called;
  } else {
    structured["error"] = to_json(called.error(), error_data);
  }
  Json::Value text;
  text["type"] = "text";
  text["text"] = write_json(structured);
  result["content"].append(std::move(text));
  return result;
}

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
  return std::ranges::find(tool.arguments, name) != tool.arguments.end();
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
  if (error || std::ranges::none_of(roots.directories,
                                    [&](const std::string& allowed) { return is_inside(directory, allowed); })) {
    return fail(
        Code::invalid_params,
        fmt::format("{} \"{}\" is not an existing directory that this server may read", name, argument.asString()),
        fmt::format("name one in {}, or start tofu-modlock mcp with another --root",
                    fmt::join(roots.directories, ", ")));
  }
  return directory.string();
}

// As `tools/list` sends it.
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

// `arguments` is an object, or null for an empty one.
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

}  // namespace

McpServer::McpServer(const MethodTable& methods, const McpRoots& roots, Log& log,
                     std::function<void(std::string line)> send)
    : methods_(methods), roots_(roots), log_(log), send_(std::move(send)), pool_({}) {}

McpServer::~McpServer() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, stop] : running_) {
    stop.request_stop();
  }
}

void McpServer::handle_line(std::string_view line) {
  Incoming incoming = parse_incoming(line);
  if (incoming.is_batch) {
    send_(encode_error("null", Error{.code = Code::invalid_request, .message = "batches are not supported"}));
    return;
  }
  for (Message& message : incoming.messages) {
    handle(std::move(message));
  }
}

void McpServer::handle_too_large() {
  send_(encode_error("null", Error{.code = Code::message_too_large,
                                   .message = fmt::format("a line was longer than {} bytes and was discarded",
                                                          kDefaultMaxMessageBytes),
                                   .hint = "send less at once"}));
}

void McpServer::handle(Message message) {
  switch (message.kind) {
    case Message::Kind::ignored:
      return;
    case Message::Kind::invalid:
      send_(encode_error(message.id ? message.id->token : "null", message.error));
      return;
    case Message::Kind::notification:
      if (message.method == "notifications/cancelled") {
        cancel(message.params["requestId"]);
      }
      return;
    case Message::Kind::request:
      break;
  }
  const std::string id = message.id->token;
  const auto version = string_member(message.params["_meta"], kVersionMember);
  if (version && *version != kStateless) {
    send_(unsupported_version(id, *version));
    return;
  }
  if (version && !message.params["_meta"][kCapabilitiesMember].isObject()) {
    send_(encode_error(
        id, Error{.code = Code::invalid_params,
                  .message = fmt::format("expected an object at params._meta[\"{}\"]", kCapabilitiesMember)}));
    return;
  }
  if (message.method == "tools/call") {
    start_tool(std::move(message), version.has_value());
    return;
  }
  const auto result = answer(message, version.has_value());
  send_(result ? encode_result(id, write_json(*result)) : encode_error(id, result.error()));
}

Result<Json::Value> McpServer::answer(const Message& message, bool is_stateless) const {
  if (message.method == "tools/list") {
    Json::Value result;
    result["tools"] = mcp_tools();
    return is_stateless ? completed(std::move(result), true) : result;
  }
  if (is_stateless && message.method == "server/discover") {
    return completed(discover_result(), true);
  }
  if (!is_stateless && message.method == "initialize") {
    return initialize_result(message.params);
  }
  if (!is_stateless && message.method == "ping") {
    return Json::Value(Json::objectValue);
  }
  return fail(Code::method_not_found, fmt::format("no method \"{}\"", message.method));
}

void McpServer::start_tool(Message message, bool is_stateless) {
  const std::string id = message.id->token;
  const std::string key = message.id->key;
  const auto name = string_member(message.params, "name");
  if (!name || find_tool(*name) == nullptr) {
    send_(encode_error(id, Error{.code = Code::invalid_params,
                                 .message = name ? fmt::format("no tool \"{}\"", *name)
                                                 : std::string("expected a string at params.name"),
                                 .hint = "tools/list shows the tools"}));
    return;
  }
  std::stop_source stop;
  {
    const std::lock_guard lock(mutex_);
    if (!running_.emplace(key, stop).second) {
      send_(encode_error(id, Error{.code = Code::invalid_request, .message = "another request has this id"}));
      return;
    }
  }
  const bool is_accepted =
      pool_.submit({.key = key, .run = [this, message = std::move(message), is_stateless, token = stop.get_token()] {
                      run_tool(message, is_stateless, token);
                    }});
  if (!is_accepted) {
    const std::lock_guard lock(mutex_);
    running_.erase(key);
    send_(encode_error(id, Error{.code = Code::server_busy,
                                 .message = "too many requests are waiting",
                                 .hint = "send it again after other requests were answered"}));
  }
}

void McpServer::run_tool(const Message& message, bool is_stateless, const std::stop_token& stop) {
  RequestContext request{.stop = stop, .log = &log_};
  const auto called =
      call_mcp_tool(methods_, roots_, message.params["name"].asString(), message.params["arguments"], request);
  Json::Value result = tool_result(called, request.error_data);
  if (is_stateless) {
    result = completed(std::move(result), false);
  }
  const std::lock_guard lock(mutex_);
  running_.erase(message.id->key);
  if (!stop.stop_requested()) {
    send_(encode_result(message.id->token, write_json(result)));
  }
  ended_.notify_all();
}

void McpServer::cancel(const Json::Value& id) {
  const auto key = parse_message_id(write_json(id));
  const std::lock_guard lock(mutex_);
  if (const auto found = key ? running_.find(key->key) : running_.end(); found != running_.end()) {
    found->second.request_stop();
  }
}

void McpServer::finish(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, at_most, [this] { return running_.empty(); });
}

void serve_mcp(McpServer& server, int in_fd) {
  LineReader reader(in_fd);
  for (Frame frame = reader.read(); frame.kind != Frame::Kind::end; frame = reader.read()) {
    if (frame.kind == Frame::Kind::too_large) {
      server.handle_too_large();
    } else {
      server.handle_line(frame.text);
    }
  }
  server.finish(std::chrono::seconds(2));
}

}  // namespace modlock
