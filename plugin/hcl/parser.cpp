#include "plugin/hcl/parser.h"

#include <fmt/format.h>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error bad_byte(std::string_view text, std::size_t at, Position start, const std::string& path, Code code) {
  const Position where = advance(start, text.substr(start.byte, at - start.byte));
  Position behind = where;
  ++behind.byte;
  ++behind.column;
  const bool nul = text[at] == '\0';
  const std::string found = nul ? "a NUL byte" : fmt::format("the byte 0x{:02X}", static_cast<unsigned char>(text[at]));
  return {.code = code,
          .message = fmt::format("expected text in UTF-8, found {}{}", found, nul ? "" : ", which is not part of any"),
          .location = Location{path, Range{where, behind}},
          .hint = "save the file as UTF-8"};
}

}  // namespace

ParsedFile parse_native(std::string_view text, const std::string& path, ParseOptions options) {
  Position start;
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) start.byte = kByteOrderMark.size();
  if (const auto at = find_bad_byte(text)) {
    ParsedFile file;
    file.body.range = {start, start};
    file.diagnostics.push_back({Severity::error, bad_byte(text, *at, start, path, options.error_code)});
    return file;
  }
  return NativeParser(text, start, path, options.error_code).parse();
}

}  // namespace modlock::hcl
