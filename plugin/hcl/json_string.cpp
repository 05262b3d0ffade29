#include "plugin/hcl/json_string.h"

#include <utility>

#include "plugin/hcl/native_parser.h"
#include "plugin/hcl/source_map.h"

namespace modlock::hcl {

Result<Expression> template_of(const Expression& expression, const std::string& path) {
  const auto& string = std::get<JsonString>(expression.node);
  auto result = NativeParser(string.text, SourceMap(string, expression.range.start), path).parse_whole_template();
  if (!result) return result;
  auto& parts = std::get<Template>(result->node).parts;
  ExpressionPtr* alone = parts.size() == 1 ? std::get_if<ExpressionPtr>(&parts.front().what) : nullptr;
  if (alone != nullptr) return std::move(**alone);
  result->range = expression.range;
  return result;
}

Result<Expression> expression_of(const Expression& expression, const std::string& path) {
  const auto& string = std::get<JsonString>(expression.node);
  return NativeParser(string.text, SourceMap(string, expression.range.start), path).parse_whole_expression();
}

}  // namespace modlock::hcl
