#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/base/error.h"

// The syntax tree of HCL native syntax and, from the JSON reader on, of JSON syntax. Every node has the exact bytes it
// was written with. Ranges follow the reference implementation: an attribute ends where its expression ends, a string
// includes its quotes, and parentheses belong to a parenthesized expression.
namespace modlock::hcl {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

// Stores a large, rare node separately to keep other expressions small.
template <typename Node>
class Boxed {
 public:
  Boxed() = default;
  Boxed(Node node) : node_(std::make_unique<Node>(std::move(node))) {}
  operator const Node&() const { return *node_; }

 private:
  std::unique_ptr<const Node> node_;  // null after it was moved from, and in a tree that is only checked
};

struct NumberLiteral {
  std::string text;  // as written: arbitrary precision is kept
};
struct BoolLiteral {
  bool value = false;
};
struct NullLiteral {};

// One piece of a template: text (escapes decoded, `$${` unescaped, strip markers and heredoc indentation applied), or
// an interpolation, or a directive.
struct TemplatePart;
struct Template {
  std::vector<TemplatePart> parts;  // no parts: the empty string
  bool heredoc = false;
};

// `name`: a variable, the root of a traversal.
struct Variable {
  std::string name;
};
struct FunctionCall {
  std::string name;  // with namespaces: "core::upper"
  Range name_range;
  std::vector<Expression> arguments;
  bool expand_last = false;  // f(list...)
};
struct Tuple {
  std::vector<Expression> items;
};
struct ObjectItem;
struct Object {
  std::vector<ObjectItem> items;
};
// [for k, v in collection : value if condition] or {for k, v in collection : key => value... if condition}
struct For {
  std::string key_variable;  // empty: not given
  std::string value_variable;
  ExpressionPtr collection;
  ExpressionPtr key;  // null: a tuple
  ExpressionPtr value;
  ExpressionPtr condition;  // null: none
  bool grouping = false;
};
enum class UnaryOperator { negate, logical_not };
struct Unary {
  UnaryOperator op = UnaryOperator::negate;
  ExpressionPtr operand;
};
enum class BinaryOperator {
  logical_or,
  logical_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  add,
  subtract,
  multiply,
  divide,
  modulo,
};
struct Binary {
  BinaryOperator op = BinaryOperator::add;
  ExpressionPtr left;
  ExpressionPtr right;
};
struct Conditional {
  ExpressionPtr condition;
  ExpressionPtr when_true;
  ExpressionPtr when_false;
};
// operand.name
struct GetAttribute {
  ExpressionPtr operand;
  std::string name;
  Position name_start;

  // The name ends where the expression `whole` ends.
  Range name_range(const Range& whole) const { return {name_start, whole.end}; }
};
// operand[key], or the legacy operand.0
struct Index {
  ExpressionPtr operand;
  ExpressionPtr key;
  bool legacy = false;
};
// operand.*.each (attribute splat) or operand[*].each (full splat). `each` is relative: its innermost operand is a
// SplatItem.
struct Splat {
  ExpressionPtr operand;
  ExpressionPtr each;
  bool full = false;
};
struct SplatItem {};
struct Parentheses {
  ExpressionPtr inner;
};
// A string of JSON syntax. It is a native template if it is evaluated, plain text if it is taken literally, and a
// native expression if a reference, a call or a type is expected. Only the reader of the value knows which
// (template_of, expression_of).
struct JsonString {
  std::string text;  // escapes decoded
  // Maps `text` to the file: (offset in text, bytes by which the file is ahead from there on), ascending. Empty: text
  // starts one byte after the quote and has no escapes.
  std::vector<std::pair<std::size_t, std::size_t>> shifts;
};

struct Expression {
  Range range;
  std::variant<NullLiteral, BoolLiteral, NumberLiteral, Template, Variable, Boxed<FunctionCall>, Tuple, Object,
               Boxed<For>, Unary, Binary, Conditional, GetAttribute, Index, Splat, SplatItem, Parentheses, JsonString>
      node;

  // Null if it is not a call.
  const FunctionCall* function_call() const {
    const auto* call = std::get_if<Boxed<FunctionCall>>(&node);
    return call == nullptr ? nullptr : &static_cast<const FunctionCall&>(*call);
  }
};

struct ObjectItem {
  Expression key;  // a bare identifier is a Variable with bare_key set
  bool bare_key = false;
  Expression value;
};

struct TemplateIf;
struct TemplateFor;
struct TemplatePart {
  Range range;
  std::variant<std::string, ExpressionPtr, std::unique_ptr<TemplateIf>, std::unique_ptr<TemplateFor>> what;
};
struct TemplateIf {
  Expression condition;
  std::vector<TemplatePart> when_true;
  std::vector<TemplatePart> when_false;
};
struct TemplateFor {
  std::string key_variable;  // empty: not given
  std::string value_variable;
  Expression collection;
  std::vector<TemplatePart> body;
};

// A text that was read.
struct Text {
  // Returns the text of a name or label that starts at `at`. It lives as long as this.
  std::string_view keep(std::string_view name, std::size_t at);

  std::string content;
  bool json = false;

 private:
  std::mutex mutex_;
  std::forward_list<std::string> names_;  // those with escapes
};

// An expression whose syntax is right. A tree needs much more memory than its text, and most are never looked at: it is
// read when it is asked for the first time, by any thread, and kept.
class LazyExpression {
 public:
  LazyExpression(const Text& text, const Range& place) : range(place), text_(&text) {}
  LazyExpression(Expression tree) : range(tree.range), tree_(new Expression(std::move(tree))) {}
  LazyExpression(LazyExpression&& other) noexcept { *this = std::move(other); }
  LazyExpression& operator=(LazyExpression&& other) noexcept {
    range = other.range;
    text_ = other.text_;
    delete tree_.exchange(other.tree_.exchange(nullptr));
    return *this;
  }
  ~LazyExpression() { delete tree_.load(); }

  const Expression& tree() const;
  operator const Expression&() const { return tree(); }

  Range range;

 private:
  const Text* text_ = nullptr;  // null: the tree was given
  mutable std::atomic<const Expression*> tree_ = nullptr;
};

struct Attribute {
  std::string_view name;  // in the text of the file
  Range name_range;
  LazyExpression value;

  Range range() const { return {name_range.start, value.range.end}; }
};

struct Label {
  std::string text;
  Range range;  // includes the quotes
};

struct Block;
struct Body {
  std::vector<Attribute> attributes;  // in source order
  std::vector<Block> blocks;          // in source order

  // The attribute of that name, or null.
  const Attribute* find(std::string_view name) const {
    const auto found = std::ranges::find(attributes, name, &Attribute::name);
    return found == attributes.end() ? nullptr : &*found;
  }
};

// Finds attributes of one body while it grows, in a few bytes for each.
class AttributeNames {
 public:
  const Attribute* find(std::string_view name, const Body& body);

 private:
  std::uint32_t& slot_of(std::string_view name, const Body& body);

  std::vector<std::uint32_t> slots_;  // a hash table of the first `known_` attributes: their index plus one
  std::size_t known_ = 0;
};

struct Block {
  std::string type;
  std::vector<Label> labels;
  Range header_range;  // type start to the end of the last label (or of the type)
  Range range;         // type start to the closing brace, included
  Body body;
};

// A block with one label that is not kept.
struct BlockPlace {
  std::string_view label;
  Position header;  // where the ranges of the block start
  Position start;
};

}  // namespace modlock::hcl
