#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "backends/address/version.h"
#include "protocol/base/result.h"

namespace modlock {

// A replacement in a text: bytes [start, end) become `text`.
struct Splice {
  std::size_t start = 0;
  std::size_t end = 0;
  std::string text;

  std::string apply(std::string_view before) const;
  bool operator==(const Splice&) const = default;
};

// Sets an argument in the query of a module source as written ("git::https://…//sub?ref=v1.0.0"). It replaces the first
// argument that has one of the names `replaced`, or else is appended. Characters of `value` other than letters, digits
// and "-._~/:@" are percent-encoded; OpenTofu decodes them.
Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value);

// The rules that decide what a constraint allows.
enum class ConstraintDialect { module, provider };

// Changes the version constraint `text` so that it allows `version`, and keeps its form. Items that allow the version
// stay unchanged, except an exact one, and so does every space. "~> 1.2" becomes "~> 1.5", "1.2.3" becomes "1.5.0", an
// upper bound moves up at the number it bounds ("< 2.0.0" to "< 3.0.0", "< 1.4" to "< 1.6"). Errors: CONSTRAINT_SYNTAX;
// CONSTRAINT_CONFLICT if a lower bound or a "!=" excludes the version, which is intentional, or if only its exact name
// allows a prerelease of a provider.
Result<std::string> let_in(std::string_view text, const Version& version,
                           ConstraintDialect dialect = ConstraintDialect::module);

// Returns whether `constraint` allows `version`. A constraint that cannot be read allows nothing.
bool lets_in(std::string_view constraint, const Version& version, ConstraintDialect dialect);

}  // namespace modlock
