#include "backends/http/url.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(redirect)

namespace {

std::string text(const Result<RedirectStep>& step) {
  if (!step) {
    return fmt::format("{}: {}", to_string(step.error().code), step.error().message);
  }
  return step->url + (step->keeps_secrets ? " keeps" : "") + (step->becomes_get ? " get" : "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(statuses) {
  for (int status = 100; status < 600; ++status) {
    const bool expected = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
    BOOST_TEST(is_redirect(status) == expected, "status " << status);
  }
}

BOOST_AUTO_TEST_CASE(steps) {
  struct Row {
    const char* name;
    const char* url;
    int status;
    const char* location;
    bool is_post;
    const char* expected;
  };
  const Row rows[] = {
      {"same host, absolute", "https://h.test/a", 302, "https://h.test/b", false, "https://h.test/b keeps"},
      {"same host, relative", "https://h.test/a/b", 302, "c?d=%2F", false, "https://h.test/a/c?d=%2F keeps"},
      {"same host, rooted", "https://h.test/a/b", 301, "/c", false, "https://h.test/c keeps"},
      {"no scheme", "https://h.test/a", 301, "//o.test/c", false, "https://o.test/c"},
      {"user-info goes along", "https://u:p@h.test/a", 302, "/b", false, "https://u:p@h.test/b keeps"},
      {"default port written", "https://h.test/a", 302, "https://h.test:443/b", false, "https://h.test:443/b keeps"},
      {"case of the host", "https://h.test/a", 302, "https://H.TEST/b", false, "https://H.TEST/b keeps"},
      {"case of the scheme", "https://h.test/a", 302, "HTTPS://h.test/b", false, "https://h.test/b keeps"},
      {"other port", "https://h.test/a", 302, "https://h.test:444/b", false, "https://h.test:444/b"},
      {"other host", "https://h.test/a", 302, "https://o.test/b", false, "https://o.test/b"},
      {"host below", "https://h.test/a", 302, "https://x.h.test/b", false, "https://x.h.test/b"},
      {"host with a final dot", "https://h.test/a", 302, "https://h.test./b", false, "https://h.test./b"},
      {"http to https", "http://h.test/a", 302, "https://h.test/b", false, "https://h.test/b"},
      {"http to https on one port", "http://h.test:8443/a", 302, "https://h.test:8443/b", false,
       "https://h.test:8443/b"},
      {"a name as user", "https://h.test/a", 302, "https://h.test@o.test/b", false, "https://h.test@o.test/b"},
      {"301 POST", "https://h.test/a", 301, "/b", true, "https://h.test/b keeps get"},
      {"302 POST", "https://h.test/a", 302, "/b", true, "https://h.test/b keeps get"},
      {"303 POST", "https://h.test/a", 303, "/b", true, "https://h.test/b keeps get"},
      {"303 GET", "https://h.test/a", 303, "/b", false, "https://h.test/b keeps get"},
      {"307 POST", "https://h.test/a", 307, "/b", true, "https://h.test/b keeps"},
      {"308 POST", "https://h.test/a", 308, "/b", true, "https://h.test/b keeps"},
      {"fragment", "https://h.test/a", 302, "/b#part", false, "https://h.test/b#part keeps"},
      {"blank in the path", "https://h.test/a", 302, "/b c", false, "https://h.test/b%20c keeps"},
      {"signed query", "https://h.test/a", 302, "https://s.test/x?sig=ab%2Bcd%2F%3D&fn=a%26b%20c", false,
       "https://s.test/x?sig=ab%2Bcd%2F%3D&fn=a%26b%20c"},
      {"no Location", "https://h.test/a", 302, "", false, "BAD_RESPONSE: it redirects without a Location header"},
      {"bad port", "https://h.test/a", 302, "https://o.test:99999/b?token=s3cret", false,
       "BAD_RESPONSE: it redirects to an invalid URL"},
      {"line end", "https://h.test/a", 302, "/b\r\nX: y", false, "BAD_RESPONSE: it redirects to an invalid URL"},
      {"no host", "https://h.test/a", 302, "https:///b", false, "BAD_RESPONSE: it redirects to an invalid URL"},
      {"file", "https://h.test/a", 302, "file:///etc/passwd", false, "BAD_RESPONSE: it redirects to an invalid URL"},
      {"ftp", "https://h.test/a", 302, "ftp://u:p@h.test/b?q", false,
       "BAD_RESPONSE: it redirects to a URL that is neither http nor https: ftp://h.test/b"},
      {"mailto", "https://h.test/a", 302, "mailto:a@b", false, "BAD_RESPONSE: it redirects to an invalid URL"},
      {"https to http", "https://h.test/a", 302, "http://u:p@h.test/b?token=s3cret", false,
       "BAD_RESPONSE: it redirects from https to http, which is not allowed: http://h.test/b"},
      {"http to http", "http://h.test/a", 302, "http://h.test/b", false, "http://h.test/b keeps"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text(follow_redirect(row.url, row.status, row.location, row.is_post)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
