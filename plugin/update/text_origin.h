#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/parsed_module.h"
#include "plugin/config/variable_values.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock {

// How a piece of text is written, and so what has to be escaped in it.
enum class Quoting {
  quoted,       // "…" of native syntax
  heredoc,      // <<EOT of native syntax
  json,         // "…" of JSON, read as a template
  json_literal  // "…" of JSON, read as it stands
};

// Where each byte of a literal piece of text stands in its file: one offset per byte, and that of the end. `range` is
// the piece as written. Bytes that one escape stands for share its place. Nothing where the two do not line up, as
// behind strip markers, which take blanks away.
std::vector<std::size_t> places_of(std::string_view text, const Range& range, Quoting quoting, std::string_view file);

// How text is written inside of such a piece.
std::string spell(std::string_view text, Quoting quoting);

// A module of the tree as its texts are edited: what it says, and who calls it.
struct EditedModule {
  const ParsedModule* parsed = nullptr;
  std::string directory;                   // relative to the root; its files' paths start there
  std::string refusal = {};                // why its files cannot be edited; empty: they can
  const EditedModule* caller = nullptr;    // null: it is the root
  const ModuleCallSyntax* call = nullptr;  // of the caller
  const VariableValues* values = nullptr;  // of the root
};

// A piece of a text value, in the order of the value.
struct TextPiece {
  std::string text = {};  // empty where it is not known without evaluating
  // Where it stands. No places: it cannot be edited, and `refusal` says why.
  std::string path = {};  // relative to the root
  Quoting quoting = Quoting::quoted;
  std::vector<std::size_t> places = {};
  std::string refusal = {};
};

// Follows an argument of `module` to the literals that its text comes from: through templates, parentheses, local
// values, variables with their defaults, and the arguments of calls that set them. What is computed or set from outside
// is one piece that cannot be edited.
std::vector<TextPiece> trace_text(const Argument& argument, const EditedModule& module);

// One replacement in a file.
struct FileSplice {
  std::string path;  // relative to the root
  std::size_t start = 0;
  std::size_t end = 0;
  std::string text;
  bool operator==(const FileSplice&) const = default;
};

// What has to be written where for bytes [start, end) of `value`, the text that the pieces make together, to become
// `text`. Errors: CONFIG_NON_STATIC saying where the text comes from that cannot be edited, or that it comes from
// several places.
Result<FileSplice> splice_value(const std::vector<TextPiece>& pieces, std::string_view value, std::size_t start,
                                std::size_t end, std::string_view text);

}  // namespace modlock
