#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The bytes of a lock file, line by line.
namespace modlock {

struct TextLine {
  std::string text;  // without its line ending
  std::string end;   // "\n", "\r\n", or empty if the last line has none

  bool is_blank() const { return text.find_first_not_of(" \t\r") == std::string::npos; }
};

struct LockText {
  std::string bom;  // the byte order mark, or empty
  std::vector<TextLine> lines;
  std::string line_end = "\n";  // of most lines
  bool final_line_end = true;   // whether the last line has one
};

LockText split_lock_text(std::string_view text);

// The text with the byte order mark and the line endings of another one.
std::string with_line_endings_of(std::string_view model, std::string_view text);

// The number of lines in the head of the file: the comments at its top, up to the last one that a blank line separates
// from the first block. The first paragraph always belongs to it.
std::size_t head_size(const std::vector<TextLine>& lines);

}  // namespace modlock
