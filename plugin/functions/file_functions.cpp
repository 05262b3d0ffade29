#include <fmt/format.h>

#include <vector>

#include "plugin/functions/file_path.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/regular_expression.h"

namespace modlock::eval {
namespace {

FunctionResult file(const Call& call) {
  auto bytes = read_file(call);
  if (!bytes) {
    return tl::unexpected(bytes.error());
  }
  if (!is_utf8(*bytes)) {
    return refuse(
        fmt::format("contents of {} are not valid UTF-8; use the filebase64 function to obtain the Base64 "
                    "encoded contents or the other file functions (e.g. filemd5, filesha256) to obtain file "
                    "hashing results instead",
                    shown(call, call.arguments[0].as_string())));
  }
  return Value::string(*std::move(bytes));
}

FunctionResult filebase64(const Call& call) {
  const auto bytes = read_file(call);
  if (!bytes) {
    return tl::unexpected(bytes.error());
  }
  return Value::string(encode_base64(*bytes));
}

FunctionResult fileexists(const Call& call) {
  const auto path = expand_home(call.arguments[0].as_string());
  if (!path) {
    return refuse(fmt::format("failed to expand ~: {}", path.error()));
  }
  const auto exists = call.files.exists(*path);
  if (!exists) {
    return tl::unexpected(file_error(call, exists.error()));
  }
  return Value::boolean(*exists);
}

FunctionResult fileset(const Call& call) {
  const std::string directory = join_path(".", call.arguments[0].as_string());
  const std::string root = call.arguments[0].as_string().starts_with('/') ? call.arguments[0].as_string() : directory;
  const std::string pattern = join_path(root, call.arguments[1].as_string());
  const SplitGlob glob = split_glob(pattern);
  const auto expression_text = regular_expression_of_glob(glob.pattern);
  auto expression = expression_text ? RegularExpression::compile(*expression_text)
                                    : tl::unexpected(PatternError{.code = "open", .expression = ""});
  if (!expression) {
    return refuse(fmt::format("failed to glob pattern {}: syntax error in pattern", shown(call, pattern)));
  }
  const auto files = call.files.list(glob.base);
  if (!files && files.error().code != Code::not_found) {
    return tl::unexpected(file_error(call, files.error()));
  }
  Value::Items matches;
  for (const std::string& name : files.value_or(std::vector<std::string>{})) {
    if (expression->find(name, 0)) {
      matches.push_back(Value::string(relative_path(root, join_path(glob.base, name))));
    }
  }
  return Value::set(Type::string(), std::move(matches));
}

FunctionResult basename(const Call& call) {
  return Value::string(base_name(call.arguments[0].as_string()));
}

FunctionResult dirname(const Call& call) {
  return Value::string(directory_name(call.arguments[0].as_string()));
}

FunctionResult abspath(const Call& call) {
  const std::string& path = call.arguments[0].as_string();
  return Value::string(path.starts_with('/') ? clean_path(path) : join_path(call.files.working_directory(), path));
}

FunctionResult pathexpand(const Call& call) {
  auto path = expand_home(call.arguments[0].as_string());
  if (!path) {
    return refuse(path.error());
  }
  return Value::string(*std::move(path));
}

}  // namespace

std::span<const Function> file_functions() {
  static const std::vector<Function> functions = {
      {.name = "abspath", .parameters = {string_parameter("path")}, .call = abspath},
      {.name = "basename", .parameters = {string_parameter("path")}, .call = basename},
      {.name = "dirname", .parameters = {string_parameter("path")}, .call = dirname},
      {.name = "file", .parameters = {string_parameter("path")}, .call = file},
      {.name = "filebase64", .parameters = {string_parameter("path")}, .call = filebase64},
      {.name = "fileexists", .parameters = {string_parameter("path")}, .call = fileexists},
      {.name = "fileset", .parameters = {string_parameter("path"), string_parameter("pattern")}, .call = fileset},
      {.name = "pathexpand", .parameters = {string_parameter("path")}, .call = pathexpand},
  };
  return functions;
}

}  // namespace modlock::eval
