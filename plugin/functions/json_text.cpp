#include "plugin/functions/json_text.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/functions/function_tables.h"
#include "plugin/hcl/characters.h"
#include "plugin/hcl/parser.h"
#include "protocol/base/json.h"
#include "protocol/base/json_tokens.h"
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

// Where each JsonFault is.
constexpr std::string_view kWhere[] = {
    "",
    " looking for beginning of value",
    " looking for beginning of object key string",
    " after object key",
    " after object key:value pair",
    " after array element",
    "",
    "",
    " in numeric literal",
    " after decimal point in numeric literal",
    " in exponent of numeric literal",
    " in string literal",
    " in string escape code",
    " in \\u hexadecimal character escape",
};

class Decoder {
 public:
  explicit Decoder(std::string_view text) : text_(text), tokens_(text) {}

  FunctionResult decode() {
    auto value = decode_value(tokens_.next(), 1);
    const JsonToken rest = value ? tokens_.next() : JsonToken();
    if (value && rest.kind != JsonKind::text_end && std::string_view("]}\0", 3).find(text_[rest.end]) == text_.npos) {
      return refuse("extraneous data after JSON object");
    }
    return value;
  }

 private:
  tl::unexpected<FunctionError> wrong(const JsonToken& token, std::string_view where) const {
    if (token.end >= text_.size()) {
      return refuse(token.fault < JsonFault::text_end ? "EOF" : "unexpected EOF");
    }
    std::string character;
    append_utf8(character, static_cast<unsigned char>(text_[token.end]));
    std::string quoted = character == "'" ? "\\'" : character == "\"" ? character : go_quoted(character);
    if (quoted.size() > 1 && quoted.front() == '"') {
      quoted = quoted.substr(1, quoted.size() - 2);
    }
    return refuse(fmt::format("invalid character '{}'{}", quoted, where));
  }

  tl::unexpected<FunctionError> wrong(const JsonToken& token) const {
    if (token.fault == JsonFault::literal) {
      const std::string_view word = json_literal(text_[token.start]);
      return wrong(token, fmt::format(" in literal {} (expecting '{}')", word, word[token.end - token.start]));
    }
    return wrong(token, kWhere[static_cast<std::size_t>(token.fault)]);
  }

  FunctionResult decode_value(const JsonToken& token, std::size_t depth) {
    if (depth > hcl::kMaxDepth) {
      return exceeds_limit(fmt::format("the JSON text is nested deeper than {}", hcl::kMaxDepth));
    }
    if (++count_ > kMaxElements) {
      return too_many_elements();
    }
    const std::string_view text = token.of(text_);
    switch (token.kind) {
      case JsonKind::object:
        return decode_object(depth);
      case JsonKind::array:
        return decode_array(depth);
      case JsonKind::string:
        return Value::string(decode_json_string(text));
      case JsonKind::literal:
        return text == "null" ? Value() : Value::boolean(text == "true");
      case JsonKind::number:
        if (const auto number = Number::parse(text)) {
          return Value::number(*number);
        }
        return exceeds_limit("the JSON text has a number that is too large or too small");
      default:
        return wrong(token);
    }
  }

  FunctionResult decode_array(std::size_t depth) {
    Value::Items items;
    for (JsonToken token = tokens_.next(); token.kind != JsonKind::close; token = tokens_.next()) {
      if (token.fault == JsonFault::item_end) {
        return wrong(token);
      }
      MODLOCK_TRY(auto item, decode_value(token, depth + 1));
      items.push_back(std::move(item));
    }
    return Value::tuple(std::move(items));
  }

  FunctionResult decode_object(std::size_t depth) {
    Value::Members members;
    for (JsonToken token = tokens_.next(); token.kind != JsonKind::close; token = tokens_.next()) {
      if (token.kind != JsonKind::name) {
        return token.fault == JsonFault::name && members.empty() ? wrong(token, "") : wrong(token);
      }
      std::string name = decode_json_string(token.of(text_));
      token = tokens_.next();
      if (token.fault == JsonFault::colon) {
        return wrong(token);
      }
      MODLOCK_TRY(auto value, decode_value(token, depth + 1));
      const auto before = members.find(name);
      if (before != members.end() && !(before->second.type() == value.type())) {
        return refuse(fmt::format("duplicate {} property in JSON object", go_quoted(name)));
      }
      members.insert_or_assign(std::move(name), std::move(value));
    }
    return Value::object(std::move(members));
  }

  std::string_view text_;
  JsonTokens tokens_;
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
