#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// What of a process decides where configuration and credentials lie. Given as a value, so that nothing below it asks
// the process itself.
struct ProcessEnvironment {
  // NAME and value, in the order of the process: where several name one host the last wins, as in OpenTofu.
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::filesystem::path home = {};       // HOME, else what the user database says; may be empty
  std::filesystem::path directory = {};  // the current one: relative paths of variables start here

  // Empty where it is not set.
  std::string_view variable(std::string_view name) const;
  std::filesystem::path absolute(const std::filesystem::path& path) const;
  // For people: "~/.tofurc" for a path below home.
  std::string display(const std::filesystem::path& path) const;
};

// Those of this process.
ProcessEnvironment current_environment();

}  // namespace modlock
