#include <fmt/format.h>

#include <bit>
#include <functional>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

constexpr std::size_t kFewAttributes = 16;

}  // namespace

bool NativeParser::parse_item(Body& body, AttributeNames& names) {
  if (!tokens_.next_is(TokenKind::identifier)) {
    const bool quoted = tokens_.next_is(TokenKind::open_quote);
    return fail_expected("the name of an argument or of a block",
                         quoted ? "names of arguments and blocks are written without quotes" : "");
  }
  const Token name = tokens_.take();
  switch (tokens_.peek().kind) {
    case TokenKind::equal:
      return parse_attribute(name, body, names);
    case TokenKind::open_brace:
    case TokenKind::open_quote:
    case TokenKind::identifier:
      tokens_.header_is_read();
      return parse_block(name, body);
    case TokenKind::colon:
      return fail_expected(fmt::format("\"=\" after the argument name {}", quoted_for_message(name.text)),
                           "write arguments as name = value; \":\" is only valid in objects");
    default:
      return fail_expected(fmt::format("\"=\" or a block after {}", quoted_for_message(name.text)));
  }
}

bool NativeParser::parse_attribute(const Token& name, Body& body, AttributeNames& names) {
  tokens_.take();
  if (tokens_.next_is(TokenKind::newline) || tokens_.next_is(TokenKind::end)) {
    return fail_expected(fmt::format("the value of {} after \"=\"", quoted_for_message(name.text)),
                         "the value must start on the same line");
  }
  Expression value;
  if (!parse_expression(value)) return false;
  const TokenKind next = tokens_.peek().kind;
  if (next != TokenKind::newline && next != TokenKind::end && next != TokenKind::close_brace) {
    return fail_after_value(name, value);
  }
  if (const Attribute* first = names.find(name.text, body)) {
    add({.code = error_code_,
         .message = fmt::format("the argument {} is set a second time", quoted_for_message(name.text)),
         .location = Location{path_, name.range},
         .related = {{"it was first set here", {path_, first->name_range}}},
         .hint = "keep one of them"});
  } else if (options_ != nullptr && !may_keep(kAttributeMemory, file_, *options_, {path_, name.range})) {
    return false;
  } else {
    body.attributes.push_back({name.text, name.range, {*file_.text, value.range}});
  }
  return true;
}

// Most bodies are small; searching them is faster than making a table.
const Attribute* AttributeNames::find(std::string_view name, const Body& body) {
  const std::size_t size = body.attributes.size();
  if (size <= kFewAttributes) return body.find(name);
  if (slots_.size() < size + size / 2) {
    slots_.assign(2 * std::bit_ceil(size), 0);
    known_ = 0;
  }
  while (known_ < size) {
    std::uint32_t& slot = slot_of(body.attributes[known_].name, body);
    slot = static_cast<std::uint32_t>(++known_);
  }
  const std::uint32_t found = slot_of(name, body);
  return found == 0 ? nullptr : &body.attributes[found - 1];
}

// That of the name, or the free one where it belongs.
std::uint32_t& AttributeNames::slot_of(std::string_view name, const Body& body) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(name) & mask;
  while (slots_[at] != 0 && body.attributes[slots_[at] - 1].name != name) at = (at + 1) & mask;
  return slots_[at];
}

bool NativeParser::fail_after_value(const Token& name, const Expression& value) {
  const Token found = tokens_.peek();
  const std::string expected = fmt::format("the end of the line after the value of {}", quoted_for_message(name.text));
  if (found.kind == TokenKind::comma) return fail_expected(expected, "do not separate block arguments by commas");
  if (found.kind == TokenKind::equal) return fail_expected(expected, "write each argument on its own line");
  const bool bare = std::holds_alternative<Variable>(value.node) || std::holds_alternative<GetAttribute>(value.node) ||
                    std::holds_alternative<NumberLiteral>(value.node) || std::holds_alternative<Binary>(value.node);
  return fail_expected(expected, bare ? "text needs double quotes around it" : "");
}

bool NativeParser::parse_block(const Token& type, Body& body) {
  const Depth depth(*this);
  if (!depth_is_fine(type.range)) return false;
  if (depth_ > 1 && type.range.start.column == 1 && !suspect_line_) suspect_line_ = type.range.start.line;
  const bool parsed = parse_block_parts(type, body.blocks.emplace_back());
  if (!parsed) {
    body.blocks.pop_back();
  } else if (options_ != nullptr) {
    keep_last_block(file_, body.blocks, depth_, *options_);
  }
  return parsed;
}

bool NativeParser::parse_block_parts(const Token& type, Block& block) {
  block.type = type.text;
  block.header_range = type.range;
  if (!parse_labels(block)) return false;
  const Token brace = tokens_.take();
  block.range.start = type.range.start;
  if (!parse_block_body(brace, block)) return false;
  if (tokens_.next_is(TokenKind::newline) || tokens_.next_is(TokenKind::end)) return true;
  return fail_expected(fmt::format("the end of the line after the \"}}\" of block {}", quoted_for_message(block.type)));
}

// Reads up to the "{", which is not taken.
bool NativeParser::parse_labels(Block& block) {
  while (!tokens_.next_is(TokenKind::open_brace)) {
    if (tokens_.next_is(TokenKind::identifier)) {
      const Token name = tokens_.take();
      block.labels.push_back({std::string(name.text), name.range});
    } else if (tokens_.next_is(TokenKind::open_quote)) {
      if (!parse_label(block.labels.emplace_back())) return false;
    } else {
      const bool equal = tokens_.next_is(TokenKind::equal);
      const bool newline = tokens_.next_is(TokenKind::newline);
      return fail_expected(fmt::format("a label or \"{{\" in the header of block {}", quoted_for_message(block.type)),
                           equal     ? "the name of an argument is one word without quotes"
                           : newline ? "put the \"{\" on the line of the block's type"
                                     : "");
    }
    const Label& label = block.labels.back();
    block.header_range.end = label.range.end;
    if (options_ != nullptr && !may_keep(memory_of(label), file_, *options_, {path_, label.range})) return false;
  }
  return options_ == nullptr || may_keep(kBlockMemory, file_, *options_, {path_, block.header_range});
}

bool NativeParser::parse_label(Label& into) {
  into.range = tokens_.take().range;
  while (!tokens_.next_is(TokenKind::close_quote)) {
    if (!tokens_.next_is(TokenKind::literal)) {
      return fail_expected("plain text in a block label", "labels cannot contain ${ } or %{ }");
    }
    if (!decode_literal(tokens_.take(), true, into.text)) return false;
  }
  into.range.end = tokens_.take().range.end;
  return true;
}

bool NativeParser::parse_block_body(const Token& brace, Block& block) {
  AttributeNames names;
  Body& body = block.body;
  if (!tokens_.next_is(TokenKind::newline)) {
    if (!tokens_.next_is(TokenKind::close_brace) && !parse_one_line_body(brace, block, names)) return false;
    block.range.end = tokens_.take().range.end;
    return true;
  }
  while (true) {
    while (tokens_.take_if(TokenKind::newline)) {
    }
    if (tokens_.next_is(TokenKind::close_brace)) break;
    if (tokens_.next_is(TokenKind::end)) return fail_unclosed(brace, block);
    if (!parse_item(body, names)) return false;
    if (tokens_.next_is(TokenKind::close_brace)) {
      return fail_expected(
          fmt::format("the end of the line before the \"}}\" of block {}", quoted_for_message(block.type)));
    }
  }
  block.range.end = tokens_.take().range.end;
  return true;
}

// `{ name = value }`: only this fits on one line.
bool NativeParser::parse_one_line_body(const Token& brace, Block& block, AttributeNames& names) {
  if (tokens_.next_is(TokenKind::end)) return fail_unclosed(brace, block);
  if (!tokens_.next_is(TokenKind::identifier)) {
    return fail_expected(fmt::format("one argument, \"}}\" or the end of the line after the \"{{\" of block {}",
                                     quoted_for_message(block.type)));
  }
  const Token name = tokens_.take();
  const std::string_view hint = "a block on one line contains one argument and nothing else";
  if (!tokens_.next_is(TokenKind::equal)) {
    return fail_expected(fmt::format("\"=\" after {}", quoted_for_message(name.text)), std::string(hint));
  }
  if (!parse_attribute(name, block.body, names)) return false;
  if (tokens_.next_is(TokenKind::close_brace)) return true;
  if (tokens_.next_is(TokenKind::end)) return fail_unclosed(brace, block);
  return fail_expected(fmt::format("the \"}}\" of block {} on the same line", quoted_for_message(block.type)),
                       "start a new line after the \"{\" too");
}

bool NativeParser::fail_unclosed(const Token& brace, const Block& block) {
  std::string hint = "add the missing \"}\"";
  if (suspect_line_) {
    hint += fmt::format("; the block on line {} starts in the first column, so it may be missing before that",
                        *suspect_line_);
  }
  report(brace.range,
         fmt::format("the \"{{\" of block {} is never closed: expected \"}}\" before the end of the file",
                     quoted_for_message(block.type)),
         std::move(hint));
  return false;
}

}  // namespace modlock::hcl
