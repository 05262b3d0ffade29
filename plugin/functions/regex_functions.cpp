#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/regular_expression.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/value.h"

namespace modlock::eval {
namespace {

Value group_value(std::string_view group) {
  return group.data() == nullptr ? Value::null(Type::string()) : Value::string(std::string(group));
}

enum class Shape { whole, positions, names };

struct Pattern {
  RegularExpression expression;
  Shape shape = Shape::whole;

  Type type() const {
    if (shape == Shape::whole) {
      return Type::string();
    }
    if (shape == Shape::positions) {
      return Type::tuple(std::vector<Type>(expression.group_count(), Type::string()));
    }
    std::map<std::string, Type> attributes;
    for (const std::string& name : expression.group_names()) {
      attributes.emplace(name, Type::string());
    }
    return Type::object(std::move(attributes));
  }

  Value value(const RegularExpression::Match& match) const {
    if (shape == Shape::whole) {
      return group_value(match[0]);
    }
    Value::Items items;
    Value::Members members;
    for (std::size_t i = 1; i < match.size(); ++i) {
      if (shape == Shape::positions) {
        items.push_back(group_value(match[i]));
      } else {
        members.insert_or_assign(expression.group_names()[i - 1], group_value(match[i]));
      }
    }
    return shape == Shape::positions ? Value::tuple(std::move(items)) : Value::object(std::move(members));
  }
};

// Calls `visit(match, start, end)` with each match. An empty one directly after another one is ignored. A search may
// read the whole rest of the text to find the end of a match: many matches in a long text would take quadratic time.
template <typename Visit>
tl::expected<void, FunctionError> each_match(const RegularExpression& expression, std::string_view text,
                                             const Visit& visit) {
  constexpr std::size_t kMostRead = std::size_t{1} << 28U;
  std::size_t read = 0;
  std::size_t last_end = 0;
  for (std::size_t at = 0; at <= text.size();) {
    read += at == 0 ? 0 : (text.size() - at) * (1 + expression.group_count());
    if (read > kMostRead) {
      return exceeds_limit("the text has too many matches for its length");
    }
    const auto match = expression.find(text, at);
    if (!match) {
      break;
    }
    const auto start = static_cast<std::size_t>(match->front().data() - text.data());
    const std::size_t end = start + match->front().size();
    if (end > last_end || start == 0) {
      MODLOCK_TRY(visit(*match, start, end));
    }
    last_end = end;
    at = std::max(at + character_size(text, at), end);
  }
  return {};
}

tl::expected<Pattern, FunctionError> pattern_of(const Call& call) {
  auto expression = RegularExpression::compile(call.arguments[0].as_string());
  if (!expression) {
    return refuse_argument(0,
                           fmt::format("invalid regexp pattern: {} in {}", expression.error().code,
                                       call.may_show_arguments ? expression.error().expression : "(sensitive value)"));
  }
  const auto& names = expression->group_names();
  const auto named = std::ranges::count_if(names, [](const std::string& name) { return !name.empty(); });
  if (named > 0 && static_cast<std::size_t>(named) < names.size()) {
    return refuse_argument(0, "invalid regexp pattern: cannot mix both named and unnamed capture groups");
  }
  const Shape shape = names.empty() ? Shape::whole : named > 0 ? Shape::names : Shape::positions;
  return Pattern{*std::move(expression), shape};
}

FunctionResult regex(const Call& call) {
  MODLOCK_TRY(const auto pattern, pattern_of(call));
  const auto match = pattern.expression.find(call.arguments[1].as_string(), 0);
  if (!match) {
    return refuse("pattern did not match any part of the given string");
  }
  return pattern.value(*match);
}

FunctionResult regexall(const Call& call) {
  MODLOCK_TRY(const auto pattern, pattern_of(call));
  Value::Items matches;
  using Match = RegularExpression::Match;
  const auto add = [&](const Match& match, std::size_t, std::size_t) -> tl::expected<void, FunctionError> {
    if (matches.size() == kMaxElements) {
      return too_many_elements();
    }
    matches.push_back(pattern.value(match));
    return {};
  };
  MODLOCK_TRY(each_match(pattern.expression, call.arguments[1].as_string(), add));
  return Value::list(pattern.type(), std::move(matches));
}

// The size in bytes of the letter, digit or underscore at `at`, or 0 if there is none.
std::size_t name_character_size(std::string_view text, std::size_t at) {
  if (at < text.size() && ascii::is_digit(text[at])) {
    return 1;
  }
  const std::string_view character = text.substr(at, at < text.size() ? character_size(text, at) : 0);
  return hcl::identifier_size(character, 0);
}

// The group that "name" or "${name}" refers to, by number or by name; empty if there is none.
std::string_view group_named(std::string_view name, const RegularExpression& expression,
                             const RegularExpression::Match& match) {
  const bool is_number = name.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number && (name.size() == 1 || name.front() != '0')) {
    std::size_t number = 0;
    for (const char digit : name.substr(0, 9)) {
      number = number * 10 + static_cast<std::size_t>(digit - '0');
    }
    return number < match.size() ? match[number] : std::string_view();
  }
  const auto& names = expression.group_names();
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::string_view() : match[static_cast<std::size_t>(found - names.begin()) + 1];
}

// Appends a replacement with its "$1", "${name}" and "$$" filled in. Any other "$" is kept.
void append_expanded(std::string_view replacement, const RegularExpression& expression,
                     const RegularExpression::Match& match, TextBuilder& out) {
  for (std::size_t dollar = replacement.find('$'); dollar != std::string_view::npos && !out.is_full();
       dollar = replacement.find('$')) {
    out.append(replacement.substr(0, dollar));
    replacement.remove_prefix(dollar + 1);
    if (replacement.starts_with('$')) {
      out.append("$");
      replacement.remove_prefix(1);
      continue;
    }
    const bool is_braced = replacement.starts_with('{');
    const std::size_t from = is_braced ? 1 : 0;
    std::size_t end = from;
    while (const std::size_t size = name_character_size(replacement, end)) {
      end += size;
    }
    const std::string_view name = replacement.substr(from, end - from);
    if (name.empty() || (is_braced && !replacement.substr(end).starts_with('}'))) {
      out.append("$");
      continue;
    }
    out.append(group_named(name, expression, match));
    replacement.remove_prefix(is_braced ? end + 1 : end);
  }
  out.append(replacement);
}

FunctionResult replace_matches(const RegularExpression& expression, std::string_view text,
                               std::string_view replacement) {
  TextBuilder replaced;
  std::size_t last_end = 0;
  using Match = RegularExpression::Match;
  const auto add = [&](const Match& match, std::size_t start, std::size_t end) -> tl::expected<void, FunctionError> {
    replaced.append(text.substr(last_end, start - last_end));
    append_expanded(replacement, expression, match, replaced);
    last_end = end;
    return replaced.is_full() ? too_long_text() : tl::expected<void, FunctionError>();
  };
  MODLOCK_TRY(each_match(expression, text, add));
  replaced.append(text.substr(last_end));
  return std::move(replaced).finish();
}

FunctionResult replace_text(std::string_view text, std::string_view wanted, std::string_view replacement) {
  TextBuilder replaced;
  std::size_t at = 0;
  if (wanted.empty()) {
    // Between all characters, and at both ends.
    for (; at < text.size() && !replaced.is_full(); at += character_size(text, at)) {
      replaced.append(replacement);
      replaced.append(text.substr(at, character_size(text, at)));
    }
    replaced.append(replacement);
    return std::move(replaced).finish();
  }
  for (std::size_t found = text.find(wanted); found != std::string_view::npos && !replaced.is_full();
       found = text.find(wanted, at)) {
    replaced.append(text.substr(at, found - at));
    replaced.append(replacement);
    at = found + wanted.size();
  }
  replaced.append(text.substr(at));
  return std::move(replaced).finish();
}

FunctionResult replace(const Call& call) {
  const std::string& text = call.arguments[0].as_string();
  const std::string_view wanted = call.arguments[1].as_string();
  const std::string& replacement = call.arguments[2].as_string();
  if (wanted.size() < 2 || !wanted.starts_with('/') || !wanted.ends_with('/')) {
    return replace_text(text, wanted, replacement);
  }
  const auto expression = RegularExpression::compile(wanted.substr(1, wanted.size() - 2));
  if (!expression) {
    return refuse(fmt::format(
        "error parsing regexp: {}: {}", expression.error().code,
        call.may_show_arguments ? fmt::format("`{}`", expression.error().expression) : "(sensitive value)"));
  }
  return replace_matches(*expression, text, replacement);
}

}  // namespace

std::vector<Function> regex_functions() {
  return {
      {"regex", {string_parameter("pattern"), string_parameter("string")}, regex},
      {"regexall", {string_parameter("pattern"), string_parameter("string")}, regexall},
      {"replace", {string_parameter("str"), string_parameter("substr"), string_parameter("replace")}, replace},
  };
}

}  // namespace modlock::eval
