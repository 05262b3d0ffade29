#include "plugin/hcl/parser.h"

#include "plugin/hcl/native_parser.h"
#include "plugin/hcl/text_error.h"

namespace modlock::hcl {

ParsedFile parse_native(std::string_view text, const std::string& path, const ParseOptions& options) {
  Position start;
  if (text.starts_with(kByteOrderMark)) start.byte = static_cast<std::uint32_t>(kByteOrderMark.size());
  if (auto error = text_error(text, start, path, options.error_code)) {
    ParsedFile file;
    file.body.range = {start, start};
    file.diagnostics.push_back({Severity::error, std::move(*error)});
    return file;
  }
  return NativeParser(text, start, path, options.error_code).parse(options.stops);
}

}  // namespace modlock::hcl
