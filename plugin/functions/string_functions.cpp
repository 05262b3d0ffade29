#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/value.h"
#include "protocol/base/utf8.h"

namespace modlock::eval {
namespace {

// Returns the first argument with what `change` makes of each character, which starts at an offset.
template <typename Change>
FunctionResult each_character(const Call& call, Change change) {
  const std::string& text = call.arguments[0].as_string();
  std::string changed;
  changed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto point = hcl::decode_utf8(text, at).value_or(hcl::CodePoint{});
    append_utf8(changed, static_cast<char32_t>(change(static_cast<utf8proc_int32_t>(point.value), at)));
    at += point.size;
  }
  return Value::string(std::move(changed));
}

FunctionResult lower(const Call& call) {
  return each_character(call, [](utf8proc_int32_t character, std::size_t) { return utf8proc_tolower(character); });
}

// U+00DF has no simple upper case in Unicode's table, but utf8proc maps it to the capital sharp s.
template <utf8proc_int32_t (*change)(utf8proc_int32_t)>
utf8proc_int32_t simple(utf8proc_int32_t character) {
  return character == 0xDF ? character : change(character);
}

FunctionResult upper(const Call& call) {
  return each_character(call,
                        [](utf8proc_int32_t character, std::size_t) { return simple<utf8proc_toupper>(character); });
}

// The word separators of title(): every ASCII character except letters, digits and underscore; of the other characters
// only white space.
bool separates_words(std::string_view text, std::size_t at) {
  const char character = text[at];
  if (static_cast<unsigned char>(character) < 0x80) {
    return !ascii::is_alnum(character) && character != '_';
  }
  return hcl::blank_size(text, at) > 0;
}

FunctionResult title(const Call& call) {
  bool starts_word = true;
  return each_character(call, [&](utf8proc_int32_t character, std::size_t at) {
    const bool starts = std::exchange(starts_word, separates_words(call.arguments[0].as_string(), at));
    return starts ? simple<utf8proc_totitle>(character) : character;
  });
}

FunctionResult strrev(const Call& call) {
  const std::string& text = call.arguments[0].as_string();
  std::string reversed(text.size(), '\0');
  std::size_t to = text.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = hcl::grapheme_end(text, at);
    to -= end - at;
    text.copy(reversed.data() + to, end - at, at);
    at = end;
  }
  return Value::string(std::move(reversed));
}

FunctionResult substr(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  MODLOCK_TRY(auto from, whole_number(call.arguments[1]));
  MODLOCK_TRY(const auto length, whole_number(call.arguments[2]));
  if (from < 0) {
    from += count_clusters(text);
  } else if (length == 0) {
    return Value::string("");
  }
  text.remove_prefix(skip_clusters(text, from));
  // With an offset from the end, length 0 means the whole rest, as in cty.
  if (length > 0) {
    text = text.substr(0, skip_clusters(text, length));
  }
  return Value::string(std::string(text));
}

FunctionResult join(const Call& call) {
  if (call.arguments.size() < 2) {
    return refuse("at least one list is required");
  }
  const std::string& separator = call.arguments[0].as_string();
  TextBuilder joined;
  bool is_first = true;
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    const Value::Items& items = call.arguments[i].items();
    for (std::size_t n = 0; n < items.size() && !joined.is_full(); ++n) {
      if (items[n].is_null()) {
        const std::string of_list = call.arguments.size() > 2 ? fmt::format(" of list {}", i) : "";
        return refuse_argument(i, fmt::format("element {}{} is null; cannot concatenate null values", n, of_list));
      }
      joined.append(is_first ? "" : separator);
      joined.append(items[n].as_string());
      is_first = false;
    }
  }
  return std::move(joined).finish();
}

FunctionResult split(const Call& call) {
  const std::string& separator = call.arguments[0].as_string();
  const std::string& text = call.arguments[1].as_string();
  Value::Items parts;
  std::size_t at = 0;
  while (separator.empty() ? at < text.size() : at <= text.size()) {
    const std::size_t end =
        separator.empty() ? at + character_size(text, at) : std::min(text.find(separator, at), text.size());
    if (parts.size() == kMaxElements) {
      return too_many_elements();
    }
    parts.push_back(Value::string(text.substr(at, end - at)));
    at = separator.empty() || end < text.size() ? end + separator.size() : text.size() + 1;
  }
  return Value::list(Type::string(), std::move(parts));
}

FunctionResult indent(const Call& call) {
  MODLOCK_TRY(const auto spaces, whole_number(call.arguments[0]));
  if (spaces < 0) {
    return refuse_argument(0, "the number of spaces must not be negative");
  }
  const std::string_view text = call.arguments[1].as_string();
  TextBuilder indented;
  for (std::size_t at = 0; at < text.size() && !indented.is_full();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    indented.append(text.substr(at, end - at));
    if (text[end - 1] == '\n') {
      indented.append(static_cast<std::size_t>(spaces), ' ');
    }
    at = end;
  }
  return std::move(indented).finish();
}

FunctionResult startswith(const Call& call) {
  return Value::boolean(call.arguments[0].as_string().starts_with(call.arguments[1].as_string()));
}

FunctionResult endswith(const Call& call) {
  return Value::boolean(call.arguments[0].as_string().ends_with(call.arguments[1].as_string()));
}

FunctionResult strcontains(const Call& call) {
  return Value::boolean(call.arguments[0].as_string().find(call.arguments[1].as_string()) != std::string::npos);
}

FunctionResult chomp(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  while (text.ends_with('\n') || text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return Value::string(std::string(text));
}

FunctionResult trimspace(const Call& call) {
  return Value::string(std::string(hcl::trim_left(hcl::trim_right(call.arguments[0].as_string()))));
}

std::size_t last_character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[text.size() - size]) & 0xC0U) == 0x80U) {
    ++size;
  }
  return size;
}

FunctionResult trim(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  const std::string& cutset = call.arguments[1].as_string();
  // In UTF-8 the bytes of one character never occur within those of another, so the set can be searched as a text.
  const auto is_cut = [&](std::string_view character) { return cutset.find(character) != std::string::npos; };
  while (!text.empty() && is_cut(text.substr(0, character_size(text, 0)))) {
    text.remove_prefix(character_size(text, 0));
  }
  while (!text.empty() && is_cut(text.substr(text.size() - last_character_size(text)))) {
    text.remove_suffix(last_character_size(text));
  }
  return Value::string(std::string(text));
}

FunctionResult trimprefix(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  const std::string& prefix = call.arguments[1].as_string();
  text.remove_prefix(text.starts_with(prefix) ? prefix.size() : 0);
  return Value::string(std::string(text));
}

FunctionResult trimsuffix(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  const std::string& suffix = call.arguments[1].as_string();
  text.remove_suffix(text.ends_with(suffix) ? suffix.size() : 0);
  return Value::string(std::string(text));
}

}  // namespace

std::vector<Function> string_functions() {
  return {
      {"chomp", {string_parameter("str")}, chomp},
      {"endswith", {string_parameter("str"), string_parameter("suffix")}, endswith},
      {"indent", {number_parameter("spaces"), string_parameter("str")}, indent},
      {"join", {string_parameter("separator")}, join, list_parameter("lists", Type::string())},
      {"lower", {string_parameter("str")}, lower},
      {"split", {string_parameter("separator"), string_parameter("str")}, split},
      {"startswith", {string_parameter("str"), string_parameter("prefix")}, startswith},
      {"strcontains", {string_parameter("str"), string_parameter("substr")}, strcontains},
      {"strrev", {string_parameter("str")}, strrev},
      {"substr", {string_parameter("str"), number_parameter("offset"), number_parameter("length")}, substr},
      {"title", {string_parameter("str")}, title},
      {"trim", {string_parameter("str"), string_parameter("cutset")}, trim},
      {"trimprefix", {string_parameter("str"), string_parameter("prefix")}, trimprefix},
      {"trimspace", {string_parameter("str")}, trimspace},
      {"trimsuffix", {string_parameter("str"), string_parameter("suffix")}, trimsuffix},
      {"upper", {string_parameter("str")}, upper},
  };
}

}  // namespace modlock::eval
