#include "plugin/functions/functions.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace modlock::eval::test {

BOOST_AUTO_TEST_CASE(functions_are_found_by_name) {
  for (const char* name : {"join", "abs", "zipmap", "yamldecode", "filesha512", "list", "assumesetlengthmin"}) {
    BOOST_TEST_CONTEXT(name) {
      const Function* function = find_function(name);
      BOOST_REQUIRE(function != nullptr);
      BOOST_TEST(function->name == name);
      BOOST_TEST(!why_not_evaluated(name).has_value());
    }
  }
  for (const char* name : {"", "try", "Join", "core::join", "timestamp", "joined"}) {
    BOOST_TEST((find_function(name) == nullptr), name);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_evaluated_says_why) {
  BOOST_TEST(*why_not_evaluated("uuid") == "its value is another at each run");
  BOOST_TEST(*why_not_evaluated("timestamp") == "its value is another at each run");
  BOOST_TEST(*why_not_evaluated("plantimestamp") == "it is known only while planning");
  BOOST_TEST(!why_not_evaluated("nosuch").has_value());
  BOOST_TEST(!why_not_evaluated("try").has_value());
}

// OpenTofu 1.13 has 136 of them outside of its console.
BOOST_AUTO_TEST_CASE(all_names_are_there_once) {
  const auto names = function_names();
  BOOST_TEST(std::is_sorted(names.begin(), names.end()));
  BOOST_TEST((std::adjacent_find(names.begin(), names.end()) == names.end()));
  BOOST_TEST(names.size() == 136U);
  for (const std::string_view name : names) {
    const Function* function = find_function(name);
    BOOST_TEST((function == nullptr || function->call != nullptr), name);
  }
}

}  // namespace modlock::eval::test
