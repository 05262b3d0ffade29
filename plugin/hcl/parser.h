#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "plugin/hcl/ast.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

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

inline constexpr int kMaxDepth = 256;

// A text with more errors than this is no configuration; reading on would only cost time.
inline constexpr std::size_t kMaxErrors = 100;

}  // namespace modlock::hcl
