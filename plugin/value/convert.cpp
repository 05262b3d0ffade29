#include "plugin/value/convert.h"

#include <fmt/format.h>

#include <utility>

#include "backends/base/ascii.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/conversion_rules.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;
using Converted = tl::expected<Value, ConversionError>;
using Conversion = tl::expected<void, ConversionError>;

tl::unexpected<ConversionError> refuse(ConversionError why) {
  return tl::unexpected<ConversionError>(std::move(why));
}

// The type of all values, ignoring nulls of dynamic type; nullopt if the types differ.
std::optional<Type> shared_type(const std::vector<Type>& types) {
  Type shared;
  for (const Type& type : types) {
    if (shared.is(Kind::dynamic)) {
      shared = type;
    } else if (!type.is(Kind::dynamic) && !(type == shared)) {
      return std::nullopt;
    }
  }
  return shared;
}

std::vector<Type> types_of(const Value::Items& items) {
  std::vector<Type> types;
  types.reserve(items.size());
  for (const Value& item : items) types.push_back(item.type());
  return types;
}

std::vector<Type> types_of(const Value::Members& members) {
  std::vector<Type> types;
  types.reserve(members.size());
  for (const auto& [name, member] : members) types.push_back(member.type());
  return types;
}

Converted to_bool(const std::string& text) {
  if (text == "true" || text == "1") return Value::boolean(true);
  if (text == "false" || text == "0") return Value::boolean(false);
  const std::string lower = ascii::lower(text);
  if (lower != "true" && lower != "false") return refuse("a bool is required");
  return refuse(fmt::format("a bool is required; to convert from string, use lowercase \"{}\"", lower));
}

Converted convert_primitive(const Value& value, const Type& to) {
  if (to.is(Kind::boolean)) return to_bool(value.as_string());
  if (to.is(Kind::number)) {
    const auto number = Number::parse(value.as_string());
    if (!number) return refuse("a number is required");
    return Value::number(*number);
  }
  if (value.is(Kind::boolean)) return Value::string(value.as_bool() ? "true" : "false");
  return Value::string(value.as_number().to_string());
}

// Performs the conversions that is_convertible() allows.
class Converter {
 public:
  explicit Converter(Safety safety) : safety_(safety) {}

  // The type of `value` is not `to`.
  Converted run(const Value& value, const Type& to) const {
    if (to.is(Kind::dynamic)) return value;
    if (value.is_null()) return Value::null(with_dynamic_parts_of(value.type(), to)).with_marks(value.marks());
    auto converted = run_known(value, to);
    if (converted) *converted = converted->with_marks(value.marks());
    return converted;
  }

 private:
  Converted run_known(const Value& value, const Type& to) const {
    if (to.is_primitive()) return convert_primitive(value, to);
    if (to.is(Kind::tuple)) return to_tuple(value, to);
    if (to.is(Kind::object)) return value.is(Kind::map) ? map_to_object(value, to) : object_to_object(value, to);
    if (to.is(Kind::map)) return to_map(value, to.element());
    return to_sequence(value, to);
  }

  // Converts a part of a value in place.
  Conversion part(Value& value, const Type& to) const {
    if (value.type() == to) return {};
    auto converted = run(value, to);
    if (!converted) return refuse(std::move(converted).error());
    value = std::move(*converted);
    return {};
  }

  Converted to_tuple(const Value& value, const Type& to) const {
    Value::Items items = value.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (auto done = part(items[i], to.items()[i]); !done) return refuse(std::move(done).error());
    }
    return Value::tuple(std::move(items));
  }

  Converted object_to_object(const Value& value, const Type& to) const {
    Value::Members members;
    for (const auto& [name, type] : to.attributes()) {
      const auto found = value.members().find(name);
      Value member = found == value.members().end() ? Value::null(type) : found->second;
      if (auto done = part(member, type); !done) return refuse(std::move(done).error());
      members.emplace_hint(members.end(), name, std::move(member));
    }
    return Value::object(std::move(members));
  }

  Converted map_to_object(const Value& value, const Type& to) const {
    Value::Members members;
    for (const auto& [name, type] : to.attributes()) {
      const auto found = value.members().find(name);
      if (found == value.members().end()) {
        if (to.optional_attributes().count(name) == 0) {
          return refuse(fmt::format("map has no element for required attribute {}", hcl::quoted_for_message(name)));
        }
        members.emplace(name, Value::null(type));
        continue;
      }
      Value member = found->second;
      const Type& from = value.type().element();
      if (!(from == type) && !is_convertible(from, type, safety_)) {
        return refuse(fmt::format("map element type is incompatible with attribute {}: {}",
                                  hcl::quoted_for_message(name), mismatch_message(member.type(), type)));
      }
      if (auto done = part(member, type); !done) return refuse(std::move(done).error());
      members.emplace(name, std::move(member));
    }
    return Value::object(std::move(members));
  }

  // Tuples, lists and sets to lists and sets.
  Converted to_sequence(const Value& value, const Type& to) const {
    const bool is_list = to.is(Kind::list);
    const auto sequence = [&](Type element, Value::Items items) {
      return is_list ? Value::list(std::move(element), std::move(items))
                     : Value::set(std::move(element), std::move(items));
    };
    Value::Items items = value.items();
    Type element = to.element();
    if (value.is(Kind::tuple) && !items.empty()) {
      element = common_element_type(value.type().items(), element, safety_).value_or(element);
    }
    for (Value& item : items) {
      if (auto done = part(item, element); !done) return refuse(std::move(done).error());
    }
    if (items.empty()) {
      const bool takes_given = element.is(Kind::dynamic) && value.type().is_collection();
      return sequence(takes_given ? value.type().element() : element.without_optional_attributes(), {});
    }
    if (is_list && value.is(Kind::tuple)) {
      if (auto done = make_alike(items, types_of(items), safety_); !done) return refuse(std::move(done).error());
    }
    auto shared = shared_type(types_of(items));
    if (!shared) {
      return refuse(fmt::format("element types must all match for conversion to {}", is_list ? "list" : "set"));
    }
    return sequence(std::move(*shared), std::move(items));
  }

  // Objects and maps to maps.
  Converted to_map(const Value& value, Type element) const {
    const bool from_object = value.is(Kind::object);
    Value::Members members = value.members();
    if (from_object && !members.empty()) {
      element = common_element_type(attribute_types(value.type()), element, safety_).value_or(element);
    }
    for (auto& [name, member] : members) {
      if (auto done = part(member, element); !done) return refuse(std::move(done).error());
    }
    if (members.empty()) {
      const bool takes_given = element.is(Kind::dynamic) && !from_object;
      element = takes_given ? value.type().element() : element.without_optional_attributes();
      return Value::map(std::move(element), {});
    }
    if (element.is_collection() || element.is(Kind::object)) {
      const Safety safety = from_object ? safety_ : Safety::safe;
      if (auto done = make_alike(members, types_of(members), safety); !done) return refuse(std::move(done).error());
    }
    auto shared = shared_type(types_of(members));
    if (!shared) {
      return refuse(
          fmt::format("{} types must all match for conversion to map", from_object ? "attribute" : "element"));
    }
    return Value::map(std::move(*shared), std::move(members));
  }

  static Value& value_of(Value& item) { return item; }
  static Value& value_of(Value::Members::value_type& member) { return member.second; }

  // After a conversion to a type with dynamic parts the types may still differ.
  template <typename Values>
  static Conversion make_alike(Values& values, const std::vector<Type>& types, Safety safety) {
    const auto common = unify(types, safety);
    if (!common) return refuse("cannot find a common base type for all elements");
    const Converter converter(safety);
    for (auto& entry : values) {
      if (auto done = converter.part(value_of(entry), *common); !done) return done;
    }
    return {};
  }

  Safety safety_;
};

}  // namespace

Converted convert(const Value& value, const Type& type) {
  if (value.type() == type.without_optional_attributes()) return value;
  if (!is_convertible(value.type(), type, Safety::unsafe)) return refuse(mismatch_message(value.type(), type));
  return Converter(Safety::unsafe).run(value, type);
}

}  // namespace modlock::eval
