#include "plugin/hcl/json_syntax.h"

#include <utility>

#include "plugin/hcl/json_body.h"
#include "plugin/hcl/json_reader.h"
#include "plugin/hcl/text_error.h"

namespace modlock::hcl {
namespace {

ParsedFile failed(Error error) {
  ParsedFile file;
  file.diagnostics.push_back({Severity::error, std::move(error)});
  return file;
}

}  // namespace

ParsedFile parse_json(std::string_view text, const std::string& path, const BodySchema& schema, ParseOptions options) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    const Position behind{.line = 1, .column = 2, .byte = static_cast<std::uint32_t>(kByteOrderMark.size())};
    return failed({.code = options.error_code,
                   .message = "expected JSON, found a byte order mark, which JSON does not have",
                   .location = Location{path, Range{{}, behind}},
                   .hint = "save the file as UTF-8 without a byte order mark"});
  }
  if (auto error = text_error(text, {}, path, options.error_code)) return failed(std::move(*error));
  JsonReader reader(text, path, options.error_code);
  auto root = reader.read();
  if (!root) return failed(std::move(root).error());
  ParsedFile file = JsonBodyReader(text.size(), path, options.error_code).read_root(std::move(*root), schema);
  file.body.range = {{}, reader.here()};
  return file;
}

}  // namespace modlock::hcl
