#include "backends/base/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "backends/base/collections.h"

namespace modlock {
namespace {

bool is_absolute(const char* path) {
  return path != nullptr && *path == '/';
}

}  // namespace

std::filesystem::path home_directory() {
  if (const char* const home = std::getenv("HOME"); is_absolute(home)) {
    return home;
  }
  std::array<char, std::size_t{16} << 10U> texts{};
  passwd account{};
  passwd* found = nullptr;
  const bool is_known = ::getpwuid_r(::getuid(), &account, texts.data(), texts.size(), &found) == 0 && found != nullptr;
  return is_known && is_absolute(account.pw_dir) ? account.pw_dir : "";
}

std::filesystem::path xdg_directory(const char* variable, const char* in_home) {
  if (const char* const directory = std::getenv(variable); is_absolute(directory)) {
    return directory;
  }
  const std::filesystem::path home = home_directory();
  return home.empty() ? home : home / in_home;
}

void make_home_absolute() {
  const std::filesystem::path home = home_directory();
  static_cast<void>(home.empty() ? ::unsetenv("HOME") : ::setenv("HOME", home.c_str(), 1));
  for (const char* const name :
       {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}) {
    if (!is_absolute(std::getenv(name))) {
      ::unsetenv(name);
    }
  }
}

std::string_view ProcessEnvironment::variable(std::string_view name) const {
  const auto* const found = find_by(environment, name, &std::pair<std::string, std::string>::first);
  return found == nullptr ? std::string_view() : found->second;
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
