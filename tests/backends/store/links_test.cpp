#include "backends/store/links.h"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string>;
using std::chrono::hours;

struct LinkedRoot {
  TemporaryDirectory directory;
  Store store = Store::open(directory / "store").value();
  fs::file_time_type now = fs::file_time_type::clock::now();

  fs::path data() const { return directory / "root/.terraform"; }
  // A link to a package, which need not exist.
  std::string link(const std::string& key, char digit) const {
    const std::string name = std::string(64, digit) + "-" + std::string(64, 'f');
    fs::create_directories(data() / "modules");
    fs::create_directory_symlink(store.package_directory() / name / "tree", data() / "modules" / key);
    return name;
  }
  Names recorded() const { return recorded_links(store, now).value(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(links, LinkedRoot)

BOOST_AUTO_TEST_CASE(links_are_recorded_with_planned_ones) {
  BOOST_TEST_REQUIRE(record_links(store, data()).has_value());
  BOOST_TEST(recorded().empty());
  const std::string first = link("a", '1');
  const std::string second = link("b", '2');
  write_text(data() / "modules/copy/main.tf", "");
  fs::create_directory_symlink(directory.path(), data() / "modules/other");
  BOOST_TEST_REQUIRE(record_links(store, data(), {"planned"}).has_value());
  BOOST_TEST((recorded() == Names{first, second, "planned"}));
  fs::remove(data() / "modules/a");
  BOOST_TEST_REQUIRE(record_links(store, data()).has_value());
  BOOST_TEST((recorded() == Names{second}));
  fs::remove(data() / "modules/b");
  BOOST_TEST_REQUIRE(record_links(store, data()).has_value());
  BOOST_TEST(recorded().empty());
  BOOST_TEST(fs::is_empty(store.link_directory()));
}

// The directory may be on a disk that is not mounted now, or in another container.
BOOST_AUTO_TEST_CASE(a_root_that_is_not_visible_is_gone_after_a_week) {
  const std::string name = link("a", '1');
  BOOST_TEST_REQUIRE(record_links(store, data()).has_value());
  fs::remove_all(directory / "root");
  BOOST_TEST((recorded() == Names{name}));
  now += kUnseenRootIsGone - hours(1);
  BOOST_TEST((recorded() == Names{name}));
  now += hours(2);
  BOOST_TEST(recorded().empty());
  BOOST_TEST(fs::is_empty(store.link_directory()));
}

BOOST_AUTO_TEST_CASE(an_unfinished_record_is_left_to_its_writer) {
  const fs::path unfinished = store.link_directory() / ".a.0123456789abcdef";
  for (const char* text : {"", "half"}) {
    BOOST_TEST_CONTEXT('"' << text << '"') {
      write_text(unfinished, text);
      BOOST_TEST(recorded().empty());
      BOOST_TEST(fs::exists(unfinished));
      fs::last_write_time(unfinished, now - kUnseenRootIsGone - hours(1));
      BOOST_TEST(recorded().empty());
      BOOST_TEST(!fs::exists(unfinished));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
