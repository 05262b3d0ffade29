#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "plugin/hcl/parser.h"

// The members of a JSON body that are blocks. JSON syntax itself does not mark them.
namespace modlock::hcl {

struct BodySchema;

struct BlockSchema {
  std::string_view type;
  std::size_t labels = 0;
  const BodySchema* body = nullptr;  // null: every member of its body is an attribute
};

// Every member that is not a block of `blocks` is an attribute.
struct BodySchema {
  std::span<const BlockSchema> blocks = {};
  // Whether arguments may be blocks that the schema does not list. Such a block may be repeated if it contains others.
  bool open = false;
};

// Reads HCL's JSON syntax into the tree of native syntax. `schema` lists the members of the root body that are blocks;
// a member "//" of a body is a comment. Objects become Object (bare_key unset, keys are JsonString), arrays Tuple,
// strings JsonString, numbers NumberLiteral with the text as written, including a minus. Order and duplicates are kept:
// a block type twice results in two blocks, an attribute twice is an error as in native syntax.
//
// Ranges: names of attributes, types and labels include their quotes. A block and its body have the range of the value
// with the content. The header range is the opening bracket of that value, which all blocks of an array share, as in
// the reference. So the type and the labels are before the range of their block.
//
// Strict JSON (RFC 8259): no comments, no trailing commas, no byte order mark, one root value, which is an object or an
// array of objects. Stricter than the reference: invalid UTF-8, NUL bytes and lone surrogates are errors. Nesting
// deeper than kMaxDepth is LIMIT_EXCEEDED. Positions count columns in grapheme clusters, as for native syntax. Time and
// memory are linear (see Allowance). A syntax error ends the reading of the file. A value of a kind that the schema
// does not allow ("module": 5) is reported, and reading continues.
ParsedFile parse_json(std::string_view text, const std::string& path, const BodySchema& schema,
                      ParseOptions options = {});

}  // namespace modlock::hcl
