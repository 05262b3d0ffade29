#pragma once

#include <string>
#include <string_view>

#include "plugin/functions/regular_expression.h"
#include "protocol/base/result.h"

namespace modlock {

// A glob for directories below another one, as in the settings `roots` and `exclude` and the flags `--root-glob` and
// `--exclude`: `*` and `?` within one component, `**` as a whole component for any number of them (at the end for at
// least one), `[a-z]`, `{one,two}`, and `\` before a literal character. "." is the directory that globs are relative
// to.
class DirectoryGlob {
 public:
  // Errors: CONFIG_PARSE (an empty text, an absolute path, a component "..", brackets or braces that are not closed);
  // the message is only the reason: "must not contain \"..\"".
  static Result<DirectoryGlob> parse(std::string_view text);

  // Whether the whole path matches: relative, `/`-separated, lexically normal, "." for the directory itself.
  bool matches(std::string_view path) const;

 private:
  explicit DirectoryGlob(eval::RegularExpression expression) : expression_(std::move(expression)) {}

  eval::RegularExpression expression_;
};

// The glob that matches only this path.
std::string literal_glob(std::string_view path);

}  // namespace modlock
