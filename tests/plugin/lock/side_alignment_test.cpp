#include "plugin/lock/side_alignment.h"

#include <boost/test/unit_test.hpp>
#include <utility>

#include "tests/plugin/lock/samples.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// "key=name version": entries of one name and version lock the same.
LockFile lock_of(const std::vector<std::pair<std::string, std::string>>& entries, const std::string& rest = {}) {
  std::string text = kHeader;
  for (const auto& [key, content] : entries) {
    const std::size_t space = content.find(' ');
    const std::string name = content.substr(0, space);
    const std::string version = content.substr(space + 1) + ".0.0";
    text += "\n" + write_module_block({.key = key,
                                       .version = version,
                                       .source = "git::https://git.example.test/" + name + ".git",
                                       .hashes = {"git:" + version, "h1:" + name + version}});
  }
  auto lock = parse_lock(text + rest, "l");
  BOOST_TEST_REQUIRE(lock.has_value());
  return std::move(*lock);
}

std::string keys_of(const LockFile& lock) {
  std::string text;
  for (const auto& [key, entry] : lock.modules) {
    BOOST_TEST(entry.key == key);
    text += (text.empty() ? "" : ", ") + key + " " + entry.version.value_or("").substr(0, 1);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(side_alignment)

BOOST_AUTO_TEST_CASE(renames) {
  using Entries = std::vector<std::pair<std::string, std::string>>;
  struct Row {
    const char* name;
    Entries base, ours, theirs;
    const char* base_keys;
    const char* our_keys;
    const char* their_keys;
  };
  const Row rows[] = {
      {"a change meets a rename", {{"a", "x 1"}}, {{"b", "x 1"}}, {{"a", "x 2"}}, "b 1", "b 1", "b 2"},
      {"a rename meets a change", {{"a", "x 1"}}, {{"a", "x 2"}}, {{"b", "x 1"}}, "b 1", "b 2", "b 1"},
      {"what is below goes along",
       {{"a", "x 1"}, {"a.c", "y 1"}},
       {{"b", "x 1"}, {"b.c", "y 1"}},
       {{"a", "x 2"}, {"a.c", "y 1"}, {"a.d", "z 1"}},
       "b 1, b.c 1",
       "b 1, b.c 1",
       "b 2, b.c 1, b.d 1"},
      {"a change below a rename",
       {{"a", "x 1"}, {"a.c", "y 1"}},
       {{"b", "x 1"}, {"b.c", "y 1"}},
       {{"a", "x 1"}, {"a.c", "y 2"}},
       "b 1, b.c 1",
       "b 1, b.c 1",
       "b 1, b.c 2"},
      {"a move into a local module",
       {{"a", "x 1"}},
       {{"app.a", "x 1"}},
       {{"a", "x 2"}},
       "app.a 1",
       "app.a 1",
       "app.a 2"},
      {"equal entries go by the ends of their names",
       {{"app.a", "x 1"}, {"app.b", "x 1"}},
       {{"web.a", "x 1"}, {"web.b", "x 1"}},
       {{"app.a", "x 2"}, {"app.b", "x 1"}},
       "app.b 1, web.a 1",
       "web.a 1, web.b 1",
       "app.b 1, web.a 2"},
      {"no change to keep", {{"a", "x 1"}}, {{"b", "x 1"}}, {{"a", "x 1"}}, "a 1", "b 1", "a 1"},
      {"both renamed it", {{"a", "x 1"}}, {{"b", "x 1"}}, {{"c", "x 1"}}, "a 1", "b 1", "c 1"},
      {"removed by the other side",
       {{"a", "x 1"}, {"d", "y 1"}},
       {{"b", "x 1"}, {"d", "y 1"}},
       {{"d", "y 1"}},
       "a 1, d 1",
       "b 1, d 1",
       "d 1"},
      {"renamed and changed at once is a new call",
       {{"a", "x 1"}},
       {{"b", "x 2"}},
       {{"a", "x 3"}},
       "a 1",
       "b 2",
       "a 3"},
      {"two new calls could be it",
       {{"a", "x 1"}},
       {{"b", "x 1"}, {"c", "x 1"}},
       {{"a", "x 2"}},
       "a 1",
       "b 1, c 1",
       "a 2"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LockFile base = lock_of(row.base);
      LockFile sides[] = {lock_of(row.ours), lock_of(row.theirs)};
      align_sides(base, sides);
      BOOST_TEST(keys_of(base) == row.base_keys);
      BOOST_TEST(keys_of(sides[0]) == row.our_keys);
      BOOST_TEST(keys_of(sides[1]) == row.their_keys);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_side_that_a_client_wrote_keeps_the_blocks) {
  LockFile base = lock_of({{"a", "x 1"}, {"d", "y 1"}}, kProviders);
  LockFile sides[] = {lock_of({{"a", "x 2"}, {"d", "y 1"}}, kProviders), lock_of({}, kProviders), LockFile{}};
  const std::string ours = sides[0].text;
  align_sides(base, sides);
  BOOST_TEST(sides[0].text == ours);
  BOOST_TEST(keys_of(sides[1]) == "a 1, d 1");
  BOOST_TEST(sides[1].providers.size() == 2U);
  BOOST_TEST(sides[2].text == "");  // it does not have the file
}

BOOST_AUTO_TEST_CASE(ancestors) {
  const std::string a1 = lock_of({{"a", "x 1"}, {"d", "y 1"}}).text;
  const auto nested = [&](const std::string& ours, const std::string& theirs) {
    return "<<<<<<<<< Temporary merge branch 1\n" + ours + "=========\n" + theirs +
           ">>>>>>>>> Temporary merge branch 2\n";
  };
  struct Row {
    const char* name;
    std::string text;
    const char* keys;  // null: unknown
  };
  const Row rows[] = {
      {"a lock file", a1, "a 1, d 1"},
      {"empty", "", ""},
      {"parts that agree on one entry", nested(a1, lock_of({{"a", "x 2"}, {"d", "y 1"}}).text), "d 1"},
      {"a part that is no lock file", nested(a1, "module {\n"), nullptr},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto ancestor = parse_ancestor(row.text, "l");
      BOOST_TEST_REQUIRE(ancestor.has_value());
      BOOST_TEST(ancestor->has_value() == (row.keys != nullptr));
      if (*ancestor && row.keys != nullptr) {
        BOOST_TEST(keys_of(**ancestor) == row.keys);
      }
    }
  }
  BOOST_TEST((parse_ancestor("module {\n", "l").error().code == Code::lock_parse));
}

BOOST_AUTO_TEST_SUITE_END()
