#include "backends/credentials/process_environment.h"

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

}  // namespace modlock
