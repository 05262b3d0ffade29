// Disks and limits that refuse: an error that names the place, and nothing half written.

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <set>
#include <utility>

#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Refused : SurvivalScene {
  Refused() {
    publish("1.0.0");
    BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
    const std::string before = lock();
    publish("1.1.0");
    save();
    BOOST_REQUIRE(modlock(kUpgrade).exit_code == 0);
    locks = {{"1.0.0", before}, {"1.1.0", lock()}};
    root_after = files_of_root();
    restore();
  }

  // After whatever has happened.
  void check_recovery() const {
    check_truth(locks);
    const Ran again = modlock(kUpgrade);
    BOOST_TEST(again.exit_code == 0, again.err);
    BOOST_TEST(differences(files_of_root(), root_after) == "");
    files_of_store();
  }

  static void check_io_error(const Ran& ran) {
    BOOST_TEST(ran.exit_code == 1, ran.exit_code << ran.err);
    BOOST_TEST(ran.err.find("[IO_ERROR]") != std::string::npos, ran.err);
  }

  // Refuses at each of the calls; returns at how many the run failed. What is left behind is often the same: it is
  // recovered from once.
  int refuse_everywhere(Fault fault) const {
    int failures = 0;
    std::set<std::pair<Files, Files>> seen;
    for (fault.at = 1; fault.at < kMostCalls; ++fault.at) {
      restore();
      const Faulted ran = modlock_with(fault, kUpgrade);
      if (ran.met.empty()) {
        return failures;
      }
      BOOST_TEST_CONTEXT(ran.met) {
        if (ran.exit_code != 0) {
          ++failures;
          check_io_error(ran);
        }
        if (seen.emplace(files_of_root(), files_of_store()).second) {
          check_recovery();
        }
      }
    }
    BOOST_ERROR("there is no end of the calls");
    return failures;
  }

  const std::vector<std::string> kUpgrade = {"upgrade", "--install"};
  Files locks;
  Files root_after;
};

BOOST_FIXTURE_TEST_SUITE(refused, Refused, *boost::unit_test::precondition(may_trace))

BOOST_AUTO_TEST_CASE(a_disk_that_fills_at_any_write) {
  BOOST_TEST(refuse_everywhere({.calls = "create,write,mkdir,rename,link",
                                .below = root().parent_path(),
                                .lasting = true,
                                .error = ENOSPC}) > 20);
}

BOOST_AUTO_TEST_CASE(one_call_without_permission) {
  BOOST_TEST(refuse_everywhere({.calls = "create,mkdir,rename,mode", .below = root().parent_path(), .error = EACCES}) >
             10);
}

BOOST_AUTO_TEST_CASE(a_disk_that_cannot_flush) {
  BOOST_TEST(refuse_everywhere({.calls = "sync", .below = root().parent_path(), .error = EIO}) > 2);
}

// Every blob is on disk before the name of a bundle is.
BOOST_AUTO_TEST_CASE(a_bundle_that_cannot_be_flushed) {
  for (const char* name : {"modules.tar", "modules"}) {
    const fs::path out = path("out");
    const std::vector<std::string> create = {"bundle", "create", "--output", (out / name).string()};
    Fault fault{.calls = "sync", .below = out, .error = EIO};
    int refusals = 0;
    for (; fault.at < kMostCalls; ++fault.at) {
      fs::remove_all(out);
      fs::create_directories(out);
      const Faulted ran = modlock_with(fault, create);
      if (ran.met.empty()) {
        break;
      }
      BOOST_TEST_CONTEXT(name << " " << ran.met) {
        if (ran.exit_code != 0) {  // the flush of a directory is not required
          ++refusals;
          check_io_error(ran);
          BOOST_TEST(fs::is_empty(out));
        }
      }
    }
    BOOST_TEST(refusals == (name == std::string_view("modules") ? 8 : 1));
  }
}

BOOST_AUTO_TEST_CASE(a_read_only_place) {
  struct Row {
    const char* name;
    fs::path where;
  };
  for (const Row& row : {Row{"root", root()}, Row{"cache", cache()}}) {
    BOOST_TEST_CONTEXT(row.name) {
      restore();
      const Fault fault{
          .calls = "create,write,mkdir,rename,link,unlink,mode", .below = row.where, .lasting = true, .error = EROFS};
      const Files before = files_of_root();
      const Ran ran = modlock_with(fault, kUpgrade);
      check_io_error(ran);
      BOOST_TEST(ran.err.find("Read-only file system") != std::string::npos, ran.err);
      BOOST_TEST(ran.err.find("hint: ") != std::string::npos, ran.err);
      BOOST_TEST(differences(files_of_root(), before) == "");
      // Where there is nothing to write, nothing refuses.
      for (const char* command : {"lock", "install", "verify"}) {
        const Ran reading = modlock_with(fault, {command});
        BOOST_TEST(reading.exit_code == 0, command << ": " << reading.err);
      }
      check_recovery();
    }
  }
}

// An image may come with a store that nobody may write to.
BOOST_AUTO_TEST_CASE(an_installation_from_a_read_only_store) {
  fs::remove_all(root() / ".terraform");
  const Ran ran = modlock_with(
      {.calls = "create,write,mkdir,rename,link,unlink,mode", .below = cache(), .lasting = true, .error = EROFS},
      {"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(too_few_descriptors) {
  bool has_failed = false;
  bool has_worked = false;
  for (int limit = 5; limit < 40; limit += 2) {
    BOOST_TEST_CONTEXT(limit << " descriptors") {
      restore();
      const Ran ran = program({"sh", "-c", "ulimit -n \"$1\" && shift && exec \"$@\"", "sh", std::to_string(limit),
                               binary, "upgrade", "--install"});
      (ran.exit_code == 0 ? has_worked : has_failed) = true;
      BOOST_TEST((ran.exit_code == 0 || !ran.err.empty()));
      check_recovery();
    }
  }
  BOOST_TEST(has_failed);
  BOOST_TEST(has_worked);
}

// What cannot be read is not taken for something that is not there.
BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_opened) {
  // As a stock client leaves it, which drops module blocks.
  write(".terraform.lock.hcl", "# of a client\n");
  write(".terraform/modules/vpc/main.tf", "# changed\n");
  save();
  const Ran restored = modlock({"lock"});
  BOOST_TEST(restored.out.find("module.vpc        1.0.0  restored") != std::string::npos, restored.out << restored.err);
  const std::string after = lock();
  for (const char* command : {"lock", "verify"}) {
    Fault fault{.calls = "open", .below = root(), .error = EMFILE};
    for (; fault.at < kMostCalls; ++fault.at) {
      restore();
      if (std::string(command) == "verify") {
        write(".terraform.lock.hcl", after);
      }
      const std::string before = lock();
      const Faulted ran = modlock_with(fault, {command});
      if (ran.met.empty()) {
        break;
      }
      BOOST_TEST_CONTEXT(command << " " << ran.met) {
        BOOST_TEST((lock() == before || lock() == after), lock());
        BOOST_TEST((command == std::string("lock") || ran.exit_code != 0), ran.out << ran.err);
      }
    }
    BOOST_TEST(fault.at > 5U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
