#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"

// The bytes of a lock file, line by line: taking our module blocks out and putting them in again, with everything
// else untouched.
namespace modlock {

struct TextLine {
  std::string text;  // without its line end
  std::string end;   // "\n", "\r\n", or empty on a last line that has none
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

// How many lines belong to the head of the file: the comments at its top, up to the last one that a blank line sets off
// from the first block. The first paragraph belongs to it in any case.
std::size_t head_size(const std::vector<TextLine>& lines);

// Takes out blocks, `ranges` being their place in the text given to split_lock_text(), ascending. A block goes with its
// lines and the one blank line before it (after it, where nothing stands before); a comment on those lines stays.
void remove_blocks(LockText& text, const std::vector<Range>& ranges);

// Puts blocks (LF line ends, each with a final one) behind the comments at the top of the file, each after one blank
// line; at the very top, where the file begins with no comment, each before one.
void insert_blocks(LockText& text, const std::vector<std::string>& blocks);

}  // namespace modlock
