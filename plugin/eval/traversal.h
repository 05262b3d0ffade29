#pragma once

#include <string>
#include <tl/expected.hpp>

#include "plugin/eval/outcome.h"
#include "plugin/value/value.h"

namespace modlock::eval {

// value.name and value[key], by HCL's rules (package hcl, GetAttr and Index). The result has the marks of the value; an
// index has those of the key too, except in an object.
tl::expected<Value, Problem> get_attribute(const Value& value, const std::string& name);
tl::expected<Value, Problem> get_index(const Value& value, const Value& key);

}  // namespace modlock::eval
