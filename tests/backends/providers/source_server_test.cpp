// The source on a real wire with TLS, where the registry is found by its own name.

#include <boost/test/unit_test.hpp>

#include "backends/http/curl_http_client.h"
#include "tests/backends/providers/source_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"

namespace modlock {
namespace {

using namespace test;

struct ServerFixture {
  ServerFixture() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                             "SSL_CERT_DIR", "CURL_CA_BUNDLE"}) {
      environment.push_back(std::make_unique<ScopedEnvironment>(name, std::nullopt));
    }
    environment.push_back(std::make_unique<ScopedEnvironment>("SSL_CERT_FILE", authority.certificate().string()));
    http = make_curl_http_client("test");
    registry.publish({.name = "acme/null", .version = "1.2.3"});
    source = make_registry_provider_source(
        {.http = registry::RegistryHttp(*http, credentials), .client = client, .store = store});
  }

  Result<ProviderRelease> release() {
    const Platform platform{"linux", "amd64"};
    return source->release(ProviderAddress::parse(registry.authority() + "/acme/null", "registry.opentofu.org").value(),
                           ProviderVersion::parse("1.2.3").value(), {&platform, 1}, {});
  }

  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
  TemporaryDirectory directory;
  CertificateAuthority authority{directory.path()};
  ProviderRegistry registry{authority.issue("registry")};
  std::unique_ptr<HttpClient> http;
  FakeCredentials credentials;
  ClientConfiguration client;
  Store store = Store::open(directory / "store").value();
  std::unique_ptr<ProviderSource> source;
};

BOOST_AUTO_TEST_SUITE(provider_source_server_test, *needs("openssl"))

BOOST_AUTO_TEST_CASE(a_release_is_found_by_the_name_of_the_registry) {
  ServerFixture fixture;
  const auto release = fixture.release();
  BOOST_REQUIRE_MESSAGE(release, (release ? "" : words(release.error())));
  BOOST_TEST(release->packages.begin()->second.h1 == fixture.registry.archive("acme/null", "1.2.3").h1);
  const ProviderRequests asked = fixture.registry.requests();
  BOOST_TEST(asked.discovery == 1);
  BOOST_TEST(asked.total() == 5);
}

BOOST_AUTO_TEST_CASE(a_wrong_token_is_not_shown) {
  ServerFixture fixture;
  fixture.registry.server().require_token("/v1/", "s3cret");
  fixture.credentials.add_token(CredentialUse::registry, fixture.registry.authority(), "CANARY");
  const auto release = fixture.release();
  BOOST_REQUIRE(!release);
  BOOST_TEST((release.error().code == Code::auth_required));
  std::string everything = release.error().message + release.error().hint;
  for (const std::string& note : release.error().notes) {
    everything += note;
  }
  BOOST_TEST(everything.find("CANARY") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_was_asked_for_in_vain_is_asked_for_again) {
  ServerFixture fixture;
  const std::string path = ProviderRegistry::download_path("acme/null", "1.2.3");
  fixture.registry.server().fault(path, {.status = 404, .body = "{}"});
  const auto first = fixture.release();
  BOOST_REQUIRE(!first);
  BOOST_TEST((first.error().code == Code::not_found));
  const auto second = fixture.release();
  BOOST_TEST(second.has_value(), (second ? "" : words(second.error())));
}

BOOST_AUTO_TEST_CASE(a_cancelled_run_asks_for_nothing) {
  ServerFixture fixture;
  std::stop_source stopped;
  stopped.request_stop();
  const Platform platform{"linux", "amd64"};
  const auto release = fixture.source->release(
      ProviderAddress::parse(fixture.registry.authority() + "/acme/null", "registry.opentofu.org").value(),
      ProviderVersion::parse("1.2.3").value(), {&platform, 1}, {.stop = stopped.get_token()});
  BOOST_REQUIRE(!release);
  BOOST_TEST((release.error().code == Code::request_cancelled));
  BOOST_TEST(fixture.registry.requests().total() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
