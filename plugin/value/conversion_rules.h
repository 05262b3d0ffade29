#pragma once

#include <optional>
#include <span>
#include <string>

#include "plugin/value/type.h"

// What cty's conversions ask of types alone.
namespace modlock::eval {

// Safe conversions work for every value of a type, others may fail for some ("a number is required").
enum class Safety { safe, unsafe };

// Whether there is a conversion. One between equal types counts as none, where cty has none.
bool is_convertible(const Type& from, const Type& to, Safety safety);

// nullopt of no types too.
std::optional<Type> unify(std::span<const Type> types, Safety safety);

// What the items of a tuple become in a list or set of `wanted`, or the attributes of an object in a map: where any
// single type is wanted, the one they have in common.
std::optional<Type> common_element_type(std::span<const Type> types, const Type& wanted, Safety safety);

std::vector<Type> attribute_types(const Type& object);

// `wanted` with what is dynamic in it replaced by what stands there in `given`, which converts to it.
Type with_dynamic_parts_of(const Type& given, const Type& wanted);

// Why values of type `given` do not convert to `wanted`.
std::string mismatch_message(const Type& given, const Type& wanted);

}  // namespace modlock::eval
