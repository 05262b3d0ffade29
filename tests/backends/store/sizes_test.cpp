#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <optional>

#include "backends/store/store.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name); before != nullptr) {
      before_ = before;
    }
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sizes)

BOOST_AUTO_TEST_CASE(measures_packages_and_repositories) {
  const TemporaryDirectory directory;
  const Store store = *Store::open(directory / "store");
  const StoreSizes nothing = measure(store).value();
  BOOST_TEST(nothing.packages == 0U);
  BOOST_TEST(nothing.repository_bytes == 0U);

  write_text(directory / "store/v2/packages/aa/tree/main.tf", std::string(10, 'x'));
  write_text(directory / "store/v2/packages/aa/tree/sub/b", std::string(5, 'x'));
  write_text(directory / "store/v2/packages/bb/tree/main.tf", std::string(1, 'x'));
  write_text(directory / "store/v2/git/cc/objects/pack", std::string(100, 'x'));
  write_text(directory / "store/v2/tmp/dd/not-counted", std::string(1000, 'x'));
  fs::create_symlink("main.tf", directory / "store/v2/packages/aa/tree/link");
  fs::create_directory_symlink("..", directory / "store/v2/packages/aa/tree/up");
  const StoreSizes sizes = measure(store).value();
  BOOST_TEST(sizes.packages == 2U);
  BOOST_TEST(sizes.package_bytes == 16U);
  BOOST_TEST(sizes.repositories == 1U);
  BOOST_TEST(sizes.repository_bytes == 100U);
}

BOOST_AUTO_TEST_CASE(default_roots) {
  struct Row {
    const char* name;
    const char* xdg_cache_home;
    const char* home;
    const char* expected;
  };
  const Row rows[] = {
      {"XDG", "/xdg", "/home/user", "/xdg/tofu-modlock"},
      {"home", nullptr, "/home/user", "/home/user/.cache/tofu-modlock"},
      {"an empty XDG", "", "/home/user", "/home/user/.cache/tofu-modlock"},
      {"a relative XDG", "cache", "/home/user", "/home/user/.cache/tofu-modlock"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Variable xdg("XDG_CACHE_HOME", row.xdg_cache_home);
      const Variable home("HOME", row.home);
      BOOST_TEST(default_store_root() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
