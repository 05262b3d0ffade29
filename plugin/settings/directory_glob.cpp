#include "plugin/settings/directory_glob.h"

#include <algorithm>
#include <filesystem>

namespace modlock {

Result<DirectoryGlob> DirectoryGlob::parse(std::string_view text) {
  const std::filesystem::path path(text);
  if (text.empty()) {
    return fail(Code::config_parse, "must not be empty");
  }
  if (path.is_absolute()) {
    return fail(Code::config_parse, "must not be an absolute path");
  }
  if (std::find(path.begin(), path.end(), "..") != path.end()) {
    return fail(Code::config_parse, "must not contain \"..\"");
  }
  std::string plain = path.lexically_normal().generic_string();
  if (plain.size() > 1 && plain.ends_with('/')) {
    plain.pop_back();
  }
  const auto pattern = eval::regular_expression_of_glob(plain);
  auto expression = pattern ? eval::RegularExpression::compile(*pattern)
                            : tl::unexpected(eval::PatternError{.code = "", .expression = ""});
  if (!expression) {
    return fail(Code::config_parse, "has brackets or braces that are not closed");
  }
  return DirectoryGlob(std::move(*expression));
}

bool DirectoryGlob::matches(std::string_view path) const {
  return expression_.find(path, 0).has_value();
}

std::string literal_glob(std::string_view path) {
  std::string glob;
  for (const char c : path) {
    glob += std::string_view("*?[]{},\\").find(c) == std::string_view::npos ? "" : "\\";
    glob += c;
  }
  return glob;
}

}  // namespace modlock
