#pragma once

#include <json/value.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "protocol/base/object_reader.h"
#include "protocol/base/result.h"

namespace modlock {

// The members of a message are defined once, by a function `fields` next to its struct:
//
//   template <typename Form>
//   void fields(Form& form, In<Form, Signature> signature) {
//     form.member("status", signature.status, "how far it was checked", {"signed", "none"});
//     form.optional("keyId", signature.key_id, "the key that signed");
//   }
//
// Three forms use it: Encode builds a tree of the struct, Decode reads it, Describe (protocol/messages/describe.h)
// makes its schema. Each has
//
//   member(name, value, what, choices)    always present
//   optional(name, value, what, choices)  omitted if absent: no value, no text, no items, 0, false
//   nullable(name, value, what)           always present, null if absent (results only)
//   group(name, what, fill)               an object of the message itself: `fill(form)` defines its members
//   optional_group(name, what, fill)      the same, but a host may omit it
//   include(part)                         the fields of another struct, as if they were written here
//   check([](ObjectReader& in) {…})       rules beyond the types: `in.reject` (params only)
//
// Each name is used once. Values are strings, booleans, integers, lists and maps of strings, structs with `fields` and
// lists of them, and enums with `constexpr std::array<std::string_view, N> names_of(const Kind*)`, the texts
// of all values in their order. A struct that appears in several messages, or deserves a name, also has `constexpr
// TypeName name_of(const Signature*)`. A type with a JSON form of its own has `Json::Value json_of`, `void read_member`
// or `Json::Value schema_of`.
template <typename Form, typename Struct>
using In = std::conditional_t<Form::kReads, Struct&, const Struct&>;

using Choices = std::initializer_list<std::string_view>;

// The name of a struct among the types of the protocol, and its description.
struct TypeName {
  std::string_view name;
  std::string_view what;
};

template <typename Type>
struct Items : std::false_type {};
template <typename Item>
struct Items<std::vector<Item>> : std::true_type {
  using Of = Item;
};
template <typename Type>
struct Maybe : std::false_type {
  using Of = Type;
};
template <typename Value>
struct Maybe<std::optional<Value>> : std::true_type {
  using Of = Value;
};
template <typename Type>
inline constexpr bool kIsText = std::is_convertible_v<const Type&, std::string_view>;
using TextMap = std::map<std::string, std::string>;
template <typename Type>
concept NamedEnum = requires(const Type* none) {
  names_of(none);
};

namespace messages {

template <NamedEnum Enum>
constexpr std::string_view to_string(Enum value) {
  constexpr const Enum* kNone = nullptr;
  return names_of(kNone).at(static_cast<std::size_t>(value));
}

// Returns the value with that text; nullopt: there is none.
template <NamedEnum Enum>
constexpr std::optional<Enum> named(std::string_view text) {
  constexpr const Enum* kNone = nullptr;
  const auto names = names_of(kNone);
  const auto found = std::ranges::find(names, text);
  return found == names.end() ? std::nullopt : std::optional(static_cast<Enum>(found - names.begin()));
}

}  // namespace messages

// Builds a tree of a struct.
class Encode {
 public:
  static constexpr bool kReads = false;
  explicit Encode(Json::Value& object) : object_(object) {}

  // Names are literals.
  template <typename Value>
  void member(const char* name, const Value& value, std::string_view = {}, Choices = {}) {
    object_[Json::StaticString(name)] = to_value(value);
  }
  template <typename Value>
  void nullable(const char* name, const std::optional<Value>& value, std::string_view = {}) {
    object_[Json::StaticString(name)] = value ? to_value(*value) : Json::Value();
  }
  template <typename Value>
  void optional(const char* name, const Value& value, std::string_view = {}, Choices = {}) {
    if (!is_absent(value)) {
      member(name, value);
    }
  }
  template <typename Fill>
  void group(const char* name, std::string_view, Fill fill) {
    Json::Value& object = object_[Json::StaticString(name)] = Json::objectValue;
    Encode inner(object);
    fill(inner);
  }
  template <typename Part>
  void include(const Part& part) {
    fields(*this, part);
  }

  template <typename Value>
  static Json::Value to_value(const Value& value) {
    if constexpr (requires { json_of(value); }) {
      return json_of(value);
    } else if constexpr (std::is_same_v<Value, bool>) {
      return value;
    } else if constexpr (std::is_integral_v<Value>) {
      using Wide = std::conditional_t<std::is_signed_v<Value>, Json::Int64, Json::UInt64>;
      return static_cast<Wide>(value);
    } else if constexpr (NamedEnum<Value>) {
      return to_value(messages::to_string(value));
    } else if constexpr (kIsText<Value>) {
      const std::string_view text = value;
      return {text.data(), text.data() + text.size()};
    } else if constexpr (Maybe<Value>::value) {
      return to_value(*value);
    } else if constexpr (Items<Value>::value) {
      Json::Value out(Json::arrayValue);
      for (const auto& item : value) {
        out.append(to_value(item));
      }
      return out;
    } else {
      Json::Value out(Json::objectValue);
      Encode form(out);
      fields(form, value);
      return out;
    }
  }

 private:
  template <typename Value>
  static bool is_absent(const Value& value) {
    if constexpr (Maybe<Value>::value) {
      return !value.has_value();
    } else if constexpr (std::is_arithmetic_v<Value> || NamedEnum<Value>) {
      return value == Value{};
    } else if constexpr (kIsText<Value>) {
      return std::string_view(value).empty();
    } else {
      return value.empty();
    }
  }

  Json::Value& object_;
};

namespace messages {

// Encodes a message with `fields`, or a list of them.
template <typename Message>
Json::Value encode(const Message& message) {
  return Encode::to_value(message);
}

}  // namespace messages

// Reads into a struct that contains the defaults for omitted members.
class Decode {
 public:
  static constexpr bool kReads = true;
  explicit Decode(ObjectReader& in) : in_(in) {}

  template <typename Value>
  void member(const char* name, Value& value, std::string_view what = {}, Choices choices = {}) {
    if constexpr (std::is_same_v<Value, std::string>) {
      value = in_.required_string(name);
    } else if constexpr (Items<Value>::value) {
      in_.require(name, "an array");
    } else {
      in_.require(name, "a value");
    }
    optional(name, value, what, choices);
  }

  template <typename Value>
  void optional(const char* name, Value& value, std::string_view = {}, Choices choices = {}) {
    using Type = typename Maybe<Value>::Of;
    if constexpr (requires { read_member(in_, name, value); }) {
      read_member(in_, name, value);
    } else if constexpr (std::is_same_v<Type, bool>) {
      take(value, in_.boolean(name));
    } else if constexpr (std::is_integral_v<Type>) {
      if constexpr (std::is_signed_v<Type>) {
        take(value, in_.integer(name));
      } else {
        take(value, in_.unsigned_integer(name));
      }
    } else if constexpr (std::is_same_v<Type, std::string>) {
      take(value, choices.size() == 0 ? in_.string(name) : in_.one_of(name, {choices.begin(), choices.size()}));
    } else if constexpr (NamedEnum<Type>) {
      constexpr const Type* kNone = nullptr;
      if (const auto text = in_.one_of(name, names_of(kNone))) {
        value = *messages::named<Type>(*text);
      }
    } else if constexpr (std::is_same_v<Type, std::vector<std::string>>) {
      take(value, in_.strings(name));
    } else if constexpr (std::is_same_v<Type, TextMap>) {
      take(value, in_.string_map(name));
    } else if constexpr (Items<Type>::value) {
      for (ObjectReader& item : in_.objects(name)) {
        Decode form(item);
        fields(form, value.emplace_back());
      }
    } else if (auto object = in_.object(name)) {
      Decode form(*object);
      if constexpr (Maybe<Value>::value) {
        fields(form, value.emplace());
      } else {
        fields(form, value);
      }
    }
  }

  template <typename Fill>
  void optional_group(const char* name, std::string_view, Fill fill) {
    if (auto object = in_.object(name)) {
      Decode inner(*object);
      fill(inner);
    }
  }
  template <typename Part>
  void include(Part& part) {
    fields(*this, part);
  }
  template <typename Judge>
  void check(Judge judge) {
    judge(in_);
  }

 private:
  template <typename Value, typename Found>
  static void take(Value& value, std::optional<Found> found) {
    if (found) {
      value = std::move(*found);
    }
  }

  ObjectReader& in_;
};

// Decodes the params of a method; `unknown` receives the unknown members. Errors: INVALID_PARAMS.
template <typename Params>
Result<Params> decode_params(const Json::Value& params, std::vector<std::string>& unknown) {
  ObjectReader in(params);
  Params out;
  Decode form(in);
  fields(form, out);
  MODLOCK_TRY(in.finish());
  unknown = in.unknown();
  return out;
}

}  // namespace modlock
