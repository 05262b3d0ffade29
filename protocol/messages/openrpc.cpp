#include "protocol/messages/openrpc.h"

#include <fmt/format.h>
#include <json/value.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/base/error.h"
#include "protocol/base/json.h"
#include "protocol/messages/cache.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/describe.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/initialize.h"
#include "protocol/messages/lock_explain.h"
#include "protocol/messages/lock_find.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/lock_verify.h"
#include "protocol/messages/modules_install.h"
#include "protocol/messages/session.h"
#include "protocol/messages/update_diff.h"
#include "protocol/messages/update_lookup.h"
#include "protocol/messages/update_plan.h"
#include "protocol/messages/versions_list.h"
#include "protocol/messages/workspace.h"

namespace modlock {

// Every code as a constant with its meaning.
Json::Value schema_of(const Code*) {
  Json::Value schema(Json::objectValue);
  schema["$ref"] = "#/components/schemas/Code";
  return schema;
}

}  // namespace modlock

namespace modlock::messages {
namespace {

// "config/inspect" -> "ConfigInspect".
std::string type_name(std::string_view name) {
  std::string out;
  bool starts_word = true;
  for (const int c : name) {  // ASCII
    if (std::isalnum(c) == 0) {
      starts_word = true;
    } else {
      out += static_cast<char>(std::exchange(starts_word, false) ? std::toupper(c) : c);
    }
  }
  return out;
}

// Adds a title to each schema without one, because generators name types by it: that of the schema around it and the
// name of the member. Schemas are only a few levels deep.
void add_titles(Json::Value& schema, const std::string& title) {
  if (schema.isMember("$ref")) {
    return;
  }
  if (!schema.isMember("title")) {
    schema["title"] = title;
  }
  const std::string own = schema["title"].asString();
  if (schema.isMember("properties")) {
    Json::Value& properties = schema["properties"];
    for (const std::string& name : properties.getMemberNames()) {
      add_titles(properties[name], own + type_name(name));
    }
  }
  for (const auto& [keyword, name] : {std::pair("items", "Item"), {"additionalProperties", "Value"}}) {
    if (schema.isMember(keyword)) {
      add_titles(schema[keyword], own + name);
    }
  }
  if (schema.isMember("oneOf")) {
    for (Json::Value& choice : schema["oneOf"]) {
      add_titles(choice, own + type_name(choice.get("type", "").asString()));
    }
  }
}

// A method in the documents of the protocol.
struct MethodSchema {
  enum class Kind { request, notification, told };  // `told` are notifications from tofu-modlock
  std::string name;
  std::string summary;
  Kind kind = Kind::request;
  std::vector<Describe::Field> params;
  Json::Value result = {};   // null for notifications
  Json::Value example = {};  // params; null: none
};

using Kind = MethodSchema::Kind;

std::string params_name(const MethodSchema& method) {
  return type_name(method.name) + "Params";
}

std::string result_name(const MethodSchema& method) {
  return type_name(method.name) + "Result";
}

// Writes methods into a list.
class MethodList {
 public:
  explicit MethodList(SchemaTypes& types) : types_(types) {}
  std::vector<MethodSchema> take() && { return std::move(methods_); }

  // A method that is answered at once.
  template <typename Params, typename Result>
  void answered_here(const char* name, const char* summary, const char* example = "") {
    add<Params>(name, summary, Kind::request, example);
    methods_.back().result = Describe::value_schema<Result>(types_, {});
    if (methods_.back().result.isMember("properties")) {
      methods_.back().result["properties"]["_meta"] = Describe::value_schema<ResultMeta>(types_, {});
    }
  }
  // A method that waits for a worker, and therefore has `_meta`.
  template <typename Params, typename Result>
  void method(const char* name, const char* summary, const char* example = "") {
    answered_here<Params, Result>(name, summary, example);
    Describe meta(types_);
    meta.optional("_meta", RequestMeta{}, "a token for progress, a deadline");
    methods_.back().params.push_back(meta.list().front());
    methods_.back().params.back().shared = true;
  }
  // The method `single` for many roots: its params without `root`, and for each root its result without `stats`.
  void over_roots(const char* name, const char* single, const char* summary, const char* example) {
    method<WorkspaceParams, WorkspaceResult>(name, summary, example);
    MethodSchema& many = methods_.back();
    const auto one = std::ranges::find(methods_, single, &MethodSchema::name);
    for (Describe::Field field : one->params) {
      if (field.name != "root" && field.name != "_meta") {
        field.shared = true;
        many.params.insert(many.params.end() - 1, std::move(field));
      }
    }
    Json::Value& items = many.result["properties"]["results"]["items"];
    items["title"] = type_name(name) + "Entry";
    Json::Value& entry = items["properties"];
    for (const std::string& member : one->result["properties"].getMemberNames()) {
      if (member != "stats" && member != "_meta") {
        entry[member] = one->result["properties"][member];
      }
    }
  }
  template <typename Params>
  void notification(const char* name, const char* summary, Kind kind) {
    add<Params>(name, summary, kind, "");
  }

 private:
  template <typename Params>
  void add(const char* name, const char* summary, Kind kind, const char* example) {
    Describe params(types_);
    if constexpr (std::is_same_v<Params, RootParams>) {
      params.include(Params{});
    } else {
      fields(params, Params{});
    }
    methods_.push_back({name, summary, kind, params.list(), {}, parse_json(example).value_or(Json::Value())});
  }

  SchemaTypes& types_;
  std::vector<MethodSchema> methods_;
};

// All methods, the session first, and the types that they name.
std::vector<MethodSchema> list_methods(SchemaTypes& types) {
  MethodList list(types);
  list.answered_here<InitializeParams, InitializeResult>(
      "initialize", "Begins a session and settles what holds for it.",
      R"({"protocolVersions":["1.0"],"clientInfo":{"name":"demo","version":"1"}})");
  list.notification<Nothing>("initialized", "The host has read the result of initialize.", Kind::notification);
  list.answered_here<Nothing, Nothing>("ping", "Answers at once, also before initialize.", "{}");
  list.answered_here<Nothing, AnyObject>("rpc.discover", "The result is this OpenRPC document. Also before initialize.",
                                         "{}");
  list.notification<CancelParams>("$/cancelRequest",
                                  "Cancels a request. It is still answered, usually with REQUEST_CANCELLED.",
                                  Kind::notification);
  list.answered_here<LogLevelParams, Nothing>(
      "log/setLevel", "Sets what is logged from now on. Also taken as a notification.", R"({"level":"debug"})");
  list.answered_here<Nothing, Null>(
      "shutdown",
      "Answers at once. Requests that were received before still run and are answered; later ones are SHUTTING_DOWN.");
  list.notification<Nothing>("exit", "Ends the process: with 0 after shutdown, else with 1.", Kind::notification);
  list.notification<ProgressParams>("$/progress", "How far a request with a progress token is.", Kind::told);
  list.notification<LogMessage>("log/message", "A line of the log, for hosts with the capability logMessage.",
                                Kind::told);

  list.method<RootParams, ConfigInspectResult>(
      "config/inspect",
      "Reads the files of a root module: module calls and providers with the version, commit or digest that is locked, "
      "and constraints on the client version. Never uses the network: calls inside a remote module appear only if its "
      "package is installed or in the cache.",
      R"({"root":"/srv/infra"})");
  list.method<VersionsListParams, VersionsListResult>(
      "versions/list", "The versions that a module source offers, newest first, and the one that a constraint selects.",
      R"({"source":"git::https://example.com/network.git","constraint":"~> 1.2"})");
  list.method<LockPlanParams, LockPlanResult>(
      "lock/plan",
      "What the lock should hold, as edits that the host makes. A call that cannot be resolved means no edits and its "
      "error; an unsupported kind of source stays as it is, with a warning.",
      R"({"root":"/srv/infra","mode":"upgrade","targets":["module.network"]})");
  list.method<LockExplainParams, LockExplainResult>(
      "lock/explain",
      "Explains why a module or a provider has its version: each constraint, its location, "
      "and the versions that it allows.",
      R"({"root":"/srv/infra","subject":"module.network.label"})");
  list.method<LockFindParams, LockFindResult>(
      "lock/find", "Lists the entries of the lock file that are locked to a release, without network access.",
      R"({"root":"/srv/infra","release":"terraform-aws-modules/vpc/aws@5.1.0"})");
  list.method<LockVerifyParams, LockVerifyResult>(
      "lock/verify",
      "Compares the installed modules and providers, and on request the sources, with the lock. Before the client's "
      "init, each provider is missing and ok is false, unless only modules are included.",
      R"({"root":"/srv/infra"})");
  list.method<ModulesInstallParams, ModulesInstallResult>(
      "modules/install",
      "Installs locked packages for an unmodified client. Writes below the data directory, and override files if "
      "requested. FROZEN if a call has no matching entry.",
      R"({"root":"/srv/infra","offline":true})");
  list.method<UpdateDiffParams, UpdateDiffResult>(
      "update/diff",
      "Compares the packages before and after updates of module calls: their declarations, the code that they run, and "
      "their effect on the calling configuration. Writes nothing.",
      R"({"root":"/srv/infra","subjects":[{"subject":"module.network","version":"2.0.0"}]})");
  list.method<UpdateLookupParams, UpdateLookupResult>(
      "update/lookup", "Lists available updates that are older than the minimum release age. Queries each source once.",
      R"({"root":"/srv/infra"})");
  list.method<UpdatePlanParams, LockPlanResult>(
      "update/plan",
      "Returns edits of the configuration and the lock for requested versions. The calling "
      "program applies them, those of the configuration first. All other entries stay "
      "locked.",
      R"({"root":"/srv/infra","updates":[{"subject":"module.network","newVersion":"2.0.0"}]})");
  list.over_roots("workspace/plan", "lock/plan",
                  "lock/plan for many root modules, eight at a time. Queries each source once for all "
                  "of them.",
                  R"({"roots":["/srv/a","/srv/b"],"mode":"upgrade"})");
  list.over_roots("workspace/verify", "lock/verify", "lock/verify for many roots, in the same way.",
                  R"({"roots":["/srv/a","/srv/b"]})");
  list.over_roots("workspace/install", "modules/install",
                  "modules/install for many roots, in the same way. It writes as that does.",
                  R"({"roots":["/srv/a","/srv/b"]})");
  list.method<WorkspaceRootsParams, WorkspaceRootsResult>(
      "workspace/roots",
      "Finds the root modules in and below a directory, as `--recursive` does, by the files of the directory or its "
      "repository and by the settings `roots` and `exclude`. Sends no request.",
      R"({"directory":"/srv/infra"})");
  list.method<Nothing, CacheInfoResult>("cache/info", "Returns the directory and the size of the cache.", "{}");
  list.method<CachePruneParams, CachePruneResult>(
      "cache/prune",
      "Removes files from the cache. Without limits it removes only unfinished work of "
      "ended processes, and records without a target. Files that were used within the last "
      "hour always stay.",
      R"({"maxAge":"30d"})");
  return std::move(list).take();
}

Json::Value code_schema() {
  Json::Value schema(Json::objectValue);
  schema["description"] = "What went wrong. Later releases may add codes; none changes its meaning.";
  schema["type"] = "string";
  for (const Code code : all_codes()) {
    schema["enum"].append(std::string(to_string(code)));
  }
  return schema;
}

Json::Value response_error_schema(SchemaTypes& types) {
  Describe form(types);
  form.member("code", std::int64_t{}, "its number");
  form.member("message", std::string(), "one sentence for people; may change");
  form.member("data", Error{}, "its code and details");
  Json::Value schema = form.object_schema();
  schema["description"] = "An error, as in a response.";
  return schema;
}

// The details of each code, which its JSON-RPC number does not express.
Json::Value code_table() {
  Json::Value table(Json::arrayValue);
  for (const Code code : all_codes()) {
    Json::Value row(Json::objectValue);
    row["code"] = std::string(to_string(code));
    row["meaning"] = std::string(meaning_of(code));
    row["number"] = rpc_code(code);
    row["exit"] = exit_code(code);
    row["retryable"] = is_retryable(code);
    table.append(std::move(row));
  }
  return table;
}

struct Number {
  int number;
  const char* what;
};
constexpr Number kNumbers[] = {
    {-32700, "The line is not JSON."},
    {-32600, "The JSON is not a message, or it came at the wrong time."},
    {-32601, "The method does not exist."},
    {-32602, "The params cannot be used."},
    {-32603, "A defect of the program."},
    {-32002, "A request came before initialize."},
    {-32800, "The request was cancelled."},
    {-32801, "A file changed while it was worked on."},
    {-32803, "All other errors. data.code has the code."},
};

// One error for each number, with example data.
Json::Value error_list() {
  Json::Value errors(Json::arrayValue);
  for (const Number& number : kNumbers) {
    const std::vector<Code> codes = all_codes();
    const auto code = std::ranges::find_if(codes, [&](Code one) { return rpc_code(one) == number.number; });
    Json::Value& error = errors.append({});
    error["code"] = number.number;
    error["message"] = number.what;
    error["data"] = Encode::to_value(Error{.code = *code});
  }
  return errors;
}

Json::Value descriptor(const std::string& owner, const Describe::Field& field) {
  Json::Value out(Json::objectValue);
  out["name"] = field.name;
  out["schema"] = field.schema;
  add_titles(out["schema"], owner + type_name(field.name));
  out["description"] = field.description;
  out["required"] = field.required;
  return out;
}

// The required params come first, because generators make a function of a method. Some generators accept references
// only in schemas, so params are written out.
Json::Value params_of(const MethodSchema& method) {
  Json::Value params(Json::arrayValue);
  for (const bool required : {true, false}) {
    for (const Describe::Field& field : method.params) {
      if (field.required != required) {
        continue;
      }
      Json::Value& param = params.append(descriptor(field.shared ? "Shared" : params_name(method), field));
      if (field.shared) {
        param["x-shared"] = true;
      }
    }
  }
  return params;
}

Json::Value example_of(const MethodSchema& method) {
  Json::Value example(Json::objectValue);
  example["name"] = "a call";
  Json::Value& params = example["params"] = Json::arrayValue;
  for (auto it = method.example.begin(); it != method.example.end(); ++it) {
    Json::Value param(Json::objectValue);
    param["name"] = it.name();
    param["value"] = *it;
    params.append(std::move(param));
  }
  return example;
}

Json::Value to_openrpc(const MethodSchema& method) {
  Json::Value out(Json::objectValue);
  out["name"] = method.name;
  out["summary"] = method.summary;
  out["paramStructure"] = "by-name";
  out["params"] = params_of(method);
  out["x-stability"] = "stable";
  out["x-sender"] = method.kind == Kind::told ? "server" : "host";
  if (method.kind != Kind::request) {
    return out;
  }
  out["result"]["name"] = "result";
  out["result"]["schema"] = method.result;
  add_titles(out["result"]["schema"], result_name(method));
  out["errors"] = error_list();
  if (!method.example.isNull()) {
    out["examples"].append(example_of(method));
  }
  return out;
}

// The schemas of the methods, of errors and of codes.
Json::Value all_schemas(SchemaTypes& types) {
  types.add("Code", code_schema());
  types.add("ResponseError", response_error_schema(types));
  Json::Value schemas = types.all();
  // The addition of the code FROZEN.
  Json::Value& changes = schemas["ErrorData"]["properties"]["changes"] =
      Describe::value_schema<std::vector<Change>>(types, {});
  changes["description"] = "of FROZEN: what would change";
  for (const std::string& name : schemas.getMemberNames()) {
    add_titles(schemas[name], name);
  }
  return schemas;
}

// Converts references of an OpenRPC document to those of a JSON Schema. Schemas are only a few levels deep.
void move_references(Json::Value& schema) {
  constexpr std::string_view kFrom = "#/components/schemas/";
  if (schema.isObject() && schema.isMember("$ref")) {
    schema["$ref"] = "#/definitions/" + schema["$ref"].asString().substr(kFrom.size());
  }
  if (schema.isObject() || schema.isArray()) {
    for (Json::Value& below : schema) {
      move_references(below);
    }
  }
}

}  // namespace

Json::Value openrpc_document() {
  SchemaTypes types;
  Json::Value document(Json::objectValue);
  document["openrpc"] = "1.3.2";
  document["info"]["title"] = "tofu-modlock";
  document["info"]["version"] = std::string(kProtocolVersion);
  document["info"]["description"] =
      "JSON-RPC 2.0 over stdin and stdout of `tofu-modlock serve`, one message per line. "
      "See docs/protocol.md.";
  document["info"]["license"]["name"] = "MPL-2.0";
  document["servers"][0]["name"] = "serve";
  document["servers"][0]["url"] = "stdio:";
  for (const MethodSchema& method : list_methods(types)) {
    document["methods"].append(to_openrpc(method));
  }
  document["components"]["schemas"] = all_schemas(types);
  document["x-codes"] = code_table();
  return document;
}

Json::Value json_schema_document() {
  SchemaTypes types;
  Json::Value document(Json::objectValue);
  document["$schema"] = "http://json-schema.org/draft-07/schema#";
  document["title"] = fmt::format("Messages of tofu-modlock, protocol {}", kProtocolVersion);
  Json::Value& definitions = document["definitions"];
  for (const MethodSchema& method : list_methods(types)) {
    Json::Value& params = definitions[params_name(method)] = Describe::object_schema(method.params);
    params["description"] = method.summary;
    add_titles(params, params_name(method));
    if (!method.result.isNull()) {
      add_titles(definitions[result_name(method)] = method.result, result_name(method));
    }
  }
  const Json::Value schemas = all_schemas(types);
  for (auto it = schemas.begin(); it != schemas.end(); ++it) {
    definitions[it.name()] = *it;
  }
  move_references(definitions);
  return document;
}

}  // namespace modlock::messages
