#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "plugin/eval/evaluate.h"
#include "plugin/eval/type_constraint.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/convert.h"

// Types and values in tests as HCL writes them.
namespace modlock::test {

inline hcl::ParsedFile parse_argument(std::string_view text) {
  hcl::ParsedFile file = hcl::parse_native("x = " + std::string(text) + "\n", "main.tf");
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  return file;
}

inline eval::Type type_of(std::string_view text) {
  const hcl::ParsedFile file = parse_argument(text);
  auto constraint = eval::parse_type_constraint(file.body.attributes.at(0).value, "main.tf");
  BOOST_TEST_REQUIRE(constraint.has_value());
  return constraint->type;
}

// Of tuples and objects; as a value of another type where one is given.
inline eval::Value value_of(std::string_view text, std::string_view type = "any") {
  const hcl::ParsedFile file = parse_argument(text);
  const auto value = eval::constant_value(file.body.attributes.at(0).value, false, "main.tf");
  BOOST_TEST_REQUIRE(value.has_value());
  const auto converted = eval::convert(*value, type_of(type));
  BOOST_TEST_REQUIRE(converted.has_value());
  return *converted;
}

inline std::string notation(const eval::Type& type) {
  using Kind = eval::Type::Kind;
  std::string parts;
  switch (type.kind()) {
    case Kind::dynamic:
      return "any";
    case Kind::list:
      return "list(" + notation(type.element()) + ")";
    case Kind::set:
      return "set(" + notation(type.element()) + ")";
    case Kind::map:
      return "map(" + notation(type.element()) + ")";
    case Kind::tuple:
      for (const eval::Type& item : type.items()) parts += (parts.empty() ? "" : ",") + notation(item);
      return "tuple([" + parts + "])";
    case Kind::object:
      for (const auto& [name, attribute] : type.attributes()) {
        const bool optional = type.optional_attributes().count(name) > 0;
        parts += (parts.empty() ? "" : ",") + name + (optional ? "?=" : "=") + notation(attribute);
      }
      return "object({" + parts + "})";
    default:
      return type.friendly_name();
  }
}

// Strings in '', lists in [], sets in [[]], tuples in (), maps in {}, objects in <>; "null:" and the type; marks
// behind.
inline std::string notation(const eval::Value& value) {
  using Kind = eval::Type::Kind;
  const std::string marks =
      std::string(value.marks().sensitive ? " sensitive" : "") + (value.marks().ephemeral ? " ephemeral" : "");
  if (value.is_null()) return "null:" + notation(value.type()) + marks;
  std::string parts;
  switch (value.type().kind()) {
    case Kind::string:
      return "'" + value.as_string() + "'" + marks;
    case Kind::number:
      return value.as_number().to_string() + marks;
    case Kind::boolean:
      return (value.as_bool() ? "true" : "false") + marks;
    case Kind::map:
    case Kind::object:
      for (const auto& [name, member] : value.members())
        parts += (parts.empty() ? "" : ",") + name + "=" + notation(member);
      return (value.is(Kind::map) ? "{" + parts + "}" : "<" + parts + ">") + marks;
    default:
      for (const eval::Value& item : value.items()) parts += (parts.empty() ? "" : ",") + notation(item);
      if (value.is(Kind::tuple)) return "(" + parts + ")" + marks;
      return (value.is(Kind::list) ? "[" + parts + "]" : "[[" + parts + "]]") + marks;
  }
}

}  // namespace modlock::test
