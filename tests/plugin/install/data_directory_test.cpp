#include "plugin/install/data_directory.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

struct LinesOfLog final : Log {
  void write(LogLevel level, std::string_view line) override {
    lines.push_back(std::string(to_string(level)) + ": " + std::string(line));
  }
  std::vector<std::string> lines;
};

struct HeldRoot {
  Result<std::optional<FileLock>> hold(LockPatience patience) { return lock_root(data, context, std::move(patience)); }

  TemporaryDirectory directory;
  DataDirectory data = find_data_directory(directory.path(), std::nullopt).value();
  fs::path guard = data.ours() / "guard";
  LinesOfLog log;
  Context context{.log = &log};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(held_roots, HeldRoot)

BOOST_AUTO_TEST_CASE(who_waits_says_for_whom_and_gives_up) {
  const auto held = hold({});
  BOOST_REQUIRE((held && *held));
  BOOST_TEST(log.lines.empty());
  BOOST_TEST(read_text(guard) == std::to_string(::getpid()) + "\n");
  const auto second = hold({.until_told = milliseconds(0), .limit = milliseconds(0)});
  BOOST_REQUIRE(!second.has_value());
  BOOST_TEST(to_string(second.error().code) == "TIMEOUT");
  const std::string me = "process " + std::to_string(::getpid()) + " (install_test)";
  BOOST_TEST(second.error().message == me + " has not come to an end in " + data.path.string());
  BOOST_TEST(second.error().hint == "wait until that process is done, or end it");
  BOOST_REQUIRE(log.lines.size() == 1U);
  BOOST_TEST(log.lines[0] == "warning: waiting for " + me + ", which writes in " + data.path.string());
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_free_again_is_taken) {
  { const auto held = hold({}); }
  BOOST_TEST(hold({.until_told = milliseconds(0), .limit = milliseconds(0)}).has_value());
  BOOST_TEST(log.lines.empty());
}

BOOST_AUTO_TEST_CASE(a_file_of_somebody_else_is_neither_read_nor_written) {
  const auto keeps = [&](const std::string& text) {
    BOOST_TEST(hold({}).has_value());
    BOOST_TEST(read_text(guard) == text);
    const auto held = FileLock::acquire(guard, {});
    BOOST_TEST(hold({.until_told = milliseconds(0), .limit = milliseconds(0)}).error().message ==
               "another process has not come to an end in " + data.path.string());
  };
  fs::create_directories(data.ours());
  write_text(guard, "1, and more than a number");
  keeps("1, and more than a number");
  fs::remove(guard);
  write_text(directory / "precious", "1");
  fs::create_hard_link(directory / "precious", guard);
  keeps("1");
}

BOOST_AUTO_TEST_SUITE_END()
