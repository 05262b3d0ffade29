#include "plugin/value/type.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace modlock::eval {

struct Type::Parts {
  std::vector<Type> items = {};  // one item for a collection
  std::map<std::string, Type> attributes = {};
  std::set<std::string> optional = {};
  // The height of the whole type.
  std::size_t height = 1;
  std::size_t hash = 0;
  bool has_dynamic_part = false;
  bool has_optional_attributes = false;

  void add(const Type& part) {
    height = std::max(height, part.height() + 1);
    mix(part.hash());
    has_dynamic_part = has_dynamic_part || part.has_dynamic_part();
    has_optional_attributes = has_optional_attributes || (part.parts_ && part.parts_->has_optional_attributes);
  }
  void mix(std::size_t more) { hash = (hash ^ more) * 0x100000001b3U + (hash >> 7U); }
};

namespace {

std::string name_of(const Type& type, bool constraint) {
  const auto collection = [&](std::string_view kind) {
    std::string name(kind);
    const bool any = constraint && type.element().is(Type::Kind::dynamic);
    return name.append(" of ").append(any ? "any single type" : name_of(type.element(), constraint));
  };
  switch (type.kind()) {
    case Type::Kind::dynamic:
      return constraint ? "any type" : "dynamic";
    case Type::Kind::string:
      return "string";
    case Type::Kind::number:
      return "number";
    case Type::Kind::boolean:
      return "bool";
    case Type::Kind::list:
      return collection("list");
    case Type::Kind::set:
      return collection("set");
    case Type::Kind::map:
      return collection("map");
    case Type::Kind::tuple:
      return "tuple";
    case Type::Kind::object:
      break;
  }
  return "object";
}

}  // namespace

Type::Type(Kind kind, Parts parts) : kind_(kind) {
  parts.mix(static_cast<std::size_t>(kind));
  for (const Type& item : parts.items) parts.add(item);
  for (const auto& [name, type] : parts.attributes) {
    parts.mix(std::hash<std::string>{}(name));
    parts.add(type);
  }
  for (const std::string& name : parts.optional) parts.mix(std::hash<std::string>{}(name));
  parts.has_optional_attributes = parts.has_optional_attributes || !parts.optional.empty();
  parts_ = std::make_shared<const Parts>(std::move(parts));
}

Type Type::list(Type element) {
  return Type(Kind::list, {.items = {std::move(element)}});
}

Type Type::set(Type element) {
  return Type(Kind::set, {.items = {std::move(element)}});
}

Type Type::map(Type element) {
  return Type(Kind::map, {.items = {std::move(element)}});
}

Type Type::tuple(std::vector<Type> items) {
  return Type(Kind::tuple, {.items = std::move(items)});
}

Type Type::object(std::map<std::string, Type> attributes, std::set<std::string> optional) {
  return Type(Kind::object, {.attributes = std::move(attributes), .optional = std::move(optional)});
}

const Type& Type::element() const {
  return parts_->items.front();
}

const std::vector<Type>& Type::items() const {
  return parts_->items;
}

const std::map<std::string, Type>& Type::attributes() const {
  return parts_->attributes;
}

const std::set<std::string>& Type::optional_attributes() const {
  return parts_->optional;
}

Type Type::without_optional_attributes() const {
  if (!parts_ || !parts_->has_optional_attributes) return *this;
  Parts parts;
  for (const Type& item : parts_->items) parts.items.push_back(item.without_optional_attributes());
  for (const auto& [name, type] : parts_->attributes)
    parts.attributes.emplace(name, type.without_optional_attributes());
  return Type(kind_, std::move(parts));
}

bool Type::has_dynamic_part() const {
  return parts_ ? parts_->has_dynamic_part : is(Kind::dynamic);
}

std::string Type::friendly_name() const {
  return name_of(*this, false);
}

std::string Type::friendly_constraint_name() const {
  return name_of(*this, true);
}

std::size_t Type::height() const {
  return parts_ ? parts_->height : 1;
}

std::size_t Type::hash() const {
  return parts_ ? parts_->hash : static_cast<std::size_t>(kind_) + 1;
}

bool Type::operator==(const Type& other) const {
  if (kind_ != other.kind_ || parts_ == other.parts_) return kind_ == other.kind_;
  return hash() == other.hash() && parts_->items == other.parts_->items &&
         parts_->attributes == other.parts_->attributes && parts_->optional == other.parts_->optional;
}

}  // namespace modlock::eval
