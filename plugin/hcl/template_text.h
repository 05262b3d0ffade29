#pragma once

#include <string>
#include <string_view>

#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// Reads a text that is one template in native syntax, such as the file of a templatefile() call. Text that is one
// interpolation and nothing else is that expression. Errors: CONFIG_PARSE located in `path`, LIMIT_EXCEEDED.
Result<Expression> parse_template(std::string_view text, const std::string& path);

}  // namespace modlock::hcl
