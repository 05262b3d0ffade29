#pragma once

#include <cstddef>
#include <span>
#include <string_view>

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
  // The body is written as one object. Without it an array of objects, whose members are put together, will do, and
  // null for a body that stands in an array; the reference is strict about bodies that it only takes arguments from:
  // those of locals, required_providers and provider_meta, of variables in a test file, and variable value files.
  bool one_object = false;
};

}  // namespace modlock::hcl
