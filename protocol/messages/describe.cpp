#include "protocol/messages/describe.h"

namespace modlock {

Json::Value Describe::object_schema(const std::vector<Field>& fields) {
  Json::Value schema = typed("object");
  for (const Field& field : fields) {
    schema["properties"][field.name] = field.schema;
    if (field.required) {
      schema["required"].append(field.name);
    }
  }
  return schema;
}

void Describe::add(const char* name, Json::Value schema, std::string_view what, bool required) {
  if (!what.empty()) {
    schema["description"] = std::string(what);
  }
  fields_.push_back({name, std::move(schema), required, false});
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

Json::Value Describe::text_schema(Choices choices) {
  Json::Value schema = typed("string");
  for (const std::string_view choice : choices) {
    schema["enum"].append(std::string(choice));
  }
  return schema;
}

Json::Value Describe::text_list_schema(Choices choices) {
  Json::Value schema = typed("array");
  schema["items"] = text_schema(choices);
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
