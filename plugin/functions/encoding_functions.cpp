#include <fmt/format.h>

#include <vector>

#include "plugin/functions/base64_text.h"
#include "plugin/functions/function_tables.h"

namespace modlock::eval {
namespace {

FunctionResult base64encode(const Call& call) {
  return Value::string(encode_base64(call.arguments[0].as_string()));
}

FunctionResult base64decode(const Call& call) {
  const std::string& text = call.arguments[0].as_string();
  auto bytes = decode_base64(text);
  if (!bytes) {
    return refuse(fmt::format("failed to decode base64 data {}", shown(call, text)));
  }
  if (!is_utf8(*bytes)) {
    return refuse("the result of decoding the provided string is not valid UTF-8");
  }
  return Value::string(*std::move(bytes));
}

bool is_unreserved(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || std::string_view("-_.~").find(character) != std::string_view::npos;
}

FunctionResult urlencode(const Call& call) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  TextBuilder encoded;
  for (const char character : call.arguments[0].as_string()) {
    if (encoded.is_full()) {
      break;
    }
    const auto byte = static_cast<unsigned char>(character);
    if (is_unreserved(character) || character == ' ') {
      encoded.append(1, character == ' ' ? '+' : character);
    } else {
      const char escaped[] = {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
      encoded.append({escaped, sizeof escaped});
    }
  }
  return std::move(encoded).finish();
}

// The value of a hexadecimal digit, 16 where it is none.
unsigned hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') {
    return static_cast<unsigned>(digit - '0');
  }
  const char lower = static_cast<char>(digit | 0x20);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10 : 16;
}

FunctionResult urldecode(const Call& call) {
  const std::string_view text = call.arguments[0].as_string();
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at] == '+' ? ' ' : text[at];
      continue;
    }
    const unsigned high = at + 2 < text.size() ? hexadecimal(text[at + 1]) : 16;
    const unsigned low = at + 2 < text.size() ? hexadecimal(text[at + 2]) : 16;
    if (high > 15 || low > 15) {
      // OpenTofu shows what it decoded in the quotes: nothing.
      return refuse(fmt::format("failed to decode URL '': invalid URL escape {}", shown(call, text.substr(at, 3))));
    }
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  if (!is_utf8(decoded)) {
    return refuse("the result of decoding the provided string is not valid UTF-8");
  }
  return Value::string(std::move(decoded));
}

}  // namespace

std::span<const Function> encoding_functions() {
  static const std::vector<Function> functions = {
      {.name = "base64decode", .parameters = {string_parameter("str")}, .call = base64decode},
      {.name = "base64encode", .parameters = {string_parameter("str")}, .call = base64encode},
      {.name = "urldecode", .parameters = {string_parameter("str")}, .call = urldecode},
      {.name = "urlencode", .parameters = {string_parameter("str")}, .call = urlencode},
  };
  return functions;
}

}  // namespace modlock::eval
