#include "plugin/value/conversion_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plugin/hcl/characters.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

const Type* find_attribute(const Type& object, const std::string& name) {
  const auto found = object.attributes().find(name);
  return found == object.attributes().end() ? nullptr : &found->second;
}

bool is_same_or_convertible(const Type& from, const Type& to, Safety safety) {
  return from == to || is_convertible(from, to, safety);
}

bool is_primitive_convertible(const Type& from, const Type& to, Safety safety) {
  if (from == to) return false;
  if (to.is(Kind::string)) return true;
  return from.is(Kind::string) && safety == Safety::unsafe;
}

bool is_object_convertible(const Type& from, const Type& to, Safety safety) {
  return std::all_of(to.attributes().begin(), to.attributes().end(), [&](const auto& wanted) {
    const Type* given = find_attribute(from, wanted.first);
    if (given == nullptr) return to.optional_attributes().count(wanted.first) > 0;
    return is_same_or_convertible(*given, wanted.second, safety);
  });
}

bool is_tuple_convertible(const Type& from, const Type& to, Safety safety) {
  return std::equal(
      from.items().begin(), from.items().end(), to.items().begin(), to.items().end(),
      [&](const Type& given, const Type& wanted) { return is_same_or_convertible(given, wanted, safety); });
}

// From an object to a map, or from a tuple to a list or set.
bool are_parts_convertible(const std::vector<Type>& parts, const Type& to, Safety safety) {
  if (parts.empty()) return true;
  const auto common = common_element_type(parts, to.element(), safety);
  if (!common) return false;
  const bool must_be_dynamic = common->is(Kind::dynamic) && !to.is(Kind::map);
  return std::all_of(parts.begin(), parts.end(), [&](const Type& part) {
    return must_be_dynamic ? part.is(Kind::dynamic) : is_same_or_convertible(part, *common, safety);
  });
}

bool is_map_to_object_convertible(const Type& from, const Type& to) {
  return std::all_of(to.attributes().begin(), to.attributes().end(), [&](const auto& wanted) {
    // Only the value shows whether the map has such an element.
    return to.optional_attributes().count(wanted.first) > 0 ||
           is_same_or_convertible(from.element(), wanted.second, Safety::unsafe);
  });
}

// An optional attribute need not fit the elements of a map, so the types may have nothing in common. Then the wanted
// type stays.
Type with_dynamic_items_of(const Type& given, const Type& wanted) {
  if (!given.is(Kind::tuple) || given.items().size() != wanted.items().size()) return wanted;
  std::vector<Type> items;
  for (std::size_t i = 0; i < wanted.items().size(); ++i) {
    items.push_back(with_dynamic_parts_of(given.items()[i], wanted.items()[i]));
  }
  return Type::tuple(std::move(items));
}

Type with_dynamic_attributes_of(const Type& given, const Type& wanted) {
  if (!given.is(Kind::map) && !given.is(Kind::object)) return wanted;
  std::map<std::string, Type> attributes;
  for (const auto& [name, type] : wanted.attributes()) {
    const Type* part = given.is(Kind::map) ? &given.element() : find_attribute(given, name);
    attributes.emplace(name, part != nullptr ? with_dynamic_parts_of(*part, type) : type);
  }
  return Type::object(std::move(attributes));
}

std::string required(const Type& wanted) {
  return wanted.friendly_constraint_name() + " required";
}

std::string missing_attributes(const std::vector<std::string>& names) {
  if (names.size() == 1) return fmt::format("attribute {} is required", names[0]);
  if (names.size() == 2) return fmt::format("attributes {} and {} are required", names[0], names[1]);
  std::string list;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) list += names[i] + ", ";
  return fmt::format("attributes {}and {} are required", list, names.back());
}

std::string between_objects(const Type& given, const Type& wanted) {
  std::vector<std::string> missing;
  std::string never;      // the first attribute that cannot be converted
  std::string sometimes;  // the first one that only unsafe conversions convert
  for (const auto& [name, type] : wanted.attributes()) {
    const auto found = given.attributes().find(name);
    if (found == given.attributes().end()) {
      if (wanted.optional_attributes().count(name) == 0) missing.push_back(hcl::quoted_for_message(name));
      continue;
    }
    if (found->second == type || !never.empty() || is_convertible(found->second, type, Safety::safe)) continue;
    std::string& message = is_convertible(found->second, type, Safety::unsafe) ? sometimes : never;
    if (!message.empty()) continue;
    message = fmt::format("attribute {}: {}", hcl::quoted_for_message(name), mismatch_message(found->second, type));
  }
  if (!missing.empty()) return missing_attributes(missing);
  if (!never.empty()) return never;
  return sometimes.empty() ? "incorrect object attributes" : sometimes;
}

std::string from_structural(const Type& given, const Type& wanted) {
  if (wanted.is(Kind::map) != given.is(Kind::object)) return required(wanted);
  const Type& element = wanted.element();
  const auto fits = [&](const Type& part) { return part == element || is_convertible(part, element, Safety::unsafe); };
  if (given.is(Kind::tuple)) {
    const auto bad = std::find_if_not(given.items().begin(), given.items().end(), fits);
    if (bad != given.items().end()) {
      return fmt::format("element {}: {}", bad - given.items().begin(), mismatch_message(*bad, element));
    }
  } else {
    for (const auto& [name, type] : given.attributes()) {
      if (fits(type)) continue;
      return fmt::format("element {}: {}", hcl::quoted_for_message(name), mismatch_message(type, element));
    }
  }
  return fmt::format("all elements must be {}", element.friendly_constraint_name());
}

std::string between_collections(const Type& given, const Type& wanted) {
  if (wanted.is(Kind::map) != given.is(Kind::map)) return required(wanted);
  const char* kind = wanted.is(Kind::list) ? "list" : (wanted.is(Kind::set) ? "set" : "map");
  return fmt::format("incorrect {} element type: {}", kind, mismatch_message(given.element(), wanted.element()));
}

// Whether to name both types instead of only the wanted one.
bool names_both(const Type& given, const Type& wanted) {
  if (given.is_primitive() != wanted.is_primitive()) return true;
  if (wanted.is(Kind::string)) return true;
  if (wanted.is(Kind::boolean) && given.is(Kind::number)) return true;
  if (given.is(Kind::boolean) && wanted.is(Kind::number)) return true;
  return given.is(Kind::tuple) && wanted.is(Kind::object);
}

}  // namespace

std::vector<Type> attribute_types(const Type& object) {
  std::vector<Type> types;
  types.reserve(object.attributes().size());
  for (const auto& [name, type] : object.attributes()) types.push_back(type);
  return types;
}

std::optional<Type> common_element_type(std::span<const Type> types, const Type& wanted, Safety safety) {
  return wanted.is(Kind::dynamic) ? unify(types, safety) : wanted;
}

bool is_convertible(const Type& from, const Type& to, Safety safety) {
  if (to.is(Kind::dynamic)) return true;
  if (from.is(Kind::dynamic)) return safety == Safety::unsafe;
  if (from.is_primitive() && to.is_primitive()) return is_primitive_convertible(from, to, safety);
  if (from.is(Kind::object) && to.is(Kind::object)) return is_object_convertible(from, to, safety);
  if (from.is(Kind::tuple) && to.is(Kind::tuple)) return is_tuple_convertible(from, to, safety);
  if (from.is(Kind::map) && to.is(Kind::map)) return is_convertible(from.element(), to.element(), safety);
  if (from.is(Kind::object) && to.is(Kind::map)) {
    return are_parts_convertible(attribute_types(from), to, safety);
  }
  if (from.is(Kind::map) && to.is(Kind::object)) {
    return safety == Safety::unsafe && is_map_to_object_convertible(from, to);
  }
  if (!to.is(Kind::list) && !to.is(Kind::set)) return false;
  if (from.is(Kind::tuple)) return are_parts_convertible(from.items(), to, safety);
  // A set loses the order and duplicates.
  const bool is_safe = !(from.is(Kind::list) && to.is(Kind::set));
  return (from.is(Kind::list) || from.is(Kind::set)) && (is_safe || safety == Safety::unsafe) &&
         is_same_or_convertible(from.element(), to.element(), safety);
}

Type with_dynamic_parts_of(const Type& given, const Type& wanted) {
  if (given.is(Kind::dynamic) || !wanted.has_dynamic_part()) return wanted;
  if (wanted.is(Kind::dynamic)) return given;
  if (wanted.is(Kind::tuple)) return with_dynamic_items_of(given, wanted);
  if (wanted.is(Kind::object)) return with_dynamic_attributes_of(given, wanted);
  Type element;
  if (given.is_collection()) {
    element = given.element();
  } else if (given.is(wanted.is(Kind::map) ? Kind::object : Kind::tuple)) {
    const auto common = unify(given.is(Kind::object) ? attribute_types(given) : given.items(), Safety::unsafe);
    element = common.value_or(Type::dynamic());
  }
  element = with_dynamic_parts_of(element, wanted.element());
  if (wanted.is(Kind::list)) return Type::list(std::move(element));
  return wanted.is(Kind::set) ? Type::set(std::move(element)) : Type::map(std::move(element));
}

std::string mismatch_message(const Type& given, const Type& wanted) {
  if (given.is(Kind::object) && wanted.is(Kind::object)) return between_objects(given, wanted);
  const bool any_single_type = wanted.is_collection() && wanted.element().is(Kind::dynamic);
  if (any_single_type) {
    if (given.is(Kind::tuple) && wanted.is(Kind::list)) return "all list elements must have the same type";
    if (given.is(Kind::tuple) && wanted.is(Kind::set)) return "all set elements must have the same type";
    if (given.is(Kind::object) && wanted.is(Kind::map)) return "all map elements must have the same type";
  }
  const bool is_structural = given.is(Kind::tuple) || given.is(Kind::object);
  if (is_structural && wanted.is_collection()) return from_structural(given, wanted);
  if (given.is_collection() && wanted.is_collection()) return between_collections(given, wanted);
  if (!names_both(given, wanted)) return required(wanted);
  return fmt::format("{} required, but have {}", wanted.friendly_name(), given.friendly_name());
}

}  // namespace modlock::eval
