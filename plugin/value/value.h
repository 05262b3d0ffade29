#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "plugin/value/number.h"
#include "plugin/value/type.h"

namespace modlock::eval {

// How large a value may become. A collection holds at most kMaxElements, a string kMaxTextBytes.
inline constexpr std::size_t kMaxElements = 1'000'000;
inline constexpr std::size_t kMaxTextBytes = 64U << 20U;

// Marks of a value. Everything computed from the value has them too.
struct Marks {
  bool sensitive = false;
  bool ephemeral = false;

  Marks operator|(const Marks& other) const { return {sensitive || other.sensitive, ephemeral || other.ephemeral}; }
  bool any() const { return sensitive || ephemeral; }
  bool operator==(const Marks&) const = default;
};

// A value of OpenTofu's language (cty without unknown values: static evaluation has none). Immutable and cheap to copy.
class Value {
 public:
  using Items = std::vector<Value>;
  using Members = std::map<std::string, Value>;

  Value() = default;  // a null of dynamic type
  // A null has no optional attributes in its type.
  static Value null(Type type = Type::dynamic());
  static Value string(std::string text);  // NFC-normalized
  static Value number(Number number);
  static Value number(std::int64_t number) { return Value::number(Number(number)); }
  static Value boolean(bool value);
  // Items of collections have the type `element`, or are nulls of dynamic type and become nulls of `element`. Names of
  // members are NFC-normalized. A set is sorted, has no value twice (0 and -0 are equal), and takes over the marks of
  // its items.
  static Value list(Type element, Items items);
  static Value set(Type element, Items items);
  static Value map(Type element, Members members);
  static Value tuple(Items items);
  static Value object(Members members);

  const Type& type() const { return type_; }
  bool is(Type::Kind kind) const { return type_.is(kind); }
  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }

  // Preconditions: not null, and of that kind.
  const std::string& as_string() const;
  const Number& as_number() const;
  bool as_bool() const;
  const Items& items() const;      // list, set, tuple; a set in cty's order (strings bytewise, numbers by size)
  const Members& members() const;  // map, object
  std::size_t size() const;        // of items or members

  // The number of values it consists of, including itself. A value that occurs in several places counts in each of
  // them, so this may be far more than what is in memory. Saturates at the largest std::size_t.
  std::size_t weight() const { return weight_; }

  const Marks& marks() const { return marks_; }
  Marks deep_marks() const { return marks_ | inner_marks_; }  // its own and those of everything in it
  Value with_marks(const Marks& more) const;
  Value without_marks() const;  // itself and everything in it

  // Same type, same content; marks are ignored. Set membership and `==` between equal types use it.
  bool equals(const Value& other) const;
  // The total order of sets: negative, zero or positive, for values of one type. Nulls are last, false is before true,
  // strings are compared bytewise, numbers by size, anything else in cty's order.
  static int compare(const Value& left, const Value& right);

 private:
  void set_items(Items items);
  void set_members(Members members);
  void contain(const Value& value);

  Type type_;
  std::variant<std::monostate, std::string, Number, bool, std::shared_ptr<const Items>, std::shared_ptr<const Members>>
      data_;
  Marks marks_;
  Marks inner_marks_;
  std::size_t weight_ = 1;
};

}  // namespace modlock::eval
