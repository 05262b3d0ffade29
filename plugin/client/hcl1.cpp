#include "plugin/client/hcl1.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <type_traits>

#include "backends/base/ascii.h"
#include "backends/base/text.h"
#include "plugin/client/hcl1_scanner.h"
#include "protocol/base/utf8.h"

namespace modlock::hcl1 {
namespace {

constexpr std::size_t kDeepest = 100;

class Parser {
 public:
  Parser(std::string_view text, std::string_view name, bool is_json, Duplicates duplicates)
      : scanner_(text, name, is_json), is_json_(is_json), duplicates_(duplicates) {}

  Result<File> parse() {
    File file{.items = {}, .is_json = is_json_};
    MODLOCK_TRY(advance());
    if (is_json_) {
      MODLOCK_TRY(auto root, read_value());
      file.items = std::move(root.items);
      if (token_.kind != Token::Kind::end) {
        return scanner_.wrong(token_.at, "text after the JSON object");
      }
      return file;
    }
    MODLOCK_TRY(read_items(file.items, false));
    return file;
  }

 private:
  Result<void> advance() {
    MODLOCK_TRY(token_, scanner_.next());
    return {};
  }

  // Reads the items of an object up to its "}", which is taken, or of the file up to its end.
  Result<void> read_items(std::vector<Item>& items, bool in_braces) {
    std::set<std::string_view> assigned;
    while (!(in_braces ? token_.is('}') : token_.kind == Token::Kind::end)) {
      const Place at = token_.at;
      const std::string_view first_key = token_.raw;
      MODLOCK_TRY(auto item, is_json_ ? read_json_item() : read_item());
      if (item.is_assigned && !assigned.insert(first_key).second && duplicates_ == Duplicates::refused) {
        return scanner_.wrong(at, fmt::format("the argument \"{}\" is set twice", item.keys.front()));
      }
      items.push_back(std::move(item));
      if (token_.is(',')) {
        MODLOCK_TRY(advance());
      } else if (is_json_ && !token_.is('}')) {
        return scanner_.wrong(token_.at, "\",\" or \"}\" was expected");
      }
    }
    return in_braces ? advance() : Result<void>();
  }

  Result<Item> read_json_item() {
    Item item{.keys = {}, .is_assigned = false, .value = {}, .at = token_.at};
    if (token_.kind != Token::Kind::string) {
      return scanner_.wrong(token_.at, "a name in quotes was expected");
    }
    item.keys.push_back(std::move(token_.text));
    MODLOCK_TRY(advance());
    return token_.is(':') ? finish_item(std::move(item)) : scanner_.wrong(token_.at, "\":\" was expected");
  }

  Result<Item> read_item() {
    Item item{.keys = {}, .is_assigned = false, .value = {}, .at = token_.at};
    while (token_.kind == Token::Kind::word || (token_.kind == Token::Kind::string && token_.raw[0] == '"')) {
      item.keys.push_back(std::move(token_.text));
      MODLOCK_TRY(advance());
    }
    if (token_.is('{') && !item.keys.empty()) {
      MODLOCK_TRY(item.value, read_value());
      return item;
    }
    if (!token_.is('=') || item.keys.size() != 1) {
      return scanner_.wrong(token_.at, item.keys.empty() ? "the name of an argument or a block was expected"
                                                         : "\"{\" was expected, or \"=\" after a single name");
    }
    item.is_assigned = true;
    return finish_item(std::move(item));
  }

  // Reads the value after "=" or ":", which is the current token.
  Result<Item> finish_item(Item item) {
    MODLOCK_TRY(advance());
    MODLOCK_TRY(item.value, read_value());
    return item;
  }

  Result<Value> read_value() {
    Value value;
    value.at = token_.at;
    if (token_.is('{') || token_.is('[')) {
      if (depth_ == kDeepest) {
        return scanner_.wrong(token_.at, fmt::format("nesting over {}", kDeepest));
      }
      value.kind = token_.is('{') ? Value::Kind::object : Value::Kind::list;
      ++depth_;
      auto ok = advance();
      if (ok) {
        ok = value.kind == Value::Kind::object ? read_items(value.items, true) : read_elements(value.elements);
      }
      --depth_;
      return ok ? Result<Value>(std::move(value)) : fail(std::move(ok.error()));
    }
    switch (token_.kind) {
      case Token::Kind::string:
      case Token::Kind::null:
        value.kind = Value::Kind::string;
        break;
      case Token::Kind::number:
        value.kind = Value::Kind::number;
        break;
      case Token::Kind::boolean:
        value.kind = Value::Kind::boolean;
        break;
      default:
        return scanner_.wrong(token_.at, "a value was expected");
    }
    value.text = token_.kind == Token::Kind::null ? "" : std::move(token_.text);
    MODLOCK_TRY(advance());
    return value;
  }

  Result<void> read_elements(std::vector<Value>& elements) {
    bool needs_comma = false;
    while (!token_.is(']')) {
      if (token_.is(',')) {
        needs_comma = false;
        MODLOCK_TRY(advance());
        continue;
      }
      if (needs_comma) {
        return scanner_.wrong(token_.at, "\",\" or \"]\" was expected");
      }
      MODLOCK_TRY(auto value, read_value());
      needs_comma = true;
      const bool is_lost = is_json_ && (value.kind == Value::Kind::boolean || value.kind == Value::Kind::list);
      if (!is_lost) {
        elements.push_back(std::move(value));
      }
    }
    return advance();
  }

  Scanner scanner_;
  bool is_json_;
  Duplicates duplicates_;
  std::size_t depth_ = 0;
  Token token_;
};

bool is_list_of_objects(const Value& value) {
  return value.kind == Value::Kind::list &&
         std::ranges::all_of(value.elements, [](const Value& element) { return element.kind == Value::Kind::object; });
}

void append(const std::vector<Item>& items, std::vector<Entry>& entries) {
  for (const Item& item : items) {
    entries.push_back({.keys = item.keys, .value = &item.value, .item = &item});
  }
}

// Returns what `read` makes of the last argument of that name; nullopt: it is not set. `read` returns nullopt for a
// value that is not `wanted`.
template <typename Read, typename Type = std::invoke_result_t<Read, const Value&>>
Result<Type> read_argument(const std::vector<Entry>& entries, std::string_view argument, std::string_view name,
                           std::string_view wanted, const Read& read) {
  const std::vector<Entry> found = select(entries, argument, Case::folded);
  if (found.empty()) {
    return Type();
  }
  auto value = read(*found.back().value);
  return value ? Result<Type>(std::move(value))
               : wrong(name, found.back().value->at, fmt::format("{} must be {}", argument, wanted));
}

bool is_text(const Value& value) {
  return value.kind == Value::Kind::string || value.kind == Value::Kind::number;
}

// Like Go's ParseInt with base 0: a sign, "0x", "0o", "0b", and a leading "0" for octal.
std::optional<int> parse_integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  text.remove_prefix(is_negative || text.starts_with('+') ? 1 : 0);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || text[0] == '-' || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return is_negative ? -value : value;
}

}  // namespace

Result<File> parse(std::string_view text, std::string_view name, Duplicates duplicates) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    return fail(Code::config_parse, fmt::format("{}:1:1: a byte order mark, which HCL does not allow", name));
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence_length(text.substr(at));
    if (length == 0) {
      return fail(Code::config_parse, fmt::format("{}: the byte {} is not UTF-8", name, at));
    }
    at += length;
  }
  std::string source(text);  // HCL reads only lines that end in LF
  replace_all(source, "\r\n", "\n");
  const std::size_t start = source.find_first_not_of(" \t\n\v\f\r");
  const bool is_json = start != std::string::npos && source[start] == '{';
  return Parser(source, name, is_json, duplicates).parse();
}

tl::unexpected<Error> wrong(std::string_view name, Place at, std::string_view what) {
  return fail(Code::config_parse, fmt::format("{}:{}:{}: {}", name, at.line, at.column, what));
}

std::vector<Entry> entries_of(const std::vector<Item>& items) {
  std::vector<Entry> entries;
  append(items, entries);
  return entries;
}

std::vector<Entry> select(const std::vector<Entry>& entries, std::string_view name, Case names) {
  std::vector<Entry> found;
  for (const Entry& entry : entries) {
    if (!entry.keys.empty() &&
        (names == Case::folded ? ascii::equals_ignoring_case(entry.keys.front(), name) : entry.keys.front() == name)) {
      found.push_back({.keys = entry.keys.subspan(1), .value = entry.value, .item = entry.item});
    }
  }
  return found;
}

Result<std::vector<Entry>> open(const std::vector<Entry>& entries, const File& file, std::string_view name) {
  std::vector<Entry> opened;
  for (const Entry& entry : entries) {
    if (!entry.keys.empty()) {
      opened.push_back(entry);
    } else if (entry.value->kind == Value::Kind::object) {
      append(entry.value->items, opened);
    } else if (file.is_json && is_list_of_objects(*entry.value)) {
      for (const Value& element : entry.value->elements) {
        append(element.items, opened);
      }
    } else {
      return wrong(name, entry.value->at, fmt::format("\"{}\" must be an object", entry.item->keys.back()));
    }
  }
  return opened;
}

Result<std::optional<std::string>> string_argument(const std::vector<Entry>& entries, std::string_view argument,
                                                   std::string_view name) {
  return read_argument(entries, argument, name, "a string",
                       [](const Value& value) { return is_text(value) ? std::optional(value.text) : std::nullopt; });
}

Result<std::optional<std::vector<std::string>>> list_argument(const std::vector<Entry>& entries,
                                                              std::string_view argument, std::string_view name) {
  return read_argument(entries, argument, name, "a list of strings", [](const Value& value) {
    std::vector<std::string> texts;
    std::ranges::transform(value.elements, std::back_inserter(texts),
                           [](const Value& element) { return element.text; });
    return value.kind == Value::Kind::list && std::ranges::all_of(value.elements, is_text)
               ? std::optional(std::move(texts))
               : std::nullopt;
  });
}

Result<std::optional<bool>> boolean_argument(const std::vector<Entry>& entries, std::string_view argument,
                                             std::string_view name) {
  return read_argument(entries, argument, name, "true or false", [](const Value& value) {
    return value.kind == Value::Kind::boolean ? std::optional(value.text == "true") : std::nullopt;
  });
}

Result<std::optional<int>> integer_argument(const std::vector<Entry>& entries, std::string_view argument,
                                            std::string_view name) {
  return read_argument(entries, argument, name, "a whole number",
                       [](const Value& value) { return is_text(value) ? parse_integer(value.text) : std::nullopt; });
}

}  // namespace modlock::hcl1
