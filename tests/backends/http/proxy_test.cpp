#include "backends/http/proxy.h"

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
      {"all, https", {{"ALL_PROXY", "socks5://p:1"}}, "https://h.test/", "socks5://p:1"},
      {"all, http", {{"all_proxy", "socks5://p:1"}}, "http://h.test/", "socks5://p:1"},
      {"all is the last",
       {{"ALL_PROXY", "http://all:1"}, {"HTTPS_PROXY", "http://p:1"}},
       "https://h.test/",
       "http://p:1"},
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
