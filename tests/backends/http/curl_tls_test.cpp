#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <optional>

#include "backends/base/parallel.h"
#include "tests/backends/http/http_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/faults.h"
#include "tests/support/needs.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

constexpr const char* kUntrusted =
    " is signed by an authority that is not trusted here (if you trust its authority, name a file with the authority's "
    "certificate in SSL_CERT_FILE, or a directory of such files in SSL_CERT_DIR)";

struct TlsFixture {
  CleanHttpEnvironment clean;
  TemporaryDirectory directory;
  CertificateAuthority authority{directory.path()};
  FaultServer server{always("ok"), authority.issue("server")};
  ScopedEnvironment no_directory{"SSL_CERT_DIR", "/nonexistent"};
  std::optional<ScopedEnvironment> file{std::in_place, "SSL_CERT_FILE", authority.certificate().string()};
  Context context;

  // With a client made now: it reads the environment then.
  std::string send(const std::string& url) const {
    return outcome(make_client_without_waits()->send(get(url), context));
  }
  std::string refusal(const FaultServer& by, std::string_view words, std::string_view host = "localhost") const {
    return fmt::format("UNREACHABLE: could not read it: {}: {}", by.url("/", host), words);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(curl_tls, *needs("openssl"))

BOOST_FIXTURE_TEST_CASE(an_authority_of_ones_own, TlsFixture) {
  BOOST_TEST(send(server.url("/")) == "200 ok");
  BOOST_TEST(send(server.url("/", "127.0.0.1")) == "200 ok");
}

BOOST_FIXTURE_TEST_CASE(a_directory_of_authorities, TlsFixture) {
  file.reset();
  const ScopedEnvironment set("SSL_CERT_DIR", "/nonexistent:" + directory.path().string());
  BOOST_TEST(send(server.url("/")) == "200 ok");
}

BOOST_FIXTURE_TEST_CASE(certificates_that_are_refused, TlsFixture) {
  const std::string subject = fmt::format("the TLS certificate of localhost:");
  FaultServer expired(always("ok"),
                      authority.issue("expired", "DNS:localhost", CertificateAuthority::Validity::expired));
  BOOST_TEST(
      send(expired.url("/")) ==
      refusal(expired,
              fmt::format("{}{} has expired (ask its operator to renew it; also check the clock of this machine)",
                          subject, expired.port())));
  FaultServer other(always("ok"), authority.issue("other", "DNS:elsewhere.test"));
  constexpr const char* kOther =
      " is for another host (check the host name, and whether a proxy responds in its place)";
  BOOST_TEST(send(other.url("/")) == refusal(other, fmt::format("{}{}{}", subject, other.port(), kOther)));
  BOOST_TEST(send(other.url("/", "127.0.0.1")) ==
             refusal(other, fmt::format("the TLS certificate of 127.0.0.1:{}{}", other.port(), kOther), "127.0.0.1"));
  file.reset();
  BOOST_TEST(send(server.url("/")) == refusal(server, fmt::format("{}{}{}", subject, server.port(), kUntrusted)));
  BOOST_TEST(server.log().empty());
  BOOST_TEST(server.connections() == 1U);  // not tried again
}

BOOST_FIXTURE_TEST_CASE(authorities_that_cannot_be_read, TlsFixture) {
  constexpr const char* kHint =
      " (name a readable file with the certificates of the authorities to trust, or unset SSL_CERT_FILE)";
  const std::string missing = (directory / "missing").string();
  const ScopedEnvironment to_missing("SSL_CERT_FILE", missing);
  BOOST_TEST(
      send(server.url("/")) ==
      refusal(server, fmt::format("SSL_CERT_FILE: cannot read \"{}\": No such file or directory{}", missing, kHint)));
  directory.write("empty", "-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n");
  const std::string empty = (directory / "empty").string();
  const ScopedEnvironment to_empty("SSL_CERT_FILE", empty);
  BOOST_TEST(send(server.url("/")) ==
             refusal(server, fmt::format("SSL_CERT_FILE: {} contains no PEM certificate{}", empty, kHint)));
  FaultServer plain(always("ok"));
  BOOST_TEST(send(plain.url("/")) == "200 ok");
}

BOOST_FIXTURE_TEST_CASE(no_tls_there, TlsFixture) {
  FaultServer plain(always("ok"));
  const std::string url = fmt::format("https://localhost:{}/", plain.port());
  BOOST_TEST(send(url) == fmt::format("UNREACHABLE: could not read it: {}: no TLS connection to localhost:{}: wrong "
                                      "version number (check that the port uses TLS)",
                                      url, plain.port()));
}

BOOST_FIXTURE_TEST_CASE(from_https_to_http, TlsFixture) {
  FaultServer plain(always("secret"));
  server.add({.behaviour = faults::redirect(plain.url("/b?token=s3cret"))});
  BOOST_TEST(
      send(server.url("/")) ==
      fmt::format("BAD_RESPONSE: could not read it: {}: it redirects from https to http, which is not allowed: {}",
                  server.url("/"), plain.url("/b")));
  BOOST_TEST(plain.connections() == 0U);
}

BOOST_FIXTURE_TEST_CASE(another_host_gets_no_secret, TlsFixture) {
  server.add({.behaviour = faults::redirect(server.url("/b", "127.0.0.1")), .path = "/a"});
  HttpRequest request = get(server.url("/a"));
  request.secret_headers = {{"Authorization", SecretText("Bearer t")}, {"X-Token", SecretText("t")}};
  BOOST_TEST(outcome(make_client_without_waits()->send(request, context)) == "200 ok");
  const auto log = server.log();
  BOOST_TEST_REQUIRE(log.size() == 2U);
  BOOST_TEST(log[0].header("Authorization") == "Bearer t");
  BOOST_TEST(log[0].header("X-Token") == "t");
  BOOST_TEST(log[1].target == "/b");
  BOOST_TEST(log[1].header("Authorization") == "");
  BOOST_TEST(log[1].header("X-Token") == "");
}

BOOST_FIXTURE_TEST_CASE(faults_under_tls, TlsFixture) {
  struct Row {
    const char* name;
    Behaviour behaviour;
    const char* words;
  };
  const Row rows[] = {
      {"reset in the body", faults::reset_mid_body(), "the connection was interrupted"},
      {"truncated", faults::truncated(), "the body was truncated"},
      {"no answer", faults::no_answer(), "the connection was closed without a response"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      server.clear_rules();
      server.add({.behaviour = row.behaviour});
      BOOST_TEST(send(server.url("/")) == refusal(server, row.words));
    }
  }
}

BOOST_FIXTURE_TEST_CASE(connections_are_reused, TlsFixture) {
  const auto client = make_client_without_waits();
  std::vector<std::string> outcomes(40);
  parallel_for(outcomes.size(), 4,
               [&](std::size_t i) { outcomes[i] = outcome(client->send(get(server.url("/")), context)); });
  BOOST_TEST(outcomes == std::vector<std::string>(40, "200 ok"), boost::test_tools::per_element());
  BOOST_TEST(server.connections() <= 4U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
