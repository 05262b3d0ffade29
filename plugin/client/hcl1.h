#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

// HCL version 1 and its JSON form, the languages of the clients' CLI configuration. They differ from the language of
// the modules (plugin/hcl): nothing is evaluated, `${…}` is text.

namespace modlock::hcl1 {

// A position in the text, counted from 1; columns in code points.
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

// The handling of an argument that one object sets twice: OpenTofu 1.12 rejects the file, others use the last one. In
// JSON all use the last one.
enum class Duplicates { refused, last_counts };

// Reads a whole file, as JSON if it starts with "{". In JSON null is an empty string, and lists lose values other than
// objects, strings and numbers, as in HCL itself. Errors: CONFIG_PARSE, "<name>:<line>:<column>: …", for text that HCL
// 1 rejects and for nesting over 100. Messages contain no text of the file except the name of an argument.
Result<File> parse(std::string_view text, std::string_view name, Duplicates duplicates = Duplicates::refused);

// The content of an item after its first keys. HCL 1 treats `a "b" { c = 1 }`, `a { b { c = 1 } }`,
// `a = { b = { c = 1 } }` and their JSON the same; so do these functions.
struct Entry {
  std::span<const std::string> keys;  // the remaining keys
  const Value* value = nullptr;
  const Item* item = nullptr;
};

std::vector<Entry> entries_of(const std::vector<Item>& items);

enum class Case { exact, folded };  // HCL 1 folds names that a client defines, not names that a user chooses

// Returns the entries whose first key is `name`, without that key.
std::vector<Entry> select(const std::vector<Entry>& entries, std::string_view name, Case names);

// Returns the content of the entries: an entry with keys itself, the items of an object, in JSON also of each object of
// a list. Errors: CONFIG_PARSE "<name>:<line>:<column>: …" for a value that is not an object.
Result<std::vector<Entry>> open(const std::vector<Entry>& entries, const File& file, std::string_view name);

// Returns the argument of that name as a string, including the text of a number; the last one if there are several.
// nullopt: not set. Errors: CONFIG_PARSE for another type.
Result<std::optional<std::string>> string_argument(const std::vector<Entry>& entries, std::string_view argument,
                                                   std::string_view name);

// The same for a list of strings and numbers, a boolean, an integer (also one written in quotes).
Result<std::optional<std::vector<std::string>>> list_argument(const std::vector<Entry>& entries,
                                                              std::string_view argument, std::string_view name);
Result<std::optional<bool>> boolean_argument(const std::vector<Entry>& entries, std::string_view argument,
                                             std::string_view name);
Result<std::optional<int>> integer_argument(const std::vector<Entry>& entries, std::string_view argument,
                                            std::string_view name);

// "<name>:<line>:<column>: <what>", CONFIG_PARSE.
tl::unexpected<Error> wrong(std::string_view name, Place at, std::string_view what);

}  // namespace modlock::hcl1
