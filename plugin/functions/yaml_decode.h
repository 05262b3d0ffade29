#pragma once

#include <string_view>

#include "plugin/functions/functions.h"

namespace modlock::eval {

// yamldecode(): one document of objects, tuples and scalars, plain scalars by the rules of go-cty-yaml (YAML 1.1's
// "yes", "on", "~", timestamps), with anchors, aliases and "<<". Refused: tags of other types than YAML's own, keys
// that are no scalars, an alias inside its own anchor, infinite numbers. The words for bad syntax are yaml-cpp's.
FunctionResult decode_yaml(std::string_view text);

}  // namespace modlock::eval
