#include <boost/test/unit_test.hpp>

#include "plugin/lock/lock_file.h"
#include "tests/plugin/lock/samples.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(lock_reader)

BOOST_AUTO_TEST_CASE(everything_is_read) {
  const std::string text = kHeader + kProviders + "\n" + kNestedBlock + "module a {\n  source = \"s\"\n}\n";
  const auto lock = parse_lock(text, ".terraform.lock.hcl");
  BOOST_TEST_REQUIRE(lock.has_value());
  BOOST_TEST(lock->exists);
  BOOST_TEST(lock->text == text);
  BOOST_TEST((lock->modules == locks({nested_module(), {.key = "a", .source = "s"}})));
  BOOST_TEST_REQUIRE(lock->providers.size() == 2U);
  const auto& [address, provider] = *lock->providers.begin();
  BOOST_TEST(address.to_string() == "registry.opentofu.org/hashicorp/null");
  BOOST_TEST(provider.version.to_string() == "3.2.1");
  BOOST_TEST(provider.constraints == "~> 3.0");
  BOOST_TEST(provider.hashes == std::vector<std::string>{"h1:2y06Ykj0FRneZfGCTxI9wRTori8iB7ZL5kQ6YyEnh84="},
             boost::test_tools::per_element());
  BOOST_TEST(lock->provider_ranges.at(address).start.line == 4U);
  const Range& range = lock->module_ranges.at("vpc.nested");
  BOOST_TEST(range.start.line == 16U);
  BOOST_TEST(text.substr(range.start.byte, range.end.byte - range.start.byte) + "\n" == kNestedBlock);
}

BOOST_AUTO_TEST_CASE(empty_texts_are_locks) {
  for (const std::string text : {"", "\n", "# c", "\xEF\xBB\xBF"}) {
    const auto lock = parse_lock(text, "l");
    BOOST_TEST_REQUIRE(lock.has_value());
    BOOST_TEST(lock->modules.empty());
    BOOST_TEST(lock->providers.empty());
  }
}

BOOST_AUTO_TEST_CASE(what_opentofu_accepts) {
  struct Row {
    const char* name;
    std::string_view text;
  };
  const Row rows[] = {
      {"empty constraints", "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  constraints = \"\"\n}\n"},
      {"unknown hash scheme", "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  hashes = [\"test:x\"]\n}\n"},
      {"one line", "provider \"a/b/c\" { version = \"1.0.0\" }\n"},
      {"heredoc", "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  hashes = [<<E\nh1:x\nE\n  ]\n}\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(parse_lock(row.text, "l").has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(hashes_are_sorted_once) {
  const auto lock =
      parse_lock("module a {\n  source = \"s\"\n  hashes = [\"zh:b\", \"git:x\", \"zh:b\", \"zh:a\"]\n}\n", "l");
  BOOST_TEST_REQUIRE(lock.has_value());
  const ModuleLock& module = lock->modules.at("a");
  const std::vector<std::string> hashes = {"git:x", "zh:a", "zh:b"};
  BOOST_TEST(module.hashes == hashes, boost::test_tools::per_element());
  BOOST_TEST(module.hash_value("zh") == "a");
  BOOST_TEST(module.hash_value("git") == "x");
  BOOST_TEST(module.hash_value("g") == "");
  BOOST_TEST(module.hash_value("none") == "");
}

BOOST_AUTO_TEST_CASE(errors) {
  struct Row {
    const char* name;
    std::string_view text;
    std::string_view message;
    std::size_t line;
    std::size_t column;
  };
  const Row rows[] = {
      {"argument", "x = 1\n", "expected a provider or module block, found the argument \"x\"", 1, 1},
      {"block", "\nresource \"a\" {\n}\n", "expected a provider or module block, found a block \"resource\"", 2, 1},
      {"no label", "module {\n}\n", "a module block needs one label, the call's key, found none", 1, 1},
      {"no provider label", "provider {\n}\n", "a provider block needs one label, the provider's address, found none",
       1, 1},
      {"two labels", "module \"a\" \"b\" {\n}\n", "a module block needs one label, the call's key, found 2", 1, 12},
      {"empty label", "module \"\" {\n}\n", "the label of a module block must be the call's key, found an empty string",
       1, 8},
      {"twice", "module \"a\" {\n  source = \"s\"\n}\nmodule \"a\" {\n  source = \"s\"\n}\n",
       "module \"a\" is locked twice", 4, 1},
      {"provider twice",
       "provider \"a/b/c\" {\n  version = \"1.0.0\"\n}\nprovider \"a/b/c\" {\n  version = \"1.0.0\"\n}\n",
       "provider \"a/b/c\" is locked twice", 4, 1},
      {"no source", "module \"a\" {\n  version = \"1.0.0\"\n}\n", "module \"a\" lacks the argument \"source\"", 1, 1},
      {"no version", "provider \"a/b/c\" {\n}\n", "provider \"a/b/c\" lacks the argument \"version\"", 1, 1},
      {"unknown", "module \"a\" {\n  source = \"s\"\n  commit = \"x\"\n  when = 1\n}\n",
       "module \"a\" has unknown arguments: \"commit\", \"when\" (known are version, source, constraints, hashes)", 3,
       3},
      {"unknown in a provider", "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  source = \"s\"\n}\n",
       "provider \"a/b/c\" has unknown arguments: \"source\" (known are version, constraints, hashes)", 3, 3},
      {"inner block", "module \"a\" {\n  source = \"s\"\n  b {\n  }\n}\n",
       "module \"a\" must not contain blocks, found \"b\"", 3, 3},
      {"source no string", "module \"a\" {\n  source = 1\n}\n",
       "the source of module \"a\" must be a string, found a number", 2, 12},
      {"source null", "module \"a\" {\n  source = null\n}\n", "the source of module \"a\" must be a string, found null",
       2, 12},
      {"source dynamic", "module \"a\" {\n  source = var.x\n}\n",
       "the source of module \"a\" must be a string, found an expression", 2, 12},
      {"constraints list", "module \"a\" {\n  source = \"s\"\n  constraints = [\"1\"]\n}\n",
       "the constraints of module \"a\" must be a string, found a list", 3, 17},
      {"hashes string", "module \"a\" {\n  source = \"s\"\n  hashes = \"h1:x\"\n}\n",
       "the hashes of module \"a\" must be a list of strings, found a string", 3, 12},
      {"hash number", "module \"a\" {\n  source = \"s\"\n  hashes = [\"h1:x\", 2]\n}\n",
       "each hash of module \"a\" must be a string, found a number", 3, 21},
      {"hash without scheme", "module \"a\" {\n  source = \"s\"\n  hashes = [\"abc\"]\n}\n",
       "the hash \"abc\" of module \"a\" lacks its scheme, such as \"h1:\"", 3, 13},
      {"two hashes of a scheme that has one", "module \"a\" {\n  source = \"s\"\n  hashes = [\"h1:a\", \"h1:b\"]\n}\n",
       "module \"a\" has more than one \"h1:\" hash: one package has only one", 3, 12},
      {"hash with empty scheme", "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  hashes = [\":abc\"]\n}\n",
       "the hash \":abc\" of provider \"a/b/c\" lacks its scheme, such as \"h1:\"", 3, 13},
      {"empty provider hashes", "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  hashes = []\n}\n",
       "the hashes of provider \"a/b/c\" must not be an empty list: leave the argument out", 3, 12},
      {"version with v", "module \"a\" {\n  version = \"v1.0.0\"\n  source = \"s\"\n}\n",
       "the version of module \"a\" must be written as \"1.0.0\", found \"v1.0.0\"", 2, 13},
      {"short version", "module \"a\" {\n  version = \"1.2\"\n  source = \"s\"\n}\n",
       "the version of module \"a\" must be written as \"1.2.0\", found \"1.2\"", 2, 13},
      {"no version number", "module \"a\" {\n  version = \"main\"\n  source = \"s\"\n}\n",
       "the version \"main\" of module \"a\" is not a version number", 2, 13},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto lock = parse_lock(row.text, ".terraform.lock.hcl");
      BOOST_TEST_REQUIRE(!lock.has_value());
      const Error& error = lock.error();
      BOOST_TEST((error.code == Code::lock_parse));
      BOOST_TEST(error.message == row.message);
      BOOST_TEST_REQUIRE((error.location && error.location->range));
      BOOST_TEST(error.location->path == ".terraform.lock.hcl");
      BOOST_TEST(error.location->range->start.line == row.line);
      BOOST_TEST(error.location->range->start.column == row.column);
      BOOST_TEST(error.hint == "fix the file manually, or restore it from version control; nothing was written");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_second_block_names_the_first) {
  const auto lock =
      parse_lock("module \"a\" {\n  source = \"s\"\n}\n\nmodule \"a\" {\n  source = \"t\"\n}\n", ".terraform.lock.hcl");
  BOOST_TEST_REQUIRE(!lock.has_value());
  BOOST_TEST_REQUIRE(lock.error().related.size() == 1U);
  BOOST_TEST(lock.error().related[0].message == "the first block is here");
  BOOST_TEST(to_string(lock.error().related[0].location) == ".terraform.lock.hcl:1:1");
}

BOOST_AUTO_TEST_CASE(syntax_errors_are_lock_errors) {
  const std::string whole = kHeader + "\n" + kNestedBlock;
  for (const std::string& text : {std::string("module \"a\" {\n  source = \"s\n}\n"), std::string("module \"a\" {"),
                                  whole.substr(0, whole.size() - 3), std::string("<<<<<<< HEAD\n"),
                                  std::string("module \"a\" {\n  source = \"\xFF\"\n}\n")}) {
    BOOST_TEST_CONTEXT(text) {
      const auto lock = parse_lock(text, "l");
      BOOST_TEST_REQUIRE(!lock.has_value());
      BOOST_TEST((lock.error().code == Code::lock_parse));
      BOOST_TEST((lock.error().location && lock.error().location->range));
      BOOST_TEST(!lock.error().hint.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(nesting_has_its_limit) {
  const auto lock = parse_lock("module \"a\" {\n  hashes = " + std::string(300, '['), "l");
  BOOST_TEST_REQUIRE(!lock.has_value());
  BOOST_TEST((lock.error().code == Code::limit_exceeded));
  BOOST_TEST(lock.error().message == "this is nested more than 256 levels deep, which is the limit");
  BOOST_TEST(to_string(*lock.error().location) == "l:2:267");
  BOOST_TEST(lock.error().hint == "fix the file manually, or restore it from version control; nothing was written");
}

BOOST_AUTO_TEST_SUITE_END()
