#include "plugin/functions/read_file.h"

#include <fmt/format.h>

#include <cstdlib>

#include "plugin/functions/file_path.h"
#include "plugin/functions/function_tables.h"

namespace modlock::eval {

tl::expected<std::string, std::string> expand_home(const std::string& path) {
  if (!path.starts_with('~')) {
    return path;
  }
  if (path.size() > 1 && path[1] != '/' && path[1] != '\\') {
    return tl::unexpected(std::string("cannot expand user-specific home dir"));
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    return tl::unexpected(std::string("the home directory is unknown: HOME is not set"));
  }
  return join_path(home, path.substr(1));
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

FunctionError file_error(const Call& call, const Error& error) {
  return {.argument = 0,
          .message = call.may_show_arguments ? error.message : "the file (sensitive value) cannot be read",
          .code = error.code};
}

}  // namespace modlock::eval
