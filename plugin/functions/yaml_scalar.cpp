#include "plugin/functions/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "plugin/functions/base64_text.h"
#include "plugin/functions/go_quote.h"
#include "plugin/functions/yaml_time.h"

namespace modlock::eval {
namespace {

constexpr std::string_view kPrefix = "tag:yaml.org,2002:";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_true(std::string_view text) {
  return is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
}

bool is_false(std::string_view text) {
  return is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"});
}

bool is_null(std::string_view text) {
  return is_one_of(text, {"", "~", "null", "Null", "NULL"});
}

bool is_infinite(std::string_view text) {
  text.remove_prefix(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
  return is_one_of(text, {".inf", ".Inf", ".INF"});
}

// Whole numbers of the forms "0x1f" and "0o17".
std::optional<Value> based_number(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : text.starts_with("0o") ? 8 : 0;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  if (base == 0 || text.size() < 3 || text[2] == '-') {
    return std::nullopt;
  }
  const auto read = std::from_chars(text.data() + 2, end, number, base);
  if (read.ec != std::errc() || read.ptr != end) {
    return std::nullopt;
  }
  return Value::number(number);
}

std::optional<Value> number(std::string_view text) {
  // An exponent of two is a number for tonumber() but not here.
  if (text.find_first_of("pP") != std::string_view::npos) {
    return std::nullopt;
  }
  if (const auto parsed = Number::parse(text)) {
    return Value::number(*parsed);
  }
  return based_number(text);
}

// A plain scalar without a tag, or with one that leaves the form to decide.
tl::expected<Value, std::string> implicit_value(std::string_view text, bool may_be_time) {
  if (is_null(text)) {
    return Value();
  }
  if (is_true(text) || is_false(text)) {
    return Value::boolean(is_true(text));
  }
  if (is_infinite(text)) {
    return tl::unexpected(std::string("infinite numbers are not supported"));
  }
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) {
    return tl::unexpected(std::string("floating point NaN is not supported"));
  }
  if (std::string_view("+-.0123456789").find(text.front()) != std::string_view::npos) {
    if (const auto time = may_be_time ? yaml_time(text) : std::nullopt) {
      return Value::string(*time);
    }
    if (const auto value = number(text)) {
      return *value;
    }
  }
  return Value::string(std::string(text));
}

tl::unexpected<std::string> not_of_tag(std::string_view text, std::string_view tag) {
  return tl::unexpected(fmt::format("cannot parse {} as {}", go_quoted(text), tag));
}

}  // namespace

tl::expected<Value, std::string> yaml_scalar(std::string_view tag, std::string_view text, bool is_quoted) {
  if (tag.empty()) {
    return is_quoted ? Value::string(std::string(text)) : implicit_value(text, true);
  }
  const std::string_view kind = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : std::string_view();
  if (kind == "str") {
    return Value::string(std::string(text));
  }
  if (kind == "binary") {
    return decode_base64(text)
               ? tl::expected<Value, std::string>(Value::string(std::string(text)))
               : tl::unexpected(fmt::format("cannot parse {} as {}: not valid base64", go_quoted(text), tag));
  }
  if (!is_one_of(kind, {"bool", "int", "float", "null", "timestamp"})) {
    return tl::unexpected(fmt::format("unsupported tag {}", go_quoted(tag)));
  }
  auto value = implicit_value(text, kind == "timestamp");
  if (!value) {
    return value;
  }
  if (kind == "null") {
    return Value();
  }
  const Type::Kind wanted = kind == "bool"        ? Type::Kind::boolean
                            : kind == "timestamp" ? Type::Kind::string
                                                  : Type::Kind::number;
  const bool is_time = kind != "timestamp" || yaml_time(text).has_value();
  return value->is(wanted) && is_time ? value : not_of_tag(text, tag);
}

}  // namespace modlock::eval
