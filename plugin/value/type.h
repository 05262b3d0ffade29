#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace modlock::eval {

// A type of OpenTofu's language, compared by structure. Cheap to copy.
class Type {
 public:
  enum class Kind { dynamic, string, number, boolean, list, set, map, tuple, object };

  Type() = default;  // dynamic: `any`, and the type of a bare null
  static Type dynamic() { return Type(); }
  static Type string() { return Type(Kind::string); }
  static Type number() { return Type(Kind::number); }
  static Type boolean() { return Type(Kind::boolean); }
  static Type list(Type element);
  static Type set(Type element);
  static Type map(Type element);
  static Type tuple(std::vector<Type> items);
  // `optional` names attributes that a value converted to this type may lack (only in type constraints). A type with
  // optional attributes differs from the same type without them.
  static Type object(std::map<std::string, Type> attributes, std::set<std::string> optional = {});

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_primitive() const { return is(Kind::string) || is(Kind::number) || is(Kind::boolean); }
  bool is_collection() const { return is(Kind::list) || is(Kind::set) || is(Kind::map); }
  const Type& element() const;                               // of list, set, map
  const std::vector<Type>& items() const;                    // of a tuple
  const std::map<std::string, Type>& attributes() const;     // of an object
  const std::set<std::string>& optional_attributes() const;  // of an object

  // The same type, all attributes required, at every depth.
  Type without_optional_attributes() const;
  bool has_dynamic_part() const;

  // "string", "list of string", "tuple", "object", "dynamic": the type of a value in OpenTofu's messages (cty's
  // FriendlyName).
  std::string friendly_name() const;
  // The same for an expected type: "any type" and "list of any single type" (FriendlyNameForConstraint).
  std::string friendly_constraint_name() const;

  // The depth of nesting: 1 for a primitive type, 2 for list(string). Code that walks a type or a value of it recurses
  // that deep.
  std::size_t height() const;
  std::size_t hash() const;

  bool operator==(const Type& other) const;

 private:
  struct Parts;
  explicit Type(Kind kind) : kind_(kind) {}
  Type(Kind kind, Parts parts);

  Kind kind_ = Kind::dynamic;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace modlock::eval
