#pragma once

#include <string_view>

#include "plugin/hcl/parser.h"

namespace modlock::hcl {

// Reports a syntax error at the conflict markers of a merge in `text` as what it is.
void name_conflict_markers(ParsedFile& file, std::string_view text);

}  // namespace modlock::hcl
