#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "protocol/base/json.h"
#include "protocol/base/json_tokens.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What each JsonFault misses.
constexpr std::string_view kWanted[] = {
    "", "a value", "a member name", "':'",     "',' or '}'",          "',' or ']'",         "the end of the text",
    "", "a digit", "a digit",       "a digit", "a character or '\"'", "an escape sequence", "a hexadecimal digit",
};

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text), tokens_(text) {}

  Result<JsonScan> run() {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      return stop(0, "a byte order mark, which JSON texts must not have");
    }
    while (true) {
      const JsonToken token = tokens_.next();
      MODLOCK_TRY(check(token));
      if (token.kind == JsonKind::text_end) {
        if (id_count_ != 1) {
          scan_.id.reset();
        }
        return scan_;
      }
      add(token);
    }
  }

 private:
  // An open object, with the member that is read, or an open array.
  struct Level {
    std::set<std::string> names = {};
    std::string name = {};
    std::size_t name_at = 0;
    std::size_t value_at = 0;
  };

  Result<void> check(const JsonToken& token) {
    for (std::size_t at = token.start; !token.is_ascii && at < token.end;) {
      const std::size_t length = utf8_sequence_length(text_.substr(at, token.end - at));
      if (length == 0) {
        return stop(at, "invalid UTF-8");
      }
      at += length;
    }
    // jsoncpp 1.9.6 reads 1e999 as an infinite number.
    if ((token.kind == JsonKind::number || token.kind == JsonKind::fault) &&
        !std::isfinite(std::strtod(std::string(token.of(text_)).c_str(), nullptr))) {
      return unexpected(token.start, "a number within the range of an IEEE 754 double");
    }
    if (token.kind == JsonKind::fault) {
      const bool is_string_end = token.fault == JsonFault::character && token.end == text_.size();
      return unexpected(token.end, token.fault == JsonFault::literal
                                       ? fmt::format("'{}'", json_literal(text_[token.start]))
                                   : is_string_end ? "'\"'"
                                                   : kWanted[static_cast<std::size_t>(token.fault)]);
    }
    if (tokens_.depth() > kMaxJsonDepth) {
      return stop(token.start, fmt::format("more than {} levels of nesting", kMaxJsonDepth));
    }
    return {};
  }

  void add(const JsonToken& token) {
    if (token.lone_surrogate != std::string_view::npos) {
      ambiguous(token.lone_surrogate, "a lone surrogate, which is not a character");
    }
    if (token.kind == JsonKind::name) {
      levels_.back().name = decode_json_string(token.of(text_));
      levels_.back().name_at = token.start;
      return;
    }
    if (token.kind == JsonKind::close) {
      levels_.pop_back();
    } else {
      start_value(token.start);
    }
    if (token.is_nested()) {
      levels_.emplace_back();
    } else if (!levels_.empty() && !tokens_.in_array()) {
      end_member(token.end);
    }
  }

  void start_value(std::size_t at) {
    if (!levels_.empty()) {
      levels_.back().value_at = at;
    }
    if (++value_count_ > kMaxJsonValues && !scan_.rejection) {
      scan_.rejection = Error{.code = Code::limit_exceeded,
                              .message = "the JSON text has more than 1,000,000 values",
                              .hint = "send less in one document"};
    }
  }

  void end_member(std::size_t end) {
    Level& level = levels_.back();
    if (levels_.size() == 1 && level.name == "id") {
      ++id_count_;
      scan_.id = text_.substr(level.value_at, end - level.value_at);
    }
    // A rejected text needs no more memory.
    if (!scan_.rejection && !level.names.insert(level.name).second) {
      ambiguous(level.name_at, fmt::format("the member name \"{}\" appears twice in one object", level.name));
    }
  }

  tl::unexpected<Error> unexpected(std::size_t at, std::string_view wanted) const {
    if (at >= text_.size()) {
      return stop(at, fmt::format("expected {}, found the end of the text", wanted));
    }
    const auto byte = static_cast<unsigned char>(text_[at]);
    return stop(at, byte > 0x20 && byte < 0x7F ? fmt::format("expected {}, found '{}'", wanted, text_[at])
                                               : fmt::format("expected {}, found the byte 0x{:02X}", wanted, byte));
  }

  static tl::unexpected<Error> stop(std::size_t at, std::string_view what) {
    return fail({.code = Code::parse_error,
                 .message = fmt::format("the text is not JSON: byte {}: {}", at, what),
                 .hint = "send one JSON text in UTF-8 (RFC 8259)"});
  }

  void ambiguous(std::size_t at, std::string_view what) {
    if (!scan_.rejection) {
      scan_.rejection = Error{.code = Code::invalid_request,
                              .message = fmt::format("the JSON text is ambiguous: byte {}: {}", at, what),
                              .hint = "send JSON that all parsers read the same way (RFC 7493)"};
    }
  }

  std::string_view text_;
  JsonTokens tokens_;
  std::vector<Level> levels_;  // one for each open bracket
  std::size_t id_count_ = 0;
  std::size_t value_count_ = 0;
  JsonScan scan_;
};

}  // namespace

Result<JsonScan> scan_json(std::string_view text) {
  return JsonScanner(text).run();
}

}  // namespace modlock
