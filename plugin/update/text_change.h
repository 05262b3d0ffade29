#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/version.h"
#include "plugin/config/parsed_module.h"
#include "plugin/config/variable.h"
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

// A replacement in a text: bytes [start, end) become `text`.
struct Splice {
  std::size_t start = 0;
  std::size_t end = 0;
  std::string text;

  std::string apply(std::string_view before) const;
  bool operator==(const Splice&) const = default;
};

// Sets an argument in the query of a module source as written ("git::https://…//sub?ref=v1.0.0"). It replaces the first
// argument that has one of the names `replaced`, or else is appended. Characters of `value` other than letters, digits
// and "-._~/:@" are percent-encoded; OpenTofu decodes them.
Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value);

// The rules that decide what a constraint allows.
enum class ConstraintDialect { module, provider };

// Changes the version constraint `text` so that it allows `version`, and keeps its form. Items that allow the version
// stay unchanged, except an exact one, and so does every space. "~> 1.2" becomes "~> 1.5", "1.2.3" becomes "1.5.0", an
// upper bound moves up at the number it bounds ("< 2.0.0" to "< 3.0.0", "< 1.4" to "< 1.6"). Errors: CONSTRAINT_SYNTAX;
// CONSTRAINT_CONFLICT if a lower bound or a "!=" excludes the version, which is intentional, or if only its exact name
// allows a prerelease of a provider.
Result<std::string> let_in(std::string_view text, const Version& version,
                           ConstraintDialect dialect = ConstraintDialect::module);

// Returns whether `constraint` allows `version`. A constraint that cannot be read allows nothing.
bool lets_in(std::string_view constraint, const Version& version, ConstraintDialect dialect);

}  // namespace modlock
