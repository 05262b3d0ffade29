#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace modlock::eval {

// The regular expression that matches the paths which a pattern of fileset() means: "*" and "?" within a part of a
// path, "**" as a whole part for any number of them, "[a-z]" and "[^a-z]", "{one,two}", and "\" before what is to be
// taken literally. nullopt where brackets or braces stay open.
std::optional<std::string> regular_expression_of_glob(std::string_view pattern);

// The part of a pattern before the last "/" that stands in front of all wildcards ("." without one), and the rest.
struct SplitGlob {
  std::string base;
  std::string pattern;
};
SplitGlob split_glob(std::string_view pattern);

}  // namespace modlock::eval
