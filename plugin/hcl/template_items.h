#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "plugin/hcl/ast.h"

namespace modlock::hcl {

// A template as it is read: one item after the other, directives not yet put together.
struct TemplateItem {
  enum class Kind { literal, interpolation, if_start, if_else, if_end, for_start, for_end };
  Kind kind = Kind::literal;
  Range range;
  std::string text;  // of a literal, decoded
  ExpressionPtr expression;
  std::string key_variable;
  std::string value_variable;
  int height = 0;            // of the expression
  bool strip_left = false;   // "${~": blanks at the end of the literal before it go away
  bool strip_right = false;  // "~}": blanks at the start of the literal behind it
};

// Applies the strip markers.
void strip_literals(std::vector<TemplateItem>& items);

// Takes away the indentation that all lines of a "<<-" heredoc have in common.
void remove_indentation(std::vector<TemplateItem>& items);

// Joins literals that stand side by side, and drops empty ones.
void join_literals(std::vector<TemplateItem>& items);

}  // namespace modlock::hcl
