#include "plugin/resolve/provider_selection.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/provider_plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

ProviderListing listing_of(const std::vector<std::string>& newest_first) {
  ProviderListing listing;
  for (const std::string& text : newest_first) {
    listing.versions.push_back(*ProviderVersion::parse(text));
  }
  return listing;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_selection)

BOOST_AUTO_TEST_CASE(the_newest_that_is_allowed) {
  const std::vector<std::string> all = {"3.0.0-beta1", "2.1.0", "2.0.0", "2.0.0-rc1", "1.9.0", "1.0.0+x", "1.0.0"};
  struct Row {
    const char* name;
    std::vector<std::string> constraints;
    std::string selected;
  };
  const Row rows[] = {
      {"no constraint takes the newest release", {}, "2.1.0"},
      {"one", {"~> 1.0"}, "1.9.0"},
      {"several", {">= 1.0", "vpc: < 2.1.0", "vpc.a: != 2.0.0"}, "1.9.0"},
      {"a prerelease only by name", {"3.0.0-beta1"}, "3.0.0-beta1"},
      {"a prerelease by name beside a bound", {"= 2.0.0-rc1", "vpc: >= 1.0"}, "2.0.0-rc1"},
      {"no prerelease by a bound", {"~> 3.0.0-beta1", "!= 9.0.0", "vpc: <= 3.0.0"}, ""},
      {"metadata counts for an equals sign", {"1.0.0"}, "1.0.0"},
      {"metadata named", {"= 1.0.0+x"}, "1.0.0+x"},
      {"two numbers bound the first", {"~> 1"}, "1.9.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto selected = select_version(need_of("aws", row.constraints), listing_of(all));
      BOOST_TEST((selected ? selected->to_string() : "") == row.selected);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_fits) {
  struct Row {
    const char* name;
    std::vector<std::string> listed;
    std::vector<std::string> constraints;
    Code code;
    std::string message;
    std::vector<std::string> related;
  };
  const std::vector<std::string> all = {"3.0.0", "2.0.0", "1.5.0", "1.0.0"};
  const std::string aws = "provider registry.opentofu.org/hashicorp/aws";
  const Row rows[] = {
      {"no versions", {}, {}, Code::no_matching_version, aws + " has no versions", {}},
      {"only prereleases",
       {"1.0.0-rc2", "1.0.0-rc1"},
       {},
       Code::no_matching_version,
       aws + " has no releases, only prereleases: 1.0.0-rc2, 1.0.0-rc1",
       {}},
      {"one constraint",
       all,
       {">= 9.0"},
       Code::no_matching_version,
       aws + ": no available releases match the given constraints >= 9.0.0; the newest are: 3.0.0, 2.0.0, 1.5.0, 1.0.0",
       {"the root module requires \">= 9.0\" at main.tf:2:1"}},
      {"one of several is at fault alone",
       all,
       {">= 1.0", "vpc: >= 9.0", "vpc.a: < 2.0"},
       Code::no_matching_version,
       aws + ": no available releases match the given constraints >= 1.0.0, < 2.0.0, >= 9.0.0; the newest are: 3.0.0, "
             "2.0.0, 1.5.0, 1.0.0",
       {"module \"vpc\" requires \">= 9.0\" at main.tf:3:1"}},
      {"two contradict each other",
       all,
       {">= 1.0", "vpc: < 2.0", "dns: >= 2.0, != 2.0.0", "dns.a: != 7.0.0"},
       Code::constraint_conflict,
       aws + ": no available releases match the given constraints >= 1.0.0, >= 2.0.0, < 2.0.0, != 2.0.0, != 7.0.0; the "
             "newest are: 3.0.0, 2.0.0, 1.5.0, 1.0.0",
       {"module \"vpc\" requires \"< 2.0\" at main.tf:3:1",
        "module \"dns\" requires \">= 2.0, != 2.0.0\" at main.tf:4:1"}},
      {"it takes three",
       all,
       {">= 1.5", "a: < 3.0", "b: != 2.0.0", "c: != 1.5.0", "d: >= 1.0"},
       Code::constraint_conflict,
       aws + ": no available releases match the given constraints >= 1.0.0, >= 1.5.0, != 1.5.0, != 2.0.0, < 3.0.0; the "
             "newest are: 3.0.0, 2.0.0, 1.5.0, 1.0.0",
       {"the root module requires \">= 1.5\" at main.tf:2:1", "module \"a\" requires \"< 3.0\" at main.tf:3:1",
        "module \"b\" requires \"!= 2.0.0\" at main.tf:4:1", "module \"c\" requires \"!= 1.5.0\" at main.tf:5:1"}},
      {"who says the same is named once",
       all,
       {">= 3.0", "a: < 2.0", "b: <2.0.0", "c: >= 3.0.0"},
       Code::constraint_conflict,
       aws + ": no available releases match the given constraints < 2.0.0, >= 3.0.0; the newest are: 3.0.0, 2.0.0, "
             "1.5.0, 1.0.0",
       {"the root module requires \">= 3.0\" at main.tf:2:1", "module \"a\" requires \"< 2.0\" at main.tf:3:1"}},
      {"0.0.0", {"0.0.0"}, {"0.0.0"}, Code::no_matching_version, aws + ": 0.0.0 is not a valid provider version", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto selected = select_version(need_of("aws", row.constraints), listing_of(row.listed));
      BOOST_TEST_REQUIRE(!selected.has_value());
      const Error& error = selected.error();
      BOOST_TEST((error.code == row.code));
      BOOST_TEST(error.message == row.message);
      BOOST_TEST(error.subject == "provider.registry.opentofu.org/hashicorp/aws");
      BOOST_TEST(error.location.has_value());
      BOOST_TEST(!error.hint.empty());
      std::vector<std::string> related;
      for (const Related& one : error.related) {
        related.push_back(one.message + " at " + to_string(one.location));
      }
      BOOST_TEST(related == row.related, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_locked_is_excluded) {
  const ProviderNeed need = need_of("aws", {">= 1.0", "vpc: ~> 2.0", "dns: != 1.5.0"});
  const Error error = excluded_version(need, *ProviderVersion::parse("1.5.0"), ClientKind::opentofu);
  BOOST_TEST((error.code == Code::constraint_conflict));
  BOOST_TEST(error.message ==
             "locked provider registry.opentofu.org/hashicorp/aws 1.5.0 does not match configured version constraint "
             ">= 1.0.0, != 1.5.0, ~> 2.0; must use tofu init -upgrade to allow selection of new versions");
  BOOST_TEST(error.hint == "run: tofu-modlock upgrade --target provider.registry.opentofu.org/hashicorp/aws");
  BOOST_TEST(to_string(*error.location) == "main.tf:3:1");
  BOOST_TEST_REQUIRE(error.related.size() == 2U);
  BOOST_TEST(error.related[0].message == "module \"vpc\" requires \"~> 2.0\"");
  BOOST_TEST(error.related[1].message == "module \"dns\" requires \"!= 1.5.0\"");
  const Error terraform = excluded_version(need, *ProviderVersion::parse("1.5.0"), ClientKind::terraform);
  BOOST_TEST(terraform.message.find("must use terraform init -upgrade") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_locked_is_gone) {
  const Error error = vanished_version(need_of("aws"), *ProviderVersion::parse("1.5.0"));
  BOOST_TEST(error.message ==
             "provider registry.opentofu.org/hashicorp/aws: the previously-selected version 1.5.0 is no longer "
             "available");
  BOOST_TEST(exit_code(error) == 5);
}

BOOST_AUTO_TEST_SUITE_END()
