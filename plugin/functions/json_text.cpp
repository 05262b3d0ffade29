#include "plugin/functions/json_text.h"

#include <fmt/format.h>

#include <utility>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"
#include "protocol/base/json.h"
#include "protocol/base/utf8.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

// Appends what `append_one` appends for each of the values, in these brackets.
void append_all(TextBuilder& out, std::string_view brackets, const auto& values, const auto& append_one) {
  out.append(1, brackets[0]);
  bool is_first = true;
  for (auto value = values.begin(); value != values.end() && !out.is_full(); ++value) {
    out.append(std::exchange(is_first, false) ? "" : ",");
    append_one(*value);
  }
  out.append(1, brackets[1]);
}

constexpr std::string_view kOfValue = " looking for beginning of value";

class Decoder {
 public:
  explicit Decoder(std::string_view text) : text_(text) {}

  FunctionResult decode() {
    auto value = decode_value(1);
    if (value && peek() != '\0' && peek() != ']' && peek() != '}') {
      return refuse("extraneous data after JSON object");
    }
    return value;
  }

 private:
  // The next character that is not blank, or NUL at the end (NUL is not valid JSON elsewhere either).
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  tl::unexpected<FunctionError> wrong(std::string_view where, std::string_view at_end = "unexpected EOF") const {
    if (at_ >= text_.size()) {
      return refuse(std::string(at_end));
    }
    std::string character;
    append_utf8(character, static_cast<unsigned char>(text_[at_]));
    std::string quoted = character == "'" ? "\\'" : character == "\"" ? character : go_quoted(character);
    if (quoted.size() > 1 && quoted.front() == '"') {
      quoted = quoted.substr(1, quoted.size() - 2);
    }
    return refuse(fmt::format("invalid character '{}'{}", quoted, where));
  }

  FunctionResult decode_value(std::size_t depth) {
    if (depth > hcl::kMaxDepth) {
      return exceeds_limit(fmt::format("the JSON text is nested deeper than {}", hcl::kMaxDepth));
    }
    if (++count_ > kMaxElements) {
      return too_many_elements();
    }
    const char first = peek();
    switch (first) {
      case '{':
        return decode_object(depth);
      case '[':
        return decode_array(depth);
      case '"': {
        MODLOCK_TRY(auto text, decode_string());
        return Value::string(std::move(text));
      }
      case 't':
        return decode_literal("true", Value::boolean(true));
      case 'f':
        return decode_literal("false", Value::boolean(false));
      case 'n':
        return decode_literal("null", Value());
      default:
        return first == '-' || ascii::is_digit(first) ? decode_number() : wrong(kOfValue, "EOF");
    }
  }

  FunctionResult decode_literal(std::string_view literal, Value value) {
    for (const char expected : literal) {
      if (at_ >= text_.size() || text_[at_] != expected) {
        return wrong(fmt::format(" in literal {} (expecting '{}')", literal, expected));
      }
      ++at_;
    }
    return value;
  }

  FunctionResult decode_number() {
    using Part = JsonNumber::Part;
    const std::size_t from = at_;
    const JsonNumber found = read_json_number(text_.substr(at_));
    at_ += found.size;
    if (found.lacks_digit != Part::none) {
      return wrong(found.lacks_digit == Part::integer    ? " in numeric literal"
                   : found.lacks_digit == Part::fraction ? " after decimal point in numeric literal"
                                                         : " in exponent of numeric literal");
    }
    const auto number = Number::parse(text_.substr(from, at_ - from));
    if (!number) {
      return exceeds_limit("the JSON text has a number that is too large or too small");
    }
    return Value::number(*number);
  }

  // The backslash is behind.
  tl::expected<void, FunctionError> decode_escape(std::string& text) {
    const JsonEscape found = read_json_escape(text_.substr(at_ - 1));
    at_ += found.size - 1;
    if (found.fault == JsonEscape::Fault::letter || found.fault == JsonEscape::Fault::digit) {
      return wrong(found.fault == JsonEscape::Fault::letter ? " in string escape code"
                                                            : " in \\u hexadecimal character escape");
    }
    append_utf8(text, found.character);
    return {};
  }

  tl::expected<std::string, FunctionError> decode_string() {
    std::string text;
    ++at_;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20) {
      const char character = text_[at_++];
      if (character == '"') {
        return text;
      }
      if (character != '\\') {
        text += character;
      } else {
        MODLOCK_TRY(decode_escape(text));
      }
    }
    return wrong(" in string literal");
  }

  FunctionResult decode_array(std::size_t depth) {
    Value::Items items;
    ++at_;
    if (peek() == ']') {
      ++at_;
      return Value::tuple({});
    }
    for (;;) {
      MODLOCK_TRY(auto item, decode_value(depth + 1));
      items.push_back(std::move(item));
      const char next = peek();
      if (next != ',' && next != ']') {
        return wrong(" after array element", "EOF");
      }
      ++at_;
      if (next == ']') {
        return Value::tuple(std::move(items));
      }
    }
  }

  FunctionResult decode_object(std::size_t depth) {
    Value::Members members;
    ++at_;
    if (peek() == '}') {
      ++at_;
      return Value::object({});
    }
    while (peek() == '"') {
      MODLOCK_TRY(auto name, decode_string());
      if (peek() != ':') {
        return wrong(" after object key", "EOF");
      }
      ++at_;
      MODLOCK_TRY(auto value, decode_value(depth + 1));
      const auto before = members.find(name);
      if (before != members.end() && !(before->second.type() == value.type())) {
        return refuse(fmt::format("duplicate {} property in JSON object", go_quoted(name)));
      }
      members.insert_or_assign(std::move(name), std::move(value));
      const char next = peek();
      if (next != ',' && next != '}') {
        return wrong(" after object key:value pair", "EOF");
      }
      ++at_;
      if (next == '}') {
        return Value::object(std::move(members));
      }
    }
    return wrong(members.empty() ? "" : " looking for beginning of object key string", "EOF");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

std::string json_string(std::string_view text) {
  constexpr std::string_view kEscaped = "\"\\<>&";
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    const std::string_view three = character == '\xE2' ? text.substr(at, 3) : std::string_view();
    if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
      quoted += three.back() == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else if (static_cast<unsigned char>(character) < 0x20 || kEscaped.find(character) != std::string_view::npos) {
      append_json_escape(quoted, character);
    } else {
      quoted += character;
    }
  }
  return quoted + '"';
}

void append_json(TextBuilder& out, const Value& value) {
  if (value.is_null()) {
    out.append("null");
  } else if (value.is(Kind::string)) {
    out.append(json_string(value.as_string()));
  } else if (value.is(Kind::number)) {
    out.append(value.as_number().to_string());
  } else if (value.is(Kind::boolean)) {
    out.append(value.as_bool() ? "true" : "false");
  } else if (is_sequence(value.type())) {
    append_all(out, "[]", value.items(), [&](const Value& item) { append_json(out, item); });
  } else {
    append_all(out, "{}", value.members(), [&](const auto& member) {
      out.append(json_string(member.first));
      out.append(":");
      append_json(out, member.second);
    });
  }
}

FunctionResult decode_json(std::string_view text) {
  return Decoder(text).decode();
}

}  // namespace modlock::eval
