#pragma once

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
};

// Reads HCL native syntax. Locations name `path`. Errors have a line, a column and a byte range, and state the expected
// and the found text. After an error reading continues at the next top-level block, so one run reports all errors.
// Stricter than the reference on bytes: invalid UTF-8 is an error except in comments of a configuration, NUL is always
// one; one leading BOM is skipped. Nesting deeper
// than kMaxDepth, and a text of more than kMaxTextBytes, are LIMIT_EXCEEDED. Time and memory are linear in the text.
ParsedFile parse_native(std::string_view text, const std::string& path, const ParseOptions& options = {});

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

// For parsers: keeps what `options` say of the last of the blocks.
void keep_last_block(ParsedFile& file, std::vector<Block>& blocks, int depth, const ParseOptions& options);

// Reports a syntax error at the conflict markers of a merge in `text` as what it is.
void name_conflict_markers(ParsedFile& file, std::string_view text);

}  // namespace modlock::hcl
