#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/json_text.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/convert.h"
#include "plugin/value/number.h"
#include "plugin/value/value.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;

// One "%5.2f" of a format text.
struct FormatVerb {
  std::string_view raw = {};
  std::size_t offset = 0;
  std::size_t argument = 0;  // 1-based
  char mode = 0;
  std::string_view flags = {};  // any of "0#-+ "
  std::int64_t width = -1;      // -1: not given
  std::int64_t precision = -1;  // -1: not given

  bool has(char flag) const { return flags.find(flag) != std::string_view::npos; }
};

// Why a text cannot be formatted; `argument` counts the arguments after the format from 1.
using FormatResult = tl::expected<void, FunctionError>;

// Go's verbs %e and %g without sign. `exponent` is 'e' or 'E'; precision -1 of %g means all digits.
std::string scientific_text(Decimal decimal, std::int64_t precision, char exponent) {
  decimal.round(precision + 1);
  std::string text = decimal.digits_between(0, 1);
  if (precision > 0) {
    text += '.' + decimal.digits_between(1, precision + 1);
  }
  const std::int64_t power = decimal.digits.empty() ? 0 : decimal.point - 1;
  return text + fmt::format("{}{}{:02}", exponent, power < 0 ? '-' : '+', power < 0 ? -power : power);
}

std::string general_text(Decimal decimal, std::int64_t precision, char exponent) {
  const bool is_shortest = precision < 0;
  if (!is_shortest) {
    decimal.round(precision == 0 ? 1 : precision);
  }
  const auto size = static_cast<std::int64_t>(decimal.digits.size());
  const std::int64_t limit =
      is_shortest ? 6 : (precision > size && size >= decimal.point ? size : (precision == 0 ? 1 : precision));
  const std::int64_t power = decimal.point - 1;
  return power < -4 || power >= limit ? scientific_text(decimal, std::max<std::int64_t>(size - 1, 0), exponent)
                                      : decimal.fixed_text();
}

tl::unexpected<FunctionError> unsupported(const FormatVerb& verb, std::string_view why) {
  return refuse(fmt::format("unsupported value for {} at {}: {}", go_quoted(verb.raw), verb.offset, why));
}

// Pads to the width in grapheme clusters. Zeros are also added after the text, as in cty.
void append_padded(const FormatVerb& verb, std::string_view text, TextBuilder& out) {
  const std::int64_t size = verb.width > 0 ? count_clusters(text) : 0;
  const auto missing = static_cast<std::size_t>(std::max<std::int64_t>(verb.width - size, 0));
  const char padding = verb.has('0') ? '0' : ' ';
  if (!verb.has('-')) {
    out.append(missing, padding);
  }
  out.append(text);
  if (verb.has('-')) {
    out.append(missing, padding);
  }
}

FormatResult append_json_padded(const FormatVerb& verb, const Value& value, TextBuilder& out) {
  TextBuilder json;
  append_json(json, value);
  if (json.is_full()) {
    return too_long_text();
  }
  append_padded(verb, json.text(), out);
  return {};
}

FormatResult append_as_is(const FormatVerb& verb, const Value& argument, TextBuilder& out) {
  if (!verb.has('#') && !argument.is_null()) {
    if (argument.is(Kind::string)) {
      append_padded(verb, argument.as_string(), out);
      return {};
    }
    if (argument.is(Kind::number)) {
      const Decimal decimal = argument.as_number().shortest();
      append_padded(verb, (decimal.is_negative ? "-" : "") + general_text(decimal, -1, 'e'), out);
      return {};
    }
  }
  return append_json_padded(verb, argument, out);
}

FormatResult append_string(const FormatVerb& verb, const Value& argument, TextBuilder& out) {
  const auto converted = convert(argument, Type::string());
  if (!converted) {
    return unsupported(verb, converted.error());
  }
  std::string_view text = converted->as_string();
  // A precision of zero does not truncate, as in cty.
  if (verb.precision > 0) {
    text = text.substr(0, skip_clusters(text, verb.precision));
  }
  if (verb.mode == 'q') {
    return append_json_padded(verb, Value::string(std::string(text)), out);
  }
  append_padded(verb, text, out);
  return {};
}

std::string_view sign_of(const FormatVerb& verb, const Decimal& decimal) {
  return decimal.is_negative ? "-" : verb.has('+') ? "+" : verb.has(' ') ? " " : "";
}

// [blanks][sign and prefix][zeros][digits][blanks]
void append_number(const FormatVerb& verb, std::string_view front, std::size_t zeros, std::string_view digits,
                   bool pads_with_zeros, TextBuilder& out) {
  const std::size_t size = front.size() + zeros + digits.size();
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(verb.width, 0));
  const std::size_t missing = width > size ? width - size : 0;
  const bool zero_padded = pads_with_zeros && verb.has('0') && !verb.has('-');
  out.append(verb.has('-') || zero_padded ? 0 : missing, ' ');
  out.append(front);
  out.append(zeros + (zero_padded ? missing : 0), '0');
  out.append(digits);
  out.append(verb.has('-') ? missing : 0, ' ');
}

FormatResult append_integer(const FormatVerb& verb, const Number& number, TextBuilder& out) {
  if (!number.is_integer()) {
    return unsupported(verb, "an integer is required");
  }
  const Decimal decimal = number.exact();
  const unsigned base = verb.mode == 'b' ? 2 : verb.mode == 'o' ? 8 : verb.mode == 'd' ? 10 : 16;
  std::string digits = number.whole_text(base);
  if (verb.mode == 'X') {
    std::ranges::transform(digits, digits.begin(), ascii::to_upper);
  }
  if (verb.precision == 0 && decimal.digits.empty()) {
    return {};
  }
  std::string front(sign_of(verb, decimal));
  if (verb.has('#') && base != 10) {
    front += verb.mode == 'o' ? "0" : std::string{'0', verb.mode};
  }
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(verb.precision, 0));
  const std::size_t zeros = wanted > digits.size() ? wanted - digits.size() : 0;
  append_number(verb, front, zeros, digits, verb.precision < 0, out);
  return {};
}

FormatResult append_float(const FormatVerb& verb, const Number& number, TextBuilder& out) {
  Decimal decimal = (verb.mode == 'g' || verb.mode == 'G') && verb.precision < 0 ? number.shortest() : number.exact();
  const std::string sign(sign_of(verb, decimal));
  const std::int64_t precision = verb.precision < 0 ? 6 : verb.precision;
  std::string digits;
  switch (verb.mode) {
    case 'f':
      digits = decimal.fixed_text(precision);
      break;
    case 'e':
    case 'E':
      digits = scientific_text(std::move(decimal), precision, verb.mode);
      break;
    default:
      digits = general_text(std::move(decimal), verb.precision, verb.mode == 'g' ? 'e' : 'E');
      break;
  }
  append_number(verb, sign, 0, digits, true, out);
  return {};
}

// Appends one argument as its verb specifies.
FormatResult format_argument(const FormatVerb& verb, const Value& argument, TextBuilder& out) {
  if (verb.width > std::int64_t{kMaxTextBytes} || verb.precision > std::int64_t{kMaxTextBytes}) {
    return too_long_text();
  }
  if (verb.mode != 'v' && argument.is_null()) {
    return unsupported(verb, "null value cannot be formatted");
  }
  constexpr std::string_view kIntegers = "bdoxX";
  constexpr std::string_view kFloats = "eEfgG";
  if (verb.mode == 'v') {
    return append_as_is(verb, argument, out);
  }
  if (verb.mode == 's' || verb.mode == 'q') {
    return append_string(verb, argument, out);
  }
  const bool is_bool = verb.mode == 't';
  const bool is_integer = kIntegers.find(verb.mode) != std::string_view::npos;
  if (!is_bool && !is_integer && kFloats.find(verb.mode) == std::string_view::npos) {
    return refuse(
        fmt::format("unsupported format verb '{}' in {} at offset {}", verb.mode, go_quoted(verb.raw), verb.offset));
  }
  const auto value = convert(argument, is_bool ? Type::boolean() : Type::number());
  if (!value) {
    return unsupported(verb, value.error());
  }
  if (is_bool) {
    out.append(value->as_bool() ? "true" : "false");
    return {};
  }
  return is_integer ? append_integer(verb, value->as_number(), out) : append_float(verb, value->as_number(), out);
}

class VerbReader {
 public:
  VerbReader(std::string_view format, std::size_t at) : format_(format), at_(at) {}

  // Reads the verb that starts at the "%". It takes the argument `next` unless it specifies another.
  tl::expected<FormatVerb, FunctionError> read(std::size_t next) {
    FormatVerb verb{.offset = at_, .argument = next};
    const std::size_t end = std::min(format_.find_first_not_of("0#-+ ", at_ + 1), format_.size());
    verb.flags = format_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    if (at_ < format_.size() && format_[at_] >= '1' && format_[at_] <= '9') {
      verb.width = read_number();
    }
    if (accept('.')) {
      verb.precision = read_number();
    }
    if (accept('[')) {
      if (at_ >= format_.size() || format_[at_] < '1' || format_[at_] > '9') {
        return unexpected();
      }
      verb.argument = static_cast<std::size_t>(read_number());
      if (!accept(']')) {
        return unexpected();
      }
    }
    if (at_ >= format_.size() || !ascii::is_alpha(format_[at_])) {
      return unexpected();
    }
    verb.mode = format_[at_++];
    verb.raw = format_.substr(verb.offset, at_ - verb.offset);
    return verb;
  }

  std::size_t at() const { return at_; }

 private:
  bool accept(char wanted) {
    const bool is_there = at_ < format_.size() && format_[at_] == wanted;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  // Stops growing at a number that is too large in any case.
  std::int64_t read_number() {
    std::int64_t number = 0;
    for (; at_ < format_.size() && ascii::is_digit(format_[at_]); ++at_) {
      number = std::min<std::int64_t>(number * 10 + (format_[at_] - '0'), std::int64_t{kMaxTextBytes} + 1);
    }
    return number;
  }

  tl::unexpected<FunctionError> unexpected() const {
    if (at_ >= format_.size()) {
      return refuse(fmt::format("invalid format string starting at offset {}", at_));
    }
    const std::size_t size = hcl::decode_utf8(format_, at_).value_or(hcl::CodePoint{}).size;
    return refuse(fmt::format("unrecognized format character '{}' at offset {}", format_.substr(at_, size), at_));
  }

  std::string_view format_;
  std::size_t at_;
};

// Appends `format` with its verbs replaced by `arguments`, by the rules of cty's format().
FormatResult format_text(std::string_view format, std::span<const Value> arguments, TextBuilder& out) {
  std::size_t next = 1;
  std::size_t highest = 0;
  for (std::size_t at = 0; at < format.size() && !out.is_full();) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    out.append(format.substr(at, percent - at));
    at = percent;
    if (format.substr(at).starts_with("%%")) {
      out.append("%");
      at += 2;
    } else if (at < format.size()) {
      VerbReader reader(format, at);
      MODLOCK_TRY(const auto verb, reader.read(next));
      if (verb.argument > arguments.size()) {
        return refuse(fmt::format("not enough arguments for {} at {}: need index {} but have {} total",
                                  go_quoted(verb.raw), verb.offset, verb.argument, arguments.size()));
      }
      MODLOCK_TRY(format_argument(verb, arguments[verb.argument - 1], out));
      highest = std::max(highest, verb.argument);
      next = verb.argument + 1;
      at = reader.at();
    }
  }
  if (highest < arguments.size() && !out.is_full()) {
    return refuse_argument(highest + 1,
                           highest == 0 ? "too many arguments; no verbs in format string"
                                        : fmt::format("too many arguments; only {} used by format string", highest));
  }
  return {};
}

constexpr std::string_view kHidden = "the format or its arguments are wrong";

FunctionResult format(const Call& call) {
  TextBuilder text;
  if (auto done = format_text(call.arguments[0].as_string(), call.arguments.subspan(1), text); !done) {
    return shown_error(call, std::move(done.error()), kHidden);
  }
  return std::move(text).finish();
}

bool is_iterated(const Value& argument) {
  return is_sequence(argument.type()) && !argument.is_null();
}

// The number of results: the number of elements of the sequences among the arguments.
tl::expected<std::size_t, FunctionError> iterations(std::span<const Value> arguments) {
  std::size_t first = arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_iterated(arguments[i])) {
      continue;
    }
    if (first == arguments.size()) {
      first = i;
    }
    if (arguments[i].size() != arguments[first].size()) {
      return refuse_argument(
          i + 1, fmt::format("argument {} has length {}, which is inconsistent with argument {} of length {}", i + 1,
                             arguments[i].size(), first + 1, arguments[first].size()));
    }
  }
  return first == arguments.size() ? 1 : arguments[first].size();
}

FunctionResult formatlist(const Call& call) {
  const std::span<const Value> arguments = call.arguments.subspan(1);
  MODLOCK_TRY(const auto count, iterations(arguments));
  Value::Items texts;
  std::size_t bytes = 0;
  std::vector<Value> chosen(arguments.size());
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      chosen[i] = is_iterated(arguments[i]) ? arguments[i].items()[n] : arguments[i];
    }
    TextBuilder text;
    if (auto done = format_text(call.arguments[0].as_string(), chosen, text); !done) {
      if (!arguments.empty() && done.error().code == Code::config_parse) {
        done.error() = {.message = fmt::format("error on format iteration {}: {}", n, done.error().message)};
      }
      return shown_error(call, std::move(done.error()), kHidden);
    }
    bytes += text.text().size();
    if (text.is_full() || bytes > kMaxTextBytes) {
      return too_long_text();
    }
    texts.push_back(Value::string(text.text()));
  }
  return Value::list(Type::string(), std::move(texts));
}

}  // namespace

std::vector<Function> format_functions() {
  return {
      {"format", {string_parameter("format")}, format, nullable_parameter("args")},
      {"formatlist", {string_parameter("format")}, formatlist, nullable_parameter("args")},
  };
}

}  // namespace modlock::eval
