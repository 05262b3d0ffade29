// Limits that the user has set for the process: each is named, with what raises it.
#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/module_registry.h"

namespace modlock::test {
namespace {

// The sanitizers open files of their own.
boost::test_tools::assertion_result has_no_sanitizer(boost::unit_test::test_unit_id) {
#ifdef MODLOCK_ADDRESS_SANITIZER
  boost::test_tools::assertion_result result(false);
#else
  boost::test_tools::assertion_result result(true);
#endif
  result.message() << "needs a build without AddressSanitizer";
  return result;
}

struct Limited : Scene {
  Ran limited(const std::string& ulimit, const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"sh", "-c", "ulimit " + ulimit + R"( && exec "$0" "$@")", binary};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return program(argv);
  }
  static bool says(const Ran& ran, const std::string& text) {
    return (ran.out + ran.err).find(text) != std::string::npos;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(limits, Limited)

// A run that names this suite would also enable a disabled case.
BOOST_AUTO_TEST_CASE(open_files, *boost::unit_test::precondition(has_no_sanitizer)) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  int failures = 0;
  for (int limit = 4; limit <= 24; ++limit) {
    BOOST_TEST_CONTEXT(limit) {
      std::filesystem::remove_all(cache());
      std::filesystem::remove(root() / ".terraform.lock.hcl");
      const Ran ran = limited("-n " + std::to_string(limit), {"lock"});
      if (ran.exit_code == 0 || ran.exit_code == 127) {  // the loader needs some too
        continue;
      }
      ++failures;
      BOOST_TEST(ran.exit_code == 1, ran.err);
      BOOST_TEST((says(ran, "the limit of open files of this process is reached [IO_ERROR]") ||
                  says(ran, "it may not open more files [IO_ERROR]")),
                 ran.err);
      BOOST_TEST((says(ran, "hint: raise it (ulimit -n)") || says(ran, "hint: raise the limit (ulimit -n)")), ran.err);
    }
  }
  BOOST_TEST(failures > 2);
}

BOOST_AUTO_TEST_CASE(size_of_files_of_ours) {
  ModuleRegistry server;
  server.serve("/p.zip", {.body = make_zip({{.name = "main.tf", .content = "# vpc\n"},
                                            {.name = "large", .content = std::string(std::size_t{1} << 20U, 'x')}}),
                          .type = "application/zip"});
  write("main.tf", module_call("vpc", server.url() + "/p.zip"));
  const Ran ran = limited("-f 200", {"lock"});
  BOOST_TEST(ran.exit_code == 1, ran.exit_code);
  BOOST_TEST(says(ran, ": the limit of the size of a file is reached [IO_ERROR]"), ran.err);
  BOOST_TEST(says(ran, "hint: raise it (ulimit -f)"), ran.err);
}

BOOST_AUTO_TEST_CASE(size_of_files_of_git) {
  GitRepository& vpc = repository("vpc.git");
  std::string noise;
  for (unsigned i = 0, x = 1; i < 300'000; ++i) {
    x = x * 1664525U + 1013904223U;
    noise += static_cast<char>(x >> 24U);
  }
  release(vpc, "1.0.0", {{"large", noise}});
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  const Ran ran = limited("-f 100", {"lock"});
  BOOST_TEST(ran.exit_code != 0);
  BOOST_TEST(says(ran, "note: a file may have 51200 bytes here: raise that limit (ulimit -f) if it is too low"),
             ran.err);
}

BOOST_AUTO_TEST_CASE(memory) {
  if (limited("-v 1000000", {"--version"}).exit_code != 0) {
    BOOST_TEST_MESSAGE("skipped: the program does not start with a limit of memory");
    return;
  }
  std::string calls;
  for (int i = 0; i < 8'000; ++i) {
    calls += module_call("m" + std::to_string(i), "./m");
  }
  write("main.tf", calls);
  write("m/main.tf", "");
  int failures = 0;
  for (int mebibytes = 64; mebibytes <= 192; mebibytes += 16) {
    BOOST_TEST_CONTEXT(mebibytes) {
      const Ran ran = limited("-v " + std::to_string(mebibytes * 1024), {"inspect", "--json"});
      if (ran.exit_code == 0 || ran.exit_code == 127) {
        continue;
      }
      ++failures;
      BOOST_TEST(ran.exit_code == 1, ran.exit_code << ran.err);
      BOOST_TEST(says(ran, "(ulimit -v)"), ran.out << ran.err);
    }
  }
  BOOST_TEST(failures > 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
