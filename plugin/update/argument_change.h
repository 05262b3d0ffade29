#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "backends/address/version.h"
#include "protocol/base/result.h"

namespace modlock {

// One replacement in a text: bytes [start, end) give way to `text`.
struct Splice {
  std::size_t start = 0;
  std::size_t end = 0;
  std::string text;

  std::string apply(std::string_view before) const;
  bool operator==(const Splice&) const = default;
};

// Sets an argument of the query of a module source, as it is written ("git::https://…//sub?ref=v1.0.0"). The first
// argument that has one of the names `replaced` gives way; where there is none it is added behind the others. What is
// no letter, digit or one of "-._~/:@" is percent-encoded in `value`, which OpenTofu decodes.
Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value);

// Whose rules say what a constraint allows.
enum class ConstraintDialect { module, provider };

// The version constraint `text` changed so that it lets `version` in, in the form that it has: items that allow it stay
// as they are, but for an exact one, and so does every blank. "~> 1.2" becomes "~> 1.5", "1.2.3" becomes "1.5.0", an
// upper bound moves up at the number it bounds ("< 2.0.0" to "< 3.0.0", "< 1.4" to "< 1.6"). Errors: CONSTRAINT_SYNTAX;
// CONSTRAINT_CONFLICT where a lower bound or a "!=" keeps the version out, which somebody wrote on purpose, and where a
// prerelease of a provider is let in by nothing but its exact name.
Result<std::string> let_in(std::string_view text, const Version& version,
                           ConstraintDialect dialect = ConstraintDialect::module);

// Whether `constraint` allows `version`; what cannot be read allows nothing.
bool lets_in(std::string_view constraint, const Version& version, ConstraintDialect dialect);

}  // namespace modlock
