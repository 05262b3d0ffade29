#include "tests/support/docker_registry.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include "backends/http/curl_http_client.h"
#include "backends/package/tree_hash.h"
#include "tests/backends/oci/oci_fixture.h"
#include "tests/support/environment.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"
#include "tests/support/run.h"

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(docker_registry)

namespace {

namespace but = boost::unit_test;

const PackageFiles kFiles = {{"main.tf", "output \"x\" {}\n"}, {"sub/main.tf", "# two\n"}, {".hidden", "h\n"}};

// A backend on the real HTTP client, which trusts one authority alone and knows of no proxy.
struct Client {
  explicit Client(const std::filesystem::path& authority)
      : certificates("SSL_CERT_FILE", authority.string()), fixture(make_curl_http_client("tests")) {
    for (const char* name :
         {"SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "CURL_CA_BUNDLE"}) {
      unset.push_back(std::make_unique<ScopedEnvironment>(name, std::nullopt));
    }
  }

  Result<Listing> list(const std::string& source) {
    return fixture.backend->list_versions(fixture.source(source), "", fixture.context);
  }
  std::uint64_t requests() const { return fixture.stats.requests.load(); }

  ScopedEnvironment certificates;
  std::vector<std::unique_ptr<ScopedEnvironment>> unset;
  OciFixture fixture;
};

std::string h1_of(const Result<FetchedTree>& tree) {
  return tree ? hash_tree(tree->directory, {}).value() : outcome(tree);
}

}  // namespace

BOOST_AUTO_TEST_CASE(modules_are_listed_pinned_and_fetched, *needs(DockerRegistry::kPrograms)) {
  DockerRegistry registry;
  const std::string digest = registry.push("team/vpc", "v1.0.0", kFiles);
  registry.push("team/vpc", "v1.1.0", {{"main.tf", "two"}});
  registry.push("team/vpc", "1.0.0", kFiles);
  registry.push("team/vpc", "1.1.0", {{"main.tf", "three"}});
  Client client(registry.authority());
  const std::string source = registry.source("team/vpc");
  const auto listing = client.list(source);
  BOOST_TEST_REQUIRE(outcome(listing) == "ok");
  BOOST_TEST_REQUIRE(listing->versions.size() == 2U);
  BOOST_TEST(!listing->versions[0].ambiguous_with.empty());
  BOOST_TEST(listing->versions[1].id == digest);
  const std::uint64_t before = client.requests();
  const auto tree = client.fixture.fetch(source, {.id = {}, .ref = "v1.0.0"});
  BOOST_TEST_REQUIRE(outcome(tree) == "ok");
  BOOST_TEST(client.requests() - before == 2U);
  BOOST_TEST(tree->id == digest);
  BOOST_TEST(client.fixture.backend->pin(client.fixture.source(source + "?tag=1.0.0"), client.fixture.context)->id ==
             digest);
  BOOST_TEST(h1_of(client.fixture.fetch(source, {.id = digest, .ref = {}, .locked = true})) == h1_of(tree));
  BOOST_TEST(outcome(client.fixture.fetch(source)) == "NOT_FOUND: \"" + source + "\" has no tag \"latest\"");
  BOOST_TEST(outcome(client.list(registry.source("nothing"))) ==
             "NOT_FOUND: repository \"" + registry.source("nothing") + "\" not found");
}

BOOST_AUTO_TEST_CASE(an_index_is_seen_and_refused, *needs(DockerRegistry::kPrograms)) {
  DockerRegistry registry;
  const std::string digest = registry.push("a", "v1", kFiles);
  const char* const type = "application/vnd.oci.image.index.v1+json";
  registry.push_manifest("a", "index",
                         std::string(R"({"schemaVersion":2,"mediaType":")") + type +
                             R"(","manifests":[{"mediaType":")" + kOciManifestType + R"(","digest":")" + digest +
                             R"(","size":)" + std::to_string(make_oci_module(kFiles).manifest.size()) + "}]}",
                         type);
  Client client(registry.authority());
  BOOST_TEST(outcome(client.fixture.fetch(registry.source("a"), {.id = {}, .ref = "index"})) ==
             "SOURCE_UNSUPPORTED: \"index\" of \"" + registry.source("a") +
                 "\" is not an OpenTofu module package: selected object is not an OCI image manifest but "
                 "\"application/vnd.oci.image.index.v1+json\"");
}

BOOST_AUTO_TEST_CASE(a_password_opens_a_registry_with_htpasswd, *needs(DockerRegistry::kPrograms)) {
  DockerRegistry registry(DockerRegistry::Auth::basic);
  registry.push("a", "v1.0.0", kFiles);
  Client stranger(registry.authority());
  BOOST_TEST(to_string(stranger.list(registry.source("a")).error().code) == "AUTH_REQUIRED");
  Client client(registry.authority());
  client.fixture.credentials.add_basic(CredentialUse::oci, registry.host(), DockerRegistry::user(),
                                       DockerRegistry::password());
  BOOST_TEST(shown(client.list(registry.source("a"))) == "1.0.0 v1.0.0 \n");
  BOOST_TEST(outcome(client.fixture.fetch(registry.source("a"), {.id = {}, .ref = "v1.0.0"})) == "ok");
  BOOST_TEST(client.requests() == 4U);  // the first was refused once
}

BOOST_AUTO_TEST_CASE(tokens_are_got_once_per_repository, *needs(DockerRegistry::kPrograms)) {
  DockerRegistry registry(DockerRegistry::Auth::token);
  registry.push("public/a", "v1.0.0", kFiles);
  registry.push("team/b", "v1.0.0", kFiles);
  Client client(registry.authority());
  BOOST_TEST(shown(client.list(registry.source("public/a"))) == "1.0.0 v1.0.0 \n");
  BOOST_TEST(outcome(client.fixture.fetch(registry.source("public/a"), {.id = {}, .ref = "v1.0.0"})) == "ok");
  BOOST_TEST(client.requests() == 5U);  // refused, token, list, manifest, package
  BOOST_TEST(to_string(client.list(registry.source("team/b")).error().code) == "AUTH_REQUIRED");
  client.fixture.credentials.add_basic(CredentialUse::oci, registry.host() + "/team", DockerRegistry::user(),
                                       DockerRegistry::password());
  BOOST_TEST(outcome(client.fixture.fetch(registry.source("team/b"), {.id = {}, .ref = "v1.0.0"})) == "ok");
  Client again(registry.authority());
  again.fixture.credentials.add(CredentialUse::oci, registry.host(),
                                {TokenCredential{SecretText(), SecretText(DockerRegistry::refresh_token())}, "test"});
  BOOST_TEST(outcome(again.fixture.fetch(registry.source("team/b"), {.id = {}, .ref = "v1.0.0"})) == "ok");
  const auto log = registry.token_log();
  BOOST_TEST(log.front() == "GET repository:public/a:pull anonymous");
  BOOST_TEST(log.back() == "POST repository:team/b:pull refresh");
}

BOOST_AUTO_TEST_CASE(skopeo_sees_what_we_see, *needs("skopeo") * needs(DockerRegistry::kPrograms)) {
  DockerRegistry registry;
  const std::string digest = registry.push("team/vpc", "v1.0.0", kFiles);
  registry.push("team/vpc", "v1.1.0_x", kFiles);
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "trust");
  std::filesystem::copy_file(registry.authority(), directory / "trust" / "ca.crt");
  const std::string name = "docker://" + registry.host() + "/team/vpc";
  const std::string trust = (directory / "trust").string();
  const std::map<std::string, std::string> home = {{"HOME", directory.path().string()}};
  const std::string listed = run({"skopeo", "list-tags", "--cert-dir", trust, name}, {}, home);
  Client client(registry.authority());
  const auto listing = client.list(registry.source("team/vpc"));
  BOOST_TEST_REQUIRE(outcome(listing) == "ok");
  for (const ListedVersion& version : listing->versions) {
    BOOST_TEST(listed.find("\"" + version.tag + "\"") != std::string::npos, version.tag);
  }
  run({"skopeo", "--insecure-policy", "copy", "--src-cert-dir", trust, name + ":v1.0.0",
       "oci:" + (directory / "copy").string() + ":x"},
      {}, home);
  const std::string package = make_oci_module(kFiles).package_digest;
  for (const std::string& blob : {digest, package}) {
    BOOST_TEST(digest_of(read_text(directory / "copy" / "blobs" / "sha256" / blob.substr(7))) == blob);
  }
}

BOOST_AUTO_TEST_CASE(pages_and_faults_over_the_wire, *needs("openssl")) {
  const TemporaryDirectory directory;
  const CertificateAuthority authority(directory.path());
  OciRegistry registry(authority.issue("server"));
  for (int i = 0; i < 25; ++i) {
    registry.push("a", "v1." + std::to_string(i) + ".0", kFiles);
  }
  for (const bool absolute : {false, true}) {
    Client client(authority.certificate());
    registry.page_tags(10, absolute);
    const auto listing = client.list(registry.source("a"));
    BOOST_TEST_REQUIRE(outcome(listing) == "ok");
    BOOST_TEST(listing->versions.size() == 25U);
    BOOST_TEST(listing->versions.front().tag == "v1.24.0");
    BOOST_TEST(client.requests() == 3U);
  }
  Client client(authority.certificate());
  registry.require_token("me", "secret", 1);
  client.fixture.credentials.add_basic(CredentialUse::oci, registry.host(), "me", "secret");
  BOOST_TEST(client.list(registry.source("a"))->versions.size() == 25U);
  registry.fault("/v2/a/manifests/v1.0.0", {.status = 403});
  BOOST_TEST(to_string(client.fixture.fetch(registry.source("a"), {.id = {}, .ref = "v1.0.0"}).error().code) ==
             "FORBIDDEN");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
