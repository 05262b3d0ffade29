#pragma once

#include <json/value.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/fields.h"

namespace modlock {

// The schemas of the named types, each described once.
class SchemaTypes {
 public:
  bool has(std::string_view name) const { return schemas_.isMember(std::string(name)); }
  void add(std::string_view name, Json::Value schema) { schemas_[std::string(name)] = std::move(schema); }
  // By name; they refer to each other as "#/components/schemas/<name>".
  const Json::Value& all() const { return schemas_; }

 private:
  Json::Value schemas_ = Json::Value(Json::objectValue);
};

// A form of `fields` (protocol/messages/fields.h) that produces JSON Schema, draft 7.
class Describe {
 public:
  static constexpr bool kReads = false;
  explicit Describe(SchemaTypes& types) : types_(types) {}

  struct Field {
    std::string name;
    Json::Value schema;
    std::string description;
    bool required = false;
    bool shared = false;  // comes from a part that several messages include
  };
  const std::vector<Field>& list() const { return fields_; }
  Json::Value object_schema() const { return object_schema(fields_); }
  static Json::Value object_schema(const std::vector<Field>& fields);

  template <typename Value>
  void member(const char* name, const Value&, std::string_view what = {}, Choices choices = {}) {
    add(name, value_schema<Value>(types_, choices), what, true);
  }
  template <typename Value>
  void optional(const char* name, const Value&, std::string_view what = {}, Choices choices = {}) {
    add(name, value_schema<Value>(types_, choices), what, false);
  }
  template <typename Value>
  void nullable(const char* name, const std::optional<Value>&, std::string_view what = {}) {
    add(name, or_null(value_schema<Value>(types_, {})), what, true);
  }
  template <typename Fill>
  void group(const char* name, std::string_view what, Fill fill) {
    add_group(name, what, fill, true);
  }
  template <typename Fill>
  void optional_group(const char* name, std::string_view what, Fill fill) {
    add_group(name, what, fill, false);
  }
  template <typename Part>
  void include(const Part& part) {
    Describe inner(types_);
    fields(inner, part);
    for (Field field : inner.fields_) {
      field.shared = true;
      fields_.push_back(std::move(field));
    }
  }
  template <typename Judge>
  void check(const Judge&) {}

  static Json::Value typed(const char* type);
  static Json::Value text_list_schema(Choices choices);

  template <typename Value>
  static Json::Value value_schema(SchemaTypes& types, Choices choices) {
    using Type = typename Maybe<Value>::Of;
    constexpr const Type* kNone = nullptr;
    if constexpr (requires { schema_of(kNone); }) {
      return schema_of(kNone);
    } else if constexpr (std::is_same_v<Type, bool>) {
      return typed("boolean");
    } else if constexpr (std::is_integral_v<Type>) {
      return integer_schema(std::is_unsigned_v<Type>);
    } else if constexpr (NamedEnum<Type>) {
      return text_schema(names_of(kNone));
    } else if constexpr (kIsText<Type>) {
      return text_schema({choices.begin(), choices.size()});
    } else if constexpr (std::is_same_v<Type, TextMap>) {
      Json::Value schema = typed("object");
      schema["additionalProperties"] = typed("string");
      return schema;
    } else if constexpr (Items<Type>::value) {
      Json::Value schema = typed("array");
      schema["items"] = value_schema<typename Items<Type>::Of>(types, choices);
      return schema;
    } else {
      return struct_schema<Type>(types);
    }
  }

 private:
  template <typename Struct>
  static Json::Value struct_schema(SchemaTypes& types) {
    constexpr const Struct* kNone = nullptr;
    const auto make = [&] {
      Describe form(types);
      fields(form, Struct{});
      return form.object_schema();
    };
    if constexpr (requires { name_of(kNone); }) {
      const TypeName name = name_of(kNone);
      if (!types.has(name.name)) {
        Json::Value schema = make();
        schema["description"] = std::string(name.what);
        types.add(name.name, std::move(schema));
      }
      return reference(name.name);
    } else {
      return make();
    }
  }

  template <typename Fill>
  void add_group(const char* name, std::string_view what, Fill fill, bool required) {
    Describe inner(types_);
    fill(inner);
    add(name, inner.object_schema(), what, required);
  }
  void add(const char* name, Json::Value schema, std::string_view what, bool required);

  static Json::Value integer_schema(bool not_negative);
  static Json::Value text_schema(std::span<const std::string_view> choices);
  static Json::Value or_null(Json::Value schema);
  static Json::Value reference(std::string_view name);

  SchemaTypes& types_;
  std::vector<Field> fields_;
};

}  // namespace modlock
