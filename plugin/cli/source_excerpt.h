#pragma once

#include <json/value.h>

#include <string>

#include "protocol/error.h"

namespace modlock::cli {

// The line that a location points to, with carets under its range, to be shown below a message:
//
//     12 |   source = "git::https://example.com/vpc.git?ref=${var.ref}"
//        |                                                  ^^^^^^^^^^
//
// Empty where the location has no range, the file cannot be read, the line is longer than a screen is wide, or the file
// holds values of variables. What could be a secret in an address is shown as "***".
std::string source_excerpt(const std::string& root, const Location& location);

}  // namespace modlock::cli
