#include "plugin/hcl/text_error.h"

#include <fmt/format.h>

#include <limits>

#include "plugin/hcl/characters.h"

namespace modlock::hcl {

std::optional<Error> text_error(std::string_view text, Position start, const std::string& path, Code code) {
  if (text.size() > std::numeric_limits<decltype(Position::byte)>::max()) {
    return Error{.code = Code::limit_exceeded,
                 .message = fmt::format("expected a text of less than 4 GiB, found {} bytes", text.size()),
                 .location = Location{path, {}},
                 .hint = "split it into several files"};
  }
  const auto at = find_bad_byte(text);
  if (!at) return std::nullopt;
  const Position where = advance(start, text.substr(start.byte, *at - start.byte));
  Position behind = where;
  ++behind.byte;
  ++behind.column;
  const bool nul = text[*at] == '\0';
  const std::string found =
      nul ? "a NUL byte" : fmt::format("the byte 0x{:02X}", static_cast<unsigned char>(text[*at]));
  return Error{
      .code = code,
      .message = fmt::format("expected text in UTF-8, found {}{}", found, nul ? "" : ", which is not part of any"),
      .location = Location{path, Range{where, behind}},
      .hint = "save the file as UTF-8"};
}

}  // namespace modlock::hcl
