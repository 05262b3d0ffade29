#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/value/value.h"
#include "protocol/base/error.h"
#include "protocol/base/result.h"

namespace modlock::eval {

// The files that functions may read. Paths are as in the expression; relative ones start at the working directory of
// OpenTofu, the root module. Errors: PATH_OUTSIDE_ROOT, NOT_FOUND, IO_ERROR, each naming the path.
class FileAccess {
 public:
  virtual ~FileAccess() = default;
  virtual Result<std::string> read(const std::string& path) const = 0;
  virtual Result<bool> exists(const std::string& path) const = 0;
  // The files below a directory, relative to it, "/"-separated, sorted bytewise.
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
  // The absolute directory where relative paths start.
  virtual std::string working_directory() const = 0;
};

struct Parameter {
  std::string_view name;
  Type type = {};  // arguments are converted to it before the call; dynamic accepts any
  bool allow_null = false;
};

// Why a function fails, in OpenTofu's wording. Contains values of arguments only if the call allows it.
struct FunctionError {
  std::optional<std::size_t> argument = {};  // the one that caused the error
  std::string message = {};
  Code code = Code::config_parse;
};
using FunctionResult = tl::expected<Value, FunctionError>;

// Arguments that fit the parameters: converted, without marks (the caller adds the marks of all arguments to the
// result), null only if allowed.
struct Call {
  std::span<const Value> arguments;
  const FileAccess& files;
  // Whether messages may quote arguments: none of them is sensitive or ephemeral. If not, they show "(sensitive
  // value)".
  bool may_show_arguments = false;
};

struct Function {
  std::string_view name;
  std::vector<Parameter> parameters;
  FunctionResult (*call)(const Call&) = nullptr;
  std::optional<Parameter> variadic = {};  // takes all further arguments
};

// Finds a function by its name without "core::"; null if it is not in the tables. try(), can(), sensitive(),
// nonsensitive(), issensitive(), ephemeralasnull(), templatefile() and templatestring() are not in them: evaluate()
// implements them.
const Function* find_function(std::string_view name);

// Why a function that OpenTofu has is not evaluated statically: "its value is another at each run". nullopt if OpenTofu
// has no such function (or find_function() knows it).
std::optional<std::string_view> why_not_evaluated(std::string_view name);

// The names of all of them, evaluated or not, sorted: for "did you mean".
std::span<const std::string_view> function_names();

}  // namespace modlock::eval
