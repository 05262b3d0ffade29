// Where the store and the root lie, and what time it is there.

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>

#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Returns a directory on another file system than that of temporary files; empty: none is known.
std::string other_file_system() {
  const auto device = [](const char* path) {
    struct stat status {};
    return ::stat(path, &status) == 0 ? status.st_dev : 0;
  };
  for (const char* place : {"/dev/shm", "/var/tmp"}) {
    if (device(place) != 0 && device(place) != device(fs::temp_directory_path().c_str())) {
      return place;
    }
  }
  return "";
}

boost::test_tools::assertion_result has_other_file_system(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!other_file_system().empty());
  result.message() << "needs /dev/shm or /var/tmp on another file system than temporary files";
  return result;
}

struct Placed : SurvivalScene {
  Placed() { publish("1.0.0"); }

  void check_all() {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"lock", "--install"}, {"verify"}, {"install"}}) {
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == 0, ran.err);
    }
    const Files locks = {{"1.0.0", lock()}};
    check_truth(locks);
    publish("1.1.0");
    const Ran ran = modlock({"upgrade", "--install"});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    check_truth({{"1.1.0", lock()}});
    BOOST_TEST(modlock({"verify"}).exit_code == 0);
  }

  // Every file and directory there is from tomorrow, as after a clock that was set back.
  static void move_to_tomorrow(const fs::path& place) {
    const auto tomorrow = fs::file_time_type::clock::now() + std::chrono::hours(24);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
      if (!entry.is_symlink()) {
        fs::last_write_time(entry.path(), tomorrow);
      }
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(placed, Placed)

BOOST_AUTO_TEST_CASE(a_store_on_another_file_system, *boost::unit_test::precondition(has_other_file_system)) {
  const ScopedEnvironment elsewhere("TMPDIR", other_file_system());
  const TemporaryDirectory other;
  environment["TOFU_MODLOCK_CACHE_DIR"] = (other / "cache").string();
  check_all();
}

BOOST_AUTO_TEST_CASE(no_reflinks, *boost::unit_test::precondition(may_trace)) {
  const Faulted ran = modlock_with({.calls = "clone", .lasting = true, .error = EOPNOTSUPP}, {"lock", "--install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.met.find("/.terraform/") != std::string::npos);
  check_truth({{"1.0.0", lock()}});
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_clock_that_went_back) {
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  move_to_tomorrow(root());
  move_to_tomorrow(cache());
  const std::string before = lock();
  for (const char* command : {"verify", "lock", "install"}) {
    const Ran ran = modlock({command});
    BOOST_TEST(ran.exit_code == 0, command << ": " << ran.err);
  }
  BOOST_TEST(lock() == before);
  // What changes "before" it was hashed is seen.
  write(".terraform/modules/vpc/policies/a.json", "[]\n");
  BOOST_TEST(modlock({"verify"}).exit_code == 4);
  BOOST_TEST(modlock({"install"}).exit_code == 4);  // reports what it restores
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(modlock({"cache", "prune", "--max-age", "1s"}).exit_code == 0);
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  // A listing of tomorrow hides nothing.
  publish("1.1.0");
  const Ran upgraded = modlock({"upgrade", "--install"});
  BOOST_TEST(upgraded.exit_code == 0, upgraded.err);
  BOOST_TEST(lock().find("1.1.0") != std::string::npos);
  check_truth({{"1.1.0", lock()}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
