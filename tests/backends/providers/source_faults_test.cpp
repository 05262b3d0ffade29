// What a registry may do wrong, in the clients' words.

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/source_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"

namespace modlock {
namespace {

using namespace test;
using Signing = PublishedProvider::Signing;

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

BOOST_AUTO_TEST_CASE(garbage_among_the_versions) {
  SourceFixture fixture;
  fixture.registry.list("acme/null", "1.0.0");
  fixture.registry.list("acme/null", "latest");
  const auto listing = fixture.source().list_versions(
      ProviderAddress::parse("acme/null", "registry.opentofu.org").value(), fixture.context);
  BOOST_REQUIRE(!listing);
  BOOST_TEST(
      words(listing.error()) ==
      "BAD_RESPONSE: could not query provider registry for registry.opentofu.org/acme/null: " + fixture.registry.url() +
          "/v1/providers/acme/null/versions: registry response includes invalid version string \"latest\": " +
          ProviderVersion::parse("latest").error().message);
}

BOOST_AUTO_TEST_CASE(throttled_on_every_first_request) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.2.3"});
  fixture.registry.throttle();
  const auto release = fixture.release("acme/null", "1.2.3");
  BOOST_TEST(release.has_value(), (release ? "" : words(release.error())));
}

BOOST_AUTO_TEST_CASE(releases_that_are_refused) {
  const std::string unsigned_text =
      "SIGNATURE_INVALID: registry.opentofu.org/acme/null 1.2.3: the provider is not signed with a valid signing key; "
      "please contact the provider author (";
  const std::string of_package = "registry.opentofu.org/acme/null 1.2.3 for linux_amd64";
  struct Row {
    const char* name;
    PublishedProvider release;
    std::string failure;
    bool enforce = false;
  };
  const auto published = [](Signing signing) {
    return PublishedProvider{.name = "acme/null", .version = "1.2.3", .signing = signing};
  };
  const auto edited = [&](auto edit) {
    PublishedProvider release = published(Signing::valid);
    edit(release);
    return release;
  };
  const std::string zh = make_provider_archive("acme/null", "1.2.3", "linux_amd64").zh;
  const std::string size = std::to_string(make_provider_archive("acme/null", "1.2.3", "linux_amd64").bytes.size());
  const Row rows[] = {
      {"a bad signature", published(Signing::bad_signature),
       unsigned_text + "error checking signature: openpgp: invalid signature: the signature is not of this key over "
                       "these bytes)"},
      {"another key", published(Signing::unknown_key), unsigned_text + "authentication signature from unknown issuer)"},
      {"no signature", published(Signing::malformed),
       unsigned_text + "error checking signature: openpgp: invalid signature: it is not an OpenPGP signature)"},
      {"no key, enforced", published(Signing::unsigned_release),
       unsigned_text + "authentication signature from unknown issuer)", true},
      {"another archive",
       edited([](auto& release) { release.edit_served_archive = [](std::string& b) { b[40] ^= 1; }; }),
       "HASH_MISMATCH: \"" + of_package + "\": archive has incorrect checksum zh:"},
      {"cut off", edited([](auto& release) { release.edit_served_archive = [](std::string& b) { b.resize(50); }; }),
       "HASH_MISMATCH: \"" + of_package + "\": archive has incorrect checksum zh:"},
      {"another checksum in the list", edited([](auto& release) {
         release.edit_checksums = [](std::string& sums) { sums.replace(0, 64, std::string(64, 'a')); };
       }),
       "HASH_MISMATCH: " + of_package + ": checksum list has unexpected SHA-256 hash " + std::string(64, 'a') +
           " (expected " + zh.substr(3) + ")"},
      {"not in the list",
       edited([](auto& release) { release.edit_checksums = [](std::string& sums) { sums = "abc  other.zip\n"; }; }),
       "BAD_RESPONSE: " + of_package +
           ": checksum list has no SHA-256 hash for "
           "\"terraform-provider-null_1.2.3_linux_amd64.zip\""},
      {"a blank line in the list",
       edited([](auto& release) { release.edit_checksums = [](std::string& sums) { sums += "\n"; }; }),
       "BAD_RESPONSE: registry.opentofu.org/acme/null 1.2.3: checksum list has a blank line"},
      {"another size than listed", edited([](auto& release) {
         release.lists_packages = true;
         release.edit_download = [](Json::Value& body, const std::string& platform) {
           body["packages"][platform]["package_size"] = 7;
         };
       }),
       "HASH_MISMATCH: " + of_package +
           ": registry response indicates a package of size 7, but received a package of "
           "size " +
           size},
      {"not listed", edited([](auto& release) {
         release.lists_packages = true;
         release.edit_download = [](Json::Value& body, const std::string& platform) {
           body["packages"]["os_arch"] = body["packages"][platform];
           body["packages"].removeMember(platform);
         };
       }),
       "BAD_RESPONSE: " + of_package + ": registry response missing package with platform \"linux_amd64\""},
      {"protocols of another age", edited([](auto& release) { release.protocols = {"4.0"}; }),
       "NO_MATCHING_VERSION: provider registry.opentofu.org/acme/null 1.2.3 is not supported by this version of "
       "OpenTofu"},
      {"no program in it", edited([](auto& release) {
         release.name = "acme/other";
         release.edit_archive = [](PublishedArchive& archive) {
           PublishedArchive wrong = make_provider_archive("acme/null", "1.2.3", "linux_amd64");
           wrong.file_name = archive.file_name;
           archive = wrong;
         };
       }),
       "BAD_RESPONSE: \"registry.opentofu.org/acme/other 1.2.3 for linux_amd64\": provider binary not found: could not "
       "find executable file starting with terraform-provider-other"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      SourceFixture fixture;
      fixture.enforce_signatures = row.enforce;
      fixture.registry.publish(row.release);
      const std::string failure = fixture.failure(row.release.name, "1.2.3");
      BOOST_TEST(failure.substr(0, row.failure.size()) == row.failure);
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
