#pragma once

#include <cstddef>
#include <string>

#include "plugin/hcl/ast.h"

namespace modlock::hcl {

// Where the bytes of a JsonString's text stand in the file.
class SourceMap {
 public:
  // `quote` is where the string starts.
  SourceMap(const JsonString& string, Position quote);

  // The place of the byte at this offset of the text; the end of the text is the closing quote. A place behind an
  // escape is also the place where the next character starts. Asked for rising offsets, all answers together take time
  // linear in the text.
  Position at(std::size_t offset);
  Range range(std::size_t start, std::size_t end) { return {at(start), at(end)}; }

 private:
  const JsonString& string_;
  Position quote_;
  std::string raw_;  // what is as long and as wide as the string in the file, from its quote on
  Position last_;
};

}  // namespace modlock::hcl
