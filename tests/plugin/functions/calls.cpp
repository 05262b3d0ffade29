#include "tests/plugin/functions/calls.h"

#include <boost/test/unit_test.hpp>

#include "plugin/functions/json_text.h"
#include "plugin/value/convert.h"

namespace modlock::eval::test {

Result<std::string> FakeFiles::read(const std::string& path) const {
  if (path.starts_with("../")) {
    return fail(Code::path_outside_root, "\"" + path + "\" is outside of the root");
  }
  const auto found = files.find(path);
  return found == files.end() ? Result<std::string>(fail(Code::not_found, "no file \"" + path + "\"")) : found->second;
}

Result<bool> FakeFiles::exists(const std::string& path) const {
  return files.contains(path);
}

Result<std::vector<std::string>> FakeFiles::list(const std::string& directory) const {
  const std::string prefix = directory == "." ? "" : directory + "/";
  std::vector<std::string> names;
  for (const auto& [path, content] : files) {
    if (path.starts_with(prefix)) {
      names.push_back(path.substr(prefix.size()));
    }
  }
  return names.empty() ? Result<std::vector<std::string>>(fail(Code::not_found, "no directory")) : names;
}

FunctionResult call(std::string_view function, std::vector<Value> arguments, const FileAccess& files,
                    bool may_show_arguments) {
  const Function* found = find_function(function);
  BOOST_REQUIRE_MESSAGE(found != nullptr, function);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    BOOST_REQUIRE(i < found->parameters.size() || found->variadic);
    const Parameter& parameter = i < found->parameters.size() ? found->parameters[i] : *found->variadic;
    BOOST_REQUIRE(parameter.allow_null || !arguments[i].is_null());
    const auto converted = convert(arguments[i], parameter.type);
    if (!converted) {
      return tl::unexpected(FunctionError{.argument = i, .message = converted.error()});
    }
    arguments[i] = *converted;
  }
  return found->call({.arguments = arguments, .files = files, .may_show_arguments = may_show_arguments});
}

std::vector<Value> values(std::string_view json) {
  const auto decoded = decode_json(json);
  BOOST_REQUIRE_MESSAGE(decoded, json);
  return decoded->items();
}

std::string json(const Value& value) {
  return find_function("jsonencode")->call({.arguments = {&value, 1}, .files = FakeFiles()})->as_string();
}

std::string outcome(std::string_view function, const FunctionResult& result) {
  if (result) {
    return json(*result);
  }
  const FunctionError& error = result.error();
  if (!error.argument) {
    return "error: " + error.message;
  }
  const Function& called = *find_function(function);
  const std::size_t at = *error.argument;
  const Parameter& parameter = at < called.parameters.size() ? called.parameters[at] : called.variadic.value();
  return "error " + std::string(parameter.name) + ": " + error.message;
}

void check(std::span<const Row> rows, const FileAccess& files) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(row.function, call(row.function, values(row.arguments), files)) == row.expected);
    }
  }
}

}  // namespace modlock::eval::test
