#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

// HCL version 1 and its JSON form, in which clients keep their CLI configuration. Another language than that of the
// modules (plugin/hcl): nothing is evaluated, `${…}` is text.
namespace modlock::hcl1 {

// Where in the text, counted from 1; columns in code points.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct Item;

struct Value {
  enum class Kind { string, number, boolean, list, object };
  Kind kind = Kind::object;
  std::string text;  // of a string, decoded; of a number and a boolean, as written
  std::vector<Value> elements;
  std::vector<Item> items;  // of an object
  Place at;
};

struct Item {
  std::vector<std::string> keys;  // `credentials "example.com" {…}` has two, an argument one
  bool is_assigned = false;       // written with "=" (JSON: never)
  Value value;
  Place at;
};

struct File {
  std::vector<Item> items;
  bool is_json = false;
};

// What becomes of an argument that one object sets twice: OpenTofu 1.12 refuses the file, others take the last. In JSON
// all take the last.
enum class Duplicates { refused, last_counts };

// Reads a whole file: JSON where it starts with "{". In JSON null is an empty string, and lists lose what are neither
// objects, strings nor numbers, as in HCL itself. Errors: CONFIG_PARSE, "<name>:<line>:<column>: …", for what HCL 1
// refuses and for nesting over 100. No text of the file is in a message but the name of an argument.
Result<File> parse(std::string_view text, std::string_view name, Duplicates duplicates = Duplicates::refused);

}  // namespace modlock::hcl1
