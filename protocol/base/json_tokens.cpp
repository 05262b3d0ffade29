#include "protocol/base/json_tokens.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "protocol/base/utf8.h"

namespace modlock {
namespace {

// The escape sequence that a text starts with: `\n`, `\u00e9`, `\ud83d\ude00`.
struct Escape {
  JsonFault fault = JsonFault::none;
  std::size_t size = 0;         // of a fault: the bytes before it
  std::uint32_t character = 0;  // a surrogate if it is half of a pair

  bool is_half() const { return character >= 0xD800 && character <= 0xDFFF; }
};

Escape read_escape(std::string_view text) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (text.substr(1, 1) != "u") {
    const std::size_t index = text.size() < 2 ? std::string_view::npos : kNames.find(text[1]);
    return index == std::string_view::npos ? Escape{JsonFault::escape, 1}
                                           : Escape{JsonFault::none, 2, static_cast<unsigned char>(kValues[index])};
  }
  std::uint32_t units[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view digits = text.substr(6 * i + 2, 4);
    const char* end = std::from_chars(digits.begin(), digits.end(), units[i], 16).ptr;
    if (end - digits.begin() < 4) {
      return {JsonFault::hex_digit, static_cast<std::size_t>(end - text.begin()), units[0]};
    }
    if (units[0] < 0xD800 || units[0] > 0xDBFF || text.substr(6, 2) != "\\u") {
      return {JsonFault::none, 6, units[0]};
    }
  }
  const bool is_pair = units[1] >= 0xDC00 && units[1] <= 0xDFFF;
  return is_pair ? Escape{JsonFault::none, 12, 0x10000 + ((units[0] - 0xD800) << 10U) + (units[1] - 0xDC00)}
                 : Escape{JsonFault::none, 6, units[0]};
}

}  // namespace

bool JsonTokens::take(std::string_view any) {
  const bool is_next = at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
  at_ += is_next ? 1 : 0;
  return is_next;
}

bool JsonTokens::take_digits() {
  const std::size_t start = at_;
  at_ = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
  return at_ > start;
}

void JsonTokens::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

JsonToken JsonTokens::next() {
  skip_blanks();
  const Behind behind = std::exchange(behind_, Behind::value);
  if (behind == Behind::name && !take(":")) {
    return fault(JsonFault::colon, at_);
  }
  if (behind == Behind::name || behind == Behind::nothing) {
    return read_value();
  }
  if (open_.empty()) {
    return at_ == text_.size() ? token(JsonKind::text_end, at_) : fault(JsonFault::text_end, at_);
  }
  if (take(in_array() ? "]" : "}")) {
    open_.pop_back();
    return token(JsonKind::close, at_ - 1);
  }
  if (behind == Behind::value && !take(",")) {
    return fault(in_array() ? JsonFault::item_end : JsonFault::member_end, at_);
  }
  if (in_array()) {
    return read_value();
  }
  skip_blanks();
  behind_ = Behind::name;
  return peek() == '"' ? read_string(JsonKind::name) : fault(JsonFault::name, at_);
}

JsonToken JsonTokens::read_value() {
  skip_blanks();
  const std::size_t start = at_;
  const char first = peek();
  switch (first) {
    case '{':
    case '[':
      open_.push_back(at_++);
      behind_ = Behind::bracket;
      return token(first == '{' ? JsonKind::object : JsonKind::array, start);
    case '"':
      return read_string(JsonKind::string);
    case 't':
    case 'f':
    case 'n':
      for (const char c : json_literal(first)) {
        if (peek() != c) {
          return fault(JsonFault::literal, start);
        }
        ++at_;
      }
      return token(JsonKind::literal, start);
    default:
      return first == '-' || (first >= '0' && first <= '9') ? read_number() : fault(JsonFault::value, start);
  }
}

JsonToken JsonTokens::read_number() {
  const std::size_t start = at_;
  take("-");
  if (!take("0") && !take_digits()) {
    return fault(JsonFault::integer, start);
  }
  if (take(".") && !take_digits()) {
    return fault(JsonFault::fraction, start);
  }
  if (!take("eE")) {
    return token(JsonKind::number, start);
  }
  take("+-");
  return take_digits() ? token(JsonKind::number, start) : fault(JsonFault::exponent, start);
}

JsonToken JsonTokens::read_string(JsonKind kind) {
  JsonToken string{JsonKind::fault, at_++, 0, JsonFault::character};
  while (static_cast<unsigned char>(peek()) >= 0x20) {
    const char c = text_[at_];
    if (c != '\\') {
      ++at_;
      string.is_ascii &= static_cast<unsigned char>(c) < 0x80;
      if (c != '"') {
        continue;
      }
      string.kind = kind;
      string.fault = JsonFault::none;
      break;
    }
    const Escape escape = read_escape(text_.substr(at_));
    if (escape.is_half()) {
      string.lone_surrogate = std::min(string.lone_surrogate, at_);
    }
    at_ += escape.size;
    if (escape.fault != JsonFault::none) {
      string.fault = escape.fault;
      break;
    }
  }
  string.end = at_;
  return string;
}

std::string_view json_literal(char first) {
  return first == 't' ? "true" : first == 'f' ? "false" : "null";
}

std::string decode_json_string(std::string_view literal, std::vector<std::pair<std::size_t, std::size_t>>* shifts) {
  literal = literal.substr(1, literal.size() - 2);
  std::string text;
  for (std::size_t at = 0;;) {
    const std::size_t plain = literal.substr(at).find('\\');
    text += literal.substr(at, plain);
    if (plain == std::string_view::npos) {
      return text;
    }
    const Escape escape = read_escape(literal.substr(at + plain));
    append_utf8(text, escape.is_half() ? 0xFFFD : escape.character);
    at += plain + escape.size;
    if (shifts != nullptr) {
      shifts->emplace_back(text.size(), at - text.size());
    }
  }
}

}  // namespace modlock
