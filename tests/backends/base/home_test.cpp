#include "backends/base/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "tests/support/environment.h"

namespace modlock {
namespace {

using test::ScopedEnvironment;

// As setenv(); nullopt removes the variable.
void set(const char* name, const std::optional<std::string>& value) {
  static_cast<void>(value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name));
}

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

BOOST_AUTO_TEST_SUITE(home)

BOOST_AUTO_TEST_CASE(relative_paths_are_not_the_home_directory) {
  const passwd* const account = ::getpwuid(::getuid());
  const std::string own = account == nullptr ? "" : account->pw_dir;  // a user without a name has none
  const std::string config = own.empty() ? "" : own + "/.config";
  struct Row {
    const char* name;
    std::optional<std::string> home;
    std::optional<std::string> xdg;
    std::string expected_home;
    std::string expected_config;
    std::string expected_variable;
  };
  const Row rows[] = {
      {"absolute", "/home/user", "/xdg", "/home/user", "/xdg", "/xdg"},
      {"no XDG", "/home/user", std::nullopt, "/home/user", "/home/user/.config", "unset"},
      {"empty XDG", "/home/user", "", "/home/user", "/home/user/.config", "unset"},
      {"relative XDG", "/home/user", ".config", "/home/user", "/home/user/.config", "unset"},
      {"no HOME", std::nullopt, std::nullopt, own, config, "unset"},
      {"empty HOME", "", std::nullopt, own, config, "unset"},
      {"HOME is the current directory", ".", std::nullopt, own, config, "unset"},
      {"relative HOME", "home/user", "./xdg", own, config, "unset"},
      {"a tilde", "~", "~/.config", own, config, "unset"},
      {"no HOME, but XDG", std::nullopt, "/xdg", own, "/xdg", "/xdg"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ScopedEnvironment kept_home("HOME", "");
      const ScopedEnvironment kept_xdg("XDG_CONFIG_HOME", "");
      set("HOME", row.home);
      set("XDG_CONFIG_HOME", row.xdg);
      BOOST_TEST(home_directory().string() == row.expected_home);
      BOOST_TEST(xdg_directory("XDG_CONFIG_HOME", ".config").string() == row.expected_config);
      make_home_absolute();
      BOOST_TEST(value_of("HOME") == (row.expected_home.empty() ? "unset" : row.expected_home));
      BOOST_TEST(value_of("XDG_CONFIG_HOME") == row.expected_variable);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_directory_of_xdg_is_checked) {
  for (const char* name : {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}) {
    const ScopedEnvironment relative(name, "below/the/checkout");
    make_home_absolute();
    BOOST_TEST(value_of(name) == "unset", name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
