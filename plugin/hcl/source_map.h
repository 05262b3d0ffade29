#pragma once

#include <cstddef>
#include <string>

#include "plugin/hcl/ast.h"

namespace modlock::hcl {

// Maps the bytes of a JsonString's text to positions in the file.
class SourceMap {
 public:
  // `quote` is the start of the string.
  SourceMap(const JsonString& string, Position quote);

  // Returns the position of the byte at this offset of the text; the end of the text is the closing quote. The position
  // after an escape is also the start of the next character. Calls with ascending offsets take time linear in the text
  // in total.
  Position at(std::size_t offset);
  Range range(std::size_t start, std::size_t end) { return {at(start), at(end)}; }

 private:
  const JsonString& string_;
  Position quote_;
  std::string raw_;  // as long and as wide as the string in the file, from its quote on
  Position last_;
};

}  // namespace modlock::hcl
