#include "plugin/eval/type_constraint.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/eval/evaluate.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

constexpr std::string_view kHint = "write a type such as string, list(string) or object({ name = string })";
constexpr std::string_view kNoType =
    "a type specification is either a primitive type keyword (bool, number, string) or a complex type constructor "
    "call, "
    "like list(string)";

// The name that is the whole expression, or nothing. true, false and null are names here.
std::string_view keyword(const hcl::Expression& expression) {
  if (const auto* name = std::get_if<hcl::Variable>(&expression.node)) return name->name;
  if (const auto* literal = std::get_if<hcl::BoolLiteral>(&expression.node)) return literal->value ? "true" : "false";
  return std::holds_alternative<hcl::NullLiteral>(expression.node) ? "null" : "";
}

// Whether it is in quotes or a heredoc. A template that is only "${…}" is the expression in it.
bool is_template(const hcl::Expression& expression) {
  const auto* text = std::get_if<hcl::Template>(&expression.node);
  return text != nullptr &&
         (text->parts.size() != 1 || !std::holds_alternative<hcl::ExpressionPtr>(text->parts.front().what));
}

Range arguments_range(const hcl::FunctionCall& call, const Range& range) {
  return {call.name_range.end, range.end};
}

std::string wanted_argument(std::string_view constructor) {
  if (constructor == "object") {
    return "the object type constructor requires one argument specifying the attribute types and values as a map";
  }
  if (constructor == "tuple") {
    return "the tuple type constructor requires one argument specifying the element types as a list";
  }
  return fmt::format("the {} type constructor requires one argument specifying the element type", constructor);
}

bool is_constructor(std::string_view name) {
  return name == "list" || name == "set" || name == "map" || name == "object" || name == "tuple";
}

std::optional<Type> simple_type(std::string_view name) {
  if (name == "bool") return Type::boolean();
  if (name == "string") return Type::string();
  if (name == "number") return Type::number();
  return name == "any" ? std::optional<Type>(Type::dynamic()) : std::nullopt;
}

std::shared_ptr<const Defaults> shared(Defaults defaults) {
  if (defaults.values.empty() && defaults.children.empty()) return nullptr;
  return std::make_shared<const Defaults>(std::move(defaults));
}

// The attributes of an object that were read so far.
struct Attributes {
  std::map<std::string, Type> types = {};
  std::set<std::string> optional = {};
  Defaults defaults = {};
};

// The parser limits the height of trees, so recursion is safe.
class TypeReader {
 public:
  explicit TypeReader(const std::string& path) : path_(path) {}

  Result<TypeConstraint> read(const hcl::Expression& expression) const {
    const std::string_view name = keyword(expression);
    if (!name.empty()) return read_keyword(name, expression.range);
    const auto* call = expression.function_call();
    return call == nullptr ? reject(expression.range, std::string(kNoType)) : read_call(*call, expression.range);
  }

  tl::unexpected<Error> reject(const Range& range, std::string_view why) const {
    return fail({.code = Code::config_parse,
                 .message = fmt::format("invalid type specification: {}", why),
                 .location = Location{path_, range},
                 .hint = std::string(kHint)});
  }

 private:
  Result<TypeConstraint> read_keyword(std::string_view name, const Range& range) const {
    if (auto type = simple_type(name)) return TypeConstraint{.type = std::move(*type)};
    if (is_constructor(name)) return reject(range, wanted_argument(name));
    return reject(range, fmt::format("the keyword \"{}\" is not a valid type specification", name));
  }

  Result<TypeConstraint> read_call(const hcl::FunctionCall& call, const Range& range) const {
    if (call.name == "any") {
      return reject(arguments_range(call, range), "type constraint keyword \"any\" does not expect arguments");
    }
    if (simple_type(call.name)) {
      return reject(arguments_range(call, range),
                    fmt::format("primitive type keyword \"{}\" does not expect arguments", call.name));
    }
    if (call.name == "optional") {
      return reject(call.name_range, "keyword \"optional\" is valid only as a modifier for object type attributes");
    }
    if (!is_constructor(call.name)) {
      return reject(range, fmt::format("keyword \"{}\" is not a valid type constructor", call.name));
    }
    if (call.arguments.empty()) return reject(arguments_range(call, range), wanted_argument(call.name));
    if (call.arguments.size() > 1) {
      return reject({call.arguments[1].range.start, call.arguments.back().range.end}, wanted_argument(call.name));
    }
    const hcl::Expression& argument = call.arguments.front();
    if (call.name == "object") return read_object(argument);
    return call.name == "tuple" ? read_tuple(argument) : read_collection(call.name, argument);
  }

  Result<TypeConstraint> read_collection(std::string_view kind, const hcl::Expression& argument) const {
    MODLOCK_TRY(auto element, read(argument));
    Defaults defaults;
    if (element.defaults) defaults.children.emplace("", std::move(element.defaults));
    Type& type = element.type;
    type = kind == "list" ? Type::list(type) : (kind == "set" ? Type::set(type) : Type::map(type));
    return TypeConstraint{std::move(type), shared(std::move(defaults))};
  }

  Result<TypeConstraint> read_tuple(const hcl::Expression& argument) const {
    const auto* tuple = std::get_if<hcl::Tuple>(&argument.node);
    if (tuple == nullptr) return reject(argument.range, "tuple type constructor requires a list of element types");
    std::vector<Type> types;
    Defaults defaults;
    for (const hcl::Expression& item : tuple->items) {
      MODLOCK_TRY(auto element, read(item));
      if (element.defaults) defaults.children.emplace(std::to_string(types.size()), std::move(element.defaults));
      types.push_back(std::move(element.type));
    }
    return TypeConstraint{Type::tuple(std::move(types)), shared(std::move(defaults))};
  }

  Result<TypeConstraint> read_object(const hcl::Expression& argument) const {
    const auto* object = std::get_if<hcl::Object>(&argument.node);
    if (object == nullptr) {
      return reject(argument.range,
                    "object type constructor requires a map whose keys are attribute names and whose values are the "
                    "corresponding attribute types");
    }
    Attributes attributes;
    for (const hcl::ObjectItem& item : object->items) {
      MODLOCK_TRY(read_attribute(item, attributes));
    }
    return TypeConstraint{Type::object(std::move(attributes.types), std::move(attributes.optional)),
                          shared(std::move(attributes.defaults))};
  }

  Result<void> read_attribute(const hcl::ObjectItem& item, Attributes& attributes) const {
    const std::string name = hcl::normalize_nfc(keyword(item.key));
    if (name.empty()) return reject(item.key.range, "object constructor map keys must be attribute names");
    if (attributes.types.count(name) > 0) return reject(item.key.range, "object constructor map keys must be unique");
    const auto* call = item.value.function_call();
    const bool is_optional = call != nullptr && call->name == "optional";
    std::optional<Value> fallback;
    if (is_optional) {
      MODLOCK_TRY(fallback, read_modifier(*call, item.value.range));
      attributes.optional.insert(name);
    }
    MODLOCK_TRY(auto attribute, read(is_optional ? call->arguments.front() : item.value));
    if (fallback) {
      auto converted = convert(*fallback, attribute.type);
      if (!converted) {
        return fail(
            {.code = Code::config_parse,
             .message = fmt::format("invalid default value for optional attribute \"{}\": this default value is not "
                                    "compatible with the attribute's type constraint: {}",
                                    name, converted.error()),
             .location = Location{path_, call->arguments[1].range},
             .hint = "write a default value of the attribute's type"});
      }
      attributes.defaults.values.emplace(name, std::move(*converted));
    }
    if (attribute.defaults) attributes.defaults.children.emplace(name, std::move(attribute.defaults));
    attributes.types.emplace(name, std::move(attribute.type));
    return {};
  }

  // The default value that optional() has as its second argument.
  Result<std::optional<Value>> read_modifier(const hcl::FunctionCall& call, const Range& range) const {
    const std::size_t count = call.arguments.size();
    if (count == 0) {
      return reject(arguments_range(call, range),
                    "optional attribute modifier requires the attribute type as its argument");
    }
    if (count > 2) {
      return reject(
          arguments_range(call, range),
          "optional attribute modifier expects at most two arguments: the attribute type, and a default value");
    }
    if (count == 1) return std::optional<Value>();
    return constant_value(call.arguments[1], false, path_);
  }

  const std::string& path_;
};

// The replacement for a type in quotes.
std::string unquoted(const std::string& text) {
  if (text == "list" || text == "map") {
    return fmt::format("remove the quotes around \"{0}\" and write {0}(string) instead", text);
  }
  return text == "string" ? "remove the quotes around \"string\"" : "";
}

// The notation of types in OpenTofu 0.11.
Result<TypeConstraint> refuse_quoted(const hcl::Expression& expression, const std::string& path) {
  MODLOCK_TRY(const auto value, constant_value(expression, false, path));
  const std::string text = value.as_string();
  const std::string hint = unquoted(text);
  Error error{.code = Code::config_parse, .location = Location{path, expression.range}, .hint = hint};
  if (hint.empty()) {
    error.message = fmt::format("invalid legacy variable type hint {}: expected a type without quotes",
                                hcl::quoted_for_message(text));
    error.hint = "remove the surrounding quotes and give the type expression directly";
  } else {
    error.message = fmt::format(
        "invalid quoted type constraint \"{}\": OpenTofu 0.11 and earlier required the quotes, "
        "later versions reject them",
        text);
  }
  return fail(std::move(error));
}

using Kind = Type::Kind;

// Defaults of a collection have no key, and "" is not an attribute name, so there is no confusion.
Value apply_child(const Value& value, const Defaults& defaults, const std::string& key) {
  auto child = defaults.children.find(key);
  if (child == defaults.children.end()) child = defaults.children.find("");
  return child == defaults.children.end() ? value : apply_defaults(value, *child->second);
}

// The parts as a collection of this kind with one element type, or unchanged if they have none in common.
Value collected(Value parts, const Type& collection) {
  if (parts.size() == 0) return parts;
  auto converted = convert(parts, collection);
  return converted ? std::move(*converted) : parts;
}

Value apply_to_items(const Value& value, const Defaults& defaults) {
  Value::Items items;
  items.reserve(value.size());
  for (const Value& item : value.items()) {
    items.push_back(apply_child(item, defaults, std::to_string(items.size())));
  }
  Value tuple = Value::tuple(std::move(items));
  if (value.is(Kind::list)) return collected(std::move(tuple), Type::list(Type::dynamic()));
  return value.is(Kind::set) ? collected(std::move(tuple), Type::set(Type::dynamic())) : tuple;
}

Value apply_to_members(const Value& value, const Defaults& defaults) {
  Value::Members members;
  for (const auto& [name, member] : value.members()) members.emplace(name, apply_child(member, defaults, name));
  for (const auto& [name, fallback] : defaults.values) {
    Value& member = members[name];
    if (!member.is_null()) continue;
    const auto child = defaults.children.find(name);
    member = child == defaults.children.end() ? fallback : apply_defaults(fallback, *child->second);
  }
  Value object = Value::object(std::move(members));
  return value.is(Kind::map) ? collected(std::move(object), Type::map(Type::dynamic())) : object;
}

}  // namespace

Result<TypeConstraint> parse_type_constraint(const hcl::Expression& expression, const std::string& path) {
  const TypeReader reader(path);
  if (is_template(expression)) return refuse_quoted(expression, path);
  if (std::holds_alternative<hcl::JsonString>(expression.node)) {
    const auto inner = hcl::expression_of(expression, path);
    if (inner) return is_template(*inner) ? reader.reject(inner->range, kNoType) : parse_type_constraint(*inner, path);
    return inner.error().code == Code::limit_exceeded ? fail(inner.error()) : reader.reject(expression.range, kNoType);
  }
  const std::string_view name = keyword(expression);
  if (name == "list") return TypeConstraint{.type = Type::list(Type::dynamic())};
  if (name == "map") return TypeConstraint{.type = Type::map(Type::dynamic())};
  return reader.read(expression);
}

Value apply_defaults(const Value& value, const Defaults& defaults) {
  const bool has_members = value.is(Kind::map) || value.is(Kind::object);
  if (value.is_null() || value.type().is_primitive() || (defaults.values.empty() && defaults.children.empty())) {
    return value;
  }
  const bool has_default = has_members && !defaults.values.empty();
  if (value.size() == 0 && !has_default) return value;
  const Value applied = has_members ? apply_to_members(value, defaults) : apply_to_items(value, defaults);
  return applied.with_marks(value.marks());
}

}  // namespace modlock::eval
