#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/backends/http/http_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/http_proxy.h"
#include "tests/support/loopback.h"
#include "tests/support/needs.h"
#include "tests/support/temporary_directory.h"

// The servers are asked for as 0.0.0.0: that reaches them, and is no loopback address, for which no proxy is asked.
namespace modlock::test {
namespace {

using Lines = std::vector<std::string>;
constexpr const char* kHost = "0.0.0.0";

struct ProxyFixture {
  CleanHttpEnvironment clean;
  TemporaryDirectory directory;
  CertificateAuthority authority{directory.path()};
  ScopedEnvironment trusted{"SSL_CERT_FILE", authority.certificate().string()};
  FaultServer plain{always("plain")};
  FaultServer secure{always("secure"), authority.issue("server", "IP:0.0.0.0,DNS:a.localhost")};
  HttpProxy proxy;
  Context context;

  // With a client made now: it reads the environment then.
  std::string send(const std::string& url) const {
    HttpRequest request = get(url);
    request.secret_headers = {{"Authorization", SecretText("Bearer t")}};
    return outcome(make_client_without_waits()->send(request, context));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(curl_proxy, *needs("tinyproxy, openssl"))

BOOST_FIXTURE_TEST_CASE(a_tunnel_for_https, ProxyFixture) {
  const ScopedEnvironment set("HTTPS_PROXY", "http://" + proxy.host());
  BOOST_TEST(send(secure.url("/a", kHost)) == "200 secure");
  BOOST_TEST(send(plain.url("/a", kHost)) == "200 plain");
  BOOST_TEST(proxy.log() == Lines{fmt::format("CONNECT {}:{} HTTP/1.1", kHost, secure.port())},
             boost::test_tools::per_element());
  BOOST_TEST(secure.log().at(0).header("Authorization") == "Bearer t");
}

BOOST_FIXTURE_TEST_CASE(whole_urls_for_http, ProxyFixture) {
  const ScopedEnvironment set("http_proxy", proxy.host());
  BOOST_TEST(send(plain.url("/a", kHost)) == "200 plain");
  BOOST_TEST(send(secure.url("/a", kHost)) == "200 secure");
  BOOST_TEST(proxy.log() == Lines{fmt::format("GET {} HTTP/1.1", plain.url("/a", kHost))},
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(all_proxy_is_not_used, ProxyFixture) {
  const ScopedEnvironment set("ALL_PROXY", "http://" + proxy.host());
  BOOST_TEST(send(plain.url("/a", kHost)) == "200 plain");
  BOOST_TEST(send(secure.url("/a", kHost)) == "200 secure");
  BOOST_TEST(proxy.log().empty());
}

BOOST_FIXTURE_TEST_CASE(the_loopback_needs_no_proxy, ProxyFixture) {
  const ScopedEnvironment set("http_proxy", "http://" + proxy.host());
  BOOST_TEST(send(plain.url("/a")) == "200 plain");
  BOOST_TEST(send(plain.url("/a", "127.0.0.1")) == "200 plain");
  BOOST_TEST(proxy.log().empty());
}

// libcurl resolves names below localhost by itself; the proxy would have to ask a name server.
BOOST_FIXTURE_TEST_CASE(hosts_without_proxy, ProxyFixture) {
  const RefusedPort refused;
  const ScopedEnvironment set("http_proxy", fmt::format("http://127.0.0.1:{}", refused.port()));
  const std::string no = fmt::format("the proxy http://127.0.0.1:{} refused", refused.port());
  struct Row {
    const char* no_proxy;
    const char* host;
    bool is_direct;
  };
  const Row rows[] = {
      {"", kHost, false},
      {"*", kHost, true},
      {"0.0.0.0", kHost, true},
      {"other.test, 0.0.0.0", kHost, true},
      {"0.0.0.0/8", kHost, true},
      {"10.0.0.0/8", kHost, false},
      {"other.test", kHost, false},
      {"a.localhost", "a.localhost", true},
      {"A.LOCALHOST", "a.localhost", true},
      {"localhost", "a.localhost", true},
      {"*.localhost", "a.localhost", true},
      {".localhost", "a.localhost", true},
      {"b.localhost", "a.localhost", false},
      {"ocalhost", "a.localhost", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.no_proxy << " for " << row.host) {
      const ScopedEnvironment exceptions("NO_PROXY", row.no_proxy);
      const std::string result = send(plain.url("/", row.host));
      BOOST_TEST((row.is_direct ? result == "200 plain" : result.find(no) != std::string::npos), result);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_proxy_with_a_password, ProxyFixture) {
  const HttpProxy closed("user", "s3cret");
  {
    const ScopedEnvironment set("HTTPS_PROXY", "http://user:s3cret@" + closed.host());
    BOOST_TEST(send(secure.url("/", kHost)) == "200 secure");
    BOOST_TEST(secure.log().at(0).header("Proxy-Authorization") == "");
  }
  const ScopedEnvironment set("HTTPS_PROXY", "http://user:wr0ng@" + closed.host());
  const std::string url = secure.url("/", kHost);
  BOOST_TEST(send(url) == fmt::format("UNREACHABLE: could not read it: {}: the proxy http://{} refused the connection "
                                      "(status 401) (check HTTPS_PROXY, HTTP_PROXY and NO_PROXY)",
                                      url, closed.host()));
}

BOOST_FIXTURE_TEST_CASE(no_proxy_there, ProxyFixture) {
  const RefusedPort refused;
  const ScopedEnvironment set("HTTPS_PROXY", fmt::format("http://user:s3cret@127.0.0.1:{}", refused.port()));
  const std::string url = secure.url("/", kHost);
  BOOST_TEST(send(url) == fmt::format("UNREACHABLE: could not read it: {}: the proxy http://127.0.0.1:{} refused the "
                                      "connection (check HTTPS_PROXY, HTTP_PROXY and NO_PROXY)",
                                      url, refused.port()));
}

BOOST_FIXTURE_TEST_CASE(nobody_behind_the_proxy, ProxyFixture) {
  const RefusedPort refused;
  const ScopedEnvironment set("HTTPS_PROXY", "http://" + proxy.host());
  const std::string url = fmt::format("https://{}:{}/", kHost, refused.port());
  BOOST_TEST(send(url) == fmt::format("UNREACHABLE: could not read it: {}: the proxy http://{} refused the connection "
                                      "(status 500) (check HTTPS_PROXY, HTTP_PROXY and NO_PROXY)",
                                      url, proxy.host()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
