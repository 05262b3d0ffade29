#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/hcl/ast.h"
#include "plugin/hcl/lexer.h"
#include "plugin/hcl/parser.h"
#include "protocol/base/result.h"

namespace modlock::hcl {

// An item of a template while it is read, before the directives are put together.
struct TemplateItem {
  enum class Kind { literal, interpolation, if_start, if_else, if_end, for_start, for_end };
  Kind kind = Kind::literal;
  Range range;
  std::string text;  // of a literal, decoded
  ExpressionPtr expression;
  std::string key_variable;
  std::string value_variable;
  int height = 0;            // of the expression
  bool strip_left = false;   // "${~": blanks at the end of the literal before it go away
  bool strip_right = false;  // "~}": blanks at the start of the literal after it go away
};

// Reads one text by recursive descent, into objects of its callers. A function that returns false has reported why; its
// callers return false too, and reading continues at the next item of the file.
class NativeParser {
 public:
  NativeParser(std::string_view text, Position start, const std::string& path, Code error_code);

  // For the text of a JSON string: ranges are those in the file.
  NativeParser(std::string_view text, SourceMap map, const std::string& path);

  // Reads all of `text`, which is the text of this parser.
  ParsedFile parse(std::shared_ptr<Text> text, const ParseOptions& options);

  // The expression or block at the start of the parser, which is followed by other text and has no errors.
  Expression parse_checked();
  Block parse_checked_block(std::shared_ptr<Text> text);

  // All of the text as one template or as one expression, or the first error.
  Result<Expression> parse_whole_template();
  Result<Expression> parse_whole_expression();

 private:
  Result<Expression> result_of(Expression parsed);

  // The nesting depth of the parser.
  class Depth {
   public:
    explicit Depth(NativeParser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    NativeParser& parser_;
  };
  bool depth_is_fine(const Range& where);

  // Reporting.
  void add(Error error);
  void report(const Range& range, std::string message, std::string hint = {});
  // These report and return false.
  bool fail_at(const Range& range, std::string message, std::string hint = {});
  // Reports "expected …, found …" at the next token. A token that is a known mistake everywhere is reported as that
  // mistake.
  bool fail_expected(std::string_view expected, std::string hint = {});
  bool report_known_mistake(const Token& token);
  // Like fail_expected(), but reports the opening bracket if the file ends.
  bool fail_in_brackets(const Token& opening, std::string_view expected, std::string hint = {});

  // Files, blocks, attributes (parser.cpp, parser_body.cpp).
  bool parse_item(Body& body, AttributeNames& names);
  bool parse_attribute(const Token& name, Body& body, AttributeNames& names);
  bool parse_block(const Token& type, Body& body);
  bool parse_block_parts(const Token& type, Block& block);
  bool parse_labels(Block& block);
  bool parse_label(Label& into);
  bool parse_block_body(const Token& brace, Block& block);
  bool parse_one_line_body(const Token& brace, Block& block, AttributeNames& names);
  bool fail_after_value(const Token& name, const Expression& value);
  bool fail_unclosed(const Token& brace, const Block& block);

  // Expressions (parser_expression.cpp). Each leaves the height of what it has read in height_.
  template <class Node>
  bool finish(Expression& into, const Range& range, Node node, int height_below) {
    into.range = range;
    if (checks_only_) node = Node();
    into.node.emplace<Node>(std::move(node));
    height_ = height_below + 1;
    return height_is_fine(range);
  }
  // The place of the next of several parts of a node.
  template <class Part>
  Part& next_of(std::vector<Part>& parts) {
    if (checks_only_) parts.clear();
    return parts.emplace_back();
  }
  bool height_is_fine(const Range& range);
  bool parse_expression(Expression& into);
  bool parse_boxed(ExpressionPtr& into);
  bool parse_binary(int lowest_level, Expression& into);
  bool parse_unary(Expression& into);
  // `operand` is the part that was read. It becomes the operand of what follows.
  bool parse_postfix(Expression& operand);
  bool parse_dot(Expression& operand);
  bool parse_brackets(Expression& operand);
  bool parse_member(Expression& operand, const Token& dot);
  bool parse_splat(Expression& operand, const Range& brackets, int height);

  // Terms (parser_term.cpp).
  bool parse_term(Expression& into);
  bool parse_number(Expression& into);
  bool parse_name(Expression& into);
  bool parse_call(const Token& name, Expression& into);
  bool parse_arguments(FunctionCall call, const Token& name, Expression& into);
  bool parse_parentheses(Expression& into);
  bool parse_tuple(Expression& into);
  bool parse_object(Expression& into);
  bool parse_object_item(const Token& brace, ObjectItem& into);
  bool parse_for(const Token& opening, bool object, Expression& into);
  bool parse_for_names(std::string& key, std::string& value);

  // Templates (parser_template.cpp).
  bool parse_template(Expression& into);
  bool parse_plain_string(const Token& opening, Expression& into);
  bool parse_items(TokenKind close, std::vector<TemplateItem>& items);
  bool finish_template(std::vector<TemplateItem> items, const Token& opening, const Range& range, Expression& into);
  bool parse_sequence(TemplateItem& into);
  bool parse_directive(const Token& opening, TemplateItem& item);
  bool parse_sequence_value(TemplateItem& item);
  bool build_parts(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts,
                   const TemplateItem* opening);
  bool build_if(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts);
  bool build_for(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts);
  bool decode_literal(const Token& literal, bool quoted, std::string& into);
  static void drop_content(std::vector<TemplateItem>& items);

  TokenStream tokens_;
  const std::string& path_;
  Code error_code_;
  std::string_view whole_ = "file";  // the kind of the whole text
  ParsedFile file_;
  const ParseOptions* options_ = nullptr;  // null: a part of a file is read
  bool checks_only_ = false;               // no tree is kept, of nodes only their kind
  int depth_ = 0;
  int height_ = 0;
  std::optional<std::size_t> suspect_line_;  // of a nested block in the first column
};

}  // namespace modlock::hcl
