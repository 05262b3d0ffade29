#include "protocol/messages/openrpc.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "protocol/base/error_codes.h"
#include "protocol/messages/error_fields.h"
#include "protocol/messages/error_json.h"
#include "protocol/messages/initialize.h"
#include "protocol/messages/lock_plan.h"
#include "protocol/messages/method_list.h"

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

using Kind = MethodSchema::Kind;

Json::Value code_schema() {
  Json::Value schema(Json::objectValue);
  schema["description"] = "What went wrong. Later releases may add codes; none changes its meaning.";
  schema["type"] = "string";
  for (const Code code : all_codes()) {
    Json::Value one(Json::objectValue);
    one["const"] = std::string(to_string(code));
    one["description"] = std::string(meaning_of(code));
    schema["oneOf"].append(std::move(one));
  }
  return schema;
}

// What the numbers of JSON-RPC do not say.
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
  const char* name;
  int number;
  const char* what;
};
constexpr Number kNumbers[] = {
    {"ParseError", -32700, "The line is no JSON."},
    {"InvalidRequest", -32600, "The JSON is no message, or it came at the wrong moment."},
    {"MethodNotFound", -32601, "There is no such method."},
    {"InvalidParams", -32602, "The params cannot be used."},
    {"InternalError", -32603, "A defect of the program."},
    {"NotInitialized", -32002, "A request came before initialize."},
    {"RequestCancelled", -32800, "The request was cancelled."},
    {"ContentModified", -32801, "A file changed while it was worked on."},
    {"RequestFailed", -32803, "Everything else: data.code says what."},
};

// An error for each number; an example of its data.
Json::Value error_components() {
  Json::Value errors(Json::objectValue);
  for (const Number& number : kNumbers) {
    const std::vector<Code> codes = all_codes();
    const auto code =
        std::find_if(codes.begin(), codes.end(), [&](Code one) { return rpc_code(one) == number.number; });
    Json::Value& error = errors[number.name];
    error["code"] = number.number;
    error["message"] = number.what;
    error["data"] = Encode::to_value(Error{.code = *code});
  }
  return errors;
}

Json::Value descriptor(const Describe::Field& field) {
  Json::Value out(Json::objectValue);
  out["name"] = field.name;
  out["schema"] = field.schema;
  if (field.schema.isMember("description")) {
    out["description"] = field.schema["description"];
    out["schema"].removeMember("description");
  }
  out["required"] = field.required;
  return out;
}

Json::Value reference(const std::string& kind, const std::string& name) {
  Json::Value out(Json::objectValue);
  out["$ref"] = fmt::format("#/components/{}/{}", kind, name);
  return out;
}

Json::Value params_of(const MethodSchema& method, Json::Value& shared) {
  Json::Value params(Json::arrayValue);
  for (const Describe::Field& field : method.params) {
    if (field.shared) {
      shared[field.name] = descriptor(field);
      params.append(reference("contentDescriptors", field.name));
    } else {
      params.append(descriptor(field));
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

Json::Value to_openrpc(const MethodSchema& method, Json::Value& shared) {
  Json::Value out(Json::objectValue);
  out["name"] = method.name;
  out["summary"] = method.summary;
  out["paramStructure"] = "by-name";
  out["params"] = params_of(method, shared);
  out["x-stability"] = "stable";
  out["x-sender"] = method.kind == Kind::told ? "server" : "host";
  if (method.kind != Kind::request) {
    return out;
  }
  out["result"]["name"] = "result";
  out["result"]["schema"] = method.result;
  for (const Number& number : kNumbers) {
    out["errors"].append(reference("errors", number.name));
  }
  if (!method.example.isNull()) {
    out["examples"].append(example_of(method));
  }
  return out;
}

// Those of the methods, of errors and of codes.
Json::Value all_schemas(SchemaTypes& types) {
  (void)Describe::value_schema<Error>(types, {});
  types.add("Code", code_schema());
  Json::Value schemas = types.all();
  // What the code FROZEN adds.
  Json::Value& changes = schemas["ErrorData"]["properties"]["changes"] =
      Describe::value_schema<std::vector<Change>>(types, {});
  changes["description"] = "of FROZEN: what would change";
  return schemas;
}

// References of an OpenRPC document to those of a JSON Schema. Schemas are a few levels deep.
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
      "JSON-RPC 2.0 over stdin and stdout of `tofu-modlock serve`, one message per line. docs/protocol.md tells the "
      "rest.";
  document["info"]["license"]["name"] = "MPL-2.0";
  document["servers"][0]["name"] = "serve";
  document["servers"][0]["url"] = "stdio:";
  Json::Value& components = document["components"];
  Json::Value shared(Json::objectValue);
  for (const MethodSchema& method : list_methods(types)) {
    document["methods"].append(to_openrpc(method, shared));
  }
  components["schemas"] = all_schemas(types);
  components["contentDescriptors"] = std::move(shared);
  components["errors"] = error_components();
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
    Json::Value& params = definitions[method.name + ".params"] = Describe::object_schema(method.params);
    params["description"] = method.summary;
    if (!method.result.isNull()) {
      definitions[method.name + ".result"] = method.result;
    }
  }
  const Json::Value schemas = all_schemas(types);
  for (auto it = schemas.begin(); it != schemas.end(); ++it) {
    definitions[it.name()] = *it;
  }
  move_references(definitions);
  return document;
}

std::vector<std::string> documented_methods() {
  SchemaTypes types;
  std::vector<std::string> names;
  for (const MethodSchema& method : list_methods(types)) {
    if (method.kind != Kind::told) {
      names.push_back(method.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace modlock::messages
