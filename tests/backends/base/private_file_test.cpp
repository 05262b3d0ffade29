#include "backends/base/private_file.h"

#include <sys/stat.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(private_file)

BOOST_AUTO_TEST_CASE(is_its_owners_alone_and_goes_with_the_object) {
  const TemporaryDirectory directory;
  const ScopedEnvironment temporary("TMPDIR", directory.path().string());
  {
    const auto file = PrivateFile::create("rc", "secret");
    BOOST_REQUIRE(file.has_value());
    BOOST_TEST(read_text(file->path()) == "secret");
    BOOST_TEST(mode_of(file->path()) == 0600U);
    BOOST_TEST(mode_of(file->path().parent_path()) == 0700U);
    BOOST_TEST(file->path().parent_path().parent_path() == directory.path());
  }
  BOOST_TEST(std::filesystem::is_empty(directory.path()));
}

// The directory that a killed process leaves is locked by nobody.
BOOST_AUTO_TEST_CASE(removes_what_is_abandoned_and_nothing_else) {
  const TemporaryDirectory directory;
  const ScopedEnvironment temporary("TMPDIR", directory.path().string());
  const auto in_use = PrivateFile::create("rc", "secret");
  BOOST_REQUIRE(in_use.has_value());
  directory.write("tofu-modlock-private-killed/rc", "secret");
  directory.write("tofu-modlock-private-killed/0/HEAD", "ref: refs/heads/main\n");
  directory.write("tofu-modlock-other/rc", "");
  directory.write("elsewhere/rc", "");
  directory.write("tofu-modlock-private-file", "");
  std::filesystem::create_directory_symlink("elsewhere", directory / "tofu-modlock-private-link");
  PrivateFile::remove_abandoned();
  BOOST_TEST(!std::filesystem::exists(directory / "tofu-modlock-private-killed"));
  BOOST_TEST(read_text(in_use->path()) == "secret");
  for (const char* kept :
       {"tofu-modlock-other/rc", "elsewhere/rc", "tofu-modlock-private-file", "tofu-modlock-private-link/rc"}) {
    BOOST_TEST(std::filesystem::exists(directory / kept), kept);
  }
}

BOOST_AUTO_TEST_CASE(many_at_once_take_nothing_from_each_other) {
  const TemporaryDirectory directory;
  const ScopedEnvironment temporary("TMPDIR", directory.path().string());
  std::atomic<int> whole = 0;
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&whole] {
      for (int round = 0; round < kRounds; ++round) {
        PrivateFile::remove_abandoned();
        const auto file = PrivateFile::create("rc", "secret");
        whole += file && read_text(file->path()) == "secret" ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  BOOST_TEST(whole == kThreads * kRounds);
  BOOST_TEST(std::filesystem::is_empty(directory.path()));
}

BOOST_AUTO_TEST_CASE(needs_a_directory) {
  const ScopedEnvironment temporary("TMPDIR", "/nonexistent/directory");
  const auto refused = PrivateFile::create("rc", "secret");
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "IO_ERROR");
}

BOOST_AUTO_TEST_SUITE_END()
