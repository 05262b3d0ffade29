#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "plugin/value/value.h"

namespace modlock::eval {

// The value of a scalar. `tag` is empty or the long form ("tag:yaml.org,2002:int"); quoted text is a string unless it
// has a tag. The error says what is wrong, without a place.
tl::expected<Value, std::string> yaml_scalar(std::string_view tag, std::string_view text, bool is_quoted);

}  // namespace modlock::eval
