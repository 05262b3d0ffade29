#include "plugin/diff/canonical_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/text.h"
#include "plugin/diff/package_text.h"
#include "plugin/hcl/parser.h"

namespace modlock {
namespace {

// Doubles each `$` and `%` that a reader could take for the start of an interpolation.
std::string literal(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(text[i], i), text.size());
    const bool is_mark = text[i] == '$' || text[i] == '%';
    const bool is_start = is_mark && (end == text.size() || text[end] == '{');
    out.append((end - i) * (is_start ? 2 : 1), text[i]);
    i = end;
  }
  return out;
}

// What the parts of a simplified text have to do with each other.
bool is_none(std::string_view text) {
  return text == "null" || text == kMissing;
}
// Functions that return nothing but what is in their arguments.
constexpr std::string_view kKeepsMembers =
    "try coalesce coalescelist merge concat flatten values lookup element one toset tolist tomap distinct compact "
    "reverse sensitive nonsensitive";
bool is_constant(std::string_view text) {
  const bool is_text =
      text.starts_with('"') && text.find("${") == std::string_view::npos && text.find("%{") == std::string_view::npos;
  return is_text || is_empty_text(text) || text == "true" || text == "false";
}
std::optional<int> small_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;
  const bool is_number = !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, ascii::is_digit);
  return is_number ? std::optional(std::stoi(std::string(text))) : std::nullopt;
}
std::string negated(const std::string& text) {
  return text == "true" ? "false" : text == "false" ? "true" : text.starts_with("!") ? text.substr(1) : "!" + text;
}

// Whether a collection is empty is one question, however it is written.
std::string equal(std::string left, std::string right) {
  if (left.starts_with("length(") && right == "0") {
    return equal(left.substr(7, left.size() - 8), "[]");
  }
  right = right == "{}" ? "[]" : right;
  if (left == right || (is_none(left) && is_none(right))) {
    return "true";
  }
  const bool is_known = (is_constant(left) && is_constant(right)) || (small_number(left) && small_number(right));
  return is_known ? "false" : fmt::format("({} == {})", left, right);
}

std::string binary(hcl::BinaryOperator op, const std::string& left, const std::string& right) {
  using Op = hcl::BinaryOperator;
  if (op == Op::equal || op == Op::not_equal) {
    return op == Op::equal ? equal(left, right) : negated(equal(left, right));
  }
  if (op == Op::greater && right == "0" && left.starts_with("length(")) {
    return negated(equal(left, right));
  }
  if (op == Op::logical_and || op == Op::logical_or) {
    const std::string_view ends = op == Op::logical_or ? "true" : "false";
    const std::string_view passes = op == Op::logical_or ? "false" : "true";
    for (const auto& [one, other] : {std::pair(left, right), std::pair(right, left)}) {
      if (one == ends || other == passes) {
        return one;
      }
    }
  }
  const auto a = small_number(left);
  const auto b = small_number(right);
  if (a && b && (op == Op::greater || op == Op::less)) {
    return (op == Op::greater ? *a > *b : *a < *b) ? "true" : "false";
  }
  return fmt::format("({} {} {})", left, static_cast<int>(op), right);
}

// The first value that is there: of try(), where an error is none, or of coalesce(), where null is none.
std::string first_of(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> left;
  for (const std::string& argument : arguments) {
    const bool is_gone = name == "try" ? argument == kMissing : is_empty_text(argument);
    if (!is_gone && std::ranges::find(left, argument) == left.end()) {
      left.push_back(argument);
    }
    if (!is_gone && (is_constant(argument) || small_number(argument))) {
      break;
    }
  }
  while (left.size() > 1 && is_empty_text(left.back())) {
    left.pop_back();
  }
  return left.empty() ? "null" : left.size() == 1 ? left[0] : fmt::format("{}({})", name, fmt::join(left, ", "));
}

std::string conditional(const std::string& condition, const std::string& when_true, const std::string& when_false) {
  if (condition.starts_with("!")) {
    return conditional(condition.substr(1), when_false, when_true);
  }
  if (condition == "true" || when_true == when_false) {
    return when_true;
  }
  if (condition == "false" || (when_true == "true" && when_false == "false")) {
    return condition == "false" ? when_false : condition;
  }
  for (const std::string_view none : {"null", "[]", "\"\""}) {  // x != null ? x : y
    if (condition == fmt::format("({} == {})", when_false, none)) {
      return first_of("coalesce", {when_false, when_true});
    }
  }
  return fmt::format("({} ? {} : {})", condition, is_empty_text(when_true) ? "null" : when_true,
                     is_empty_text(when_false) ? "null" : when_false);
}

std::string simplified_call(std::string name, std::vector<std::string> arguments) {
  if (name == "coalescelist" || name == "coalesce" || name == "try") {
    return first_of(name == "try" ? "try" : "coalesce", arguments);
  }
  if (name == "merge" || name == "concat") {
    std::erase_if(arguments, [](const std::string& argument) { return is_empty_text(argument); });
    if (arguments.size() < 2) {
      return !arguments.empty() ? arguments[0] : name == "merge" ? "{}" : "[]";
    }
  }
  const std::string only = arguments.size() == 1 ? arguments[0] : "";
  const bool is_literal = is_constant(only) && only != "[]" && !is_none(only);
  const bool is_value = !only.empty() && !is_literal && (only == "[]" || only[0] == '$' || ascii::is_alpha(only[0]));
  if ((is_value && is_in("tostring tonumber tobool tolist toset tomap", name)) || name.ends_with("sensitive")) {
    return only;
  }
  if (is_empty_text(only) && is_in("flatten compact distinct keys values sort reverse length can", name)) {
    return name == "length" ? "0" : name == "can" ? (only == kMissing ? "false" : "true") : "[]";
  }
  return fmt::format("{}({})", name, fmt::join(arguments, ", "));
}

class Writer {
 public:
  Writer(const std::string& path, const ExpressionVisit& visit) : path_(path), visit_(visit) {}

  std::string write(const hcl::Expression& expression) {
    if (auto names = static_names(expression)) {
      return write_reference(*names, expression.range);
    }
    return std::visit([&](const auto& node) { return write_node(node, expression.range); }, expression.node);
  }

  // Whether what was written is only what callers set.
  bool is_given() const { return reads_given_ && !reads_more_; }

 private:
  template <typename Node>
  std::string write_node(const hcl::Boxed<Node>& node, const Range& range) {
    return write_node(static_cast<const Node&>(node), range);
  }
  std::string write_node(const hcl::NullLiteral&, const Range&) { return "null"; }
  std::string write_node(const hcl::BoolLiteral& node, const Range&) { return node.value ? "true" : "false"; }
  std::string write_node(const hcl::NumberLiteral& node, const Range&) { return node.text; }
  std::string write_node(const hcl::SplatItem&, const Range&) {
    read_from(is_item_given_);
    return "";
  }
  std::string write_node(const hcl::Variable& node, const Range& range) { return write_reference({node.name}, range); }
  std::string write_node(const hcl::Parentheses& node, const Range&) { return write(*node.inner); }
  std::string write_node(const hcl::Unary& node, const Range&) {
    const std::string operand = write(*node.operand);
    return node.op == hcl::UnaryOperator::negate ? "-" + operand : is_simple() ? negated(operand) : "!" + operand;
  }
  std::string write_node(const hcl::Binary& node, const Range&) {
    const std::string left = write(*node.left);
    const std::string right = write(*node.right);
    return is_simple() ? binary(node.op, left, right)
                       : fmt::format("({} {} {})", left, static_cast<int>(node.op), right);
  }
  std::string write_node(const hcl::Conditional& node, const Range&) {
    const std::string condition = write_apart(*node.condition, false).first;
    const std::string when_true = write(*node.when_true);
    const std::string when_false = write(*node.when_false);
    return is_simple() ? conditional(condition, when_true, when_false)
                       : fmt::format("({} ? {} : {})", condition, when_true, when_false);
  }
  std::string write_node(const hcl::GetAttribute& node, const Range& range) {
    if (const auto* index = std::get_if<hcl::Index>(&node.operand->node)) {
      tell_attribute(*index->operand, node.name, range);
    }
    const auto [base, is_given] = write_apart(*node.operand);
    return member_of(base, node.name, is_given);
  }
  std::string write_node(const hcl::Index& node, const Range&) {
    const std::string base = write(*node.operand);
    const std::string key = write(*node.key);
    return is_simple() && is_empty_text(base) ? std::string(kMissing) : fmt::format("{}[{}]", base, key);
  }
  std::string write_node(const hcl::Splat& node, const Range& range) {
    const hcl::Expression* first = node.each.get();
    for (const auto* get = std::get_if<hcl::GetAttribute>(&first->node); get != nullptr;
         get = std::get_if<hcl::GetAttribute>(&first->node)) {
      if (std::holds_alternative<hcl::SplatItem>(get->operand->node)) {
        tell_attribute(*node.operand, get->name, range);
      }
      first = get->operand.get();
    }
    const auto [items, is_given] = write_apart(*node.operand);
    const bool outer = std::exchange(is_item_given_, is_given);
    const std::string each = write(*node.each);
    is_item_given_ = outer;
    return is_simple() && (is_none(items) || items == "[]")
               ? "[]"
               : fmt::format("{}{}{}", items, node.full ? "[*]" : ".*", each);
  }

  std::string write_node(const hcl::FunctionCall& node, const Range&) {
    const std::string name = node.name.starts_with("core::") ? node.name.substr(6) : node.name;
    const bool outer = std::exchange(is_merged_, name == "merge");
    std::vector<std::string> arguments;
    bool is_given = false;
    for (const hcl::Expression& argument : node.arguments) {
      auto [text, is_from_callers] = write_apart(argument);
      is_given = arguments.empty() ? is_from_callers : is_given;
      arguments.push_back(std::move(text));
    }
    is_merged_ = outer;
    if (!is_in(kKeepsMembers, name)) {
      read_from(false);  // it may make a value of its own
    }
    if (visit_.call) {
      visit_.call(name, arguments, node.name_range);
    }
    std::string found;
    const bool is_text = arguments.size() > 1 && arguments[1].starts_with('"') && is_constant(arguments[1]);
    if (name == "lookup" && arguments.size() > 1 && (is_text || is_empty_text(arguments[0]))) {
      found = member_of(arguments[0], arguments[1].substr(1, arguments[1].size() - 2), is_given);
    }
    if (!is_simple() || node.expand_last) {
      return fmt::format("{}({}{})", name, fmt::join(arguments, ", "), node.expand_last ? "..." : "");
    }
    if (!found.empty()) {
      return arguments.size() == 2 ? found : first_of("try", {std::move(found), arguments[2]});
    }
    return simplified_call(name, std::move(arguments));
  }

  std::string write_node(const hcl::Tuple& node, const Range&) {
    std::string out = "[";
    for (const hcl::Expression& item : node.items) {
      out += write(item) + ", ";
    }
    return out + "]";
  }

  std::string write_node(const hcl::Object& node, const Range&) {
    std::vector<std::string> items;
    for (const hcl::ObjectItem& item : node.items) {
      const auto* name = std::get_if<hcl::Variable>(&item.key.node);
      const std::string key = item.bare_key && name != nullptr ? in_quotes(name->name) : write(item.key);
      if (visit_.member && key.starts_with('"')) {
        visit_.member(key.substr(1, key.size() - 2), item.value);
      }
      std::string value = write(item.value);
      if (!is_simple() || is_merged_ || !is_none(value)) {
        items.push_back(key + " = " + std::move(value));
      }
    }
    read_from(items.empty() && is_given());
    std::ranges::sort(items);
    return fmt::format("{{{}}}", fmt::join(items, ", "));
  }

  std::string write_node(const hcl::For& node, const Range&) {
    const auto [items, is_given] = write_apart(*node.collection);
    if (is_simple() && is_empty_text(items)) {
      return node.key ? "{}" : "[]";
    }
    std::string out = "for " + items;
    bind(node.key_variable, node.value_variable, is_given);
    out += " : " + (node.key ? write(*node.key) + " => " : "") + write(*node.value) + (node.grouping ? "..." : "") +
           (node.condition ? " if " + write(*node.condition) : "");
    bound_.resize(bound_.size() - 2);
    return fmt::format("{}{}{}", node.key ? "{" : "[", out, node.key ? "}" : "]");
  }

  std::string write_node(const hcl::JsonString& node, const Range& range) {
    auto parsed = hcl::template_of({range, node}, path_);
    return parsed ? write(*parsed) : write_text(node.text, range);
  }

  std::string write_node(const hcl::Template& node, const Range& range) {
    const auto* only = node.parts.size() == 1 ? std::get_if<hcl::ExpressionPtr>(&node.parts.front().what) : nullptr;
    const auto* text = node.parts.size() == 1 ? std::get_if<std::string>(&node.parts.front().what) : nullptr;
    return only != nullptr   ? write(**only)
           : text != nullptr ? write_text(*text, range)
                             : write_string(text_of(node.parts), range);
  }

  // A string without interpolations.
  std::string write_text(const std::string& text, const Range& range) {
    write_string(text, range);
    return in_quotes(literal(text));
  }

  std::string write_string(const std::string& text, const Range& range) {
    if (visit_.text) {
      visit_.text(text, range);
    }
    return in_quotes(text);
  }

  // Strings inside of strings are written as a digest: to escape each level again would double the length each time.
  std::string inserted(const hcl::Expression& expression) {
    std::string text = write(expression);
    return text.find('"') == std::string::npos ? text : sha256_hex(text);
  }

  std::string text_of(const std::vector<hcl::TemplatePart>& parts) {
    std::string out;
    for (const hcl::TemplatePart& part : parts) {
      if (const auto* text = std::get_if<std::string>(&part.what)) {
        out += literal(*text);
      } else if (const auto* value = std::get_if<hcl::ExpressionPtr>(&part.what)) {
        out += "${" + inserted(**value) + "}";
      } else if (const auto* branch = std::get_if<std::unique_ptr<hcl::TemplateIf>>(&part.what)) {
        out += "%{if " + inserted((*branch)->condition) + "}" + text_of((*branch)->when_true) + "%{else}" +
               text_of((*branch)->when_false) + "%{endif}";
      } else if (const auto* loop = std::get_if<std::unique_ptr<hcl::TemplateFor>>(&part.what)) {
        out += "%{for " + inserted((*loop)->collection) + "}";
        bind((*loop)->key_variable, (*loop)->value_variable, false);
        out += text_of((*loop)->body) + "%{endfor}";
        bound_.resize(bound_.size() - 2);
      }
    }
    return out;
  }

  // Returns the names of `a.b["c"][0]`; nullopt for other expressions.
  static std::optional<std::vector<std::string>> static_names(const hcl::Expression& expression) {
    if (const auto* root = std::get_if<hcl::Variable>(&expression.node)) {
      return std::vector{root->name};
    }
    const auto* get = std::get_if<hcl::GetAttribute>(&expression.node);
    const auto* index = std::get_if<hcl::Index>(&expression.node);
    auto names = get != nullptr     ? static_names(*get->operand)
                 : index != nullptr ? static_names(*index->operand)
                                    : std::nullopt;
    if (!names || get != nullptr) {
      return names ? (names->push_back(get->name), names) : names;
    }
    const auto* number = std::get_if<hcl::NumberLiteral>(&index->key->node);
    const auto* text = std::get_if<hcl::Template>(&index->key->node);
    const auto* only =
        text != nullptr && text->parts.size() == 1 ? std::get_if<std::string>(&text->parts.front().what) : nullptr;
    if (number == nullptr && only == nullptr) {
      return std::nullopt;
    }
    names->push_back(number != nullptr ? number->text : *only);
    return names;
  }

  std::string write_reference(const std::vector<std::string>& names, const Range& range) {
    NameText first{names[0]};
    const auto bound =
        std::find_if(bound_.rbegin(), bound_.rend(), [&](const auto& one) { return one.first == names.front(); });
    if (bound != bound_.rend()) {
      first = {fmt::format("${}", bound - bound_.rbegin() + 1), 1, bound->second};
    } else {
      if (visit_.reference) {
        visit_.reference(names, range);
      }
      first = visit_.replace ? visit_.replace(names) : first;
    }
    read_from(first.is_given);
    std::string text = std::move(first.text);
    for (std::size_t i = first.count; i < names.size(); ++i) {
      text = member_of(text, names[i], first.is_given);
    }
    return text;
  }

  std::string member_of(const std::string& base, const std::string& name, bool is_given) const {
    if (is_simple() && is_empty_text(base)) {
      return std::string(kMissing);
    }
    const auto found = visit_.read_member && !small_number(name) ? visit_.read_member(name, is_given) : std::nullopt;
    return found ? *found : fmt::format("{}.{}", base, name);
  }

  bool is_simple() const { return static_cast<bool>(visit_.replace); }

  void read_from(bool is_given) {
    reads_given_ = reads_given_ || is_given;
    reads_more_ = reads_more_ || !is_given;
  }
  // `counts`: what it reads is a part of the value.
  std::pair<std::string, bool> write_apart(const hcl::Expression& expression, bool counts = true) {
    const bool outer_given = std::exchange(reads_given_, false);
    const bool outer_more = std::exchange(reads_more_, false);
    std::pair<std::string, bool> found(write(expression), false);
    found.second = is_given();
    reads_given_ = (counts && reads_given_) || outer_given;
    reads_more_ = (counts && reads_more_) || outer_more;
    return found;
  }

  void tell_attribute(const hcl::Expression& items, const std::string& name, const Range& range) {
    const auto names = visit_.attribute ? static_names(items) : std::nullopt;
    if (names) {
      visit_.attribute(*names, name, range);
    }
  }

  void bind(const std::string& key, const std::string& value, bool is_given) {
    bound_.emplace_back(key, false);
    bound_.emplace_back(value, is_given);
  }

  const std::string& path_;
  const ExpressionVisit& visit_;
  std::vector<std::pair<std::string, bool>> bound_;  // with whether only callers set it
  bool reads_given_ = false;
  bool reads_more_ = false;
  bool is_item_given_ = false;
  bool is_merged_ = false;  // in an argument of merge(), where null takes the place of a value
};

}  // namespace

bool is_empty_text(std::string_view text) {
  return is_none(text) || text == "[]" || text == "{}" || text == "\"\"";
}

std::string canonical_text(const hcl::Expression& expression, const std::string& path, const ExpressionVisit& visit,
                           bool* is_given) {
  Writer writer(path, visit);
  std::string text = writer.write(expression);
  if (is_given != nullptr) {
    *is_given = writer.is_given();
  }
  return text;
}

}  // namespace modlock
