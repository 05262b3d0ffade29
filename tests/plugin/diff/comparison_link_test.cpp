#include "plugin/diff/comparison_link.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(comparison_links)

BOOST_AUTO_TEST_CASE(the_page_of_each_host) {
  struct Row {
    const char* source;
    const char* page;
  };
  const Row rows[] = {
      {"git::https://github.com/acme/net.git//sub?ref=v1", "https://github.com/acme/net/compare/v1.0.0...net/v2.0.0"},
      {"git::ssh://git@gitlab.example.com:2222/a/b/net.git",
       "https://gitlab.example.com/a/b/net/-/compare/v1.0.0...net/v2.0.0"},
      {"git::https://gitea.example.com:3000/acme/net",
       "https://gitea.example.com:3000/acme/net/compare/v1.0.0...net/v2.0.0"},
      {"git::https://codeberg.org/acme/net", "https://codeberg.org/acme/net/compare/v1.0.0...net/v2.0.0"},
      {"git::https://bitbucket.org/acme/net.git",
       "https://bitbucket.org/acme/net/branches/compare/net/v2.0.0%0Dv1.0.0"},
      {"git::https://github.example.com/a)[x](b)<b>/c",
       "https://github.example.com/a%29%5Bx%5D%28b%29%3Cb%3E/c/compare/v1.0.0...net/v2.0.0"},
      {"git::https://notgithub.com/acme/net", ""},
      {"git::https://example.com/net.git", ""},
      {"oci://github.com/acme/net", ""},
      {"hashicorp/consul/aws", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.source) {
      const auto address = parse_source(row.source);
      BOOST_REQUIRE(address);
      BOOST_TEST(comparison_link(address->source, "v1.0.0", "net/v2.0.0") == row.page);
      BOOST_TEST(comparison_link(address->source, "", "v2.0.0") == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reference_is_encoded) {
  const auto address = parse_source("github.com/acme/net");
  BOOST_REQUIRE(address);
  BOOST_TEST(comparison_link(address->source, "a b", "c#d") == "https://github.com/acme/net/compare/a%20b...c%23d");
}

BOOST_AUTO_TEST_SUITE_END()
