#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"

// The bytes of a lock file, line by line: removes module blocks and inserts them again, and leaves everything else
// untouched.
namespace modlock {

struct TextLine {
  std::string text;  // without its line ending
  std::string end;   // "\n", "\r\n", or empty if the last line has none
};

struct LockText {
  std::string bom;  // the byte order mark, or empty
  std::vector<TextLine> lines;
  std::string line_end = "\n";  // of the first line
  bool final_line_end = true;   // whether the last line has one
};

LockText split_lock_text(std::string_view text);
std::string join_lock_text(const LockText& text);

// The text with the byte order mark and the line endings of another one.
std::string with_line_endings_of(std::string_view model, std::string_view text);

// The number of lines in the head of the file: the comments at its top, up to the last one that a blank line separates
// from the first block. The first paragraph always belongs to it.
std::size_t head_size(const std::vector<TextLine>& lines);

// Removes blocks. `ranges` are their ranges in the text given to split_lock_text(), ascending. Removes a block's lines
// and the one blank line before it (after it, if it is at the top); keeps comments on those lines.
void remove_blocks(LockText& text, const std::vector<Range>& ranges);

// Inserts blocks (LF line endings, including a final one) after the comments at the top of the file, each after one
// blank line. If the file does not begin with a comment, inserts them at the very top, each before one blank line.
void insert_blocks(LockText& text, const std::vector<std::string>& blocks);

}  // namespace modlock
