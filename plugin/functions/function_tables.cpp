#include "plugin/functions/function_tables.h"

#include <fmt/format.h>

#include <limits>

#include "plugin/hcl/characters.h"

namespace modlock::eval {
namespace {

// The letter after the backslash, or 0 if there is no short form.
char short_escape(char32_t character) {
  switch (character) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '"':
    case '\\':
      return static_cast<char>(character);
    default:
      return 0;
  }
}

}  // namespace

std::string go_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto point = hcl::decode_utf8(text, at);
    if (!point) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    const char32_t character = point->value;
    if (const char letter = short_escape(character); letter != 0) {
      quoted += '\\';
      quoted += letter;
    } else if (hcl::is_printable(character)) {
      quoted += text.substr(at, point->size);
    } else if (character < 0x80) {
      quoted += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(character));
    } else {
      const auto code = static_cast<std::uint32_t>(character);
      quoted += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
    at += point->size;
  }
  return quoted + '"';
}

tl::unexpected<FunctionError> refuse(std::string message) {
  return tl::unexpected<FunctionError>(FunctionError{.message = std::move(message)});
}

tl::unexpected<FunctionError> refuse_argument(std::size_t argument, std::string message) {
  return tl::unexpected<FunctionError>(FunctionError{.argument = argument, .message = std::move(message)});
}

tl::unexpected<FunctionError> too_many_elements() {
  return tl::unexpected<FunctionError>(
      FunctionError{.message = fmt::format("the result would have more than {} elements", kMaxElements),
                    .code = Code::limit_exceeded});
}

tl::unexpected<FunctionError> too_long_text() {
  return tl::unexpected<FunctionError>(FunctionError{
      .message = fmt::format("the result would be longer than {} bytes", kMaxTextBytes), .code = Code::limit_exceeded});
}

std::string shown(const Call& call, std::string_view argument) {
  return call.may_show_arguments ? go_quoted(argument) : "(sensitive value)";
}

tl::unexpected<FunctionError> shown_error(const Call& call, FunctionError error, std::string_view instead) {
  if (!call.may_show_arguments && error.code != Code::limit_exceeded) {
    error.message = instead;
  }
  return tl::unexpected(std::move(error));
}

tl::expected<std::int64_t, FunctionError> whole_number(const Value& number, std::string_view prefix) {
  if (const auto whole = number.as_number().as_int64()) {
    return *whole;
  }
  using Limits = std::numeric_limits<std::int64_t>;
  return refuse(fmt::format("{}value must be a whole number, between {} and {}", prefix, Limits::min(), Limits::max()));
}

bool equal_values(const Value& left, const Value& right) {
  return (left.is_null() && right.is_null()) || left.equals(right);
}

std::int64_t count_clusters(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    at = hcl::grapheme_end(text, at);
  }
  return count;
}

bool is_sequence(const Type& type) {
  return type.is(Type::Kind::list) || type.is(Type::Kind::set) || type.is(Type::Kind::tuple);
}

void TextBuilder::append(std::string_view text) {
  if (text.size() > kMaxTextBytes - text_.size()) {
    is_full_ = true;
  }
  if (!is_full_) {
    text_ += text;
  }
}

void TextBuilder::append(std::size_t count, char character) {
  if (count > kMaxTextBytes - text_.size()) {
    is_full_ = true;
  }
  if (!is_full_) {
    text_.append(count, character);
  }
}

FunctionResult TextBuilder::finish() && {
  if (is_full_) {
    return too_long_text();
  }
  return Value::string(std::move(text_));
}

}  // namespace modlock::eval
