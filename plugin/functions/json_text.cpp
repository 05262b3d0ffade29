#include "plugin/functions/json_text.h"

#include <fmt/format.h>

#include "plugin/functions/function_tables.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

// What stands in place of the character at `at`, and how many bytes it replaces; empty where it stays.
std::string escaped(std::string_view text, std::size_t at, std::size_t& size) {
  size = 1;
  const char character = text[at];
  switch (character) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '<':
    case '>':
    case '&':
      return fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    default:
      break;
  }
  if (static_cast<unsigned char>(character) < 0x20) {
    return fmt::format("\\u{:04x}", static_cast<unsigned>(character));
  }
  const std::string_view three = text.substr(at, 3);
  if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
    size = 3;
    return three.back() == '\xA8' ? "\\u2028" : "\\u2029";
  }
  return {};
}

bool may_need_escape(char character) {
  return static_cast<unsigned char>(character) < 0x20 || character == '\xE2' || character == '"' || character == '\\' ||
         character == '<' || character == '>' || character == '&';
}

void append_string(TextBuilder& out, std::string_view text) {
  out.append("\"");
  std::size_t plain = 0;
  for (std::size_t at = 0; at < text.size() && !out.is_full();) {
    if (!may_need_escape(text[at])) {
      ++at;
      continue;
    }
    std::size_t size = 1;
    const std::string replacement = escaped(text, at, size);
    if (!replacement.empty()) {
      out.append(text.substr(plain, at - plain));
      out.append(replacement);
      plain = at + size;
    }
    at += size;
  }
  out.append(text.substr(plain));
  out.append("\"");
}

void append_items(TextBuilder& out, const Value::Items& items) {
  std::string_view separator = "[";
  for (const Value& item : items) {
    if (out.is_full()) {
      return;
    }
    out.append(separator);
    append_json(out, item);
    separator = ",";
  }
  out.append(items.empty() ? "[]" : "]");
}

void append_members(TextBuilder& out, const Value::Members& members) {
  std::string_view separator = "{";
  for (const auto& [name, member] : members) {
    if (out.is_full()) {
      return;
    }
    out.append(separator);
    append_string(out, name);
    out.append(":");
    append_json(out, member);
    separator = ",";
  }
  out.append(members.empty() ? "{}" : "}");
}

}  // namespace

void append_json(TextBuilder& out, const Value& value) {
  if (value.is_null()) {
    out.append("null");
  } else if (value.is(Kind::string)) {
    append_string(out, value.as_string());
  } else if (value.is(Kind::number)) {
    out.append(value.as_number().to_string());
  } else if (value.is(Kind::boolean)) {
    out.append(value.as_bool() ? "true" : "false");
  } else if (is_sequence(value.type())) {
    append_items(out, value.items());
  } else {
    append_members(out, value.members());
  }
}

}  // namespace modlock::eval
