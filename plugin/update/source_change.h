#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace modlock {

// One replacement in a text: bytes [start, end) give way to `text`.
struct Splice {
  std::size_t start = 0;
  std::size_t end = 0;
  std::string text;

  std::string apply(std::string_view before) const;
  bool operator==(const Splice&) const = default;
};

// Sets an argument of the query of a module source, as it is written ("git::https://…//sub?ref=v1.0.0"). The first
// argument that has one of the names `replaced` gives way; where there is none it is added behind the others. What is
// no letter, digit or one of "-._~/:@" is percent-encoded in `value`, which OpenTofu decodes.
Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value);

}  // namespace modlock
