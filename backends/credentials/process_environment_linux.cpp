#include "backends/credentials/process_environment.h"

#include <unistd.h>

#include "backends/base/environment.h"

namespace modlock {

std::string_view ProcessEnvironment::variable(std::string_view name) const {
  for (const auto& [key, value] : environment) {
    if (key == name) {
      return value;
    }
  }
  return {};
}

std::filesystem::path ProcessEnvironment::absolute(const std::filesystem::path& path) const {
  return (directory / path).lexically_normal();
}

std::string ProcessEnvironment::display(const std::filesystem::path& path) const {
  const std::string text = path.string();
  const std::string below = (home / "").string();
  const bool is_below = !home.empty() && home != home.root_path() && text.starts_with(below);
  return is_below ? "~/" + text.substr(below.size()) : text;
}

ProcessEnvironment current_environment() {
  ProcessEnvironment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      result.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  result.home = home_directory();
  std::error_code error;  // the current directory may have been deleted
  result.directory = std::filesystem::current_path(error);
  return result;
}

}  // namespace modlock
