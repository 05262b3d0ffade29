#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// Returns the value of an environment variable; empty: it is not set.
inline std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the home directory of the user: HOME if it is an absolute path, else that of the account; empty if neither is
// known. A relative one would be a directory of the checkout.
std::filesystem::path home_directory();

// Returns an XDG base directory, or `in_home` below the home directory; empty if there is no home directory. The
// specification of XDG demands that a relative path in the variable is ignored.
std::filesystem::path xdg_directory(const char* variable, const char* in_home);

// Sets HOME to home_directory() and removes relative XDG directories from the environment, for this process and for the
// programs that it starts. Must be called before there are threads.
void make_home_absolute();

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
