#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/digest.h"
#include "backends/base/environment.h"
#include "plugin/functions/function_tables.h"
#include "plugin/functions/regular_expression.h"
#include "protocol/base/utf8.h"

namespace modlock::eval {
namespace {

// `path` below `base`, cleaned. Empty parts are left out.
std::string join_path(std::string_view base, std::string_view path) {
  if (base.empty() || path.empty()) {
    return base.empty() && path.empty() ? "" : clean_path(base.empty() ? path : base);
  }
  return clean_path(std::string(base) + '/' + std::string(path));
}

// Replaces a leading "~" by the home directory. The error says why there is none.
tl::expected<std::string, std::string> expand_home(const std::string& path) {
  if (!path.starts_with('~')) {
    return path;
  }
  if (path.size() > 1 && path[1] != '/' && path[1] != '\\') {
    return tl::unexpected(std::string("cannot expand user-specific home dir"));
  }
  const std::string home = home_directory().string();
  if (home.empty()) {
    return tl::unexpected(std::string("the home directory is not known"));
  }
  return join_path(home, path.substr(1));
}

// An error of FileAccess about the first argument.
FunctionError file_error(const Call& call, const Error& error) {
  return {.argument = 0,
          .message = call.may_show_arguments ? error.message : "the file (sensitive value) cannot be read",
          .code = error.code};
}

FunctionResult file(const Call& call) {
  MODLOCK_TRY(auto bytes, read_file(call));
  if (!is_utf8(bytes)) {
    return refuse(
        fmt::format("contents of {} are not valid UTF-8; use the filebase64 function to obtain the Base64 "
                    "encoded contents or the other file functions (e.g. filemd5, filesha256) to obtain file "
                    "hashing results instead",
                    shown(call, call.arguments[0].as_string())));
  }
  return Value::string(std::move(bytes));
}

FunctionResult filebase64(const Call& call) {
  MODLOCK_TRY(const auto bytes, read_file(call));
  return Value::string(base64(bytes));
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
      const std::filesystem::path path = join_path(glob.base, name);
      matches.push_back(Value::string(path.lexically_relative(clean_path(root)).string()));
    }
  }
  return Value::set(Type::string(), std::move(matches));
}

FunctionResult basename(const Call& call) {
  std::string_view path = call.arguments[0].as_string();
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return Value::string(path.empty() || path == "/" ? clean_path(path) : std::string(path.substr(path.rfind('/') + 1)));
}

FunctionResult dirname(const Call& call) {
  const std::string& path = call.arguments[0].as_string();
  return Value::string(clean_path(path.substr(0, path.rfind('/') + 1)));
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

std::vector<Function> file_functions() {
  return {
      {"abspath", {string_parameter("path")}, abspath},
      {"basename", {string_parameter("path")}, basename},
      {"dirname", {string_parameter("path")}, dirname},
      {"file", {string_parameter("path")}, file},
      {"filebase64", {string_parameter("path")}, filebase64},
      {"fileexists", {string_parameter("path")}, fileexists},
      {"fileset", {string_parameter("path"), string_parameter("pattern")}, fileset},
      {"pathexpand", {string_parameter("path")}, pathexpand},
  };
}

tl::expected<std::string, FunctionError> read_file(const Call& call) {
  const std::string& given = call.arguments[0].as_string();
  const auto path = expand_home(given);
  if (!path) {
    return refuse_argument(0, fmt::format("failed to expand ~: {}", path.error()));
  }
  auto bytes = call.files.read(*path);
  if (bytes) {
    return *std::move(bytes);
  }
  if (bytes.error().code == Code::not_found) {
    return refuse_argument(
        0, fmt::format("no file exists at {}; this function works only with files that are distributed as part of the "
                       "configuration source code, so if this file will be created by a resource in this configuration "
                       "you must instead obtain this result from an attribute of that resource",
                       shown(call, given)));
  }
  return tl::unexpected(file_error(call, bytes.error()));
}

}  // namespace modlock::eval
