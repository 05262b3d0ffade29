#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugin/hcl/parser.h"
#include "plugin/hcl/source_map.h"
#include "plugin/hcl/template_items.h"
#include "plugin/hcl/token_stream.h"
#include "protocol/result.h"

namespace modlock::hcl {

// Reads one text by recursive descent. A function that returns nullopt or false has reported why; its callers return
// likewise, and reading goes on at the next item of the file.
class NativeParser {
 public:
  NativeParser(std::string_view text, Position start, const std::string& path, Code error_code);

  // Of the text of a string in JSON: ranges are those in the file.
  NativeParser(std::string_view text, SourceMap map, const std::string& path);

  // `stops`: see ParseOptions.
  ParsedFile parse(const std::function<bool()>& stops = {});

  // All of the text as one template or as one expression, or the first error.
  Result<Expression> parse_whole_template();
  Result<Expression> parse_whole_expression();

 private:
  using Parsed = std::optional<Expression>;
  Result<Expression> result_of(Parsed parsed);

  // How deep the parser is inside of what it reads.
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
  std::nullopt_t fail_at(const Range& range, std::string message, std::string hint = {});
  // "expected …, found …" at the next token; for tokens that are a known mistake in any place, what that mistake is.
  std::nullopt_t fail_expected(std::string_view expected, std::string hint = {});
  bool report_known_mistake(const Token& token);
  // Like fail_expected(), but at what is left open if the file ends.
  std::nullopt_t fail_in_brackets(const Token& opening, std::string_view expected, std::string hint = {});

  // Files, blocks, attributes (native_parser.cpp, parser_body.cpp).
  struct Names {
    std::unordered_map<std::string_view, Range> ranges;  // of the attributes a body has so far
  };
  bool parse_item(Body& body, Names& names);
  bool parse_attribute(const Token& name, Body& body, Names& names);
  bool parse_block(const Token& type, Body& body);
  bool parse_labels(Block& block);
  std::optional<Label> parse_label();
  bool parse_block_body(const Token& brace, Block& block);
  bool parse_one_line_body(const Token& brace, Block& block, Names& names);
  std::nullopt_t fail_after_value(const Token& name, const Expression& value);
  bool fail_unclosed(const Token& brace, const Block& block);

  // Expressions (parser_expression.cpp). Each leaves the height of what it returns in height_.
  Parsed finish(const Range& range, decltype(Expression::node) node, int height_below);
  Parsed parse_expression();
  Parsed parse_binary(int lowest_level);
  Parsed parse_unary();
  Parsed parse_postfix(Expression operand);
  Parsed parse_dot(Expression operand);
  Parsed parse_attribute_splat(Expression operand);
  Parsed parse_brackets(Expression operand);
  Parsed parse_member(Expression operand, const Token& dot);

  // Terms (parser_term.cpp).
  Parsed parse_term();
  Parsed parse_number();
  Parsed parse_name();
  Parsed parse_call(const Token& name);
  Parsed parse_arguments(FunctionCall call, const Token& name);
  Parsed parse_parentheses();
  // Collections (parser_collection.cpp).
  Parsed parse_tuple();
  Parsed parse_object();
  std::optional<ObjectItem> parse_object_item(const Token& brace);
  Parsed parse_for(const Token& opening, bool object);
  bool parse_for_names(std::string& key, std::string& value);

  // Templates (parser_template.cpp).
  Parsed parse_template();
  bool parse_items(TokenKind close, std::vector<TemplateItem>& items);
  Parsed finish_template(std::vector<TemplateItem> items, const Token& opening, const Range& range);
  std::optional<TemplateItem> parse_sequence();
  bool parse_directive(const Token& opening, TemplateItem& item);
  bool parse_sequence_value(TemplateItem& item);
  bool build_parts(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts,
                   const TemplateItem* opening);
  bool build_if(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts);
  bool build_for(std::vector<TemplateItem>& items, std::size_t& at, std::vector<TemplatePart>& parts);
  std::optional<std::string> decode_literal(const Token& literal, bool quoted);

  TokenStream tokens_;
  const std::string& path_;
  Code error_code_;
  Position start_;
  std::string_view whole_ = "file";  // what the text is all of
  ParsedFile file_;
  int depth_ = 0;
  int height_ = 0;
  std::optional<std::size_t> suspect_line_;  // of a nested block in the first column
};

}  // namespace modlock::hcl
