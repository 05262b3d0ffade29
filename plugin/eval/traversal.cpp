#include <fmt/format.h>

#include <algorithm>

#include "plugin/eval/evaluator.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

constexpr std::string_view kNoElement =
    "invalid index: the given key does not identify an element in this collection value";

tl::unexpected<Problem> wrong(std::string message, std::string hint = {}) {
  return tl::unexpected<Problem>({std::move(message), std::move(hint)});
}

Problem missing_attribute(const std::string& name) {
  return {fmt::format("unsupported attribute: this object does not have an attribute named \"{}\"", name)};
}

Problem no_attributes(const Type& type, const std::string& name) {
  if (type.is_primitive()) {
    return {fmt::format("unsupported attribute: can't access attributes on a primitive-typed value ({})",
                        type.friendly_name())};
  }
  const bool of_objects = (type.is(Kind::list) || type.is(Kind::set)) && type.element().is(Kind::object);
  if (!of_objects) return {"unsupported attribute: this value does not have any attributes"};
  if (type.is(Kind::set)) {
    return {"unsupported attribute: can't access attributes on a set of objects",
            "did you mean to access an attribute across all elements of the set?"};
  }
  const bool known = type.element().attributes().count(name) != 0;
  return {
      "unsupported attribute: can't access attributes on a list of objects",
      fmt::format("did you mean to access {} for a specific element of the list, or across all elements of the list?",
                  known ? fmt::format("attribute \"{}\"", name) : "an attribute")};
}

tl::expected<Value, Problem> item_at(const Value& value, const Value& key) {
  const auto number = convert(key, Type::number());
  if (!number) return wrong(fmt::format("{}: {}", kNoElement, number.error()));
  const Value::Items& items = value.items();
  const Number& index = number->as_number();
  const auto whole = index.as_int64();
  if (whole && *whole >= 0 && static_cast<std::uint64_t>(*whole) < items.size()) {
    return items[static_cast<std::size_t>(*whole)].with_marks(value.marks() | key.marks());
  }
  if (!index.is_integer()) {
    return wrong(fmt::format(
        "{}: indexing a sequence requires a whole number, but the given index has a fractional part", kNoElement));
  }
  if (index < Number()) {
    return wrong(fmt::format("{}: a negative number is not a valid index for a sequence", kNoElement));
  }
  if (items.empty()) return wrong(fmt::format("{}: the collection has no elements", kNoElement));
  return wrong(fmt::format("{}: the given index is greater than or equal to the length of the collection", kNoElement));
}

tl::expected<Value, Problem> member_at(const Value& value, const Value& key) {
  const auto text = convert(key, Type::string());
  if (!text) return wrong(fmt::format("{}: {}", kNoElement, text.error()));
  const auto member = value.members().find(text->as_string());
  const bool object = value.is(Kind::object);
  if (member != value.members().end()) {
    return member->second.with_marks(object ? value.marks() : value.marks() | key.marks());
  }
  return wrong(std::string(kNoElement),
               object && key.is(Kind::number)
                   ? "an object only supports looking up attributes by name, not by numeric index"
                   : "");
}

// The type of an item of a value that does not exist itself.
Type type_inside(const Type& type) {
  return type.is(Kind::list) || type.is(Kind::map) ? type.element() : Type::dynamic();
}

// value.name and value[key], by HCL's rules (package hcl, GetAttr and Index). The result has the marks of the value; an
// index has those of the key too, except in an object.
tl::expected<Value, Problem> get_attribute(const Value& value, const std::string& name) {
  if (value.is_null()) {
    return wrong("attempt to get attribute from null value: this value is null, so it does not have any attributes");
  }
  if (!value.is(Kind::object) && !value.is(Kind::map)) {
    return tl::unexpected<Problem>(no_attributes(value.type(), name));
  }
  const auto member = value.members().find(name);
  if (member != value.members().end()) return member->second.with_marks(value.marks());
  if (value.is(Kind::map)) {
    return wrong(fmt::format("missing map element: this map does not have an element with the key \"{}\"", name));
  }
  return tl::unexpected<Problem>(missing_attribute(name));
}

tl::expected<Value, Problem> get_index(const Value& value, const Value& key) {
  if (value.is_null()) {
    return wrong("attempt to index null value: this value is null, so it does not have any indices");
  }
  if (key.is_null()) return wrong("invalid index: can't use a null value as an indexing key");
  switch (value.type().kind()) {
    case Kind::list:
    case Kind::tuple:
      return item_at(value, key);
    case Kind::map:
    case Kind::object:
      return member_at(value, key);
    case Kind::set:
      return wrong(
          "invalid index: elements of a set are identified only by their value and don't have any separate index or "
          "key "
          "to select with",
          "perform operations across all elements of the set, for example in a 'for' expression");
    default:
      return wrong("invalid index: this value does not have any indices");
  }
}

}  // namespace

Outcome Evaluator::value_of(const hcl::GetAttribute& node, const hcl::Expression& at) {
  const auto* root = std::get_if<hcl::Variable>(&node.operand->node);
  if (root != nullptr && bound_value(root->name) == nullptr && names_.variables.count(root->name) == 0) {
    if (names_.refused) return reject_name(fmt::format("{}.{}", root->name, node.name), at.range);
    return referred(names_.references.at({root->name, node.name}), at.range);
  }
  const Outcome operand = evaluate(*node.operand);
  if (!operand) {
    const Type& type = operand.error().type;
    if (!type.is(Kind::object)) return no_value(operand, type.is(Kind::map) ? type.element() : Type::dynamic());
    const auto attribute = type.attributes().find(node.name);
    if (attribute != type.attributes().end()) return no_value(operand, attribute->second);
    if (failed(operand)) return no_value(operand);
    return reject(node.name_range(at.range), missing_attribute(node.name));
  }
  auto result = get_attribute(*operand, node.name);
  if (!result) return reject(node.name_range(at.range), std::move(result).error());
  return std::move(*result);
}

Outcome Evaluator::value_of(const hcl::Index& node, const hcl::Expression& at) {
  const Outcome operand = evaluate(*node.operand);
  const Outcome key = evaluate(*node.key);
  if (!operand || !key) return no_value(failed(operand) || key ? operand : key, type_inside(type_of(operand)));
  auto result = get_index(*operand, *key);
  if (!result) return reject({node.operand->range.end, at.range.end}, std::move(result).error());
  return std::move(*result);
}

Outcome Evaluator::value_of(const hcl::SplatItem&, const hcl::Expression&) {
  return splat_items_.back();
}

Outcome Evaluator::each_of(const hcl::Splat& node, const Outcome& item) {
  splat_items_.push_back(item);
  Outcome result = evaluate(*node.each);
  splat_items_.pop_back();
  return result;
}

// A value that is not a sequence is treated as a sequence with one item, a null as an empty one.
Outcome Evaluator::value_of(const hcl::Splat& node, const hcl::Expression& at) {
  const Outcome source = evaluate(*node.operand);
  if (!source) return no_value(source);
  const bool collection = source->is(Kind::list) || source->is(Kind::set);
  const bool sequence = collection || source->is(Kind::tuple);
  if (source->is_null()) {
    if (!sequence) return Value::tuple({}).with_marks(source->marks());
    return reject(node.operand->range,
                  {"splat of null value: splat expressions (with the * symbol) cannot be applied to "
                   "null sequences"});
  }
  Value::Items results;
  NoValue reason;
  bool complete = true;
  const auto add = [&](const Value& item) {
    Outcome result = each_of(node, item);
    if (result) return results.push_back(std::move(*result));
    if (complete) reason.error = std::move(result).error().error;
    complete = false;
  };
  if (sequence) {
    std::for_each(source->items().begin(), source->items().end(), add);
  } else {
    add(*source);
  }
  if (!complete) return no_value(std::move(reason));
  Outcome result = collection ? list_splat(node, std::move(results), source->type().element(), at.range)
                              : within_limits(Value::tuple(std::move(results)), at.range);
  if (!result) return result;
  return result->with_marks(source->marks());
}

// The results for the items of a list or set. They must have one type.
Outcome Evaluator::list_splat(const hcl::Splat& node, Value::Items items, const Type& element, const Range& range) {
  if (items.empty()) {
    const Outcome unknown = each_of(node, no_value(NoValue{{}, element}));
    if (failed(unknown)) return no_value(unknown);
    return Value::list(type_of(unknown), {});
  }
  const auto typed =
      std::find_if(items.begin(), items.end(), [](const Value& item) { return !item.is(Kind::dynamic); });
  const Type type = typed == items.end() ? Type::dynamic() : typed->type();
  for (Value& item : items) {
    if (item.is(Kind::dynamic)) item = Value::null(type).with_marks(item.marks());
    if (item.type() == type) continue;
    return reject(node.each->range, {"invalid nested splat expressions: the second level of splat expression produced "
                                     "elements of different types, which cannot be in one list",
                                     "consider using a for expression instead"});
  }
  return within_limits(Value::list(type, std::move(items)), range);
}

}  // namespace modlock::eval
