#pragma once

#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "plugin/value/value.h"

namespace modlock::eval {

// Why a conversion failed, in OpenTofu's words and without the value: "a number is required", `attribute "x" is
// required`, "element 0: string required, but have tuple".
using ConversionError = std::string;

// The value as `type` wants it, by cty's rules (package convert): numbers and bools become strings and back, tuples
// lists and sets, objects maps, maps objects, missing optional attributes null, attributes that are not wanted are left
// out. `type` may hold dynamic parts, which take the type the value brings (in a collection: one for all items). Null
// of any type that converts becomes null. Marks stay. Of several things that are wrong with the members of an object
// the first in the order of names is reported (cty takes any).
tl::expected<Value, ConversionError> convert(const Value& value, const Type& type);

// The one type that values of all `types` convert to without a check of their content (cty's Unify): number and string
// give string, tuples of one size a tuple, of several a list, objects with the same attributes an object, with several
// a map; nullopt where there is none. Of no types, and where dynamic ones are among lists, maps, tuples or objects:
// dynamic. More than 1000 different types that are not all of one kind have none.
std::optional<Type> unify(std::span<const Type> types);

// The same with conversions that may fail, like that from a map to an object (UnifyUnsafe): what conditionals and
// defaults of optional attributes use.
std::optional<Type> unify_unsafe(std::span<const Type> types);

}  // namespace modlock::eval
