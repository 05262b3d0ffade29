#include "protocol/base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "protocol/base/utf8.h"

namespace modlock {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Every reading function returns false once `error_` is set.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  Result<JsonScan> run() {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      stop("a byte order mark, which JSON texts must not have");
      return fail(error_);
    }
    skip_space();
    if (!value()) {
      return fail(error_);
    }
    skip_space();
    if (at_ < text_.size()) {
      unexpected("the end of the text");
      return fail(error_);
    }
    if (id_count_ != 1) {
      scan_.id.reset();
    }
    return scan_;
  }

 private:
  bool value() {
    if (at_ >= text_.size()) {
      return unexpected("a value");
    }
    count_value();
    switch (text_[at_]) {
      case '{':
        return nested([this] { return object(); });
      case '[':
        return nested([this] { return array(); });
      case '"':
        return string(nullptr);
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return is_digit(text_[at_]) || text_[at_] == '-' ? number() : unexpected("a value");
    }
  }

  template <typename Read>
  bool nested(Read read) {
    if (depth_ == kMaxJsonDepth) {
      return stop(fmt::format("more than {} levels of nesting", kMaxJsonDepth));
    }
    ++depth_;
    const bool ok = read();
    --depth_;
    return ok;
  }

  bool object() {
    ++at_;
    skip_space();
    if (take('}')) {
      return true;
    }
    std::set<std::string> names;
    do {
      skip_space();
      if (peek() != '"') {
        return unexpected("a member name");
      }
      const std::size_t name_at = at_;
      std::string name;
      if (!string(&name)) {
        return false;
      }
      skip_space();
      if (!take(':')) {
        return unexpected("':'");
      }
      skip_space();
      const std::size_t value_at = at_;
      if (!value()) {
        return false;
      }
      if (depth_ == 1 && name == "id") {
        ++id_count_;
        scan_.id = text_.substr(value_at, at_ - value_at);
      }
      // A rejected text needs no more memory.
      if (!scan_.rejection && !names.insert(name).second) {
        ambiguous(name_at, fmt::format("the member name \"{}\" appears twice in one object", name));
      }
      skip_space();
    } while (take(','));
    return take('}') || unexpected("',' or '}'");
  }

  bool array() {
    ++at_;
    skip_space();
    if (take(']')) {
      return true;
    }
    do {
      skip_space();
      if (!value()) {
        return false;
      }
      skip_space();
    } while (take(','));
    return take(']') || unexpected("',' or ']'");
  }

  // Decodes into `decoded` if it is not null.
  bool string(std::string* decoded) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        if (!escape(decoded)) {
          return false;
        }
        continue;
      }
      if (static_cast<unsigned char>(text_[at_]) < 0x20) {
        return unexpected("a character or '\"'");
      }
      const std::size_t length = utf8_sequence_length(text_.substr(at_));
      if (length == 0) {
        return stop("invalid UTF-8");
      }
      if (decoded != nullptr) {
        decoded->append(text_.substr(at_, length));
      }
      at_ += length;
    }
    return take('"') || unexpected("'\"'");
  }

  bool escape(std::string* decoded) {
    const std::size_t start = at_;
    const JsonEscape found = read_json_escape(text_.substr(at_));
    at_ += found.size;
    if (found.fault == JsonEscape::Fault::letter || found.fault == JsonEscape::Fault::digit) {
      return unexpected(found.fault == JsonEscape::Fault::letter ? "an escape sequence" : "a hexadecimal digit");
    }
    if (found.fault == JsonEscape::Fault::surrogate) {
      ambiguous(start, "a lone surrogate, which is not a character");
    }
    if (decoded != nullptr) {
      append_utf8(*decoded, found.character);
    }
    return true;
  }

  bool number() {
    const JsonNumber found = read_json_number(text_.substr(at_));
    // jsoncpp 1.9.6 reads 1e999 as an infinite number.
    if (!std::isfinite(std::strtod(std::string(text_.substr(at_, found.size)).c_str(), nullptr))) {
      return unexpected("a number within the range of an IEEE 754 double");
    }
    at_ += found.size;
    return found.lacks_digit == JsonNumber::Part::none || unexpected("a digit");
  }

  bool literal(std::string_view word) {
    for (const char c : word) {
      if (!take(c)) {
        return unexpected(fmt::format("'{}'", word));
      }
    }
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }

  // NUL at the end: every caller compares with another character, and a NUL in the text is rejected anyway.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }

  bool unexpected(std::string_view wanted) {
    if (at_ >= text_.size()) {
      return stop(fmt::format("expected {}, found the end of the text", wanted));
    }
    const auto byte = static_cast<unsigned char>(text_[at_]);
    return stop(byte > 0x20 && byte < 0x7F ? fmt::format("expected {}, found '{}'", wanted, text_[at_])
                                           : fmt::format("expected {}, found the byte 0x{:02X}", wanted, byte));
  }

  bool stop(std::string_view what) {
    error_ = {.code = Code::parse_error,
              .message = fmt::format("the text is not JSON: byte {}: {}", at_, what),
              .hint = "send one JSON text in UTF-8 (RFC 8259)"};
    return false;
  }

  void ambiguous(std::size_t at, std::string_view what) {
    if (!scan_.rejection) {
      scan_.rejection = Error{.code = Code::invalid_request,
                              .message = fmt::format("the JSON text is ambiguous: byte {}: {}", at, what),
                              .hint = "send JSON that all parsers read the same way (RFC 7493)"};
    }
  }

  void count_value() {
    if (++value_count_ > kMaxJsonValues && !scan_.rejection) {
      scan_.rejection = Error{.code = Code::limit_exceeded,
                              .message = "the JSON text has more than 1,000,000 values",
                              .hint = "send less in one document"};
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t id_count_ = 0;
  std::size_t value_count_ = 0;
  JsonScan scan_;
  Error error_;
};

}  // namespace

JsonEscape read_json_escape(std::string_view text) {
  using Fault = JsonEscape::Fault;
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  std::size_t at = 2;
  const auto read_unit = [&](char32_t& unit) {
    for (const std::size_t end = at + 4; at < end; ++at) {
      const std::size_t digit = at < text.size() ? kDigits.find(text[at]) : std::string_view::npos;
      if (digit == std::string_view::npos) {
        return false;
      }
      unit = unit * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
    }
    return true;
  };
  if (text.size() < 2 || text[1] != 'u') {
    const std::size_t index = text.size() < 2 ? std::string_view::npos : kNames.find(text[1]);
    return index == std::string_view::npos ? JsonEscape{Fault::letter, 1}
                                           : JsonEscape{Fault::none, 2, static_cast<char32_t>(kValues[index])};
  }
  char32_t first = 0;
  char32_t second = 0;
  if (!read_unit(first)) {
    return {Fault::digit, at};
  }
  const std::size_t size = at;
  if (first < 0xD800 || first > 0xDFFF) {
    return {Fault::none, size, first};
  }
  if (first < 0xDC00 && text.substr(at, 2) == "\\u") {
    at += 2;
    if (!read_unit(second)) {
      return {Fault::digit, at};
    }
  }
  return second < 0xDC00 || second > 0xDFFF
             ? JsonEscape{Fault::surrogate, size, 0xFFFD}
             : JsonEscape{Fault::none, at, 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00)};
}

JsonNumber read_json_number(std::string_view text) {
  using Part = JsonNumber::Part;
  std::size_t at = 0;
  const auto take = [&](std::string_view any) {
    const bool is_one = at < text.size() && any.find(text[at]) != std::string_view::npos;
    at += is_one ? 1 : 0;
    return is_one;
  };
  const auto take_digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) {
      ++at;
    }
    return at > from;
  };
  take("-");
  if (!take("0") && !take_digits()) {
    return {Part::integer, at};
  }
  if (take(".") && !take_digits()) {
    return {Part::fraction, at};
  }
  if (take("eE")) {
    take("+-");
    return {take_digits() ? Part::none : Part::exponent, at};
  }
  return {Part::none, at};
}

Result<JsonScan> scan_json(std::string_view text) {
  return JsonScanner(text).run();
}

}  // namespace modlock
