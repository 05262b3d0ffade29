#include "plugin/client/hcl1_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace modlock::hcl1 {
namespace {

bool equal_folded(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&lower](char x, char y) { return lower(x) == lower(y); });
}

bool is_list_of_objects(const Value& value) {
  return value.kind == Value::Kind::list &&
         std::all_of(value.elements.begin(), value.elements.end(),
                     [](const Value& element) { return element.kind == Value::Kind::object; });
}

void append(const std::vector<Item>& items, std::vector<Entry>& entries) {
  for (const Item& item : items) {
    entries.push_back({.keys = item.keys, .value = &item.value, .item = &item});
  }
}

const Value* argument_value(const std::vector<Entry>& entries, std::string_view argument) {
  const std::vector<Entry> found = select(entries, argument, Case::folded);
  return found.empty() ? nullptr : found.back().value;
}

bool is_text(const Value& value) {
  return value.kind == Value::Kind::string || value.kind == Value::Kind::number;
}

// As Go's ParseInt with base 0: a sign, "0x", "0o", "0b", and a leading "0" for octal.
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
        (names == Case::folded ? equal_folded(entry.keys.front(), name) : entry.keys.front() == name)) {
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
  const Value* value = argument_value(entries, argument);
  if (value == nullptr) {
    return std::optional<std::string>();
  }
  if (!is_text(*value)) {
    return wrong(name, value->at, fmt::format("{} must be a string", argument));
  }
  return std::optional(value->text);
}

Result<std::optional<std::vector<std::string>>> list_argument(const std::vector<Entry>& entries,
                                                              std::string_view argument, std::string_view name) {
  const Value* value = argument_value(entries, argument);
  if (value == nullptr) {
    return std::optional<std::vector<std::string>>();
  }
  if (value->kind != Value::Kind::list || !std::all_of(value->elements.begin(), value->elements.end(), is_text)) {
    return wrong(name, value->at, fmt::format("{} must be a list of strings", argument));
  }
  std::vector<std::string> texts;
  for (const Value& element : value->elements) {
    texts.push_back(element.text);
  }
  return std::optional(std::move(texts));
}

Result<std::optional<bool>> boolean_argument(const std::vector<Entry>& entries, std::string_view argument,
                                             std::string_view name) {
  const Value* value = argument_value(entries, argument);
  if (value == nullptr) {
    return std::optional<bool>();
  }
  if (value->kind != Value::Kind::boolean) {
    return wrong(name, value->at, fmt::format("{} must be true or false", argument));
  }
  return std::optional(value->text == "true");
}

Result<std::optional<int>> integer_argument(const std::vector<Entry>& entries, std::string_view argument,
                                            std::string_view name) {
  const Value* value = argument_value(entries, argument);
  if (value == nullptr) {
    return std::optional<int>();
  }
  const auto number = is_text(*value) ? parse_integer(value->text) : std::nullopt;
  if (!number) {
    return wrong(name, value->at, fmt::format("{} must be a whole number", argument));
  }
  return number;
}

}  // namespace modlock::hcl1
