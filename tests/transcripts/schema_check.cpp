#include "tests/transcripts/schema_check.h"

#include <utility>

#include "protocol/base/json.h"

namespace modlock::test {
namespace {

constexpr const char* kSchemas = "#/components/schemas/";

std::string named_type(const Json::Value& schema) {
  const std::string reference = schema["$ref"].asString();
  return reference.rfind(kSchemas, 0) == 0 ? reference.substr(std::string(kSchemas).size()) : "";
}

bool has_type(const Json::Value& value, const std::string& type) {
  return (type == "object" && value.isObject()) || (type == "array" && value.isArray()) ||
         (type == "string" && value.isString()) || (type == "boolean" && value.isBool()) ||
         (type == "integer" && value.isIntegral() && !value.isBool()) || (type == "null" && value.isNull());
}

bool is_in(const Json::Value& list, const Json::Value& value) {
  for (const Json::Value& one : list) {
    if (one == value) {
      return true;
    }
  }
  return false;
}

}  // namespace

SchemaCheck::SchemaCheck(Json::Value document) : document_(std::move(document)) {
  for (const Json::Value& method : document_["methods"]) {
    for (const Json::Value& param : method["params"]) {
      if (param["x-shared"].asBool()) {
        shared_.insert(param["name"].asString());
      }
    }
  }
}

const Json::Value& SchemaCheck::resolve(const Json::Value& schema) const {
  const std::string name = named_type(schema);
  return name.empty() ? schema : document_["components"]["schemas"][name];
}

Json::Value SchemaCheck::params_schema(const std::string& method) const {
  for (const Json::Value& one : document_["methods"]) {
    if (one["name"] != method) {
      continue;
    }
    Json::Value schema(Json::objectValue);
    schema["type"] = "object";
    schema["properties"] = Json::objectValue;
    for (const Json::Value& param : one["params"]) {
      schema["properties"][param["name"].asString()] = param["schema"];
      if (param["required"].asBool()) {
        schema["required"].append(param["name"]);
      }
    }
    return schema;
  }
  return {};
}

std::vector<std::string> SchemaCheck::request(const std::string& method, const Json::Value& params) {
  const Json::Value schema = params_schema(method);
  if (schema.isNull()) {
    findings_.push_back(method + ": no such method");
  } else {
    check(schema, params.isNull() ? Json::Value(Json::objectValue) : params, method + ".params", method + ".params");
  }
  return take();
}

std::vector<std::string> SchemaCheck::result(const std::string& method, const Json::Value& value) {
  for (const Json::Value& one : document_["methods"]) {
    if (one["name"] == method) {
      check(one["result"]["schema"], value, method + ".result", method + ".result");
    }
  }
  return take();
}

std::vector<std::string> SchemaCheck::error(const Json::Value& value) {
  const Json::Value& table = document_["x-codes"];
  bool is_known = false;
  for (const Json::Value& row : table) {
    is_known = is_known || (row["code"] == value["data"]["code"] && row["number"] == value["code"] &&
                            row["retryable"] == value["data"]["retryable"]);
  }
  if (!is_known || !value["message"].isString() || value.size() != 3) {
    findings_.push_back("error: not as the table of codes has it: " + write_json(value));
  }
  Json::Value schema(Json::objectValue);
  schema["$ref"] = std::string(kSchemas) + "ErrorData";
  check(schema, value["data"], "error.data", "error.data");
  return take();
}

void SchemaCheck::check(const Json::Value& schema, const Json::Value& value, const std::string& where,
                        const std::string& name) {
  if (const std::string type = named_type(schema); !type.empty()) {
    check(resolve(schema), value, where, type);
    return;
  }
  if (schema.isMember("allOf")) {
    check(schema["allOf"][0], value, where, name);
    return;
  }
  if (schema.isMember("oneOf")) {
    check_one_of(schema["oneOf"], value, where, name);
    return;
  }
  if ((schema.isMember("type") && !has_type(value, schema["type"].asString())) ||
      (schema.isMember("enum") && !is_in(schema["enum"], value)) ||
      (schema.isMember("minimum") && value.asDouble() < schema["minimum"].asDouble())) {
    findings_.push_back(where + ": does not fit: " + write_json(value));
  } else if (value.isArray()) {
    for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
      check(schema["items"], value[i], where + "[" + std::to_string(i) + "]", name + "[]");
    }
  } else if (value.isObject() && (schema.isMember("properties") || schema.isMember("additionalProperties"))) {
    check_object(schema, value, where, name);
  }
}

// Exactly one has to fit; of none, what is wrong with the first is told.
void SchemaCheck::check_one_of(const Json::Value& choices, const Json::Value& value, const std::string& where,
                               const std::string& name) {
  const std::vector<std::string> before = std::exchange(findings_, {});
  std::vector<std::string> first;
  int fitting = 0;
  for (const Json::Value& choice : choices) {
    check(choice, value, where, name);
    std::vector<std::string> found = std::exchange(findings_, {});
    fitting += found.empty() ? 1 : 0;
    first = first.empty() ? std::move(found) : std::move(first);
  }
  findings_ = before;
  if (fitting != 1) {
    findings_.push_back(first.empty() ? where + ": fits several" : first.front());
  }
}

void SchemaCheck::check_object(const Json::Value& schema, const Json::Value& value, const std::string& where,
                               const std::string& name) {
  for (const Json::Value& needed : schema["required"]) {
    if (!value.isMember(needed.asString())) {
      findings_.push_back(where + "." + needed.asString() + ": is missing");
    }
  }
  for (auto it = value.begin(); it != value.end(); ++it) {
    const std::string member = it.name();
    if (schema.isMember("additionalProperties")) {
      check(schema["additionalProperties"], *it, where + "." + member, name + ".*");
    } else if (!schema["properties"].isMember(member)) {
      findings_.push_back(where + "." + member + ": is not described");
    } else {
      seen_.insert(member_name(name, member));
      check(schema["properties"][member], *it, where + "." + member, name + "." + member);
    }
  }
}

std::string SchemaCheck::member_name(const std::string& name, const std::string& member) const {
  if (name.ends_with(".params") && shared_.count(member) != 0) {
    return "params." + member;
  }
  return name.ends_with(".result") && member == "_meta" ? "result._meta" : name + "." + member;
}

void SchemaCheck::collect(const Json::Value& schema, const std::string& name, std::set<std::string>& out) const {
  const Json::Value& properties = schema["properties"];
  for (auto it = properties.begin(); it != properties.end(); ++it) {
    out.insert(member_name(name, it.name()));
    collect(*it, name + "." + it.name(), out);
  }
}

std::set<std::string> SchemaCheck::all_members() const {
  std::set<std::string> out;
  for (const Json::Value& method : document_["methods"]) {
    const std::string name = method["name"].asString();
    collect(params_schema(name), name + ".params", out);
    collect(method["result"]["schema"], name + ".result", out);
  }
  const Json::Value& schemas = document_["components"]["schemas"];
  for (auto it = schemas.begin(); it != schemas.end(); ++it) {
    collect(*it, it.name(), out);
  }
  return out;
}

std::vector<std::string> SchemaCheck::take() {
  return std::exchange(findings_, {});
}

}  // namespace modlock::test
