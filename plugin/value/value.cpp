#include "plugin/value/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/base/text.h"
#include "plugin/hcl/characters.h"

namespace modlock::eval {
namespace {

// Normalizes member names as cty does. If two become the same, the last one wins.
Value::Members normalized(Value::Members members) {
  const auto is_plain = [](const auto& member) {
    return std::all_of(member.first.begin(), member.first.end(),
                       [](char c) { return static_cast<signed char>(c) >= 0; });
  };
  if (std::all_of(members.begin(), members.end(), is_plain)) return members;
  Value::Members out;
  for (auto& [name, value] : members) out.insert_or_assign(hcl::normalize_nfc(name), std::move(value));
  return out;
}

// Nulls of dynamic type are nulls of the collection's element type.
void adopt(Value& item, const Type& element) {
  if (item.is(Type::Kind::dynamic) && !element.is(Type::Kind::dynamic)) {
    item = Value::null(element).with_marks(item.marks());
  }
}

// cty orders compound values in sets by these texts.
void append_order_key(std::string& out, const Value& value) {
  if (value.is_null()) {
    out += '~';
    return;
  }
  const auto append_items = [&](char open, char close) {
    out += open;
    for (const Value& item : value.items()) {
      append_order_key(out, item);
      out += ';';
    }
    out += close;
  };
  switch (value.type().kind()) {
    case Type::Kind::dynamic:
      break;
    case Type::Kind::string:
      out += in_quotes(value.as_string());
      break;
    case Type::Kind::number:
      out += fmt::format("{:.10g}", value.as_number().as_double());
      break;
    case Type::Kind::boolean:
      out += value.as_bool() ? 'T' : 'F';
      break;
    case Type::Kind::list:
    case Type::Kind::set:
      append_items('[', ']');
      break;
    case Type::Kind::tuple:
      append_items('<', '>');
      break;
    case Type::Kind::map:
    case Type::Kind::object:
      const bool is_map = value.is(Type::Kind::map);
      out += is_map ? '{' : '<';
      for (const auto& [name, member] : value.members()) {
        if (is_map) {
          out += in_quotes(name);
          out += ':';
        }
        append_order_key(out, member);
        out += ';';
      }
      out += is_map ? '}' : '>';
  }
}

int sign(std::strong_ordering order) {
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

// Compares values of one kind that is not primitive, by the first parts that differ.
int compare_parts(const Value& left, const Value& right) {
  const bool has_members = left.is(Type::Kind::map) || left.is(Type::Kind::object);
  if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  if (!has_members) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (const int order = Value::compare(left.items()[i], right.items()[i]); order != 0) return order;
    }
    return 0;
  }
  for (auto l = left.members().begin(), r = right.members().begin(); l != left.members().end(); ++l, ++r) {
    if (const int order = l->first.compare(r->first); order != 0) return order;
    if (const int order = Value::compare(l->second, r->second); order != 0) return order;
  }
  return 0;
}

struct Ordered {
  std::string key;  // of compound values
  Value value;

  explicit Ordered(Value of) : value(std::move(of)) {
    if (!value.type().is_primitive()) append_order_key(key, value);
  }
  bool operator<(const Ordered& other) const {
    const int order = key.compare(other.key);
    return order != 0 ? order < 0 : Value::compare(value, other.value) < 0;
  }
};

}  // namespace

void Value::contain(const Value& value) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  weight_ = value.weight_ > kMost - weight_ ? kMost : weight_ + value.weight_;
  inner_marks_ = inner_marks_ | value.deep_marks();
}

void Value::set_items(Items items) {
  for (const Value& item : items) contain(item);
  data_ = std::make_shared<const Items>(std::move(items));
}

void Value::set_members(Members members) {
  for (const auto& [name, member] : members) contain(member);
  data_ = std::make_shared<const Members>(std::move(members));
}

Value Value::null(Type type) {
  Value value;
  value.type_ = type.without_optional_attributes();
  return value;
}

Value Value::string(std::string text) {
  Value value;
  value.type_ = Type::string();
  value.data_ = hcl::normalize_nfc(text);
  return value;
}

Value Value::number(Number number) {
  Value value;
  value.type_ = Type::number();
  value.data_ = std::move(number);
  return value;
}

Value Value::boolean(bool value) {
  Value out;
  out.type_ = Type::boolean();
  out.data_ = value;
  return out;
}

Value Value::list(Type element, Items items) {
  for (Value& item : items) adopt(item, element);
  Value value;
  value.type_ = Type::list(std::move(element));
  value.set_items(std::move(items));
  return value;
}

Value Value::set(Type element, Items items) {
  Value value;
  std::vector<Ordered> ordered;
  ordered.reserve(items.size());
  for (Value& item : items) {
    value.marks_ = value.marks_ | item.deep_marks();
    adopt(item, element);
    ordered.emplace_back(item.without_marks());
  }
  std::stable_sort(ordered.begin(), ordered.end());
  items.clear();
  for (Ordered& item : ordered) {
    if (items.empty() || !items.back().equals(item.value)) items.push_back(std::move(item.value));
  }
  value.type_ = Type::set(std::move(element));
  value.set_items(std::move(items));
  return value;
}

Value Value::map(Type element, Members members) {
  members = normalized(std::move(members));
  for (auto& [name, member] : members) adopt(member, element);
  Value value;
  value.type_ = Type::map(std::move(element));
  value.set_members(std::move(members));
  return value;
}

Value Value::tuple(Items items) {
  std::vector<Type> types;
  types.reserve(items.size());
  for (const Value& item : items) types.push_back(item.type());
  Value value;
  value.type_ = Type::tuple(std::move(types));
  value.set_items(std::move(items));
  return value;
}

Value Value::object(Members members) {
  members = normalized(std::move(members));
  std::map<std::string, Type> types;
  for (const auto& [name, member] : members) types.emplace_hint(types.end(), name, member.type());
  Value value;
  value.type_ = Type::object(std::move(types));
  value.set_members(std::move(members));
  return value;
}

const std::string& Value::as_string() const {
  return std::get<std::string>(data_);
}

const Number& Value::as_number() const {
  return std::get<Number>(data_);
}

bool Value::as_bool() const {
  return std::get<bool>(data_);
}

const Value::Items& Value::items() const {
  return *std::get<std::shared_ptr<const Items>>(data_);
}

const Value::Members& Value::members() const {
  return *std::get<std::shared_ptr<const Members>>(data_);
}

std::size_t Value::size() const {
  const auto* items = std::get_if<std::shared_ptr<const Items>>(&data_);
  return items != nullptr ? (*items)->size() : members().size();
}

Value Value::with_marks(const Marks& more) const {
  Value value = *this;
  value.marks_ = marks_ | more;
  return value;
}

Value Value::without_marks() const {
  if (!deep_marks().any()) return *this;
  Value value = *this;
  value.marks_ = {};
  if (!inner_marks_.any()) return value;
  value.inner_marks_ = {};
  value.weight_ = 1;
  if (const auto* items = std::get_if<std::shared_ptr<const Items>>(&data_)) {
    Items plain;
    plain.reserve((*items)->size());
    for (const Value& item : **items) plain.push_back(item.without_marks());
    value.set_items(std::move(plain));
  } else {
    Members plain;
    for (const auto& [name, member] : members()) plain.emplace_hint(plain.end(), name, member.without_marks());
    value.set_members(std::move(plain));
  }
  return value;
}

bool Value::equals(const Value& other) const {
  return type_ == other.type_ && compare(*this, other) == 0;
}

int Value::compare(const Value& left, const Value& right) {
  if (left.is_null() || right.is_null()) return static_cast<int>(left.is_null()) - static_cast<int>(right.is_null());
  switch (left.type_.kind()) {
    case Type::Kind::string:
      return left.as_string().compare(right.as_string());
    case Type::Kind::number:
      return sign(left.as_number() <=> right.as_number());
    case Type::Kind::boolean:
      return static_cast<int>(left.as_bool()) - static_cast<int>(right.as_bool());
    default:
      return left.data_ == right.data_ ? 0 : compare_parts(left, right);
  }
}

}  // namespace modlock::eval
