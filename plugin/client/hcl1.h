#pragma once

#include <cstddef>
#include <optional>
#include <span>
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

// An item seen from inside its first keys. HCL 1 takes `a "b" { c = 1 }`, `a { b { c = 1 } }`, `a = { b = { c = 1 } }`
// and their JSON for the same; so do these functions.
struct Entry {
  std::span<const std::string> keys;  // that are left
  const Value* value = nullptr;
  const Item* item = nullptr;
};

std::vector<Entry> entries_of(const std::vector<Item>& items);

enum class Case { exact, folded };  // HCL 1 folds the names of what a client knows, not those that a user makes up

// The entries whose first key is `name`, from inside that key.
std::vector<Entry> select(const std::vector<Entry>& entries, std::string_view name, Case names);

// What lies in them: an entry with keys itself, the items of an object, in JSON also of each object of a list.
// Errors: CONFIG_PARSE "<name>:<line>:<column>: …" for a value that is no object.
Result<std::vector<Entry>> open(const std::vector<Entry>& entries, const File& file, std::string_view name);

// The argument of that name as a string, number text included; the last where there are several. nullopt: not set.
// Errors: CONFIG_PARSE for another type.
Result<std::optional<std::string>> string_argument(const std::vector<Entry>& entries, std::string_view argument,
                                                   std::string_view name);

// Likewise a list of strings and numbers, a boolean, an integer (also one written in quotes).
Result<std::optional<std::vector<std::string>>> list_argument(const std::vector<Entry>& entries,
                                                              std::string_view argument, std::string_view name);
Result<std::optional<bool>> boolean_argument(const std::vector<Entry>& entries, std::string_view argument,
                                             std::string_view name);
Result<std::optional<int>> integer_argument(const std::vector<Entry>& entries, std::string_view argument,
                                            std::string_view name);

// "<name>:<line>:<column>: <what>", CONFIG_PARSE.
tl::unexpected<Error> wrong(std::string_view name, Place at, std::string_view what);

}  // namespace modlock::hcl1
