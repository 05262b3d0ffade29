#include "backends/http/url.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/http/http_client.h"

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(url)

BOOST_AUTO_TEST_CASE(printable) {
  struct Row {
    const char* name;
    std::string url;
    std::string expected;
  };
  const Row rows[] = {
      {"plain", "https://h.test/a/b", "https://h.test/a/b"},
      {"port", "https://h.test:8443/a", "https://h.test:8443/a"},
      {"default port", "https://h.test:443/a", "https://h.test/a"},
      {"no path", "https://h.test", "https://h.test"},
      {"user-info", "https://user:s3cret@h.test/a", "https://h.test/a"},
      {"an @ in the password", "https://user:s3@cret@h.test/a", "https://h.test/a"},
      {"query", "https://h.test/a?token=s3cret", "https://h.test/a"},
      {"query without a path", "https://h.test?token=s3cret", "https://h.test"},
      {"fragment", "https://h.test/a#s3cret", "https://h.test/a"},
      {"escapes stay", "https://h.test/a%2Fb%20c", "https://h.test/a%2Fb%20c"},
      {"IPv6", "https://[::1]:8443/a", "https://[::1]:8443/a"},
      {"bytes that are no UTF-8", "https://h.test/a\xff", "https://h.test/a\xef\xbf\xbd"},
      {"C1 control", "https://h.test/a\xc2\x85", "https://h.test/a\\xc2\\x85"},
      {"too long", "https://h.test/" + std::string(300, 'x'), "https://h.test/" + std::string(185, 'x') + "…"},
      {"no URL", "token s3cret", "an invalid URL"},
      {"control", "https://h.test/a\nb", "an invalid URL"},
      {"no scheme", "//h.test/s3cret", "an invalid URL"},
      {"empty", "", "an invalid URL"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(printable_url(row.url) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(resolved) {
  // The examples of RFC 3986 section 5.4, and what servers send beyond them.
  constexpr const char* kBase = "http://a/b/c/d;p?q";
  struct Row {
    const char* base;
    const char* reference;
    const char* expected;  // empty: none
  };
  const Row rows[] = {
      {kBase, "g", "http://a/b/c/g"},
      {kBase, "./g", "http://a/b/c/g"},
      {kBase, "g/", "http://a/b/c/g/"},
      {kBase, "/g", "http://a/g"},
      {kBase, "//g", "http://g"},
      {kBase, "?y", "http://a/b/c/d;p?y"},
      {kBase, "g?y", "http://a/b/c/g?y"},
      {kBase, "#s", "http://a/b/c/d;p?q#s"},
      {kBase, "g#s", "http://a/b/c/g#s"},
      {kBase, "g?y#s", "http://a/b/c/g?y#s"},
      {kBase, ";x", "http://a/b/c/;x"},
      {kBase, "", "http://a/b/c/d;p?q"},
      {kBase, ".", "http://a/b/c/"},
      {kBase, "./", "http://a/b/c/"},
      {kBase, "..", "http://a/b/"},
      {kBase, "../", "http://a/b/"},
      {kBase, "../g", "http://a/b/g"},
      {kBase, "../..", "http://a/"},
      {kBase, "../../g", "http://a/g"},
      {kBase, "../../../g", "http://a/g"},
      {kBase, "/../g", "http://a/g"},
      {kBase, "g.", "http://a/b/c/g."},
      {kBase, "..g", "http://a/b/c/..g"},
      {kBase, "./../g", "http://a/b/g"},
      {kBase, "./g/.", "http://a/b/c/g/"},
      {kBase, "g/../h", "http://a/b/c/h"},
      {kBase, "g;x=1/../y", "http://a/b/c/y"},
      {kBase, "g?y/../x", "http://a/b/c/g?y/../x"},
      {kBase, "a//b", "http://a/b/c/a//b"},
      {kBase, "HTTPS://H/x", "https://H/x"},
      {"https://u:p@h:1/a", "b", "https://u:p@h:1/b"},
      {"https://u:p@h:1/a", "//o/b", "https://o/b"},
      {"https://h", "b", "https://h/b"},
      {"https://h?q", "b", "https://h/b"},
      {"https://h/a", "b c", "https://h/b%20c"},
      {"https://h/a", "b%20c%2f", "https://h/b%20c%2f"},
      {"https://h/a", "\xc3\xa4?\xc3\xb6", "https://h/%C3%A4?%C3%B6"},
      {"https://h/a", "b\"<>\\^`{|}", "https://h/b%22%3C%3E%5C%5E%60%7B%7C%7D"},
      {"https://h/a", "https://[::1]:8/x", "https://[::1]:8/x"},
      {"https://h/a", "b:c", ""},
      {"https://h/a", "./b:c", "https://h/b:c"},
      {"https://h/a", "b\tc", ""},
      {"https://h/a", "b\nc", ""},
      {"https://h/a", "https://h:0/x", ""},
      {"https://h/a", "https://h:x/x", ""},
      {"https://h/a", "https:///x", ""},
      {"https://h/a", "https://a b/x", ""},
      {"https://h/a", "%zz", ""},
      {"a/b", "c", ""},
      {"", "https://h/x", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.base << " + " << row.reference) {
      BOOST_TEST(resolve_url(row.base, row.reference).value_or("") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(split_into_parts) {
  struct Row {
    const char* url;
    const char* origin;  // empty: no URL
    const char* stripped;
  };
  const Row rows[] = {
      {"https://h.test/a?b#c", "https://h.test:443", "https://h.test/a?b"},
      {"http://H.test", "http://h.test:80", "http://h.test"},
      {"HTTP://u@h.test:8080/?", "http://h.test:8080", "http://h.test:8080/?"},
      {"https://a@b@h.test/", "https://h.test:443", "https://h.test/"},
      {"https://u:p%40@h.test:443/x", "https://h.test:443", "https://h.test/x"},
      {"https://[::1]/", "https://[::1]:443", "https://[::1]/"},
      {"https://[::1]:8443/", "https://[::1]:8443", "https://[::1]:8443/"},
      {"https://h.test:/", "https://h.test:443", "https://h.test/"},
      {"ssh://h.test/x", "ssh://h.test:0", "ssh://h.test/x"},
      {"https://:443/", "", ""},
      {"https://h.test:65536/", "", ""},
      {"https://h.test:-1/", "", ""},
      {"https:/h.test/", "", ""},
      {"https://h.test/a b", "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.url) {
      const auto parts = http::split_url(row.url);
      BOOST_TEST((parts ? http::origin_of(*parts) : "") == row.origin);
      BOOST_TEST(http::without_user_info(row.url) == row.stripped);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
