#pragma once

#include <optional>
#include <span>
#include <string>

#include "plugin/value/type.h"

// The parts of cty's conversions that depend only on types.
namespace modlock::eval {

// Safe conversions work for every value of a type, others may fail for some ("a number is required").
enum class Safety { safe, unsafe };

// Whether a conversion exists. For equal types: false if cty has no conversion between them.
bool is_convertible(const Type& from, const Type& to, Safety safety);

// nullopt also for an empty list of types.
std::optional<Type> unify(std::span<const Type> types, Safety safety);

// Returns the element type that the items of a tuple get in a list or set, or the attributes of an object in a map:
// `wanted`, or the type they have in common if any single type is wanted.
std::optional<Type> common_element_type(std::span<const Type> types, const Type& wanted, Safety safety);

std::vector<Type> attribute_types(const Type& object);

// Returns `wanted` with its dynamic parts replaced by the matching parts of `given`, which converts to it.
Type with_dynamic_parts_of(const Type& given, const Type& wanted);

std::string mismatch_message(const Type& given, const Type& wanted);

}  // namespace modlock::eval
