#include "backends/base/collections.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

namespace modlock::test {
namespace {

struct Item {
  std::string name;
  int size = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(collections)

BOOST_AUTO_TEST_CASE(a_search_returns_what_it_finds_or_null) {
  std::map<std::string, int, std::less<>> sizes = {{"a", 1}, {"b", 2}};
  *find_in(sizes, "b") = 3;
  BOOST_TEST(sizes.at("b") == 3);
  BOOST_TEST(find_in(sizes, "c") == nullptr);
  const std::vector<Item> items = {{"a", 1}, {"b", 2}, {"c", 2}};
  BOOST_TEST(find_where(items, [](const Item& item) { return item.size > 1; })->name == "b");
  BOOST_TEST(find_where(items, [](const Item& item) { return item.size > 2; }) == nullptr);
  BOOST_TEST(find_by(items, 2, &Item::size)->name == "b");
  BOOST_TEST(find_by(items, "d", &Item::name) == nullptr);
}

BOOST_AUTO_TEST_CASE(what_fits_keeps_its_order) {
  const std::vector<int> numbers = {3, 1, 2, 3};
  BOOST_TEST(filtered(numbers, [](int number) { return number > 1; }) == (std::vector<int>{3, 2, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(contains(numbers, 2));
  BOOST_TEST(!contains(numbers, 4));
}

BOOST_AUTO_TEST_CASE(keys_of_several_maps_are_sorted_and_unique) {
  const std::map<std::string, int> some = {{"b", 1}, {"c", 1}};
  const std::map<std::string, std::string> others = {{"a", ""}, {"b", ""}};
  BOOST_TEST(all_keys(some, others) == (std::set<std::string>{"a", "b", "c"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
