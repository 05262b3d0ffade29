#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/client/hcl1.h"

namespace modlock::hcl1 {

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
