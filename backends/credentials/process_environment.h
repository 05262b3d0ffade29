#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// The parts of a process that determine where configuration and credentials are. Passed as a value, so that other code
// does not query the process itself.
struct ProcessEnvironment {
  // NAME and value, in the order of the process. If several name the same host, the last one wins, as in OpenTofu.
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::filesystem::path home = {};       // home_directory(); may be empty
  std::filesystem::path directory = {};  // the current one; relative paths in variables start here

  // Returns the value, empty if it is not set.
  std::string_view variable(std::string_view name) const;
  std::filesystem::path absolute(const std::filesystem::path& path) const;
  // Returns the path for messages: "~/.tofurc" if it is below home.
  std::string display(const std::filesystem::path& path) const;
};

// Returns the environment of this process.
ProcessEnvironment current_environment();

}  // namespace modlock
