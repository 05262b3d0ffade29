#include <pwd.h>
#include <unistd.h>

#include <array>

#include "backends/credentials/process_environment.h"

namespace modlock {
namespace {

std::filesystem::path home_of_user() {
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return {};
  }
  return found->pw_dir;
}

}  // namespace

ProcessEnvironment current_environment() {
  ProcessEnvironment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      result.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  const std::string_view home = result.variable("HOME");
  result.home = home.empty() ? home_of_user() : std::filesystem::path(home);
  std::error_code error;  // the current directory may be gone
  result.directory = std::filesystem::current_path(error);
  return result;
}

}  // namespace modlock
