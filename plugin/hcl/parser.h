#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/hcl/ast.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline constexpr int kMaxDepth = 256;

// A text with more errors than this is no configuration; reading on would only cost time.
inline constexpr std::size_t kMaxErrors = 100;

// What a text holds. `body` has everything that could be read; it is complete where `diagnostics` has no errors.
struct ParsedFile {
  Body body;
  Diagnostics diagnostics;
};

struct ParseOptions {
  // Which code syntax errors carry: a configuration answers CONFIG_PARSE, a lock file LOCK_PARSE.
  Code error_code = Code::config_parse;
  // Asked before each top-level item; once it says so, reading ends there, without an error. Empty: never.
  std::function<bool()> stops = {};
};

// Reads HCL native syntax. `path` is what locations name. Errors carry line, column and byte range, and say what was
// expected and what was found; after an error reading goes on at the next top-level block, so one run reports all.
// Stricter than the reference on bytes: invalid UTF-8 and NUL are errors; one leading BOM is skipped.
// Nesting deeper than kMaxDepth is LIMIT_EXCEEDED. Time and memory are linear in the text.
ParsedFile parse_native(std::string_view text, const std::string& path, const ParseOptions& options = {});

// Why a text cannot be read, from `start` on: LIMIT_EXCEEDED for one of 4 GiB and more, whose places a Position cannot
// hold, or an error with this code for the first byte that is NUL or no part of well-formed UTF-8. It lies in `path`.
// nullopt: nothing is wrong.
std::optional<Error> text_error(std::string_view text, Position start, const std::string& path, Code code);

// Reads a text that is one template in native syntax, such as the file of a templatefile() call. Text that is one
// interpolation and nothing else is that expression. Errors: CONFIG_PARSE located in `path`, LIMIT_EXCEEDED.
Result<Expression> parse_template(std::string_view text, const std::string& path);

// The two ways to read a JsonString that is not taken literally. `expression.node` must hold one; ranges of the result
// are mapped back onto the bytes of the file, through escapes. Errors: CONFIG_PARSE located in `path`, LIMIT_EXCEEDED.

// As a template, which is what evaluation does: "${var.a}" alone is the reference itself, "plain" a Template.
Result<Expression> template_of(const Expression& expression, const std::string& path);
// As an expression: "aws.west", "list(string)".
Result<Expression> expression_of(const Expression& expression, const std::string& path);

}  // namespace modlock::hcl
