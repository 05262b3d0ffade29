#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/hcl/ast.h"

namespace modlock {

// The text of the first names of a reference.
struct NameText {
  std::string text;
  std::size_t count = 1;  // of the names
  bool is_given = false;  // only callers set it
};

// What a caller wants to know about the parts of an expression. Empty functions are not called.
struct ExpressionVisit {
  // A reference. The names of a variable of a `for` are not passed.
  std::function<void(const std::vector<std::string>& names, const Range& range)> reference = {};
  // An attribute of the items of a reference: `out` of `module.net[each.key].out` and `module.net[*].out`.
  std::function<void(const std::vector<std::string>& names, const std::string& attribute, const Range& range)>
      attribute = {};
  // A string, with its interpolations in canonical form.
  std::function<void(const std::string& text, const Range& range)> text = {};
  // A call, with the canonical form of its arguments.
  std::function<void(const std::string& name, const std::vector<std::string>& arguments, const Range& range)> call = {};
  // A member of an object with a known name.
  std::function<void(const std::string& name, const hcl::Expression& value)> member = {};
  // If it is set, the text is simplified, and this text takes the place of the first names of a reference.
  std::function<NameText(const std::vector<std::string>& names)> replace = {};
  // A member that is read of a value. A text takes its place: kMissing if no one can set it.
  std::function<std::optional<std::string>(const std::string& name, bool is_given)> read_member = {};
};

inline constexpr std::string_view kMissing = "?";
// Whether a simplified text is null, a missing member, or an empty collection or string.
bool is_empty_text(std::string_view text);

// Returns a text that is the same for expressions of the same meaning: layout, comments, parentheses, the order of
// object members, the form of a string, and the names of `for` variables do not matter. `path` is for JSON strings,
// which are read as templates. A simplified text also leaves out what has no effect: branches that are not taken, and
// values that are missing or empty. `is_given`: whether only callers set all that it reads.
std::string canonical_text(const hcl::Expression& expression, const std::string& path,
                           const ExpressionVisit& visit = {}, bool* is_given = nullptr);

}  // namespace modlock
