#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "plugin/hcl/parser.h"

// Which members of a JSON body are blocks: JSON syntax does not say so itself.
namespace modlock::hcl {

struct BodySchema;

struct BlockSchema {
  std::string_view type;
  std::size_t labels = 0;
  const BodySchema* body = nullptr;  // null: every member of its body is an attribute
};

// What is no block of `blocks` is an attribute.
struct BodySchema {
  std::span<const BlockSchema> blocks = {};
  // Whether arguments may be blocks that the schema does not know: one that holds others may be repeated.
  bool open = false;
};

// Reads HCL's JSON syntax onto the tree of native syntax. `schema` says which members of the root body are blocks; a
// member "//" of a body is a comment. Objects become Object (bare_key unset, keys are JsonString), arrays Tuple,
// strings JsonString, numbers NumberLiteral with the text as written, a minus included. Order and duplicates are kept:
// a block type twice gives two blocks, an attribute twice is an error as in native syntax.
//
// Ranges: names of attributes, types and labels include their quotes. A block's range and its body's are those of the
// value that holds its content; the header range is that value's opening bracket, which blocks out of one array share,
// as in the reference. So type and labels lie before the range of their block.
//
// Strict JSON (RFC 8259): no comments, no trailing commas, no byte order mark, one root value, an object or an array of
// objects. Stricter than the reference: invalid UTF-8, NUL bytes and lone surrogates are errors. Nesting deeper than
// kMaxDepth is LIMIT_EXCEEDED. Positions count columns in grapheme clusters, as for native syntax. Time and memory are
// linear: labels that an array repeats so often that they outgrow the text are LIMIT_EXCEEDED as well.
// A syntax error ends the reading of this file; what stands where the schema wants something else ("module": 5) is
// reported and the rest read on.
ParsedFile parse_json(std::string_view text, const std::string& path, const BodySchema& schema,
                      ParseOptions options = {});

}  // namespace modlock::hcl
