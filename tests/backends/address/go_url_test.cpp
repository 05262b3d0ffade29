#include "backends/address/go_url.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(go_url_test)

BOOST_AUTO_TEST_CASE(reprints_urls_as_go_does) {
  struct Row {
    const char* name;
    const char* text;
    const char* printed;
  };
  const Row rows[] = {
      {"plain", "https://host/path?q=1#f", "https://host/path?q=1#f"},
      {"scheme in lower case", "HTTPS://Host/Path", "https://Host/Path"},
      {"space", "https://host/a b", "https://host/a%20b"},
      {"escape that is needless is kept", "https://host/%41", "https://host/%41"},
      {"escaped slash is kept", "https://host/a%2fb", "https://host/a%2fb"},
      {"unicode", "https://host/é", "https://host/%C3%A9"},
      {"unicode host", "https://bücher.example/", "https://b%C3%BCcher.example/"},
      {"user-info", "https://u%40x:p%3Aw@host/", "https://u%40x:p%3Aw@host/"},
      {"at sign in user-info", "https://a@b@host/", "https://a%40b@host/"},
      {"bare question mark", "https://host/?", "https://host/?"},
      {"opaque", "mailto:a@b", "mailto:a@b"},
      {"empty host", "file:///a", "file:///a"},
      {"no authority", "file:/a", "file:/a"},
      {"IPv6", "https://[::1]:80/", "https://[::1]:80/"},
      {"path alone", "a/b", "a/b"},
      {"star", "*", "*"},
      {"empty fragment", "https://host/#", "https://host/"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto url = GoUrl::parse(row.text);
      BOOST_REQUIRE(url.has_value());
      BOOST_TEST(url->to_string() == row.printed);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_go_refuses) {
  for (const char* text :
       {":x", "a:b/c:d@", "host.example:x/y:z", "https://host:x/", "https://a:1:2/", "https://[::g]/", "https://[::1/",
        "https://a[b]/", "https://h%41/", "https://h ost/", "https://u /@h/", "https://host/%zz", "https://host/%4",
        "https://host/#%z", "1a:b", "https://host/\n"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto url = GoUrl::parse(text);
      const bool opaque = url && !url->opaque.empty();
      BOOST_TEST((!url || opaque));
    }
  }
  BOOST_TEST(!GoUrl::parse("https://host:x/"));
  BOOST_TEST(!GoUrl::parse("git@host:path"));
  BOOST_TEST(!GoUrl::parse("https://host/%zz"));
}

BOOST_AUTO_TEST_CASE(reads_queries) {
  bool malformed = false;
  const auto arguments = parse_query("b=1+2&a=%2F&b=&&c", &malformed);
  const QueryArguments expected = {{"b", "1 2"}, {"a", "/"}, {"b", ""}, {"c", ""}};
  BOOST_TEST((arguments == expected));
  BOOST_TEST(!malformed);
  BOOST_TEST(encode_query(arguments) == "a=%2F&b=1+2&b=&c=");
}

BOOST_AUTO_TEST_CASE(leaves_malformed_arguments_out) {
  for (const char* text : {"a=1&b=%zz", "a=1&%=2", "a=1&b;c=2"}) {
    BOOST_TEST_CONTEXT(text) {
      bool malformed = false;
      BOOST_TEST((parse_query(text, &malformed) == QueryArguments{{"a", "1"}}));
      BOOST_TEST(malformed);
    }
  }
}

BOOST_AUTO_TEST_CASE(decodes_escapes) {
  BOOST_TEST(percent_decode("a%20b%2Fc%zz%4+") == "a b/c%zz%4+");
}

BOOST_AUTO_TEST_SUITE_END()
