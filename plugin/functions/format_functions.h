#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "plugin/functions/functions.h"

namespace modlock::eval {

class TextBuilder;

// One "%5.2f" of a format text.
struct FormatVerb {
  std::string_view raw = {};
  std::size_t offset = 0;
  std::size_t argument = 0;  // 1-based
  char mode = 0;
  bool zero = false;
  bool sharp = false;
  bool plus = false;
  bool minus = false;
  bool space = false;
  std::int64_t width = -1;      // -1: not given
  std::int64_t precision = -1;  // -1: not given
};

// Why a text cannot be formatted; `argument` counts the arguments after the format from 1.
using FormatResult = tl::expected<void, FunctionError>;

// Appends `format` with its verbs replaced by `arguments`, by the rules of cty's format().
FormatResult format_text(std::string_view format, std::span<const Value> arguments, TextBuilder& out);

// Appends one argument as its verb specifies.
FormatResult format_argument(const FormatVerb& verb, const Value& argument, TextBuilder& out);

}  // namespace modlock::eval
