#include "protocol/base/json.h"

#include <fmt/format.h>

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
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const std::size_t start = at_++;
    if (peek() == 'u') {
      return unicode_escape(start, decoded);
    }
    const std::size_t index = at_ < text_.size() ? kNames.find(text_[at_]) : std::string_view::npos;
    if (index == std::string_view::npos) {
      return unexpected("an escape sequence");
    }
    ++at_;
    if (decoded != nullptr) {
      decoded->push_back(kValues[index]);
    }
    return true;
  }

  bool unicode_escape(std::size_t start, std::string* decoded) {
    char32_t code_point = 0;
    if (!hex4(code_point)) {
      return false;
    }
    if (code_point >= 0xD800 && code_point <= 0xDFFF) {
      const std::size_t after = at_;
      char32_t low = 0;
      if (code_point < 0xDC00 && take('\\') && peek() == 'u') {
        if (!hex4(low)) {
          return false;
        }
      }
      if (low >= 0xDC00 && low <= 0xDFFF) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10U) + (low - 0xDC00);
      } else {
        at_ = after;
        ambiguous(start, "a lone surrogate, which is not a character");
        code_point = 0xFFFD;
      }
    }
    if (decoded != nullptr) {
      append_utf8(*decoded, code_point);
    }
    return true;
  }

  bool hex4(char32_t& code_point) {
    ++at_;
    code_point = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      static constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
      const std::size_t digit = at_ < text_.size() ? kDigits.find(text_[at_]) : std::string_view::npos;
      if (digit == std::string_view::npos) {
        return unexpected("a hexadecimal digit");
      }
      code_point = code_point * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
    }
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) {
      return false;
    }
    if (take('.') && !digits()) {
      return false;
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      return digits();
    }
    return true;
  }

  bool digits() {
    if (!is_digit(peek())) {
      return unexpected("a digit");
    }
    while (is_digit(peek())) {
      ++at_;
    }
    return true;
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

Result<JsonScan> scan_json(std::string_view text) {
  return JsonScanner(text).run();
}

}  // namespace modlock
