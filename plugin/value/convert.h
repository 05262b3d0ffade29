#pragma once

#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "plugin/value/value.h"

namespace modlock::eval {

// Why a conversion failed, in OpenTofu's wording and without the value: "a number is required", `attribute "x" is
// required`, "element 0: string required, but have tuple".
using ConversionError = std::string;

// Converts a value to `type` by cty's rules (package convert): numbers and bools to strings and back, tuples to lists
// and sets, objects to maps, maps to objects. Missing optional attributes become null; attributes that `type` does not
// have are dropped. Dynamic parts of `type` take the type of the value (in a collection: one type for all items). Null
// of any convertible type becomes null. Marks are kept. If several members of an object are wrong, the first by name is
// reported (cty reports any).
tl::expected<Value, ConversionError> convert(const Value& value, const Type& type);

// Returns the one type that values of all `types` convert to, or nullopt if there is none. A conversion may fail for
// some values, like that from a map to an object (cty's UnifyUnsafe). Number and string become string; tuples of one
// size a tuple, of several sizes a list; objects with the same attributes an object, with different ones a map. No
// types, or dynamic ones mixed with lists, maps, tuples or objects, become dynamic. Also nullopt for more than 1000
// different types of several kinds.
std::optional<Type> unify_unsafe(std::span<const Type> types);

}  // namespace modlock::eval
