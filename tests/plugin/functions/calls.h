#pragma once

#include <map>
#include <span>
#include <string>

#include "plugin/functions/functions.h"

namespace modlock::eval::test {

// A call and what comes out of it. `arguments` is a JSON array; `expected` is the result as jsonencode() writes it, or
// "error: …", or "error list: …" where the argument of that parameter is to blame.
struct Row {
  const char* name;
  const char* function;
  const char* arguments;
  const char* expected;
};

// Files by their paths below "/start".
class FakeFiles : public FileAccess {
 public:
  std::map<std::string, std::string> files;

  Result<std::string> read(const std::string& path) const override;
  Result<bool> exists(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  std::string working_directory() const override { return "/start"; }
};

// Converts arguments as the caller of a function has to, and calls.
FunctionResult call(std::string_view function, std::vector<Value> arguments, const FileAccess& files,
                    bool may_show_arguments = true);
// The values of a JSON array.
std::vector<Value> values(std::string_view json);
std::string json(const Value& value);
// The result in the form of Row::expected.
std::string outcome(std::string_view function, const FunctionResult& result);

void check(std::span<const Row> rows, const FileAccess& files = FakeFiles());

}  // namespace modlock::eval::test
