#include "backends/address/hostname.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(hostname_test)

BOOST_AUTO_TEST_CASE(gives_both_forms_of_a_name) {
  struct Row {
    const char* name;
    const char* text;
    const char* ascii;
    const char* display;
  };
  const Row rows[] = {
      {"plain", "example.com", "example.com", "example.com"},
      {"upper case", "EXAMPLE.com", "example.com", "example.com"},
      {"trailing dot", "example.com.", "example.com.", "example.com."},
      {"IPv4 address", "127.0.0.1", "127.0.0.1", "127.0.0.1"},
      {"unicode", "bücher.example", "xn--bcher-kva.example", "bücher.example"},
      {"unicode in upper case", "BÜCHER.example", "xn--bcher-kva.example", "bücher.example"},
      {"sharp s stays", "faß.example", "xn--fa-hia.example", "faß.example"},
      {"punycode", "xn--bcher-kva.example", "xn--bcher-kva.example", "bücher.example"},
      {"ideographic full stop", "日本。例", "xn--wgv71a.xn--fsq", "日本.例"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto forms = lookup_host(row.text);
      BOOST_REQUIRE(forms.has_value());
      BOOST_TEST(forms->ascii == row.ascii);
      BOOST_TEST(forms->display == row.display);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_names_that_are_not_valid) {
  for (const char* text : {"ex_ample.com", "-ex.com", "ex-.com", "ab--c.example", "a b", "[::1]", "bü;cher.example",
                           "bü_cher.example", "a／b.example", "a℀.example", "xn--hthoc.g"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(!lookup_host(text));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
