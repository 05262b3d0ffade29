#include "backends/base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace modlock {
namespace {

bool is_unset(std::string_view name, const Command& command) {
  return std::any_of(command.unset_environment.begin(), command.unset_environment.end(), [name](std::string_view rule) {
    if (!rule.empty() && rule.back() == '*') {
      rule.remove_suffix(1);
      return name.substr(0, rule.size()) == rule;
    }
    return name == rule;
  });
}

bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::vector<std::string> child_environment(const Command& command) {
  std::vector<std::string> environment;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::string name(variable.substr(0, variable.find('=')));
    if (!command.set_environment.contains(name) && !is_unset(name, command)) {
      environment.emplace_back(variable);
    }
  }
  for (const auto& [name, value] : command.set_environment) {
    environment.push_back(name + "=" + value);
  }
  return environment;
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  std::error_code ignored;
  if (name.find('/') != std::string_view::npos) {
    // Made absolute here, for the child may start in another directory.
    const std::filesystem::path path = std::filesystem::absolute(name, ignored);
    return is_program(path) ? std::optional(path) : std::nullopt;
  }
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!name.empty() && !rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::filesystem::path directory(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    // A relative entry would let the directory we happen to work on choose the program.
    if (directory.is_absolute() && is_program(directory / name)) {
      return directory / name;
    }
  }
  return std::nullopt;
}

}  // namespace modlock
