#include "plugin/hcl/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_reader.h"
#include "plugin/hcl/lexer.h"
#include "plugin/hcl/native_parser.h"

namespace modlock::hcl {
namespace {

constexpr std::size_t kPlaceMemory = 192;  // see kAttributeMemory
constexpr std::string_view kQuoteHint = "put text between straight double quotes: \"text\"";

// Returns the template that the text is, or the expression of its interpolation if it has nothing else.
Result<Expression> template_or_interpolation(NativeParser parser, const Range& range) {
  auto result = parser.parse_whole_template();
  if (!result) return result;
  auto& parts = std::get<Template>(result->node).parts;
  ExpressionPtr* alone = parts.size() == 1 ? std::get_if<ExpressionPtr>(&parts.front().what) : nullptr;
  if (alone != nullptr) return std::move(**alone);
  result->range = range;
  return result;
}

// Returns the text with "?" for each byte in a comment that is not part of well-formed UTF-8, as such bytes mean
// nothing to the reference either. A byte in a token stays.
std::string without_bad_comments(std::string text, Position start) {
  std::map<std::size_t, char> bad;
  std::size_t at = 0;
  for (auto found = find_bad_byte(text); found && text[at += *found] != '\0';
       found = find_bad_byte(std::string_view(text).substr(at))) {
    bad.emplace(at, std::exchange(text[at], '?'));
  }
  const std::string masked = text;
  Lexer lexer(masked, start);
  for (Token token = lexer.next(); token.kind != TokenKind::end && !bad.empty(); token = lexer.next()) {
    if (token.kind == TokenKind::newline) continue;  // has the comment in front of it
    const auto last = bad.lower_bound(token.range.end.byte);
    std::for_each(bad.lower_bound(token.range.start.byte), last,
                  [&](const auto& one) { text[one.first] = one.second; });
    bad.erase(bad.begin(), last);
  }
  return text;
}

}  // namespace

std::optional<Error> text_error(std::string_view text, Position start, const std::string& path, Code code) {
  if (text.size() > kMaxTextBytes) {
    return Error{.code = Code::limit_exceeded,
                 .message = fmt::format("expected a text of at most {} bytes, found {}", kMaxTextBytes, text.size()),
                 .location = Location{path, {}},
                 .hint = code == Code::lock_parse ? "split the root module" : "split it into several files"};
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

ParsedFile parse_native(std::string_view text, const std::string& path, ParseOptions options) {
  Position start;
  if (text.starts_with(kByteOrderMark)) start.byte = static_cast<std::uint32_t>(kByteOrderMark.size());
  auto kept = std::make_shared<Text>();
  if (options.error_code == Code::config_parse && text.size() <= kMaxTextBytes && find_bad_byte(text)) {
    kept->content = without_bad_comments(std::string(text), start);
    text = kept->content;
  }
  if (auto error = text_error(text, start, path, options.error_code)) {
    ParsedFile file;
    file.diagnostics.push_back({Severity::error, std::move(*error)});
    return file;
  }
  if (kept->content.empty()) kept->content = text;
  if (!options.allowance) (options.allowance = std::make_shared<Allowance>())->add_text(text.size());
  return NativeParser(kept->content, start, path, options.error_code).parse(kept, options);
}

NativeParser::NativeParser(std::string_view text, Position start, const std::string& path, Code error_code)
    : tokens_(text, start), path_(path), error_code_(error_code) {}

NativeParser::NativeParser(std::string_view text, SourceMap map, const std::string& path)
    : tokens_(text, std::move(map)), path_(path), error_code_(Code::config_parse), whole_("string") {}

bool NativeParser::depth_is_fine(const Range& where) {
  if (depth_ <= kMaxDepth) return true;
  add({.code = Code::limit_exceeded,
       .message = fmt::format("this is nested more than {} levels deep, which is the limit", kMaxDepth),
       .location = Location{path_, where},
       .hint = "split it, for example with local values"});
  return false;
}

void NativeParser::add(Error error) {
  if (file_.diagnostics.size() < kMaxErrors) file_.diagnostics.push_back({Severity::error, std::move(error)});
}

void NativeParser::report(const Range& range, std::string message, std::string hint) {
  add({.code = error_code_,
       .message = std::move(message),
       .location = Location{path_, range},
       .hint = std::move(hint)});
}

bool NativeParser::fail_at(const Range& range, std::string message, std::string hint) {
  report(range, std::move(message), std::move(hint));
  return false;
}

bool NativeParser::fail_expected(std::string_view expected, std::string hint) {
  const Token found = tokens_.peek();
  if (report_known_mistake(found)) return false;
  const std::string what = found.kind == TokenKind::end ? fmt::format("the end of the {}", whole_) : describe(found);
  return fail_at(found.range, fmt::format("expected {}, found {}", expected, what), std::move(hint));
}

bool NativeParser::fail_in_brackets(const Token& opening, std::string_view expected, std::string hint) {
  if (tokens_.next_is(TokenKind::end)) {
    return fail_at(opening.range, fmt::format("{} is never closed: expected {} before the end of the {}",
                                              describe(opening), expected, whole_));
  }
  if (opening.range.start.line != tokens_.peek().range.start.line) {
    hint += fmt::format("{}the {} on line {} is still open", hint.empty() ? "" : "; ", describe(opening),
                        opening.range.start.line);
  }
  return fail_expected(expected, std::move(hint));
}

bool NativeParser::report_known_mistake(const Token& token) {
  switch (token.kind) {
    case TokenKind::unterminated_string:
      report(token.range, "the string that starts here has no closing quotation mark on its line",
             "close the string, or write several lines as a heredoc (<<EOT) or with \\n");
      return true;
    case TokenKind::unterminated_heredoc: {
      const std::string_view line = trim_right(token.text);
      const std::string_view marker = line.substr(line[2] == '-' ? 3 : 2);
      report(
          token.range,
          fmt::format("the heredoc that starts here has no closing line: expected a line with only {}",
                      quoted_for_message(marker)),
          "the line of the closing marker may only contain blanks besides the marker and must end with a line break");
      return true;
    }
    case TokenKind::unterminated_comment:
      report(token.range, "the comment that starts here is never closed: expected \"*/\"");
      return true;
    case TokenKind::bad_heredoc:
      report(token.range, "expected a heredoc marker and the end of the line directly after \"<<\"",
             "write <<EOT or <<-EOT with nothing after it, not even a blank or a comment, and no quotes");
      return true;
    case TokenKind::invalid:
      break;
    default:
      return false;
  }
  const std::string found = quoted_for_message(token.text);
  if (token.text == "'" || token.text == "`" || token.text == "‘" || token.text == "’") {
    report(token.range, fmt::format("expected straight double quotes around a string, found {}", found),
           std::string(kQuoteHint));
  } else if (token.text == "“" || token.text == "”" || token.text == "„") {
    report(token.range, fmt::format("expected straight double quotes around a string, found the curly quote {}", found),
           std::string(kQuoteHint));
  } else if (token.text == ";") {
    report(token.range, "unexpected \";\": expected one argument per line", "start a new line instead");
  } else if (token.text == "&" || token.text == "|") {
    report(token.range, fmt::format("there is no operator {}", found),
           fmt::format("did you mean \"{}{}\"?", token.text, token.text));
  } else if (token.text == "~") {
    report(token.range, "there is no operator \"~\"", "a version constraint is text: version = \"~> 1.0\"");
  } else if (token.text == "\r") {
    report(token.range, "a carriage return is not followed by a line feed",
           "save the file with line endings LF or CRLF");
  } else if (token.text == "^") {
    report(token.range, "there is no operator \"^\"", "use the function pow, or quotes around text");
  } else {
    report(token.range, fmt::format("the character {} is not allowed outside of strings and comments", found));
  }
  return true;
}

ParsedFile NativeParser::parse(std::shared_ptr<Text> text, const ParseOptions& options) {
  Body& body = file_.body;
  file_.text = std::move(text);
  options_ = &options;
  checks_only_ = true;
  AttributeNames names;
  bool recovering = false;
  while (file_.diagnostics.size() < kMaxErrors && !file_.is_full) {
    while (tokens_.take_if(TokenKind::newline)) {
    }
    if (tokens_.next_is(TokenKind::end) || (options.stops && options.stops())) break;
    suspect_line_.reset();
    // The rest of a failed item does not need its own error.
    if (recovering && !tokens_.next_is(TokenKind::identifier) && !tokens_.next_is(TokenKind::open_quote)) {
      tokens_.take();
      tokens_.skip_to_next_item();
      continue;
    }
    const Position before = tokens_.peek().range.start;
    recovering = !parse_item(body, names);
    if (!recovering) continue;
    // Without progress, the same error would be reported forever.
    if (tokens_.peek().range.start == before) tokens_.take();
    tokens_.skip_to_next_item();
  }
  if (file_.diagnostics.size() >= kMaxErrors) {
    file_.diagnostics.push_back({Severity::error,
                                 {.code = Code::limit_exceeded,
                                  .message = fmt::format("reading stopped here after {} errors", kMaxErrors),
                                  .location = Location{path_, tokens_.peek().range}}});
    while (!tokens_.next_is(TokenKind::end)) tokens_.take();
  }
  return std::move(file_);
}

Expression NativeParser::parse_checked() {
  Expression parsed;
  parse_expression(parsed);
  return parsed;
}

Block NativeParser::parse_checked_block(std::shared_ptr<Text> text) {
  file_.text = std::move(text);
  checks_only_ = true;
  Block block;
  parse_block_parts(tokens_.take(), block);
  return block;
}

void keep_last_block(ParsedFile& file, std::vector<Block>& blocks, int depth, const ParseOptions& options) {
  if (!options.keep) return;
  Block& block = blocks.back();
  options.allowance->give_back(memory_of(block));
  const Keep kept = options.keep(block, depth);
  if (kept == Keep::place || kept == Keep::both) {
    const Label& label = block.labels.front();
    const std::size_t at = label.range.start.byte;
    file.places.push_back({file.text->keep(label.text, file.text->content[at] == '"' ? at + 1 : at),
                           block.header_range.start, block.range.start});
    options.allowance->take(kPlaceMemory);
  }
  if (kept == Keep::place || kept == Keep::nothing) {
    blocks.pop_back();
  } else {
    options.allowance->take(memory_of(block));
  }
}

std::size_t memory_of(const Block& block) {
  std::size_t sum = kBlockMemory + block.body.attributes.size() * kAttributeMemory;
  for (const Label& label : block.labels) sum += memory_of(label);
  for (const Block& inner : block.body.blocks) sum += memory_of(inner);
  return sum;
}

bool may_keep(std::size_t bytes, ParsedFile& file, const ParseOptions& options, const Location& where) {
  if (!options.allowance || options.allowance->take(bytes)) return true;
  if (std::exchange(file.is_full, true)) return false;
  file.diagnostics.push_back(
      {Severity::error,
       {.code = Code::limit_exceeded,
        .message = "the blocks and arguments up to here need more than 10 times the memory of their text",
        .location = where,
        .hint = "use lists, maps and for_each for what is repeated"}});
  return false;
}

std::string_view Text::keep(std::string_view name, std::size_t at) {
  const std::string_view written = std::string_view(content).substr(at, name.size());
  if (written == name) return written;
  const std::lock_guard guard(mutex_);
  return names_.emplace_front(name);
}

const Expression& LazyExpression::tree() const {
  const Expression* tree = tree_.load();
  if (tree == nullptr) {
    const std::string no_path;
    const std::string_view text = text_->content;
    auto read = std::make_unique<const Expression>(
        text_->json ? JsonReader(text, range.start).read()
                    : NativeParser(text, range.start, no_path, Code::config_parse).parse_checked());
    if (tree_.compare_exchange_strong(tree, read.get())) tree = read.release();
  }
  return *tree;
}

Result<Expression> NativeParser::result_of(Expression parsed) {
  if (!file_.diagnostics.empty()) return fail(std::move(file_.diagnostics.front().what));
  return parsed;
}

Result<Expression> NativeParser::parse_whole_template() {
  tokens_.open_template();
  std::vector<TemplateItem> items;
  Expression parsed;
  if (parse_items(TokenKind::end, items)) {
    const Token end = tokens_.peek();
    finish_template(std::move(items), end, end.range, parsed);
  }
  return result_of(std::move(parsed));
}

Result<Expression> NativeParser::parse_whole_expression() {
  const TokenStream::LineEnds free(tokens_, false);
  Expression parsed;
  if (parse_expression(parsed) && !tokens_.next_is(TokenKind::end))
    fail_expected("the end of the string after the expression");
  return result_of(std::move(parsed));
}

Result<Expression> parse_template(std::string_view text, const std::string& path) {
  if (auto error = text_error(text, {}, path, Code::config_parse)) return fail(std::move(*error));
  return template_or_interpolation(NativeParser(text, {}, path, Code::config_parse), {{}, advance({}, text)});
}

Result<Expression> template_of(const Expression& expression, const std::string& path) {
  const auto& string = std::get<JsonString>(expression.node);
  return template_or_interpolation(NativeParser(string.text, SourceMap(string, expression.range.start), path),
                                   expression.range);
}

Result<Expression> expression_of(const Expression& expression, const std::string& path) {
  const auto& string = std::get<JsonString>(expression.node);
  return NativeParser(string.text, SourceMap(string, expression.range.start), path).parse_whole_expression();
}

void name_conflict_markers(ParsedFile& file, std::string_view text) {
  for (Diagnostic& diagnostic : file.diagnostics) {
    const auto& location = diagnostic.what.location;
    const std::size_t at = location && location->range ? location->range->start.byte : 0;
    const std::size_t line = text.rfind('\n', at) + 1;
    if (diagnostic.severity == Severity::error && text.substr(at == 0 ? 0 : line).starts_with("<<<<<<< ")) {
      diagnostic.what.message = "the file has conflict markers of a merge";
      diagnostic.what.hint = "resolve the conflict in this file, then run the command again";
      return;
    }
  }
}

}  // namespace modlock::hcl
