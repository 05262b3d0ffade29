#include "protocol/messages/describe.h"

namespace modlock {

namespace {

// Draft 7 ignores members next to a reference, and generators make a second type of them.
Json::Value described(const Describe::Field& field) {
  Json::Value schema = field.schema;
  if (!field.description.empty() && schema.isMember("$ref")) {
    schema = Json::Value(Json::objectValue);
    schema["allOf"].append(field.schema);
  }
  if (!field.description.empty()) {
    schema["description"] = field.description;
  }
  return schema;
}

}  // namespace

Json::Value Describe::object_schema(const std::vector<Field>& fields) {
  Json::Value schema = typed("object");
  for (const Field& field : fields) {
    schema["properties"][field.name] = described(field);
    if (field.required) {
      schema["required"].append(field.name);
    }
  }
  return schema;
}

void Describe::add(const char* name, Json::Value schema, std::string_view what, bool required) {
  fields_.push_back({name, std::move(schema), std::string(what), required, false});
}

Json::Value Describe::typed(const char* type) {
  Json::Value schema(Json::objectValue);
  schema["type"] = type;
  return schema;
}

Json::Value Describe::integer_schema(bool not_negative) {
  Json::Value schema = typed("integer");
  if (not_negative) {
    schema["minimum"] = 0;
  }
  return schema;
}

Json::Value Describe::text_schema(std::span<const std::string_view> choices) {
  Json::Value schema = typed("string");
  for (const std::string_view choice : choices) {
    schema["enum"].append(std::string(choice));
  }
  return schema;
}

Json::Value Describe::text_list_schema(Choices choices) {
  Json::Value schema = typed("array");
  schema["items"] = text_schema({choices.begin(), choices.size()});
  return schema;
}

Json::Value Describe::or_null(Json::Value schema) {
  Json::Value either(Json::objectValue);
  either["oneOf"].append(std::move(schema));
  either["oneOf"].append(typed("null"));
  return either;
}

Json::Value Describe::reference(std::string_view name) {
  Json::Value schema(Json::objectValue);
  schema["$ref"] = "#/components/schemas/" + std::string(name);
  return schema;
}

}  // namespace modlock
