#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "plugin/lock/edit.h"
#include "tests/plugin/lock/samples.h"
#include "tests/plugin/lock/shell.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// What diff(1) prints for the two texts.
std::string system_diff(const TemporaryDirectory& directory, const std::string& before, const std::string& after) {
  directory.write("before", before);
  directory.write("after", after);
  const ShellResult result = run_shell("cd '" + directory.path().string() +
                                       "' && LC_ALL=C diff -u --label lock.hcl --label lock.hcl before after");
  BOOST_TEST_REQUIRE(result.exit_code == (before == after ? 0 : 1), "diff(1) is needed");
  return result.output;
}

ModuleLock module_of(int number) {
  const std::string text = std::to_string(number);
  return {.key = "m" + text,
          .version = "1." + text + ".0",
          .source = "git::https://example.com/m" + text + ".git",
          .constraints = "~> 1." + text,
          .hashes = {"git:" + text, "h1:" + text}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unified)

BOOST_AUTO_TEST_CASE(text) {
  BOOST_TEST(unified_diff("x", "a\n", "a\n") == "");
  BOOST_TEST(unified_diff("x", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nsix\n") ==
             "--- x\n+++ x\n@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+six\n");
  BOOST_TEST(unified_diff("x", "", "a") == "--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
}

BOOST_AUTO_TEST_CASE(same_as_diff) {
  const LockFile empty;
  const LockFile with_providers{.text = kHeader + kProviders};
  ModuleLocks ten;
  for (int i = 0; i < 10; ++i) {
    ten.emplace("m" + std::to_string(i), module_of(i));
  }
  ModuleLocks nine = ten;
  nine.erase("m4");
  ModuleLocks upgraded = ten;
  upgraded.at("m3").version = "2.0.0";
  upgraded.at("m3").hashes = {"git:333", "h1:333"};
  upgraded.at("m9").version = "2.0.0";
  upgraded.at("m0").constraints.reset();
  const std::string all = write_lock(with_providers, ten);
  struct Row {
    const char* name;
    std::string before;
    std::string after;
  };
  const Row rows[] = {
      {"created", "", write_lock(empty, ten)},
      {"deleted", all, ""},
      {"first modules", with_providers.text, all},
      {"modules dropped", all, with_providers.text},
      {"one module gone", all, write_lock(with_providers, nine)},
      {"one module new", write_lock(with_providers, nine), all},
      {"upgraded", all, write_lock(with_providers, upgraded)},
      {"upgraded and one gone", write_lock(with_providers, nine), write_lock(with_providers, upgraded)},
      {"no final line end", "a\nb", "a\nc"},
      {"final line end added", "a\nb", "a\nb\n"},
      {"final line end lost", "a\nb\n", "a\nb"},
      {"crlf", "a\r\nb\r\n", "a\r\nc\r\n"},
      {"equal", all, all},
  };
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(unified_diff("lock.hcl", row.before, row.after) == system_diff(directory, row.before, row.after));
    }
  }
}

// Lines that occur once and keep their order leave only one smallest diff.
BOOST_AUTO_TEST_CASE(generated_texts_same_as_diff) {
  std::mt19937 random(11);
  const TemporaryDirectory directory;
  for (int round = 0; round < 60; ++round) {
    std::string before;
    std::string after;
    for (int line = 0; line < 60; ++line) {
      const std::string text = "line " + std::to_string(line) + "\n";
      const auto what = random() % 12;
      before += what == 0 ? "" : text;
      after += what == 1 ? "" : what == 2 ? "changed " + text : text;
    }
    BOOST_TEST_CONTEXT("round " << round) {
      BOOST_TEST_REQUIRE(unified_diff("lock.hcl", before, after) == system_diff(directory, before, after));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
