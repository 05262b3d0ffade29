// The backend on a real wire.

#include <boost/test/unit_test.hpp>

#include "backends/base/parallel.h"
#include "backends/http/curl_http_client.h"
#include "tests/backends/registry/registry_fixture.h"
#include "tests/support/archive_writer.h"
#include "tests/support/certificates.h"
#include "tests/support/environment.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"

namespace modlock {
namespace {

using namespace test;

struct RegistryServerFixture {
  RegistryServerFixture() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                             "SSL_CERT_DIR", "CURL_CA_BUNDLE"}) {
      environment.push_back(std::make_unique<ScopedEnvironment>(name, std::nullopt));
    }
    environment.push_back(std::make_unique<ScopedEnvironment>("SSL_CERT_FILE", authority.certificate().string()));
    http = make_curl_http_client("test/1 pipeline/7");
    credentials.add_token(CredentialUse::registry, registry.authority(), "s3cret");
    registry.require_token("/", "s3cret");
    registry.serve("/p/m.zip", {.body = make_zip({{.name = "main.tf"}}), .type = "application/zip"});
    registry.add_version("a/b/c", "1.0.0", ModuleRegistry::directly("/p/m.zip", true));
  }

  std::unique_ptr<BackendCore> backend() {
    return make_registry_backend(
        {.http = registry::RegistryHttp(*http, credentials, {}, "1.12.6"), .client = client, .others = backends});
  }
  SourceAddress source() const { return parsed(registry.authority() + "/a/b/c"); }

  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
  TemporaryDirectory directory;
  CertificateAuthority authority{directory.path()};
  ModuleRegistry registry{authority.issue("registry")};
  std::unique_ptr<HttpClient> http;
  FakeCredentials credentials;
  ClientConfiguration client;
  BackendSet backends;
};

BOOST_AUTO_TEST_SUITE(registry_server_test, *needs("openssl"))

BOOST_AUTO_TEST_CASE(a_module_is_found_listed_and_downloaded) {
  RegistryServerFixture fixture;
  const auto backend = fixture.backend();
  const auto listing = backend->list_versions(fixture.source(), "", {});
  BOOST_REQUIRE_MESSAGE(listing, (listing ? "" : words(listing.error())));
  BOOST_REQUIRE(listing->versions.size() == 1U);
  Stats stats;
  const Context context{.stats = &stats};
  const FetchRequest fetch_request{.id = {}, .ref = listing->versions[0].ref};
  const auto trees = backend->fetch(fixture.source(), {&fetch_request, 1}, fixture.directory.path(), context);
  BOOST_REQUIRE_MESSAGE(trees[0], (trees[0] ? "" : words(trees[0].error())));
  BOOST_TEST(std::filesystem::exists(trees[0]->directory / "main.tf"));
  BOOST_TEST(stats.requests == 2U);
  const std::vector<std::string> expected = {"GET /.well-known/terraform.json", "GET /v1/modules/a/b/c/versions",
                                             "GET /v1/modules/a/b/c/1.0.0/download", "GET /p/m.zip"};
  BOOST_TEST(fixture.registry.lines() == expected, boost::test_tools::per_element());
  for (const auto& request : fixture.registry.requests()) {
    BOOST_TEST(request.header("User-Agent") == "test/1 pipeline/7");
  }
}

BOOST_AUTO_TEST_CASE(many_calls_share_one_discovery) {
  RegistryServerFixture fixture;
  const auto backend = fixture.backend();
  parallel_for(8, 8, [&](std::size_t) { (void)backend->list_versions(fixture.source(), "", {}); });
  const auto lines = fixture.registry.lines();
  BOOST_TEST(lines.size() == 9U);
  BOOST_TEST(std::count(lines.begin(), lines.end(), "GET /.well-known/terraform.json") == 1);
}

BOOST_AUTO_TEST_CASE(discovery_is_asked_once_and_the_api_again) {
  RegistryServerFixture fixture;
  const ModuleRegistry::Answer broken{.status = 502, .headers = {{"Retry-After", "0"}}};
  fixture.registry.fault("/v1/modules/a/b/c/versions", broken);
  BOOST_TEST(fixture.backend()->list_versions(fixture.source(), "", {}).has_value());
  fixture.registry.fault("/.well-known/terraform.json", broken);
  const auto listing = fixture.backend()->list_versions(fixture.source(), "", {});
  BOOST_REQUIRE(!listing);
  BOOST_TEST(words(listing.error()) == "UNREACHABLE: could not discover the services of \"" +
                                           fixture.registry.authority() + "\": " + fixture.registry.url() +
                                           "/.well-known/terraform.json: server error "
                                           "(status 502)");
}

BOOST_AUTO_TEST_CASE(a_wrong_token_is_not_shown) {
  RegistryServerFixture fixture;
  fixture.credentials.add_token(CredentialUse::registry, fixture.registry.authority(), "CANARY");
  const auto listing = fixture.backend()->list_versions(fixture.source(), "", {});
  BOOST_REQUIRE(!listing);
  std::string everything = listing.error().message + listing.error().hint;
  for (const std::string& note : listing.error().notes) {
    everything += note;
  }
  BOOST_TEST((listing.error().code == Code::auth_required));
  BOOST_TEST(everything.find("CANARY") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
