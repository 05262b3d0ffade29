#pragma once

#include <string>
#include <vector>

#include "plugin/client/hcl1.h"

namespace modlock::hcl1 {

// The items in native syntax of HCL 1, each from a new line: objects as blocks, lists of objects as blocks repeated,
// all else as arguments. Read again they are the same to a client.
std::string write_items(const std::vector<Item>& items);

// The items as members of a JSON object, without its braces. Items of several keys are nested: `a "b" {…}` is
// "a":{"b":{…}}.
std::string write_json_members(const std::vector<Item>& items);

}  // namespace modlock::hcl1
