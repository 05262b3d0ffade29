#include <vector>

#include "plugin/functions/function_tables.h"
#include "plugin/hcl/characters.h"

namespace modlock::eval {
namespace {

FunctionResult chomp(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  while (text.ends_with('\n') || text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return Value::string(std::string(text));
}

FunctionResult trimspace(const Call& call) {
  return Value::string(std::string(hcl::trim_left(hcl::trim_right(call.arguments[0].as_string()))));
}

std::size_t first_character_size(std::string_view text) {
  return hcl::decode_utf8(text, 0).value_or(hcl::CodePoint{}).size;
}

std::size_t last_character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[text.size() - size]) & 0xC0U) == 0x80U) {
    ++size;
  }
  return size;
}

FunctionResult trim(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  const std::string& cutset = call.arguments[1].as_string();
  // One character's bytes are never part of another's in UTF-8, so that the set can be searched as a text.
  const auto is_cut = [&](std::string_view character) { return cutset.find(character) != std::string::npos; };
  while (!text.empty() && is_cut(text.substr(0, first_character_size(text)))) {
    text.remove_prefix(first_character_size(text));
  }
  while (!text.empty() && is_cut(text.substr(text.size() - last_character_size(text)))) {
    text.remove_suffix(last_character_size(text));
  }
  return Value::string(std::string(text));
}

FunctionResult trimprefix(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  const std::string& prefix = call.arguments[1].as_string();
  text.remove_prefix(text.starts_with(prefix) ? prefix.size() : 0);
  return Value::string(std::string(text));
}

FunctionResult trimsuffix(const Call& call) {
  std::string_view text = call.arguments[0].as_string();
  const std::string& suffix = call.arguments[1].as_string();
  text.remove_suffix(text.ends_with(suffix) ? suffix.size() : 0);
  return Value::string(std::string(text));
}

}  // namespace

std::span<const Function> trim_functions() {
  static const std::vector<Function> functions = {
      {.name = "chomp", .parameters = {string_parameter("str")}, .call = chomp},
      {.name = "trim", .parameters = {string_parameter("str"), string_parameter("cutset")}, .call = trim},
      {.name = "trimprefix", .parameters = {string_parameter("str"), string_parameter("prefix")}, .call = trimprefix},
      {.name = "trimspace", .parameters = {string_parameter("str")}, .call = trimspace},
      {.name = "trimsuffix", .parameters = {string_parameter("str"), string_parameter("suffix")}, .call = trimsuffix},
  };
  return functions;
}

}  // namespace modlock::eval
