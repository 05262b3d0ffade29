#include <fmt/format.h>

#include <vector>

#include "plugin/functions/format_text.h"
#include "plugin/functions/function_tables.h"
#include "plugin/value/limits.h"

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

// How many texts there will be: as many as the sequences among the arguments have elements.
tl::expected<std::size_t, FunctionError> iterations(std::span<const Value> arguments) {
  std::size_t resolver = arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_iterated(arguments[i])) {
      continue;
    }
    if (resolver == arguments.size()) {
      resolver = i;
    }
    if (arguments[i].size() != arguments[resolver].size()) {
      return refuse_argument(
          i + 1, fmt::format("argument {} has length {}, which is inconsistent with argument {} of length {}", i + 1,
                             arguments[i].size(), resolver + 1, arguments[resolver].size()));
    }
  }
  return resolver == arguments.size() ? 1 : arguments[resolver].size();
}

FunctionResult formatlist(const Call& call) {
  const std::span<const Value> arguments = call.arguments.subspan(1);
  const auto count = iterations(arguments);
  if (!count) {
    return tl::unexpected(count.error());
  }
  Value::Items texts;
  std::size_t bytes = 0;
  std::vector<Value> chosen(arguments.size());
  for (std::size_t n = 0; n < *count; ++n) {
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

std::span<const Function> format_functions() {
  static const std::vector<Function> functions = {
      {.name = "format",
       .parameters = {string_parameter("format")},
       .variadic = nullable_parameter("args"),
       .call = format},
      {.name = "formatlist",
       .parameters = {string_parameter("format")},
       .variadic = nullable_parameter("args"),
       .call = formatlist},
  };
  return functions;
}

}  // namespace modlock::eval
