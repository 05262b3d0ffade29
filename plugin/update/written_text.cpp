#include "plugin/update/written_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace modlock {
namespace {

// What one step of reading takes from the file, and how many bytes of text it gives.
struct Step {
  std::size_t written = 0;  // 0: the two do not line up
  std::size_t text = 0;
};

std::uint32_t code_point(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

std::size_t utf8_size(std::uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

Step escape(std::string_view written) {
  const char kind = written.size() > 1 ? written[1] : '\0';
  if (kind == 'U') {
    return {10, utf8_size(code_point(written.substr(2, 8)))};
  }
  if (kind != 'u') {
    return {2, 1};
  }
  const std::uint32_t code = code_point(written.substr(2, 4));
  const bool is_half = code >= 0xD800 && code < 0xDC00;  // of a pair, in JSON
  return is_half ? Step{12, 4} : Step{6, utf8_size(code)};
}

bool starts_template(std::string_view text) {
  return text.starts_with("${") || text.starts_with("%{");
}

Step next(std::string_view written, std::string_view text, Quoting quoting) {
  if (written.front() == '\\' && quoting != Quoting::heredoc) {
    return escape(written);
  }
  if ((written.starts_with("$${") || written.starts_with("%%{")) && starts_template(text) &&
      quoting != Quoting::json_literal) {
    return {3, 2};
  }
  if (written.front() == text.front()) {
    return {1, 1};
  }
  return {written.front() == '\r' && quoting == Quoting::heredoc ? std::size_t{1} : 0, 0};
}

std::size_t leading_blanks(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

std::string escaped(char c, Quoting quoting) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (static_cast<unsigned char>(c) < 0x20 && quoting != Quoting::quoted) {
    return fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
  }
  return std::string(1, c);
}

}  // namespace

std::vector<std::size_t> places_of(std::string_view text, const Range& range, Quoting quoting, std::string_view file) {
  std::string_view written = file.substr(0, range.end.byte);
  std::size_t at = range.start.byte;
  std::vector<std::size_t> places;
  places.reserve(text.size() + 1);
  while (places.size() < text.size()) {
    if (quoting == Quoting::heredoc && (places.empty() || text[places.size() - 1] == '\n') && at < written.size()) {
      const std::size_t kept = leading_blanks(text.substr(places.size()));
      at += leading_blanks(written.substr(at)) - std::min(kept, leading_blanks(written.substr(at)));
    }
    const Step step = at < written.size() ? next(written.substr(at), text.substr(places.size()), quoting) : Step{};
    if (step.written == 0 || places.size() + step.text > text.size()) {
      return {};
    }
    places.insert(places.end(), step.text, at);
    at += step.written;
  }
  places.push_back(at);
  return places;
}

std::string spell(std::string_view text, Quoting quoting) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool doubles = quoting != Quoting::json_literal && starts_template(text.substr(i));
    result += doubles                       ? std::string(2, text[i])
              : quoting == Quoting::heredoc ? std::string(1, text[i])
                                            : escaped(text[i], quoting);
  }
  return result;
}

}  // namespace modlock
