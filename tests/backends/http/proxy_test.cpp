#include "backends/http/curl_http_client.h"

#include <boost/test/unit_test.hpp>
#include <deque>
#include <utility>
#include <vector>

#include "tests/backends/http/http_fixture.h"

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(proxy)

BOOST_AUTO_TEST_CASE(from_the_environment) {
  struct Row {
    const char* name;
    std::vector<std::pair<const char*, const char*>> variables;
    const char* url;
    const char* expected;
  };
  const Row rows[] = {
      {"nothing set", {}, "https://h.test/", ""},
      {"https", {{"HTTPS_PROXY", "http://p:1"}}, "https://h.test/", "http://p:1"},
      {"https is not for http", {{"HTTPS_PROXY", "http://p:1"}}, "http://h.test/", ""},
      {"http", {{"HTTP_PROXY", "http://p:1"}}, "http://h.test/", "http://p:1"},
      {"http is not for https", {{"HTTP_PROXY", "http://p:1"}}, "https://h.test/", ""},
      {"lower case", {{"https_proxy", "http://p:1"}}, "https://h.test/", "http://p:1"},
      {"lower case, http", {{"http_proxy", "http://p:1"}}, "http://h.test/", "http://p:1"},
      {"upper case wins",
       {{"HTTPS_PROXY", "http://upper:1"}, {"https_proxy", "http://lower:1"}},
       "https://h.test/",
       "http://upper:1"},
      {"empty is unset", {{"HTTPS_PROXY", ""}, {"https_proxy", "http://lower:1"}}, "https://h.test/", "http://lower:1"},
      {"all, https", {{"ALL_PROXY", "socks5://p:1"}}, "https://h.test/", ""},
      {"all, http", {{"all_proxy", "socks5://p:1"}}, "http://h.test/", ""},
      {"a CGI program", {{"HTTP_PROXY", "http://p:1"}, {"REQUEST_METHOD", "GET"}}, "http://h.test/", ""},
      {"a CGI program, lower case",
       {{"http_proxy", "http://p:1"}, {"REQUEST_METHOD", "GET"}},
       "http://h.test/",
       "http://p:1"},
      {"localhost", {{"HTTPS_PROXY", "http://p:1"}}, "https://localhost:8443/", ""},
      {"below localhost", {{"HTTPS_PROXY", "http://p:1"}}, "https://a.localhost/", "http://p:1"},
      {"127.0.0.1", {{"HTTPS_PROXY", "http://p:1"}}, "https://127.0.0.1/", ""},
      {"127.9.9.9", {{"HTTPS_PROXY", "http://p:1"}}, "https://127.9.9.9/", ""},
      {"a name like an address", {{"HTTPS_PROXY", "http://p:1"}}, "https://127.example.test/", "http://p:1"},
      {"::1", {{"HTTPS_PROXY", "http://p:1"}}, "https://[::1]/", ""},
      {"no URL", {{"HTTPS_PROXY", "http://p:1"}}, "h.test", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const CleanHttpEnvironment clean;
      std::deque<ScopedEnvironment> set;
      for (const auto& variable : row.variables) {
        set.emplace_back(variable.first, variable.second);
      }
      BOOST_TEST(http::ProxySettings::from_environment().proxy_for(row.url) == row.expected);
    }
  }
}

// The rows are those of golang.org/x/net/http/httpproxy, which both clients use.
BOOST_AUTO_TEST_CASE(hosts_of_no_proxy) {
  struct Row {
    const char* entries;
    const char* url;
    bool is_excepted;
  };
  for (const Row& row : {
           Row{"", "http://h.test/", false},
           Row{"*", "http://h.test/", true},
           Row{"other.test, *", "http://h.test/", true},
           Row{"*, other.test", "http://h.test/", true},
           Row{"h.test", "http://h.test/", true},
           Row{" H.TEST ,x", "http://h.test/", true},
           Row{"h.test", "http://a.b.h.test/", true},
           Row{"h.test", "http://oh.test/", false},
           Row{".h.test", "http://h.test/", false},
           Row{".h.test", "http://a.h.test/", true},
           Row{"*.h.test", "http://h.test/", false},
           Row{"*.h.test", "http://a.h.test/", true},
           Row{"*h.test", "http://a.h.test/", false},
           Row{"h.test:80", "http://h.test/", true},
           Row{"h.test:80", "http://a.h.test/", true},
           Row{"h.test:80", "https://h.test/", false},
           Row{"h.test:8443", "https://h.test:8443/", true},
           Row{"*.h.test:443", "https://a.h.test/", true},
           Row{"h.test:", "https://h.test/", true},
           Row{":443", "https://h.test/", false},
           Row{",,", "https://h.test/", false},
           Row{"10.0.0.0/8", "http://10.1.2.3/", true},
           Row{"10.0.0.0/8", "http://11.1.2.3/", false},
           Row{"10.0.0.0/8", "http://h.test/", false},
           Row{"10.0.0.0/33", "http://10.0.0.0/", false},
           Row{"10.1.2.3", "http://10.1.2.3:8080/", true},
           Row{"10.1.2.3:80", "http://10.1.2.3/", true},
           Row{"10.1.2.3:80", "http://10.1.2.3:8080/", false},
           Row{"2001:db8::1", "http://[2001:db8::1]/", true},
           Row{"[2001:db8::1]:80", "http://[2001:db8::1]/", true},
           Row{"[2001:db8::1]:81", "http://[2001:db8::1]/", false},
           Row{"2001:db8::/32", "http://[2001:db8::1]/", true},
           Row{"2001:db8::/32", "http://[2001:db9::1]/", false},
           Row{"0.0.0.0/0", "http://[2001:db8::1]/", false},
       }) {
    BOOST_TEST_CONTEXT(row.entries << " for " << row.url) {
      const http::ProxySettings settings{"http://p:1", "http://p:1", row.entries};
      BOOST_TEST(settings.proxy_for(row.url) == (row.is_excepted ? "" : "http://p:1"));
    }
  }
}

// The rules of git 2.39 (http.c) and libcurl 7.88.
BOOST_AUTO_TEST_CASE(proxies_of_git) {
  struct Row {
    const char* name;
    std::vector<std::pair<const char*, const char*>> variables;
    const char* url;
    const char* expected;
  };
  for (const Row& row : {
           Row{"http", {{"http_proxy", "http://p:1"}}, "http://h.test/", "http://p:1"},
           Row{"http, upper case", {{"HTTP_PROXY", "http://p:1"}}, "http://h.test/", ""},
           Row{"https", {{"https_proxy", "http://p:1"}}, "https://h.test/", "http://p:1"},
           Row{"https, upper case", {{"HTTPS_PROXY", "http://p:1"}}, "https://h.test/", "http://p:1"},
           Row{"lower case first",
               {{"https_proxy", "http://p:1"}, {"HTTPS_PROXY", "http://q:2"}},
               "https://h.test/",
               "http://p:1"},
           Row{"an empty one first", {{"https_proxy", ""}, {"HTTPS_PROXY", "http://q:2"}}, "https://h.test/", ""},
           Row{"loopback", {{"http_proxy", "http://p:1"}}, "http://127.0.0.1/", "http://p:1"},
           Row{"no_proxy", {{"http_proxy", "http://p:1"}, {"no_proxy", "x, H.test"}}, "http://h.test/", ""},
           Row{"below it", {{"http_proxy", "http://p:1"}, {"no_proxy", "h.test"}}, "http://a.h.test/", ""},
           Row{"a longer name",
               {{"http_proxy", "http://p:1"}, {"no_proxy", "h.test"}},
               "http://ah.test/",
               "http://p:1"},
           Row{"a dot in front", {{"http_proxy", "http://p:1"}, {"no_proxy", ".h.test"}}, "http://h.test/", ""},
           Row{"a star", {{"http_proxy", "http://p:1"}, {"no_proxy", "*"}}, "http://h.test/", ""},
           Row{"a pattern", {{"http_proxy", "http://p:1"}, {"no_proxy", "*.h.test"}}, "http://a.h.test/", "http://p:1"},
           Row{"a port", {{"http_proxy", "http://p:1"}, {"no_proxy", "h.test:80"}}, "http://h.test/", "http://p:1"},
           Row{"a block", {{"http_proxy", "http://p:1"}, {"no_proxy", "10.0.0.0/8"}}, "http://10.1.2.3/", ""},
           Row{"upper case only if there is no other",
               {{"http_proxy", "http://p:1"}, {"no_proxy", "a.test"}, {"NO_PROXY", "h.test"}},
               "http://h.test/",
               "http://p:1"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const CleanHttpEnvironment clean;
      std::deque<ScopedEnvironment> set;
      for (const auto& variable : row.variables) {
        set.emplace_back(variable.first, variable.second);
      }
      BOOST_TEST(http::ProxySettings::of_git().proxy_for(row.url) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
