#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "backends/base/ascii.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/native_parser.h"
#include "protocol/base/utf8.h"

namespace modlock::hcl {
namespace {

// A backslash that does not start an escape sequence.
struct BadEscape {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::string message;
  std::string hint;
};

std::optional<char> template_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '"':
    case '\\':
      return c;
    default:
      return std::nullopt;
  }
}

// Decodes the escape sequence at `at` and moves `at` past it.
std::optional<BadEscape> decode_escape(std::string_view raw, std::size_t& at, std::string& out) {
  const char kind = at + 1 < raw.size() ? raw[at + 1] : '\0';
  if (const auto simple = template_escape(kind)) {
    out.push_back(*simple);
    at += 2;
    return std::nullopt;
  }
  if (kind != 'u' && kind != 'U') {
    const std::size_t size = at + 1 < raw.size() ? grapheme_end(raw, at + 1) - at : 1;
    const bool sign = kind == '$' || kind == '%';
    return BadEscape{
        at, size,
        fmt::format("expected one of \\n \\r \\t \\\" \\\\ \\uXXXX \\UXXXXXXXX after a backslash, found {}",
                    quoted_for_message(raw.substr(at, size))),
        sign ? fmt::format("write {0}{0}{{ for plain text that reads {0}{{", kind) : "write \\\\ for one backslash"};
  }
  const std::size_t digits = kind == 'u' ? 4 : 8;
  char32_t value = 0;
  std::size_t size = 2;
  while (size < digits + 2 && at + size < raw.size()) {
    const int digit = ascii::hex_value(raw[at + size]);
    if (digit < 0) break;
    value = (value << 4) | static_cast<char32_t>(digit);
    ++size;
  }
  if (size < digits + 2) {
    return BadEscape{at, size,
                     fmt::format("expected {} hexadecimal digits after \\{}, found {}", digits, kind, size - 2), ""};
  }
  if (!is_scalar_value(value)) {
    return BadEscape{at, size, fmt::format("expected a Unicode character, found {}", raw.substr(at, size)), ""};
  }
  append_utf8(out, value);
  at += size;
  return std::nullopt;
}

// Appends the meaning of the raw text of a template's literal: "$${" is "${" and "%%{" is "%{"; in quoted strings
// backslashes escape too. Ends at the first bad escape.
std::optional<BadEscape> decode_literal_text(std::string_view raw, bool quoted, std::string& into) {
  std::size_t at = 0;
  while (true) {
    const std::size_t special = std::min(raw.find_first_of(quoted ? "\\$%" : "$%", at), raw.size());
    into.append(raw, at, special - at);
    at = special;
    if (at == raw.size()) return std::nullopt;
    const char c = raw[at];
    if (c == '\\') {
      if (auto bad = decode_escape(raw, at, into)) return bad;
      continue;
    }
    const std::size_t end = std::min(raw.find_first_not_of(c, at), raw.size());
    const bool escaped = end - at > 1 && end < raw.size() && raw[end] == '{';
    into.append(end - at - (escaped ? 1 : 0), c);
    at = end;
  }
}

using Kind = TemplateItem::Kind;

// The height that the directives of a template add to its expressions.
int height_of(const std::vector<TemplateItem>& items) {
  int height = 0;
  int open = 0;
  for (const TemplateItem& item : items) {
    if (item.kind == Kind::if_start || item.kind == Kind::for_start) ++open;
    if (item.kind == Kind::if_end || item.kind == Kind::for_end) --open;
    height = std::max(height, open + item.height);
  }
  return height;
}

bool ends_line(const TemplateItem& item) {
  return item.kind == Kind::literal && !item.text.empty() && item.text.back() == '\n';
}

bool is_empty_literal(const TemplateItem& item) {
  return item.kind == Kind::literal && item.text.empty();
}

// Returns the number of blank characters at the start of the line that starts with this item, or nothing for a blank
// line.
std::optional<std::size_t> indentation(const TemplateItem& item) {
  if (item.kind != Kind::literal) return 0;
  const std::string_view text = item.text;
  const std::string_view blanks = text.substr(0, text.size() - trim_left(text).size());
  if (blanks.size() == text.size() && ends_line(item)) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t at = 0; at < blanks.size(); at = grapheme_end(blanks, at)) ++count;
  return count;
}

void strip_literals(std::vector<TemplateItem>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].strip_left && i > 0 && items[i - 1].kind == Kind::literal) {
      items[i - 1].text = std::string(trim_right(items[i - 1].text));
    }
    if (items[i].strip_right && i + 1 < items.size() && items[i + 1].kind == Kind::literal) {
      items[i + 1].text = std::string(trim_left(items[i + 1].text));
    }
  }
}

// Removes the indentation that all lines of a "<<-" heredoc have in common.
void remove_indentation(std::vector<TemplateItem>& items) {
  std::size_t common = std::numeric_limits<std::size_t>::max();
  std::vector<TemplateItem*> lines;
  bool line_start = true;
  for (TemplateItem& item : items) {
    if (line_start) {
      if (const auto count = indentation(item)) {
        common = std::min(common, *count);
        if (item.kind == Kind::literal) lines.push_back(&item);
      }
    }
    line_start = ends_line(item);
  }
  for (TemplateItem* line : lines) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < common && end < line->text.size(); ++i) end = grapheme_end(line->text, end);
    line->text.erase(0, end);
  }
}

// Joins adjacent literals, and drops empty ones, except next to the only interpolation: its value stays text.
void join_literals(std::vector<TemplateItem>& items) {
  const auto is_literal = [](const TemplateItem& item) { return item.kind == Kind::literal; };
  const bool is_joined =
      std::none_of(items.begin(), items.end(), [](const auto& item) { return is_empty_literal(item); }) &&
      std::adjacent_find(items.begin(), items.end(), [&](const auto& left, const auto& right) {
        return is_literal(left) && is_literal(right);
      }) == items.end();
  if (is_joined) return;
  std::vector<TemplateItem> joined;
  for (TemplateItem& item : items) {
    if (is_empty_literal(item)) continue;
    if (item.kind == Kind::literal && !joined.empty() && joined.back().kind == Kind::literal) {
      joined.back().text += item.text;
      joined.back().range.end = item.range.end;
    } else {
      joined.push_back(std::move(item));
    }
  }
  if (joined.size() == 1 && joined.front().kind == Kind::interpolation) {
    joined.emplace_back();
    joined.back().range = joined.front().range;
  }
  items = std::move(joined);
}

}  // namespace

bool NativeParser::parse_template(Expression& into) {
  const Token opening = tokens_.take();
  const bool quoted = opening.kind == TokenKind::open_quote;
  if (quoted && tokens_.next_is(TokenKind::literal) && tokens_.peek_second().kind == TokenKind::close_quote) {
    return parse_plain_string(opening, into);
  }
  std::vector<TemplateItem> items;
  if (!parse_items(quoted ? TokenKind::close_quote : TokenKind::close_heredoc, items)) return false;
  const Token close = tokens_.take();
  return finish_template(std::move(items), opening, {opening.range.start, close.range.end}, into);
}

// A literal and the closing quote, as in most strings.
bool NativeParser::parse_plain_string(const Token& opening, Expression& into) {
  const Token literal = tokens_.take();
  std::string text;
  if (!decode_literal(literal, true, text)) return false;
  Template node;
  node.parts.push_back({literal.range, std::move(text)});
  return finish(into, {opening.range.start, tokens_.take().range.end}, std::move(node), 0);
}

// Reads up to the token that closes the template, which is not taken.
bool NativeParser::parse_items(TokenKind close, std::vector<TemplateItem>& items) {
  const bool quoted = close == TokenKind::close_quote;
  while (!tokens_.next_is(close)) {
    if (tokens_.next_is(TokenKind::literal)) {
      const Token literal = tokens_.take();
      TemplateItem& item = items.emplace_back();
      item.range = literal.range;
      if (!decode_literal(literal, quoted, item.text)) return false;
    } else if (tokens_.next_is(TokenKind::interpolation) || tokens_.next_is(TokenKind::directive)) {
      if (!parse_sequence(items.emplace_back())) return false;
    } else {
      return fail_expected(quoted ? "a closing quotation mark" : "the closing marker of the heredoc");
    }
    if (checks_only_) drop_content(items);
  }
  return true;
}

// Keeps of the items, which end with a new one, the directives and the height between them.
void NativeParser::drop_content(std::vector<TemplateItem>& items) {
  const auto is_plain = [](const TemplateItem& item) {
    return item.kind == Kind::literal || item.kind == Kind::interpolation;
  };
  TemplateItem& last = items.back();
  last.text = {};
  last.expression.reset();
  if (items.size() > 1 && is_plain(last) && is_plain(items.end()[-2])) {
    items.end()[-2].kind = Kind::interpolation;
    items.end()[-2].height = std::max(items.end()[-2].height, last.height);
    items.pop_back();
  }
}

bool NativeParser::finish_template(std::vector<TemplateItem> items, const Token& opening, const Range& range,
                                   Expression& into) {
  strip_literals(items);
  if (opening.text.substr(0, 3) == "<<-") remove_indentation(items);
  join_literals(items);
  const int height = height_of(items);
  Template node;
  node.heredoc = opening.kind == TokenKind::open_heredoc;
  std::size_t at = 0;
  return build_parts(items, at, node.parts, nullptr) && finish(into, range, std::move(node), height);
}

// `${ … }` or `%{ … }`.
bool NativeParser::parse_sequence(TemplateItem& into) {
  const Token opening = tokens_.take();
  const bool directive = opening.kind == TokenKind::directive;
  const TokenStream::LineEnds free(tokens_, false);
  into.kind = Kind::interpolation;
  into.strip_left = opening.text.size() == 3;
  if (tokens_.next_is(TokenKind::end)) return fail_in_brackets(opening, "\"}\"");
  if (directive ? !parse_directive(opening, into) : !parse_sequence_value(into)) return false;
  if (!tokens_.next_is(TokenKind::sequence_end)) {
    return fail_in_brackets(opening, fmt::format("\"}}\" to end the {}", directive ? "directive" : "interpolation"),
                            directive ? "" : "write $${ for a \"${\" that is plain text");
  }
  const Token close = tokens_.take();
  into.strip_right = close.text.size() == 2;
  into.range = {opening.range.start, close.range.end};
  return true;
}

bool NativeParser::parse_sequence_value(TemplateItem& item) {
  const bool parsed = parse_boxed(item.expression);
  item.height = height_;
  return parsed;
}

bool NativeParser::parse_directive(const Token& opening, TemplateItem& item) {
  if (tokens_.next_is_word("for")) {
    item.kind = Kind::for_start;
    return parse_for_names(item.key_variable, item.value_variable) && parse_sequence_value(item);
  }
  if (tokens_.next_is_word("if")) {
    tokens_.take();
    item.kind = Kind::if_start;
    return parse_sequence_value(item);
  }
  if (tokens_.next_is_word("else")) {
    item.kind = Kind::if_else;
  } else if (tokens_.next_is_word("endif")) {
    item.kind = Kind::if_end;
  } else if (tokens_.next_is_word("endfor")) {
    item.kind = Kind::for_end;
  } else {
    return fail_in_brackets(opening, "if, else, endif, for or endfor after \"%{\"",
                            "write %%{ for a \"%{\" that is plain text");
  }
  tokens_.take();
  return true;
}

bool NativeParser::decode_literal(const Token& literal, bool quoted, std::string& into) {
  const auto bad = decode_literal_text(literal.text, quoted, into);
  return !bad || fail_at(tokens_.part_of(literal, bad->offset, bad->size), bad->message, bad->hint);
}

// Puts the items from `at` on together, up to the directive that ends or divides the directive of `opening`.
bool NativeParser::build_parts(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts,
                               const TemplateItem* opening) {
  if (opening == nullptr) parts.reserve(items.size());
  for (; at < items.size(); ++at) {
    TemplateItem& item = items[at];
    if (checks_only_) parts.clear();
    switch (item.kind) {
      case Kind::literal:
        parts.push_back({item.range, std::move(item.text)});
        break;
      case Kind::interpolation:
        parts.push_back({item.range, std::move(item.expression)});
        break;
      case Kind::if_start:
        if (!build_if(items, at, parts)) return false;
        break;
      case Kind::for_start:
        if (!build_for(items, at, parts)) return false;
        break;
      default:
        if (opening != nullptr) return true;
        report(item.range, "unexpected directive: expected an if or a for before it");
        return false;
    }
  }
  if (opening == nullptr) return true;
  const bool is_if = opening->kind != Kind::for_start;
  report(opening->range,
         fmt::format("the directive that starts here is never ended: expected %{{ {} }}", is_if ? "endif" : "endfor"));
  return false;
}

bool NativeParser::build_if(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts) {
  const Depth depth(*this);
  const TemplateItem& opening = items[at];
  if (!depth_is_fine(opening.range)) return false;
  auto node = std::make_unique<TemplateIf>();
  if (opening.expression) node->condition = std::move(*opening.expression);
  if (!build_parts(items, ++at, node->when_true, &opening)) return false;
  if (items[at].kind == Kind::if_else && !build_parts(items, ++at, node->when_false, &opening)) return false;
  if (items[at].kind != Kind::if_end) {
    report(items[at].range, "expected %{ endif } before this directive",
           fmt::format("the if on line {} is still open", opening.range.start.line));
    return false;
  }
  parts.push_back({{opening.range.start, items[at].range.end}, std::move(node)});
  return true;
}

bool NativeParser::build_for(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts) {
  const Depth depth(*this);
  const TemplateItem& opening = items[at];
  if (!depth_is_fine(opening.range)) return false;
  auto node = std::make_unique<TemplateFor>();
  node->key_variable = opening.key_variable;
  node->value_variable = opening.value_variable;
  if (opening.expression) node->collection = std::move(*opening.expression);
  if (!build_parts(items, ++at, node->body, &opening)) return false;
  if (items[at].kind != Kind::for_end) {
    report(items[at].range, "expected %{ endfor } before this directive",
           fmt::format("the for on line {} is still open", opening.range.start.line));
    return false;
  }
  parts.push_back({{opening.range.start, items[at].range.end}, std::move(node)});
  return true;
}

}  // namespace modlock::hcl
