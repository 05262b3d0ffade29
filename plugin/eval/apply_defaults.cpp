#include <utility>

#include "plugin/eval/type_constraint.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

// Defaults of a collection have no key, and "" is no name of an attribute: so what is found is meant.
Value apply_child(const Value& value, const Defaults& defaults, const std::string& key) {
  auto child = defaults.children.find(key);
  if (child == defaults.children.end()) child = defaults.children.find("");
  return child == defaults.children.end() ? value : apply_defaults(value, *child->second);
}

// The parts as a collection of that kind, with one type for all; as they are where they have none in common.
Value collected(Value parts, const Type& collection) {
  if (parts.size() == 0) return parts;
  auto converted = convert(parts, collection);
  return converted ? std::move(*converted) : parts;
}

Value apply_to_items(const Value& value, const Defaults& defaults) {
  Value::Items items;
  items.reserve(value.size());
  for (const Value& item : value.items()) {
    items.push_back(apply_child(item, defaults, std::to_string(items.size())));
  }
  Value tuple = Value::tuple(std::move(items));
  if (value.is(Kind::list)) return collected(std::move(tuple), Type::list(Type::dynamic()));
  return value.is(Kind::set) ? collected(std::move(tuple), Type::set(Type::dynamic())) : tuple;
}

Value apply_to_members(const Value& value, const Defaults& defaults) {
  Value::Members members;
  for (const auto& [name, member] : value.members()) members.emplace(name, apply_child(member, defaults, name));
  for (const auto& [name, fallback] : defaults.values) {
    Value& member = members[name];
    if (!member.is_null()) continue;
    const auto child = defaults.children.find(name);
    member = child == defaults.children.end() ? fallback : apply_defaults(fallback, *child->second);
  }
  Value object = Value::object(std::move(members));
  return value.is(Kind::map) ? collected(std::move(object), Type::map(Type::dynamic())) : object;
}

}  // namespace

Value apply_defaults(const Value& value, const Defaults& defaults) {
  const bool has_members = value.is(Kind::map) || value.is(Kind::object);
  if (value.is_null() || value.type().is_primitive() || (defaults.values.empty() && defaults.children.empty())) {
    return value;
  }
  const bool has_default = has_members && !defaults.values.empty();
  if (value.size() == 0 && !has_default) return value;
  const Value applied = has_members ? apply_to_members(value, defaults) : apply_to_items(value, defaults);
  return applied.with_marks(value.marks());
}

}  // namespace modlock::eval
