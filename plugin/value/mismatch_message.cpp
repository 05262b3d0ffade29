#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plugin/hcl/characters.h"
#include "plugin/value/conversion_rules.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

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
  std::string never;      // the first attribute that nothing converts
  std::string sometimes;  // the first that only unsafe conversions convert
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

// Whether to name both types rather than the wanted one only.
bool names_both(const Type& given, const Type& wanted) {
  if (given.is_primitive() != wanted.is_primitive()) return true;
  if (wanted.is(Kind::string)) return true;
  if (wanted.is(Kind::boolean) && given.is(Kind::number)) return true;
  if (given.is(Kind::boolean) && wanted.is(Kind::number)) return true;
  return given.is(Kind::tuple) && wanted.is(Kind::object);
}

}  // namespace

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
