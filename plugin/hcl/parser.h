#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/hcl/ast.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline constexpr int kMaxDepth = 256;
inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20U;  // of a file

// Reading stops after this many errors: such a text is not a configuration.
inline constexpr std::size_t kMaxErrors = 100;

// The content of a text. `body` has everything that could be read. It is complete if `diagnostics` has no errors.
struct ParsedFile {
  Body body;
  Diagnostics diagnostics;
  std::shared_ptr<Text> text = {};
  std::vector<BlockPlace> places = {};  // see Keep
  bool is_full = false;                 // the allowance was used up, and reading stopped
};

// The memory for the content of texts that are read together: with the texts, ten times their size and a constant.
class Allowance {
 public:
  // Returns the size of all texts.
  std::size_t add_text(std::size_t size) { return size_ += size; }
  // Returns false if nothing is left.
  bool take(std::size_t bytes) { return (taken_ += bytes) <= 7 * size_ + (std::size_t{32} << 20U); }
  void give_back(std::size_t bytes) { taken_ -= bytes; }

 private:
  std::atomic<std::size_t> size_ = 0;
  std::atomic<std::size_t> taken_ = 0;
};

// What is kept of a block: it, its place, both, or nothing.
enum class Keep { block, place, both, nothing };

struct ParseOptions {
  // The code of syntax errors: CONFIG_PARSE for a configuration, LOCK_PARSE for a lock file.
  Code error_code = Code::config_parse;
  // Called before each top-level item. If it returns true, reading ends there without an error. Empty: reading never
  // ends early.
  std::function<bool()> stops = {};
  // Called with each block that was read, and its depth: 1 at the top level. May change its body. Empty: all are kept.
  std::function<Keep(Block&, int)> keep = {};
  // That of the texts that are read together, with the size of this one. Null: it is read alone.
  std::shared_ptr<Allowance> allowance = {};
};

// Reads HCL native syntax. Locations name `path`. Errors have a line, a column and a byte range, and state the expected
// and the found text. After an error reading continues at the next top-level block, so one run reports all errors.
// Stricter than the reference on bytes: invalid UTF-8 is an error except in comments of a configuration, NUL is always
// one; one leading BOM is skipped. Nesting deeper
// than kMaxDepth, more than kMaxTextBytes, and what exceeds the allowance are LIMIT_EXCEEDED. Time and memory are
// linear.
ParsedFile parse_native(std::string_view text, const std::string& path, ParseOptions options = {});

// Returns why a text cannot be read, or nullopt if it can. LIMIT_EXCEEDED for a text of more than kMaxTextBytes; an
// error with this code for the first byte that is NUL or not part of well-formed UTF-8. Positions count from `start`;
// the error is located in `path`.
std::optional<Error> text_error(std::string_view text, Position start, const std::string& path, Code code);

// Reads a text that is one template in native syntax, such as the file of a templatefile() call. A text that is only
// one interpolation becomes that expression. Errors: CONFIG_PARSE located in `path`, LIMIT_EXCEEDED.
Result<Expression> parse_template(std::string_view text, const std::string& path);

// The two ways to read a JsonString that is not taken literally. `expression.node` must be a JsonString. Ranges of the
// result are mapped back to the bytes of the file, through escapes. Errors: CONFIG_PARSE located in `path`,
// LIMIT_EXCEEDED.

// As a template, as evaluation reads it: "${var.a}" is only the reference, "plain" is a Template.
Result<Expression> template_of(const Expression& expression, const std::string& path);
// As an expression: "aws.west", "list(string)".
Result<Expression> expression_of(const Expression& expression, const std::string& path);

// Reads a block of `file` again, its ranges and its body. In JSON syntax, all members of the body are attributes.
Block read_block(const ParsedFile& file, const BlockPlace& place);

// For parsers: what the allowance counts: the most that was measured for small parts, with what is made of them.
inline constexpr std::size_t kAttributeMemory = 256;
inline constexpr std::size_t kBlockMemory = 1400;  // without its parts
inline std::size_t memory_of(const Label& label) {
  return 2 * sizeof(Label) + label.text.size();
}
std::size_t memory_of(const Block& block);

// For parsers: whether what is at `where` may be kept. If not, `file` has the reason.
bool may_keep(std::size_t bytes, ParsedFile& file, const ParseOptions& options, const Location& where);

// For parsers: keeps what `options` say of the last of the blocks.
void keep_last_block(ParsedFile& file, std::vector<Block>& blocks, int depth, const ParseOptions& options);

// Reports a syntax error at the conflict markers of a merge in `text` as what it is.
void name_conflict_markers(ParsedFile& file, std::string_view text);

}  // namespace modlock::hcl
