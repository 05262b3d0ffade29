
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backends/base/ascii.h"
#include "plugin/functions/function_tables.h"
#include "plugin/hcl/characters.h"
#include "plugin/value/value.h"

namespace modlock::eval {
namespace {

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

}  // namespace

std::span<const Function> format_functions() {
  static const std::vector<Function> functions = {
      {"format", {string_parameter("format")}, format, nullable_parameter("args")},
      {"formatlist", {string_parameter("format")}, formatlist, nullable_parameter("args")},
  };
  return functions;
}

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

}  // namespace modlock::eval
