#include "plugin/functions/function_tables.h"

#include <fmt/format.h>

#include <limits>

#include "plugin/hcl/characters.h"

namespace modlock::eval {

std::string go_quoted(std::string_view text) {
  constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\"\\";
  constexpr std::string_view kLetters = "abfnrtv\"\\";
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto point = hcl::decode_utf8(text, at);
    if (!point) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    const auto code = static_cast<std::uint32_t>(point->value);
    if (const std::size_t known = kEscaped.find(text[at]); known != std::string_view::npos) {
      quoted += {'\\', kLetters[known]};
    } else if (hcl::is_printable(point->value)) {
      quoted += text.substr(at, point->size);
    } else {
      quoted += code < 0x80      ? fmt::format("\\x{:02x}", code)
                : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                                 : fmt::format("\\U{:08x}", code);
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

tl::unexpected<FunctionError> exceeds_limit(std::string message) {
  return tl::unexpected<FunctionError>(FunctionError{.message = std::move(message), .code = Code::limit_exceeded});
}

tl::unexpected<FunctionError> too_many_elements() {
  return exceeds_limit(fmt::format("the result would have more than {} elements", kMaxElements));
}

tl::unexpected<FunctionError> too_long_text() {
  return exceeds_limit(fmt::format("the result would be longer than {} bytes", kMaxTextBytes));
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

std::size_t character_size(std::string_view text, std::size_t at) {
  return at < text.size() ? hcl::decode_utf8(text, at).value_or(hcl::CodePoint{}).size : 1;
}

std::int64_t count_clusters(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    at = hcl::grapheme_end(text, at);
  }
  return count;
}

std::size_t skip_clusters(std::string_view text, std::int64_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    at = hcl::grapheme_end(text, at);
  }
  return at;
}

bool is_sequence(const Type& type) {
  return type.is(Type::Kind::list) || type.is(Type::Kind::set) || type.is(Type::Kind::tuple);
}

bool TextBuilder::has_room(std::size_t size) {
  is_full_ = is_full_ || size > kMaxTextBytes - text_.size();
  return !is_full_;
}

void TextBuilder::append(std::string_view text) {
  text_ += has_room(text.size()) ? text : "";
}

void TextBuilder::append(std::size_t count, char character) {
  text_.append(has_room(count) ? count : 0, character);
}

FunctionResult TextBuilder::finish() && {
  if (is_full_) {
    return too_long_text();
  }
  return Value::string(std::move(text_));
}

}  // namespace modlock::eval
