// What a registry may do wrong, in the clients' words.

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/source_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/release_faults.h"

namespace modlock {
namespace {

using namespace test;

BOOST_AUTO_TEST_SUITE(source_faults_test, *needs("openssl"))

BOOST_AUTO_TEST_CASE(what_is_not_there) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.2.3"});
  BOOST_TEST(fixture.failure("acme/null", "1.2.3", {"linux_amd64", "plan9_386"}) ==
             "NOT_FOUND: provider registry.opentofu.org/acme/null 1.2.3 is not available for plan9_386");
  const auto listing = fixture.source().list_versions(
      ProviderAddress::parse("acme/none", "registry.opentofu.org").value(), fixture.context);
  BOOST_REQUIRE(!listing);
  BOOST_TEST(words(listing.error()) ==
             "NOT_FOUND: provider registry registry.opentofu.org does not have a provider named "
             "registry.opentofu.org/acme/none");
}

BOOST_AUTO_TEST_CASE(hosts_without_a_registry_of_providers) {
  struct Row {
    const char* service;  // that the host has
    provider_registry::ClientRules rules;
    const char* message;
  };
  using provider_registry::ClientRules;
  const Row rows[] = {
      {"modules.v1", ClientRules::opentofu_1_12,
       "host registry.example.com does not offer a OpenTofu provider registry"},
      {"modules.v1", ClientRules::terraform, "host registry.example.com does not offer a Terraform provider registry"},
      {"providers.v9", ClientRules::opentofu_1_12,
       "host registry.example.com does not support the provider registry protocol required by this OpenTofu version, "
       "but may be compatible with a different OpenTofu version"},
      {"providers.v9", ClientRules::terraform,
       "host registry.example.com does not support the provider registry protocol required by this Terraform version, "
       "but may be compatible with a different Terraform version"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.service << ": " << row.message) {
      SourceFixture fixture;
      fixture.rules = row.rules;
      fixture.client.hosts["registry.example.com"].services = {{row.service, "https://registry.example.com/"}};
      const auto listing = fixture.source().list_versions(
          ProviderAddress::parse("registry.example.com/acme/null", "registry.opentofu.org").value(), fixture.context);
      BOOST_REQUIRE(!listing);
      BOOST_TEST(words(listing.error()) == std::string("BAD_RESPONSE: ") + row.message);
    }
  }
}

// That nothing of them is locked is shown with the program, tests/e2e/provider_faults_test.cpp.
BOOST_AUTO_TEST_CASE(releases_that_are_refused) {
  for (const ReleaseFault& row : release_faults()) {
    BOOST_TEST_CONTEXT(row.name) {
      SourceFixture fixture;
      fixture.enforce_signatures = row.enforces_signatures;
      fixture.enforce_expiration = row.enforces_expiration;
      fixture.registry.publish(row.release);
      BOOST_TEST(fixture.failure("acme/bad", "1.1.0") == std::string(to_string(row.code)) + ": " + row.message);
    }
  }
}

// A list that is no list of checksums, but for the one line that counts: the clients record none of it.
BOOST_AUTO_TEST_CASE(a_malformed_list_vouches_for_nothing) {
  SourceFixture fixture;
  fixture.registry.publish(
      {.name = "acme/null", .version = "1.2.3", .edit_checksums = [](std::string& sums) { sums += "short  file\n"; }});
  const auto release = fixture.release("acme/null", "1.2.3");
  BOOST_REQUIRE_MESSAGE(release, (release ? "" : words(release.error())));
  BOOST_TEST(release->published.empty());
  BOOST_TEST(!release->covers_all_platforms);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
