#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/functions/functions.h"
#include "plugin/value/value.h"

namespace modlock {

// For MODLOCK_TRY in a function of the language.
inline tl::unexpected<eval::FunctionError> fail(eval::FunctionError error) {
  return tl::unexpected(std::move(error));
}

}  // namespace modlock

// Helpers that several families of functions use, and the tables of the families. Only for the files of this directory.
namespace modlock::eval {

// A string literal as in OpenTofu's messages (%q of Go's fmt): "a\nb", with control characters and unprintable
// characters escaped.
std::string go_quoted(std::string_view text);

std::vector<Function> string_functions();
std::vector<Function> format_functions();
std::vector<Function> regex_functions();
std::vector<Function> lookup_functions();
std::vector<Function> sequence_functions();
std::vector<Function> set_functions();
std::vector<Function> numeric_functions();
std::vector<Function> conversion_functions();
std::vector<Function> encoding_functions();
std::vector<Function> hash_functions();
std::vector<Function> file_functions();

inline Parameter any_parameter(std::string_view name) {
  return {.name = name};
}
inline Parameter nullable_parameter(std::string_view name) {
  return {.name = name, .allow_null = true};
}
inline Parameter string_parameter(std::string_view name) {
  return {.name = name, .type = Type::string()};
}
inline Parameter number_parameter(std::string_view name) {
  return {.name = name, .type = Type::number()};
}
inline Parameter list_parameter(std::string_view name, Type element = Type::dynamic()) {
  return {.name = name, .type = Type::list(std::move(element))};
}

// yamldecode(): one document of objects, tuples and scalars, plain scalars by the rules of go-cty-yaml (YAML 1.1's
// "yes", "on", "~", timestamps), with anchors, aliases and "<<". Rejected: tags of types that YAML does not define,
// keys that are not scalars, an alias inside its own anchor, infinite numbers. Syntax errors have the wording of
// yaml-cpp.
FunctionResult decode_yaml(std::string_view text);

// The call fails as a whole, or because of one argument.
tl::unexpected<FunctionError> refuse(std::string message);
tl::unexpected<FunctionError> refuse_argument(std::size_t argument, std::string message);
// The call fails with LIMIT_EXCEEDED: for this reason, or because the result would be larger than kMaxElements or
// kMaxTextBytes.
tl::unexpected<FunctionError> exceeds_limit(std::string message);
tl::unexpected<FunctionError> too_many_elements();
tl::unexpected<FunctionError> too_long_text();

// The text as Go's %q writes it, or "(sensitive value)" if the call must not show its arguments.
std::string shown(const Call& call, std::string_view argument);

// The error, or one with the message `instead` if the call must not show its arguments.
tl::unexpected<FunctionError> shown_error(const Call& call, FunctionError error, std::string_view instead);

// A number as an index or a count. The error has cty's wording for a number that is not whole, after `prefix`.
tl::expected<std::int64_t, FunctionError> whole_number(const Value& number, std::string_view prefix = {});

// `==` of the language: nulls of all types are equal.
bool equal_values(const Value& left, const Value& right);

bool is_sequence(const Type& type);  // a list, set or tuple

// Returns the size in bytes of the character at `at`, 1 at the end.
std::size_t character_size(std::string_view text, std::size_t at);
std::int64_t count_clusters(std::string_view text);  // grapheme clusters
// Returns the offset after `count` grapheme clusters, at most the end of the text.
std::size_t skip_clusters(std::string_view text, std::int64_t count);

// Builds a text. It stops growing at kMaxTextBytes.
class TextBuilder {
 public:
  void append(std::string_view text);
  void append(std::size_t count, char character);
  bool is_full() const { return is_full_; }
  // The text as a value, or LIMIT_EXCEEDED.
  FunctionResult finish() &&;
  const std::string& text() const { return text_; }

 private:
  bool has_room(std::size_t size);

  std::string text_;
  bool is_full_ = false;
};

// Returns the bytes of the file that the first argument names; a leading "~" is the home directory. The error is that
// of FileAccess, in OpenTofu's wording if the file does not exist.
tl::expected<std::string, FunctionError> read_file(const Call& call);

}  // namespace modlock::eval
