#include "plugin/diff/canonical_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "backends/base/digest.h"
#include "backends/base/text.h"
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

class Writer {
 public:
  Writer(const std::string& path, const ExpressionVisit& visit) : path_(path), visit_(visit) {}

  std::string write(const hcl::Expression& expression) {
    if (auto names = static_names(expression)) {
      return write_reference(*names, expression.range);
    }
    return std::visit([&](const auto& node) { return write_node(node, expression.range); }, expression.node);
  }

 private:
  template <typename Node>
  std::string write_node(const hcl::Boxed<Node>& node, const Range& range) {
    return write_node(static_cast<const Node&>(node), range);
  }
  std::string write_node(const hcl::NullLiteral&, const Range&) { return "null"; }
  std::string write_node(const hcl::BoolLiteral& node, const Range&) { return node.value ? "true" : "false"; }
  std::string write_node(const hcl::NumberLiteral& node, const Range&) { return node.text; }
  std::string write_node(const hcl::SplatItem&, const Range&) { return ""; }
  std::string write_node(const hcl::Variable& node, const Range& range) { return write_reference({node.name}, range); }
  std::string write_node(const hcl::Parentheses& node, const Range&) { return write(*node.inner); }
  std::string write_node(const hcl::Unary& node, const Range&) {
    return (node.op == hcl::UnaryOperator::negate ? "-" : "!") + write(*node.operand);
  }
  std::string write_node(const hcl::Binary& node, const Range&) {
    return fmt::format("({} {} {})", write(*node.left), static_cast<int>(node.op), write(*node.right));
  }
  std::string write_node(const hcl::Conditional& node, const Range&) {
    return fmt::format("({} ? {} : {})", write(*node.condition), write(*node.when_true), write(*node.when_false));
  }
  std::string write_node(const hcl::GetAttribute& node, const Range& range) {
    if (const auto* index = std::get_if<hcl::Index>(&node.operand->node)) {
      tell_attribute(*index->operand, node.name, range);
    }
    return fmt::format("{}.{}", write(*node.operand), node.name);
  }
  std::string write_node(const hcl::Index& node, const Range&) {
    return fmt::format("{}[{}]", write(*node.operand), write(*node.key));
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
    return fmt::format("{}{}{}", write(*node.operand), node.full ? "[*]" : ".*", write(*node.each));
  }

  std::string write_node(const hcl::FunctionCall& node, const Range&) {
    std::vector<std::string> arguments;
    std::transform(node.arguments.begin(), node.arguments.end(), std::back_inserter(arguments),
                   [&](const hcl::Expression& argument) { return write(argument); });
    const std::string name = node.name.starts_with("core::") ? node.name.substr(6) : node.name;
    if (visit_.call) {
      visit_.call(name, arguments, node.name_range);
    }
    return fmt::format("{}({}{})", name, fmt::join(arguments, ", "), node.expand_last ? "..." : "");
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
      items.push_back(key + " = " + write(item.value));
    }
    std::sort(items.begin(), items.end());
    return fmt::format("{{{}}}", fmt::join(items, ", "));
  }

  std::string write_node(const hcl::For& node, const Range&) {
    std::string out = "for " + write(*node.collection);
    bind(node.key_variable, node.value_variable);
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
        bind((*loop)->key_variable, (*loop)->value_variable);
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
    const auto bound = std::find(bound_.rbegin(), bound_.rend(), names.front());
    if (bound != bound_.rend()) {
      return fmt::format("${}{}{}", bound_.rend() - bound, names.size() > 1 ? "." : "",
                         fmt::join(names.begin() + 1, names.end(), "."));
    }
    if (visit_.reference) {
      visit_.reference(names, range);
    }
    return fmt::format("{}", fmt::join(names, "."));
  }

  void tell_attribute(const hcl::Expression& items, const std::string& name, const Range& range) {
    const auto names = visit_.attribute ? static_names(items) : std::nullopt;
    if (names) {
      visit_.attribute(*names, name, range);
    }
  }

  void bind(const std::string& key, const std::string& value) {
    bound_.push_back(key);
    bound_.push_back(value);
  }

  const std::string& path_;
  const ExpressionVisit& visit_;
  std::vector<std::string> bound_;
};

}  // namespace

std::string canonical_text(const hcl::Expression& expression, const std::string& path, const ExpressionVisit& visit) {
  return Writer(path, visit).write(expression);
}

}  // namespace modlock
