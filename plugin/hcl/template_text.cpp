#include "plugin/hcl/template_text.h"

#include <utility>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/native_parser.h"
#include "plugin/hcl/text_error.h"

namespace modlock::hcl {

Result<Expression> parse_template(std::string_view text, const std::string& path) {
  if (auto error = text_error(text, {}, path, Code::config_parse)) return fail(std::move(*error));
  auto result = NativeParser(text, {}, path, Code::config_parse).parse_whole_template();
  if (!result) return result;
  auto& parts = std::get<Template>(result->node).parts;
  ExpressionPtr* alone = parts.size() == 1 ? std::get_if<ExpressionPtr>(&parts.front().what) : nullptr;
  if (alone != nullptr) return std::move(**alone);
  result->range = {{}, advance({}, text)};
  return result;
}

}  // namespace modlock::hcl
