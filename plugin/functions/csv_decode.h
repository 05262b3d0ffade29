#pragma once

#include <string_view>

#include "plugin/functions/functions.h"

namespace modlock::eval {

// csvdecode(): RFC 4180 as Go's encoding/csv reads it. The first row has the names, the others become objects.
FunctionResult decode_csv(std::string_view text);

}  // namespace modlock::eval
