#include "plugin/diff/meaning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "backends/base/digest.h"
#include "plugin/diff/canonical_text.h"
#include "plugin/hcl/parser.h"

namespace modlock {
namespace {

constexpr std::size_t kMostDeep = 500;      // expressions in expressions, with those of replaced names
constexpr std::size_t kMostNested = 1'000;  // terms in a term
constexpr std::size_t kMostJoined = 60;     // arguments of merge() and concat() together

// Arguments and blocks that only describe or order something.
constexpr std::string_view kWithoutEffect = "description depends_on lifecycle tags error_message";
// Types that pass values on: what they get is what a reference to them returns.
constexpr std::string_view kPassingTypes =
    "terraform_data null_resource local_file local_sensitive_file null_data_source template_dir";

bool has_given_members(const Term& term);

TermDigest hash_of(std::string_view text) {
  const auto bytes = hash_of(Hash::sha256, text);
  TermDigest digest;
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

TermPtr make(std::string head, std::vector<TermPtr> parts = {}, bool is_constant = false) {
  auto term = std::make_shared<Term>();
  std::string text = fmt::format("{}:{}", head.size(), head);
  NamedFiles files{.digest = text};
  bool names_files = false;
  for (const TermPtr& part : parts) {
    text += part->digest;
    if (part->files == nullptr) {
      files.digest += part->digest;
    } else {
      files.add(*part->files);
      names_files = true;
    }
    term->leads_outside = term->leads_outside || part->leads_outside;
    term->reads_objects = term->reads_objects || part->reads_objects;
    term->hides_null = term->hides_null || part->hides_null;
    term->depth = std::max(term->depth, part->depth + 1);
  }
  term->digest = hash_of(text);
  if (names_files) {
    files.digest = sha256_hex(files.digest);
    term->files = std::make_shared<const NamedFiles>(std::move(files));
  }
  if (term->depth > kMostNested) {
    term->head = fmt::format("…{}", std::string_view(term->digest));
    term->depth = 0;
  } else {
    term->head = std::move(head);
    term->parts = std::move(parts);
    term->parts.shrink_to_fit();
  }
  term->is_constant = is_constant;
  term->is_given = has_given_members(*term);
  const std::size_t first = term->head == "?" ? 1 : 0;  // not the condition
  for (std::size_t i = first; term->is_given && i < term->parts.size(); ++i) {
    const Term& part = *term->parts[i];
    if (part.is_given && i != first && part.variable != term->variable) {
      term->variable = nullptr;
      break;
    }
    term->variable = part.is_given ? part.variable : term->variable;
  }
  return term;
}

// Whether a value has only what callers set in it.
bool has_given_members(const Term& term) {
  const auto given = [](const TermPtr& part) { return part->is_given || is_empty(part); };
  const std::string& head = term.head;
  if (std::none_of(term.parts.begin(), term.parts.end(), [](const TermPtr& part) { return part->is_given; })) {
    return false;
  }
  if (head == "index" || head == "splat" || head == "flatten(" || head == "values(" || head.starts_with('.')) {
    return term.parts[0]->is_given;
  }
  if (head == "for[" || head == "for{" || head == "for...") {
    return term.parts[0]->is_given && term.parts[2]->is_given;
  }
  if (head == "?") {
    return given(term.parts[1]) && given(term.parts[2]);
  }
  return is_in("try coalesce merge concat any-of [", head) && std::all_of(term.parts.begin(), term.parts.end(), given);
}

// Constants: null, a member that no caller sets, true, false, numbers as "#1", strings as "\"a".
TermPtr constant(std::string_view head) {
  return make(std::string(head), {}, true);
}
TermPtr truth(bool value) {
  return constant(value ? "true" : "false");
}
bool all_constant(const std::vector<TermPtr>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const TermPtr& part) { return part->is_constant; });
}
TermPtr tuple(std::vector<TermPtr> items) {
  const bool is_constant = all_constant(items);
  return make("[", std::move(items), is_constant);
}
// A member that is null is the same as none.
TermPtr object(const std::vector<std::pair<TermPtr, TermPtr>>& items) {
  std::map<std::string_view, std::pair<TermPtr, TermPtr>> sorted;
  for (const auto& item : items) {
    sorted.insert_or_assign(item.first->digest, item);
  }
  std::vector<TermPtr> parts;
  std::vector<TermPtr> nulls;
  for (auto& [digest, item] : sorted) {
    std::vector<TermPtr>& to = item.second->head == "null" ? nulls : parts;
    if (item.second->head != "missing") {
      to.push_back(item.first);
      to.push_back(item.second);
    }
  }
  const bool is_constant = all_constant(parts);
  const TermPtr plain = make("{", parts, is_constant);
  if (nulls.empty()) {
    return plain;
  }
  parts.insert(parts.end(), nulls.begin(), nulls.end());
  auto term = std::make_shared<Term>(*make("{", std::move(parts), is_constant));
  term->digest = plain->digest;
  term->files = plain->files;
  term->hides_null = true;
  return term;
}

bool is_none(const TermPtr& term) {
  return term->head == "null" || term->head == "missing";
}
bool is_true(const TermPtr& term) {
  return term->head == "true";
}
bool same(const TermPtr& left, const TermPtr& right) {
  return left->digest == right->digest || (is_none(left) && is_none(right));
}
// A number that is exact as a double has one form: "#1" is also 1.0.
TermPtr number_constant(std::string_view text) {
  constexpr double kExact = 9007199254740992;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_exact = error == std::errc() && end == text.data() + text.size() && std::abs(value) < kExact &&
                        std::trunc(value) == value;
  return constant(is_exact ? fmt::format("#{}", static_cast<std::int64_t>(value)) : fmt::format("#{}", text));
}
// Returns the value of an exact integer.
std::optional<std::int64_t> number(const TermPtr& term) {
  std::int64_t value = 0;
  const std::string& text = term->head;
  const char* const end = text.data() + text.size();
  if (!text.starts_with('#')) {
    return std::nullopt;
  }
  const auto read = std::from_chars(text.data() + 1, end, value);
  constexpr std::int64_t kExact = 9007199254740992;
  return read.ec == std::errc() && read.ptr == end && std::abs(value) < kExact ? std::optional(value) : std::nullopt;
}
bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

TermPtr logical_not(const TermPtr& term) {
  return is_true(term)       ? truth(false)
         : is_false(term)    ? truth(true)
         : term->head == "!" ? term->parts[0]
                             : make("!", {term});
}

// Whether a collection is empty is one question, however it is written.
TermPtr equal(const TermPtr& left, const TermPtr& right) {
  if (same(left, right)) {
    return truth(true);
  }
  if (number(right) == 0 && left->head == "length(") {
    return equal(left->parts[0], tuple({}));
  }
  if (right->head == "{" && is_empty(right)) {
    return equal(left, tuple({}));
  }
  const bool is_known = left->is_constant && right->is_constant && left->head[0] != '#' && right->head[0] != '#';
  const bool are_numbers = number(left) && number(right);
  return is_known || are_numbers ? truth(false) : make("==", {left, right});
}

TermPtr binary(hcl::BinaryOperator op, const TermPtr& left, const TermPtr& right) {
  using Op = hcl::BinaryOperator;
  if (op == Op::equal || op == Op::not_equal) {
    const TermPtr found = equal(left, right);
    return op == Op::equal ? found : logical_not(found);
  }
  if (op == Op::logical_and || op == Op::logical_or) {
    const bool ends = op == Op::logical_or;
    for (const auto& [one, other] : {std::pair(left, right), std::pair(right, left)}) {
      if (one->head == (ends ? "true" : "false") || same(one, other)) {
        return one;
      }
      if (one->head == (ends ? "false" : "true")) {
        return other;
      }
    }
  }
  if (op == Op::greater && number(right) == 0 && left->head == "length(") {
    return logical_not(equal(left, right));
  }
  if (const auto a = number(left), b = number(right); a && b) {
    if (op == Op::less || op == Op::greater_equal) {
      return truth((*a < *b) == (op == Op::less));
    }
    if (op == Op::greater || op == Op::less_equal) {
      return truth((*a > *b) == (op == Op::greater));
    }
  }
  return make(fmt::format("op{}", static_cast<int>(op)), {left, right});
}

// The first value that is there: of try(), where an error is none, or of coalesce(), where null is none.
TermPtr first_of(std::string name, const std::vector<TermPtr>& arguments) {
  std::vector<TermPtr> left;
  std::set<std::string_view> known;
  for (const TermPtr& argument : arguments) {
    const bool is_gone = name == "try" ? argument->head == "missing" : is_empty(argument);
    if (is_gone || !known.insert(argument->digest).second) {
      continue;
    }
    left.push_back(argument);
    if (argument->is_constant) {
      break;
    }
  }
  while (left.size() > 1 && is_empty(left.back())) {
    left.pop_back();
  }
  if (left.empty()) {
    return constant(arguments.empty() || name == "try" ? "null" : arguments.back()->head == "[" ? "[" : "null");
  }
  return left.size() == 1 ? left.front() : make(std::move(name), std::move(left));
}

TermPtr conditional(const TermPtr& condition, const TermPtr& when_true, const TermPtr& when_false) {
  if (is_empty(when_false) && when_false->head != "null") {
    return conditional(condition, when_true, constant("null"));
  }
  if (is_true(condition) || same(when_true, when_false)) {
    return when_true;
  }
  if (is_false(condition)) {
    return when_false;
  }
  if (is_true(when_true) && when_false->head == "false") {
    return condition;
  }
  if (condition->head == "!") {
    return conditional(condition->parts[0], when_false, when_true);
  }
  if (condition->head == "==") {
    for (const std::size_t i : {0U, 1U}) {
      if (is_empty(condition->parts[i]) && same(condition->parts[1 - i], when_false)) {
        return first_of("coalesce", {when_false, when_true});
      }
    }
  }
  return make("?", {condition, when_true, when_false});
}

// merge() and concat(): empty parts have no effect, and known ones are joined.
TermPtr joined(const std::string& name, const std::vector<TermPtr>& arguments) {
  const char* const kind = name == "merge" ? "{" : "[";
  std::vector<TermPtr> left;
  for (const TermPtr& argument : arguments) {
    if (argument->head == name && left.size() + argument->parts.size() < kMostJoined) {
      left.insert(left.end(), argument->parts.begin(), argument->parts.end());
    } else if (!is_empty(argument)) {
      left.push_back(argument);
    }
  }
  std::vector<TermPtr> out;
  for (const TermPtr& part : left) {
    if (out.empty() || out.back()->head != kind || part->head != kind ||
        out.back()->parts.size() + part->parts.size() > kMostJoined) {
      out.push_back(part);
      continue;
    }
    std::vector<TermPtr> both = out.back()->parts;
    both.insert(both.end(), part->parts.begin(), part->parts.end());
    if (name == "concat") {
      out.back() = tuple(std::move(both));
      continue;
    }
    std::vector<std::pair<TermPtr, TermPtr>> items;
    for (std::size_t i = 0; i + 1 < both.size(); i += 2) {
      items.emplace_back(both[i], both[i + 1]);
    }
    out.back() = object(items);
  }
  if (out.size() < 2) {
    return out.empty() ? make(kind, {}, true) : out.front();
  }
  for (TermPtr& part : out) {  // null overrides what another part has
    part = name == "merge" && part->head == kind ? make(kind, part->parts, part->is_constant) : part;
  }
  return make(name, std::move(out));
}

// A term that also depends on files.
TermPtr naming(const TermPtr& term, NamedFiles files) {
  if (files.digest.empty()) {
    return term;
  }
  files.digest = sha256_hex(std::string(term->digest_with_files()) + files.digest);
  if (term->files != nullptr) {
    files.add({.changed = term->files->changed});
  }
  auto copy = std::make_shared<Term>(*term);
  copy->files = std::make_shared<const NamedFiles>(std::move(files));
  return copy;
}

// The text of a string, with "}" for each value in it.
std::string text_of(const Term& term) {
  if (term.head == "template") {
    return std::accumulate(term.parts.begin(), term.parts.end(), std::string(),
                           [](const std::string& text, const TermPtr& part) {
                             return text + (part->head.starts_with('"') ? part->head.substr(1) : "}");
                           });
  }
  return term.head.starts_with('"') ? term.head.substr(1) : "";
}

// Whether a text after `path.module` ends the path: it is the directory of the module itself.
bool ends_path(std::string_view text, bool is_last) {
  text.remove_prefix(text.starts_with("/.") ? 2 : text.starts_with('/') ? 1 : 0);
  return text.empty() ? is_last : std::string_view(" \t\n\"'`\\;|&()<>=,:]").find(text[0]) != std::string_view::npos;
}

// Returns "modules/net: aws_vpc.a" for `module.net.aws_vpc.a`; empty for what is no resource of the package.
std::string place_of(const PackageText& package, const ModuleText* module, std::vector<std::string> names) {
  while (names.size() > 2 && names[0] == "module") {
    const auto call = module->by_address.find("module." + names[1]);
    module = call == module->by_address.end() ? nullptr : package.called(*module, *call->second);
    if (module == nullptr) {
      return "";
    }
    names.erase(names.begin(), names.begin() + 2);
  }
  return names.size() == 2 && names[0] != "module" ? fmt::format("{}{}.{}", module->scope, names[0], names[1]) : "";
}

}  // namespace

TermPtr term_of(std::vector<TermPtr> parts) {
  return make("", std::move(parts));
}

bool is_empty(const TermPtr& term) {
  return is_none(term) || (term->parts.empty() && (term->head == "[" || term->head == "{" || term->head == "\""));
}

bool is_false(const TermPtr& term) {
  return term->head == "false" || is_none(term);
}

// Writes the meaning of one expression.
class MeaningReader::Writer {
  static constexpr const char* kModuleDirectory = "&path.module";

 public:
  Writer(MeaningReader& reader, const Place& place, Follow follow) : reader_(reader), place_(place), follow_(follow) {}

  TermPtr write(const hcl::Expression& expression) {
    ++reader_.depth_;
    TermPtr term = std::visit([&](const auto& node) { return write_node(node, expression.range); }, expression.node);
    --reader_.depth_;
    const bool is_shared = term->is_constant && term->files == nullptr && !term->leads_outside && !term->hides_null;
    return is_shared ? reader_.constants_.emplace(term->digest, std::move(term)).first->second : term;
  }

 private:
  template <typename Node>
  TermPtr write_node(const hcl::Boxed<Node>& node, const Range& range) {
    return write_node(static_cast<const Node&>(node), range);
  }
  TermPtr write_node(const hcl::NullLiteral&, const Range&) { return constant("null"); }
  TermPtr write_node(const hcl::BoolLiteral& node, const Range&) { return truth(node.value); }
  TermPtr write_node(const hcl::NumberLiteral& node, const Range&) { return number_constant(node.text); }
  TermPtr write_node(const hcl::SplatItem&, const Range&) { return item_; }
  TermPtr write_node(const hcl::Parentheses& node, const Range&) { return write(*node.inner); }
  TermPtr write_node(const hcl::Variable& node, const Range&) {
    for (auto bound = bound_.rbegin(); bound != bound_.rend(); ++bound) {
      if (bound->first == node.name) {
        return bound->second;
      }
    }
    if (const auto iterator = place_.iterators.find(node.name); iterator != place_.iterators.end()) {
      return reference("&" + node.name, iterator->second->reads_objects, iterator->second.get());
    }
    const bool is_plain = is_in("var local path each count terraform self data module", node.name);
    return reference("&" + node.name, !is_plain);
  }
  TermPtr write_node(const hcl::Unary& node, const Range&) {
    const TermPtr operand = write(*node.operand);
    if (node.op == hcl::UnaryOperator::logical_not) {
      return logical_not(operand);
    }
    const auto value = number(operand);
    return value ? number_constant(std::to_string(-*value)) : make("-", {operand});
  }
  TermPtr write_node(const hcl::Binary& node, const Range&) {
    return binary(node.op, write(*node.left), write(*node.right));
  }
  TermPtr write_node(const hcl::Conditional& node, const Range&) {
    return conditional(write(*node.condition), write(*node.when_true), write(*node.when_false));
  }
  TermPtr write_node(const hcl::GetAttribute& node, const Range&) { return member(write(*node.operand), node.name); }
  TermPtr write_node(const hcl::Index& node, const Range&) { return index(write(*node.operand), write(*node.key)); }
  TermPtr write_node(const hcl::Splat& node, const Range&) {
    const TermPtr items = write(*node.operand);
    if (is_none(items) || (items->head == "[" && is_empty(items))) {
      return tuple({});
    }
    const TermPtr outer = std::exchange(item_, reference("&*", items->reads_objects, items.get()));
    const TermPtr each = write(*node.each);
    item_ = outer;
    return make("splat", {items, each});
  }
  TermPtr write_node(const hcl::Tuple& node, const Range&) {
    std::vector<TermPtr> items;
    for (const hcl::Expression& item : node.items) {
      items.push_back(write(item));
    }
    return tuple(std::move(items));
  }
  TermPtr write_node(const hcl::Object& node, const Range&) {
    std::vector<std::pair<TermPtr, TermPtr>> items;
    for (const hcl::ObjectItem& item : node.items) {
      const auto* name = std::get_if<hcl::Variable>(&item.key.node);
      items.emplace_back(item.bare_key && name != nullptr ? constant("\"" + name->name) : write(item.key),
                         write(item.value));
    }
    return object(items);
  }

  TermPtr write_node(const hcl::For& node, const Range&) {
    const TermPtr items = write(*node.collection);
    const TermPtr none = node.key ? object({}) : tuple({});
    if (is_empty(items)) {
      return none;
    }
    const TermPtr key = key_of(items);
    const TermPtr value = value_of(items);
    bind(node.key_variable, key, node.value_variable, value);
    std::vector<TermPtr> parts = {items, node.key ? write(*node.key) : constant("null"), write(*node.value),
                                  node.condition ? write(*node.condition) : truth(true)};
    bound_.resize(bound_.size() - 2);
    if (is_false(parts[3])) {
      return none;
    }
    const bool is_plain = is_true(parts[3]) && !node.grouping && same(parts[2], value);
    if (is_plain && (node.key ? items->head != "[" && same(parts[1], key) : items->head == "[")) {
      return items;
    }
    return make(node.grouping ? "for..." : node.key ? "for{" : "for[", std::move(parts));
  }

  TermPtr write_node(const hcl::JsonString& node, const Range& range) {
    const auto parsed = hcl::template_of({range, node}, place_.file->path);
    return parsed ? write(*parsed) : with_files(text(node.text, true));
  }
  TermPtr write_node(const hcl::Template& node, const Range&) { return with_files(write_parts(node.parts)); }

  static TermPtr text(const std::string& text, bool is_first) {
    auto term = std::make_shared<Term>(*constant("\"" + text));
    term->leads_outside = is_first && is_outside_path(text);
    return term;
  }

  TermPtr with_files(TermPtr term) {
    return follow_ == Follow::everything ? reader_.with_files(*place_.module, std::move(term), false) : term;
  }

  TermPtr write_parts(const std::vector<hcl::TemplatePart>& parts) {
    std::vector<TermPtr> out;
    for (const hcl::TemplatePart& part : parts) {
      if (const auto* literal = std::get_if<std::string>(&part.what)) {
        if (!out.empty() && out.back()->head == kModuleDirectory && !ends_path(*literal, &part == &parts.back())) {
          out.back() = reference(kModuleDirectory, false);
        }
        out.push_back(text(*literal, out.empty()));
      } else if (const auto* value = std::get_if<hcl::ExpressionPtr>(&part.what)) {
        out.push_back(write(**value));
      } else if (const auto* branch = std::get_if<std::unique_ptr<hcl::TemplateIf>>(&part.what)) {
        out.push_back(conditional(write((*branch)->condition), write_parts((*branch)->when_true),
                                  write_parts((*branch)->when_false)));
      } else if (const auto* loop = std::get_if<std::unique_ptr<hcl::TemplateFor>>(&part.what)) {
        const TermPtr items = write((*loop)->collection);
        bind((*loop)->key_variable, key_of(items), (*loop)->value_variable, value_of(items));
        out.push_back(make("for", {items, write_parts((*loop)->body)}));
        bound_.resize(bound_.size() - 2);
      }
    }
    return out.empty() ? constant("\"") : out.size() == 1 ? out.front() : make("template", std::move(out));
  }

  TermPtr write_node(const hcl::FunctionCall& node, const Range&) {
    std::vector<TermPtr> arguments;
    std::transform(node.arguments.begin(), node.arguments.end(), std::back_inserter(arguments),
                   [&](const hcl::Expression& argument) { return write(argument); });
    const std::string name = node.name.starts_with("core::") ? node.name.substr(6) : node.name;
    if (is_in("file filebase64 templatefile fileset filemd5 filesha1 filesha256 filebase64sha256", name)) {
      const Follow outer = std::exchange(follow_, std::max(follow_, Follow::local_values));
      NamedFiles files;
      for (std::size_t i = 0; i < arguments.size() && i < (name == "fileset" ? 2 : 1) && files.digest.empty(); ++i) {
        files = reader_.files_of(*place_.module, follow_ == outer ? arguments[i] : write(node.arguments[i]));
      }
      follow_ = outer;
      return naming(make(name + "(", std::move(arguments)), std::move(files));
    }
    return node.expand_last ? make(name + "(...", std::move(arguments)) : call(name, std::move(arguments));
  }

  TermPtr call(const std::string& name, std::vector<TermPtr> arguments) {
    const std::size_t count = arguments.size();
    const auto plain = [&] { return make(name + "(", arguments); };
    if (name == "merge" || name == "concat") {
      return joined(name, arguments);
    }
    if (name == "try" || name == "coalesce" || name == "coalescelist") {
      return first_of(name == "try" ? "try" : "coalesce", arguments);
    }
    if (name == "lookup" && count > 1) {
      const TermPtr found = index(arguments[0], arguments[1]);
      return count == 2 ? found : first_of("try", {found, arguments[2]});
    }
    if (name == "contains" && count == 2 && arguments[0]->head == "[" && arguments[0]->is_constant &&
        arguments[1]->is_constant) {
      return truth(std::any_of(arguments[0]->parts.begin(), arguments[0]->parts.end(),
                               [&](const TermPtr& item) { return same(item, arguments[1]); }));
    }
    if (count != 1) {
      return name == "element" && count == 2 && number(arguments[1]) == 0 ? index(arguments[0], arguments[1]) : plain();
    }
    const TermPtr& only = arguments[0];
    if (keeps_value(name, *only) ||
        (is_empty(only) && is_in("flatten compact distinct keys values sort reverse", name))) {
      return only;
    }
    if (name == "can" && (only->head == "missing" || only->is_constant)) {
      return truth(only->head != "missing");
    }
    if (name == "length" && (is_empty(only) || (only->head == "[" && only->is_constant))) {
      return constant(fmt::format("#{}", only->parts.size()));
    }
    if (name == "one" && only->head == "[") {
      return only->parts.empty() ? constant("null") : only->parts.size() == 1 ? only->parts[0] : plain();
    }
    return name == "one" ? index(only, constant("#0")) : plain();
  }

  // Whether a function returns its argument. A set is sorted, and a constant may not convert.
  static bool keeps_value(std::string_view name, const Term& value) {
    const std::string& head = value.head;
    const bool is_text = head.starts_with('"');
    return name == "sensitive" || name == "nonsensitive" ||
           (is_in("tostring tonumber tobool tolist toset tomap", name) &&
            (head == "null" || (head == "[" && value.parts.empty()) ||
             (head != "[" && !value.is_constant && !is_in("merge concat", head)) || (name == "tostring" && is_text) ||
             (name == "tonumber" && head.starts_with('#')) || (name == "tobool" && is_in("true false", head)) ||
             (name == "tolist" && head == "[") || (name == "tomap" && head == "{")));
  }

  TermPtr index(const TermPtr& base, const TermPtr& key) {
    if (is_empty(base)) {
      return constant("missing");
    }
    const bool is_name = key->head.starts_with('"') || number(key);
    return is_name && key->parts.empty() ? member(base, key->head.substr(1)) : make("index", {base, key});
  }

  // `base.name`
  TermPtr member(const TermPtr& base, const std::string& name) {
    if (is_none(base)) {
      return constant("missing");
    }
    const std::string& head = base->head;
    if (head == "splat" && name == "0") {
      return first_of_splat(base->parts[1], base->parts[0]);
    }
    if (head == "[" && is_number(name)) {
      constexpr std::size_t kMostDigits = 9;
      if (name.size() > kMostDigits) {
        return make("." + name, {base});
      }
      const std::size_t at = std::stoul(name);
      return at < base->parts.size() ? base->parts[at] : constant("missing");
    }
    if (head == "{") {
      const Members& members = reader_.members_of(base);
      const auto found = members.by_name.find(name);
      return !members.has_all_names           ? make("." + name, {base})
             : found != members.by_name.end() ? found->second
                                              : constant("missing");
    }
    if (head == "&var" || head == "&local") {
      return reader_.named(*place_.module, (head == "&var" ? "variable." : "local.") + name, follow_);
    }
    const bool is_object = base->reads_objects || head == "&module" || head == "&data" || head.starts_with("&data.");
    if (head.starts_with('&') && base->parts.empty()) {
      const auto dots = static_cast<std::size_t>(std::count(head.begin(), head.end(), '.'));
      const bool is_module = head.starts_with("&module.");
      if (is_module && dots == 1 && !is_number(name)) {
        return reader_.named(*place_.module, head.substr(1) + "." + name, follow_);
      }
      const std::size_t whole = is_module ? 1 : head.starts_with("&data.") ? 2 : 1;
      if (name == "0" && base->reads_objects && dots == whole) {
        return base;
      }
      if (!is_object && base->is_given && !is_system(head) && !is_number(name)) {
        if (TermPtr found = reader_.new_member(name, *base)) {
          return found;
        }
      }
      std::string full = head + "." + name;
      const bool passes_values = head.starts_with("&data.") ? dots == 1 : is_in(kPassingTypes, head.substr(1));
      if (follow_ == Follow::everything && passes_values && reader_.defines(*place_.module, full.substr(1))) {
        return reader_.named(*place_.module, full.substr(1), follow_);
      }
      const bool is_resource = base->reads_objects && dots == 0 && !head.starts_with("&$") && head != "&*";
      if (is_resource) {
        full = "&" + reader_.renamed(*place_.module, full.substr(1));
      }
      auto term = std::make_shared<Term>(*reference(full, is_object, base.get()));
      term->unit = base->unit;
      term->is_member = !term->unit.empty();
      term->leads_outside = full == "&path.root" || full == "&path.cwd";
      const bool is_directory = follow_ == Follow::everything && full == kModuleDirectory;
      return is_directory ? naming(term, reader_.files_.beside(*place_.module)) : term;
    }
    if (!is_object && base->is_given && !is_number(name)) {
      if (TermPtr found = reader_.new_member(name, *base)) {
        return found;
      }
    }
    return make("." + name, {base});
  }

  bool is_system(const std::string& head) const {
    return is_in("&path &count &terraform &self &each", head) ||
           (place_.iterators.count(head.substr(1)) != 0 && head.find('.') == std::string::npos);
  }

  // What `each` of a splat is for the first item.
  TermPtr first_of_splat(const TermPtr& each, const TermPtr& items) {
    if (each->head.starts_with("&*")) {
      TermPtr out = member(items, "0");
      for (std::size_t at = each->head.find('.'); at != std::string::npos;) {
        const std::size_t next = each->head.find('.', at + 1);
        out = member(out, each->head.substr(at + 1, next - at - 1));
        at = next;
      }
      return out;
    }
    return make(".0", {make("splat", {items, each})});
  }

  static TermPtr reference(std::string head, bool reads_objects, const Term* source = nullptr) {
    auto term = std::make_shared<Term>(*make(std::move(head)));
    term->reads_objects = reads_objects;
    term->is_given = source != nullptr && source->is_given;
    term->variable = source == nullptr ? nullptr : source->variable;
    return term;
  }

  // What the variables of a `for` over these items are.
  TermPtr key_of(const TermPtr& items) const {
    return reference(fmt::format("&$k{}", bound_.size()), items->reads_objects);
  }
  TermPtr value_of(const TermPtr& items) const {
    return reference(fmt::format("&${}", bound_.size()), items->reads_objects, items.get());
  }

  void bind(const std::string& key, TermPtr key_term, const std::string& value, TermPtr value_term) {
    bound_.emplace_back(key, std::move(key_term));
    bound_.emplace_back(value, std::move(value_term));
  }

  MeaningReader& reader_;
  const Place& place_;
  Follow follow_;
  std::vector<std::pair<std::string, TermPtr>> bound_;
  TermPtr item_ = constant("null");
};

MeaningReader::MeaningReader(const PackageText& package, const PackageText& other, KnownNames& known, bool is_old)
    : package_(package), other_(other), known_(known), is_old_(is_old), files_(package) {
  for (const auto& [directory, module] : package.modules) {
    for (const MergedBlock& block : module.blocks) {
      const auto target = block.type == "module" ? package.local_target(module, block) : std::nullopt;
      if (target) {
        callers_[*target].emplace_back(&module, &block);
      }
      if (block.type == "variable" && !block.labels.empty()) {
        read_members(module, block);
      }
    }
  }
}

// Reads the defaults of members that no caller could set before: those of its type, and those of the whole value.
void MeaningReader::read_members(const ModuleText& module, const MergedBlock& variable) {
  const auto add = [&](const std::string& name, TermPtr value) {
    const auto [found, is_new] = members_.emplace(name, value);
    if (!is_new && found->second != nullptr && !same(found->second, value)) {
      found->second = nullptr;
    }
  };
  for (const std::string_view part : {"type", "default"}) {
    const Argument* argument = variable.find(part);
    ExpressionVisit visit;
    visit.member = [&](const std::string& name, const hcl::Expression& inner) {
      const hcl::FunctionCall* call = inner.function_call();
      const bool has_default = call != nullptr && call->name == "optional" && call->arguments.size() > 1;
      const hcl::Expression* value = part == "default" ? &inner : has_default ? &call->arguments[1] : nullptr;
      if (is_new_member(name, module, variable.labels[0])) {
        add(name,
            value == nullptr ? constant("missing") : read({&module, argument->file}, *value, Follow::local_values));
      }
    };
    if (argument != nullptr) {
      canonical_text(argument->attribute->value, argument->file->path, visit);
    }
  }
}

bool MeaningReader::is_new_member(const std::string& name, const std::string& variable) const {
  const auto known = known_.members.find(name);
  return !is_old_ && (known == known_.members.end() ||
                      (!variable.empty() && known->second.count(variable) == 0 && known->second.count("") == 0));
}

TermPtr MeaningReader::read(const Place& place, const hcl::Expression& expression, Follow follow) {
  return Writer(*this, place, follow).write(expression);
}

TermPtr MeaningReader::read(const ModuleText& module, const Argument& argument, Follow follow) {
  return read({&module, argument.file}, argument.attribute->value, follow);
}

TermPtr MeaningReader::read(const ModuleText& module, const MergedBlock& block) {
  std::vector<TermPtr> parts;
  const auto add = [&](const std::string& name, TermPtr part) {
    parts.push_back(constant("\"" + name));
    parts.push_back(std::move(part));
  };
  for (const auto& [name, argument] : block.arguments) {
    if (!is_in(kWithoutEffect, name)) {
      add(name, read(module, argument, Follow::everything));
    }
  }
  for (const auto& [file, inner] : block.blocks) {
    if (!is_in(kWithoutEffect, inner->type)) {
      add(inner->type + (inner->labels.empty() ? "" : inner->labels.front().text),
          read(module, MergedBlock::of(*file, *inner)));
    }
  }
  return make("block", std::move(parts));
}

const std::vector<std::pair<const ModuleText*, const MergedBlock*>>& MeaningReader::callers(
    const std::string& directory) {
  return callers_[directory];
}

bool MeaningReader::is_shared(const ModuleText& module, const std::string& address) const {
  const auto theirs = other_.modules.find(module.directory);
  return theirs != other_.modules.end() && defines(module, address) && defines(theirs->second, address);
}

bool MeaningReader::defines(const ModuleText& module, const std::string& address) {
  return address.starts_with("local.") ? module.locals.count(address.substr(6)) != 0
                                       : module.by_address.count(address) != 0;
}

std::string MeaningReader::renamed(const ModuleText& module, const std::string& address) const {
  const auto found = known_.moved.find(module.directory + " " + address);
  return found == known_.moved.end() || defines(module, found->second) ? address : found->second;
}

// Every string in a path counts as the beginning of a name, and a pattern that starts with a wildcard by its end: other
// parts may be known only to a caller. Another name for the same files adds nothing.
NamedFiles MeaningReader::files_of(const ModuleText& module, const TermPtr& path) {
  constexpr std::string_view kWildcards = "*?[{\\";
  std::map<std::string, const NamedFiles*> found;  // by digest
  const auto add = [&](const NamedFiles& files) { found.emplace(files.digest, &files); };
  const auto add_end = [&](const std::string& head) {
    add(files_.matching(module.path(), head.substr(head.find_last_of("\"*?[]{}\\") + 1)));
  };
  std::set<const Term*> seen;
  for (std::vector<TermPtr> open = {path}; !open.empty() && seen.size() < kMostJoined;) {
    const TermPtr term = std::move(open.back());
    open.pop_back();
    if (!seen.insert(term.get()).second) {
      continue;
    }
    open.insert(open.end(), term->parts.begin(), term->parts.end());
    if (!term->head.starts_with('"') || term->head.find_first_not_of("\"./") == std::string::npos) {
      continue;
    }
    if (term->head.find_first_of(kWildcards) == 1) {
      add_end(term->head);
      continue;
    }
    const std::filesystem::path name =
        std::filesystem::path("/" + module.directory + "/" + term->head.substr(1)).lexically_normal();
    add(files_.matching(name.generic_string().substr(1, name.generic_string().find_first_of(kWildcards) - 1), ""));
  }
  found.erase("");
  if (found.empty() && path->head == "template" && path->parts.back()->head.size() > 1) {
    add_end(path->parts.back()->head);  // a value of a caller is before it
  }
  NamedFiles all;
  for (const auto& [digest, files] : found) {
    all.add(*files);
  }
  return all;
}

std::pair<const ModuleText*, const MergedBlock*> MeaningReader::find_output(const ModuleText& module,
                                                                            const std::string& address) const {
  const std::size_t dot = address.rfind('.');
  const auto call = module.by_address.find(address.substr(0, dot));
  const ModuleText* called = call == module.by_address.end() ? nullptr : package_.called(module, *call->second);
  if (called == nullptr) {
    return {};
  }
  const auto output = called->by_address.find("output." + address.substr(dot + 1));
  return {called, output == called->by_address.end() ? nullptr : output->second};
}

bool MeaningReader::is_replaced(const ModuleText& module, const std::string& address, Follow follow) const {
  if (address.starts_with("module.")) {
    const auto [called, output] = find_output(module, address);
    return output != nullptr && (follow == Follow::everything || !is_shared(*called, output->address()));
  }
  if (follow == Follow::everything) {
    return address == "conditions" || defines(module, address);
  }
  const bool may_stay = address.starts_with("variable.") || follow == Follow::new_names;
  return defines(module, address) && !(may_stay && is_shared(module, address));
}

// Names are computed from a list, without recursion: a package may chain any number of them.
TermPtr MeaningReader::named(const ModuleText& module, const std::string& address, Follow follow) {
  const auto plain = [](const Name& name) {
    const bool is_variable = name.address.starts_with("variable.");
    const std::string shown = is_variable ? "var." + name.address.substr(9) : name.address;
    const std::string& directory = name.module->directory;
    auto term = std::make_shared<Term>(*make("&" + (directory.empty() ? "" : directory + "|") + shown));
    term->unit = is_variable || shown.starts_with("local.") ? name.module->scope + shown : "";
    return term;
  };
  Name wanted{&module, address, follow};
  const auto key_of = [](const Name& name) {
    return fmt::format("{} {} {}", static_cast<int>(name.follow), name.module->directory, name.address);
  };
  const std::string key = key_of(wanted);
  if (const auto known = named_.find(key); known != named_.end()) {
    return known->second;
  }
  if (!is_replaced(module, address, follow)) {
    const auto term = plain(wanted);
    term->reads_objects = address.starts_with("module.");
    term->is_given = address.starts_with("variable.") && is_given(module, address.substr(9));
    const bool is_declared = module.directory == package_.directory && defines(module, address);
    term->variable = term->is_given && is_declared ? &module.by_address.find(address)->second->labels[0] : nullptr;
    return named_[key] = term;
  }
  if (missing_ != nullptr) {
    missing_->push_back(wanted);
    return plain(wanted);
  }
  std::vector<Name> open = {std::move(wanted)};
  while (!open.empty()) {
    const Name next = open.back();
    const bool is_new = named_.try_emplace(key_of(next), plain(next)).second;  // of a name that refers to itself
    if (!is_new && !next.is_started) {
      open.pop_back();
      continue;
    }
    open.back().is_started = true;
    std::vector<Name> missing;
    missing_ = &missing;
    TermPtr found = compute(*next.module, next.address, next.follow);
    missing_ = nullptr;
    if (missing.empty()) {
      named_[key_of(next)] = std::move(found);
      open.pop_back();
    } else {
      std::move(missing.rbegin(), missing.rend(), std::back_inserter(open));
    }
  }
  return named_[key];
}

TermPtr MeaningReader::compute(const ModuleText& module, const std::string& address, Follow follow) {
  if (address == "conditions") {
    return compute_conditions(module);
  }
  if (address.starts_with("local.")) {
    return read(module, module.locals.find(address.substr(6))->second, follow);
  }
  if (address.starts_with("variable.")) {
    return compute_variable(module, address.substr(9), follow);
  }
  if (!address.starts_with("module.")) {
    return read(module, *module.by_address.find(address)->second);
  }
  const auto [called, output] = find_output(module, address);
  const Argument* value = output->find("value");
  const TermPtr found = value == nullptr ? constant("null") : read(*called, *value, follow);
  return follow == Follow::everything ? with_files(module, found, true) : found;
}

TermPtr MeaningReader::compute_variable(const ModuleText& module, const std::string& name, Follow follow) {
  const Argument* value = module.by_address.find("variable." + name)->second->find("default");
  const TermPtr fallback = value == nullptr ? nullptr : read(module, *value, follow);
  const bool is_called = module.directory == package_.directory;
  const bool follows_all = follow == Follow::everything;
  std::vector<TermPtr> values;
  std::set<std::string_view> known;
  const auto add = [&](const TermPtr& value) {
    if (value != nullptr && known.insert(value->digest_with_files()).second) {
      values.push_back(value);
    }
  };
  if (follows_all) {
    add(is_called ? make("&var." + name) : nullptr);
    add(fallback);
  }
  if (!is_called || follows_all) {
    for (const auto& [caller, call] : callers_[module.directory]) {
      const Argument* argument = call->find(name);
      const TermPtr given = argument == nullptr ? fallback : read(*caller, *argument, follow);
      add(argument != nullptr && follows_all ? with_files(module, given, true) : given);
    }
  }
  if (values.empty()) {
    return fallback != nullptr ? fallback : make("&var." + name);
  }
  return values.size() == 1 ? values.front() : make("any-of", std::move(values));
}

TermPtr MeaningReader::compute_conditions(const ModuleText& module) {
  std::vector<TermPtr> parts;
  for (const auto& [caller, call] : callers_[module.directory]) {
    for (const char* name : {"count", "for_each", "enabled"}) {
      if (const Argument* argument = call->find(name)) {
        parts.push_back(make(name, {read(*caller, *argument, Follow::everything)}));
      }
    }
    if (const TermPtr above = conditions_of(*caller); above->head != "conditions" || !above->parts.empty()) {
      parts.push_back(above);
    }
  }
  return make("conditions", std::move(parts));
}

TermPtr MeaningReader::with_files(const ModuleText& module, TermPtr term, bool with_parts) {
  std::set<std::string> texts;
  std::set<const Term*> seen;
  for (std::vector<const Term*> open = {term.get()}; !open.empty();) {
    const Term& next = *open.back();
    open.pop_back();
    if (seen.insert(&next).second) {
      texts.insert(text_of(next));
      for (std::size_t i = 0; with_parts && i < next.parts.size(); ++i) {
        open.push_back(next.parts[i].get());
      }
    }
  }
  NamedFiles found;
  for (const std::string& text : texts) {
    found.add(files_.named_in(module, text));
  }
  return naming(term, std::move(found));
}

// Whether only callers of the package fill a variable: no local call of its module sets a value of its own.
bool MeaningReader::is_given(const ModuleText& module, const std::string& variable) {
  const auto [known, is_new] = given_.try_emplace(module.directory + " " + variable, true);
  if (!is_new || module.directory == package_.directory || depth_ >= kMostDeep) {
    return known->second;
  }
  bool is_given = true;
  std::vector<Name>* const outer = std::exchange(missing_, nullptr);  // what is read here is read completely
  for (const auto& [caller, call] : callers_[module.directory]) {
    const Argument* argument = call->find(variable);
    ++depth_;
    is_given = is_given && (argument == nullptr || read_argument(*caller, *call, *argument)->is_given);
    --depth_;
  }
  missing_ = outer;
  return given_[module.directory + " " + variable] = is_given;
}

// Reads an argument of a call, whose `each` is what the call repeats.
TermPtr MeaningReader::read_argument(const ModuleText& module, const MergedBlock& call, const Argument& argument) {
  Place place{&module, argument.file};
  if (const Argument* each = call.find("for_each")) {
    place.iterators["each"] = read(module, *each, Follow::local_values);
  }
  return read(place, argument.attribute->value, Follow::local_values);
}

const MeaningReader::Members& MeaningReader::members_of(const TermPtr& object) {
  const auto [known, is_new] = by_object_.try_emplace(object.get());
  Members& members = known->second;
  if (is_new) {
    members.object = object;
    for (std::size_t i = 0; i + 1 < object->parts.size(); i += 2) {
      const std::string& key = object->parts[i]->head;
      const bool is_name = key.starts_with('"') && object->parts[i]->is_constant;
      members.has_all_names = members.has_all_names && is_name;
      if (is_name) {
        members.by_name.emplace(std::string_view(key).substr(1), object->parts[i + 1]);
      }
    }
  }
  return members;
}

// What a member is that no caller could set before: its default, or nothing. Null: not known.
TermPtr MeaningReader::new_member(const std::string& name, const Term& object) {
  const std::string variable = object.variable == nullptr ? "" : *object.variable;
  if (is_old_) {
    known_.members[name].insert(variable);
  }
  if (!is_new_member(name, variable)) {
    return nullptr;
  }
  const auto found = members_.find(name);
  return found == members_.end() ? constant("missing") : found->second;
}

KnownNames known_names(const PackageText& before, const PackageText& after) {
  KnownNames known;
  std::string variable;
  ExpressionVisit visit;
  visit.member = [&](const std::string& name, const hcl::Expression&) { known.members[name].insert(variable); };
  for (const auto& [directory, module] : before.modules) {
    for (const MergedBlock& block : module.blocks) {
      variable = directory == before.directory && !block.labels.empty() ? block.labels[0] : "";
      const Argument* type = block.type == "variable" ? block.find("type") : nullptr;
      if (type != nullptr) {
        canonical_text(type->attribute->value, type->file->path, visit);
      }
    }
  }
  for (const auto& [directory, module] : after.modules) {
    for (const auto& [old_names, new_names] : module.moves()) {
      const auto old_module = before.modules.find(directory);
      const std::string old_place =
          old_module == before.modules.end() ? "" : place_of(before, &old_module->second, old_names);
      const std::string new_place = place_of(after, &module, new_names);
      if (old_names.size() == 2 && new_names.size() == 2) {
        known.moved.emplace(fmt::format("{} {}", directory, fmt::join(old_names, ".")),
                            fmt::format("{}", fmt::join(new_names, ".")));
      } else if (!old_place.empty() && !new_place.empty()) {
        known.moved_between.emplace(old_place, new_place);
      }
    }
  }
  return known;
}

}  // namespace modlock
