#pragma once

#include <string>
#include <string_view>

#include "backends/address/version.h"
#include "protocol/base/result.h"

namespace modlock {

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
