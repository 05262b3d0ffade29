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

// How a text is written, and so which characters have to be escaped in it.
enum class Quoting {
  quoted,       // "…" of native syntax
  heredoc,      // <<EOT in native syntax
  json,         // "…" of JSON, read as a template
  json_literal  // "…" of JSON, read as is
};

// Returns the position in its file of each byte of a literal text: one offset per byte, and that of the end. `range` is
// the text as written. Bytes that one escape produces share its position. Empty if the two do not match, as after strip
// markers, which remove spaces.
std::vector<std::size_t> places_of(std::string_view text, const Range& range, Quoting quoting, std::string_view file);

// Returns how text is written inside such a literal.
std::string spell(std::string_view text, Quoting quoting);

// A module of the tree whose text is edited, and its caller.
struct EditedModule {
  const ParsedModule* parsed = nullptr;
  std::string directory;                   // relative to the root; the paths of its files are relative to it
  std::string refusal = {};                // why its files cannot be edited; empty: they can
  const EditedModule* caller = nullptr;    // null: it is the root
  const ModuleCallSyntax* call = nullptr;  // of the caller
  const VariableValues* values = nullptr;  // of the root
};

// A piece of a text value, in the order of the value.
struct TextPiece {
  std::string text = {};  // empty if it is not known without evaluation
  // Where the piece is. No positions: it cannot be edited, for the reason `refusal`.
  std::string path = {};  // relative to the root
  Quoting quoting = Quoting::quoted;
  std::vector<std::size_t> places = {};
  std::string refusal = {};
};

// Follows an argument of `module` to the literals that its text comes from: through templates, parentheses, local
// values, variables with their defaults, and the arguments of calls that set them. A part that is computed or set from
// outside becomes one piece that cannot be edited.
std::vector<TextPiece> trace_text(const Argument& argument, const EditedModule& module);

// A replacement in a file.
struct FileSplice {
  std::string path;  // relative to the root
  std::size_t start = 0;
  std::size_t end = 0;
  std::string text;
  bool operator==(const FileSplice&) const = default;
};

// Returns the edit that makes bytes [start, end) of `value` become `text`. `value` is the text that the pieces form
// together. Errors: CONFIG_NON_STATIC with the origin of the text that cannot be edited, or if it comes from several
// places.
Result<FileSplice> splice_value(const std::vector<TextPiece>& pieces, std::string_view value, std::size_t start,
                                std::size_t end, std::string_view text);

}  // namespace modlock
