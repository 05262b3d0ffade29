#include "backends/providers/registry_provider_source.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>

#include "backends/base/parallel.h"
#include "tests/backends/providers/mirror_fixture.h"
#include "tests/backends/providers/source_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"

namespace modlock {
namespace {

using namespace test;
using provider_registry::ClientRules;
using Signing = PublishedProvider::Signing;

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string zh_of_manifest(const SourceFixture& fixture, const std::string& name, const std::string& version) {
  const std::string sums = fixture.registry.checksums(name, version);
  const std::size_t end = sums.rfind("  ");
  return "zh:" + sums.substr(end - 64, 64);
}

BOOST_AUTO_TEST_SUITE(registry_provider_source_test, *needs("openssl"))

BOOST_AUTO_TEST_CASE(versions_newest_first_with_warnings) {
  SourceFixture fixture;
  for (const char* version : {"1.0.0", "2.0.0-beta", "2.0.0", "1.10.0", "1.9.0+b", "1.9.0+a", "1.0"}) {
    fixture.registry.list("hashicorp/null", version);
  }
  fixture.registry.warn("hashicorp/null", "this one has moved");
  const auto address = ProviderAddress::parse("hashicorp/null", "registry.opentofu.org").value();
  ProviderSource& source = fixture.source();
  parallel_for(4, 4, [&](std::size_t) { (void)source.list_versions(address, fixture.context); });
  const auto listing = source.list_versions(address, fixture.context);
  BOOST_REQUIRE_MESSAGE(listing, (listing ? "" : words(listing.error())));
  std::vector<std::string> found;
  for (const ProviderVersion& version : listing->versions) {
    found.push_back(version.to_string());
  }
  const std::vector<std::string> expected = {"2.0.0", "2.0.0-beta", "1.10.0", "1.9.0+a", "1.9.0+b", "1.0.0"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  BOOST_TEST(listing->warnings == std::vector<std::string>{"this one has moved"}, boost::test_tools::per_element());
  BOOST_TEST(fixture.registry.requests().total() == 1);
  const auto request = fixture.registry.server().requests().at(0);
  BOOST_TEST(request.header("X-Terraform-Version") == "1.12.6");
  BOOST_TEST(request.header("User-Agent") == "test/1");
}

BOOST_AUTO_TEST_CASE(archive_is_sent) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.2.3"});
  BOOST_TEST((downloaded(fixture.source(), "registry.example.com/acme/null", "1.2.3") ==
              fixture.registry.archive("acme/null", "1.2.3").bytes));
  BOOST_TEST(downloaded(fixture.source(), "registry.example.com/acme/null", "1.2.3", "darwin_arm64") ==
             "NOT_FOUND: provider registry.example.com/acme/null 1.2.3 is not available for darwin_arm64");
}

BOOST_AUTO_TEST_CASE(a_signed_release_of_two_platforms) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.2.3", .platforms = {"linux_amd64", "windows_amd64"}});
  const std::vector<std::string> platforms = {"windows_amd64", "linux_amd64"};
  const auto release = fixture.release("registry.example.com/acme/null", "1.2.3", platforms);
  BOOST_REQUIRE_MESSAGE(release, (release ? "" : words(release.error())));
  std::vector<std::string> published = {zh_of_manifest(fixture, "acme/null", "1.2.3")};
  for (const std::string& platform : platforms) {
    const PublishedArchive& archive = fixture.registry.archive("acme/null", "1.2.3", platform);
    const ProviderPackage& package = release->packages.at(Platform::parse(platform).value());
    BOOST_TEST(package.h1 == archive.h1);
    BOOST_TEST(package.archive_h1 == archive.archive_h1);
    BOOST_TEST(package.zh == archive.zh);
    BOOST_TEST(package.recorded == (std::vector<std::string>{archive.h1, archive.zh}),
               boost::test_tools::per_element());
    published.push_back(archive.zh);
  }
  BOOST_TEST(release->published == sorted(published), boost::test_tools::per_element());
  BOOST_TEST((release->signature.status == ProviderSignature::Status::signed_by_key));
  BOOST_TEST(release->signature.key_id == fixture.registry.key().id());
  BOOST_TEST(release->covers_all_platforms);
  BOOST_TEST(release->warnings.empty());
  const ProviderRequests asked = fixture.registry.requests();
  BOOST_TEST(asked.downloads == 2);
  BOOST_TEST(asked.checksums == 1);
  BOOST_TEST(asked.signatures == 1);
  BOOST_TEST(asked.archives == 2);
}

BOOST_AUTO_TEST_CASE(an_archive_is_read_once_per_machine) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.2.3"});
  BOOST_TEST(fixture.release("registry.example.com/acme/null", "1.2.3").has_value());
  fixture.run_again();
  fixture.source();
  std::atomic<int> found = 0;
  parallel_for(4, 4, [&](std::size_t) {
    found += fixture.release("registry.example.com/acme/null", "1.2.3").has_value() ? 1 : 0;
  });
  BOOST_TEST(found == 4);
  BOOST_TEST(fixture.registry.requests().archives == 1);
  BOOST_TEST(fixture.stats.cache_hits == 4U);
}

// Which hashes are recorded beside those of the package itself, by who asks and where.
BOOST_AUTO_TEST_CASE(what_is_published) {
  struct Row {
    const char* name;
    const char* address;
    ClientRules rules;
    bool enforce;
    bool word;       // the listed hashes count
    int signatures;  // requests
    int metadata;
    int archives;
    bool of_each = false;
    Signing signing = Signing::valid;
  };
  const Row rows[] = {
      {"default host, signed", "acme/null", ClientRules::opentofu_1_12, false, true, 1, 1, 1},
      {"default host, each platform", "acme/null", ClientRules::opentofu_1_12, false, true, 1, 2, 2, true},
      {"default host, not signed", "acme/null", ClientRules::opentofu_1_12, false, true, 0, 1, 1, false,
       Signing::unsigned_release},
      {"default host, enforced", "acme/null", ClientRules::opentofu_1_12, true, false, 1, 2, 2},
      {"another host", "registry.example.com/acme/null", ClientRules::opentofu_1_12, false, false, 1, 2, 2},
      {"1.11", "acme/null", ClientRules::opentofu, false, false, 1, 2, 2},
      {"1.11, not signed", "acme/null", ClientRules::opentofu, false, false, 0, 2, 2, false, Signing::unsigned_release},
      {"Terraform", "registry.example.com/acme/null", ClientRules::terraform, false, false, 1, 2, 2},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      SourceFixture fixture;
      fixture.rules = row.rules;
      fixture.enforce_signatures = row.enforce;
      fixture.asks_of_each_platform = row.of_each;
      const std::vector<std::string> platforms = {"linux_amd64", "darwin_arm64", "windows_386"};
      fixture.registry.publish({.name = "acme/null",
                                .version = "1.2.3",
                                .platforms = platforms,
                                .signing = row.signing,
                                .lists_packages = true});
      const auto release = fixture.release(row.address, "1.2.3", {"linux_amd64", "darwin_arm64"});
      BOOST_REQUIRE_MESSAGE(release, (release ? "" : words(release.error())));
      std::vector<std::string> expected = {zh_of_manifest(fixture, "acme/null", "1.2.3")};
      for (const std::string& platform : platforms) {
        const PublishedArchive& archive = fixture.registry.archive("acme/null", "1.2.3", platform);
        expected.push_back(archive.zh);
        if (row.word) {
          expected.push_back(archive.archive_h1);
        }
      }
      BOOST_TEST(release->published == sorted(expected), boost::test_tools::per_element());
      const bool is_signed = row.signing == Signing::valid;
      BOOST_TEST((release->signature.status ==
                  (is_signed ? ProviderSignature::Status::signed_by_key : ProviderSignature::Status::skipped)));
      BOOST_TEST(release->signature.key_id == (is_signed ? fixture.registry.key().id() : ""));
      BOOST_TEST(fixture.registry.requests().signatures == row.signatures);
      BOOST_TEST(fixture.registry.requests().downloads == row.metadata);
      BOOST_TEST(fixture.registry.requests().archives == row.archives);
      for (const char* platform : {"linux_amd64", "darwin_arm64"}) {
        const ProviderPackage& package = release->packages.at(Platform::parse(platform).value());
        const PublishedArchive& archive = fixture.registry.archive("acme/null", "1.2.3", platform);
        BOOST_TEST(package.h1 == archive.h1);
        BOOST_TEST(package.archive_h1 == archive.archive_h1);
        BOOST_TEST(package.zh == archive.zh);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_word_that_does_not_cover_the_other_platforms) {
  struct Row {
    const char* name;
    std::vector<ArchiveEntry> entries;
    std::function<void(Json::Value&, const std::string&)> edit;
  };
  const auto second_h1 = [](Json::Value& answer, const std::string&) {
    answer["packages"]["darwin_arm64"]["hashes"].append("h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
  };
  const auto without_it = [](Json::Value& answer, const std::string& platform) {
    if (platform != "darwin_arm64") {
      answer["packages"].removeMember("darwin_arm64");
    }
  };
  const auto other_archive = [](Json::Value& answer, const std::string& platform) {
    if (platform != "darwin_arm64") {
      answer["packages"]["darwin_arm64"]["hashes"] = Json::arrayValue;
      answer["packages"]["darwin_arm64"]["hashes"].append("h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
      answer["packages"]["darwin_arm64"]["hashes"].append("zh:" + std::string(64, '0'));
    }
  };
  const Row rows[] = {
      {"archives that are not plain", {{.name = "docs/", .type = ArchiveEntry::Type::directory}}, {}},
      {"two hashes of one package", {}, second_h1},
      {"a platform that is not listed", {}, without_it},
      {"an archive that the checksums do not have", {}, other_archive},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      SourceFixture fixture;
      const std::vector<std::string> platforms = {"linux_amd64", "darwin_arm64"};
      fixture.registry.publish({.name = "acme/null",
                                .version = "1.2.3",
                                .platforms = platforms,
                                .lists_packages = true,
                                .entries = row.entries,
                                .edit_download = row.edit});
      const auto release = fixture.release("acme/null", "1.2.3", platforms);
      BOOST_REQUIRE_MESSAGE(release, (release ? "" : words(release.error())));
      for (const std::string& platform : platforms) {
        BOOST_TEST(release->packages.at(Platform::parse(platform).value()).h1 ==
                   fixture.registry.archive("acme/null", "1.2.3", platform).h1);
      }
      BOOST_TEST(fixture.registry.requests().downloads == 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_key_that_has_expired) {
  struct Row {
    const char* name;
    ClientRules rules;
    Signing signing;
    bool enforce;
    std::size_t warnings;
    const char* failure;  // behind the release; null: none
  };
  const Row rows[] = {
      {"a key", ClientRules::opentofu_1_12, Signing::expired_key, false, 1, nullptr},
      {"a key before it signed", ClientRules::opentofu_1_12, Signing::late_signature, false, 1, nullptr},
      {"a signature", ClientRules::opentofu_1_12, Signing::expired_signature, false, 1, nullptr},
      {"a key, enforced", ClientRules::opentofu_1_12, Signing::expired_key, true, 0,
       "the provider is not signed with a valid signing key; please contact the provider author (authentication "
       "signature from unknown issuer)"},
      {"a signature, enforced", ClientRules::opentofu, Signing::expired_signature, true, 0,
       "the provider is not signed with a valid signing key; please contact the provider author (authentication "
       "signature from unknown issuer)"},
      {"a key, Terraform", ClientRules::terraform, Signing::expired_key, true, 0, nullptr},
      {"a signature, Terraform", ClientRules::terraform, Signing::expired_signature, false, 0,
       "error checking signature: openpgp: signature expired"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      SourceFixture fixture;
      fixture.rules = row.rules;
      fixture.enforce_expiration = row.enforce;
      fixture.registry.publish({.name = "acme/null", .version = "1.2.3", .signing = row.signing});
      const auto release = fixture.release("acme/null", "1.2.3");
      if (row.failure != nullptr) {
        BOOST_REQUIRE(!release);
        BOOST_TEST(words(release.error()) ==
                   std::string("SIGNATURE_INVALID: registry.opentofu.org/acme/null 1.2.3: ") + row.failure);
        continue;
      }
      BOOST_REQUIRE_MESSAGE(release, (release ? "" : words(release.error())));
      BOOST_TEST((release->signature.status == ProviderSignature::Status::signed_by_key));
      BOOST_TEST(release->warnings.size() == row.warnings);
      for (const Diagnostic& warning : release->warnings) {
        BOOST_TEST((warning.severity == Severity::warning));
        BOOST_TEST(words(warning.what) == "SIGNATURE_INVALID: registry.opentofu.org/acme/null 1.2.3: the gpg key " +
                                              release->signature.key_id +
                                              " or its signature has expired; future releases of OpenTofu will "
                                              "refuse that");
      }
    }
  }
}

// OpenTofu takes what nobody has signed from its own registry alone, whoever else has the same files.
BOOST_AUTO_TEST_CASE(the_same_files_under_another_host) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.0.0", .signing = Signing::unsigned_release});
  const std::string theirs =
      "SIGNATURE_INVALID: registry.example.com/acme/null 1.0.0: the provider is not signed with a valid signing key; "
      "please contact the provider author (authentication signature from unknown issuer)";
  for (const bool is_own_first : {true, false}) {
    fixture.run_again();
    if (!is_own_first) {
      BOOST_TEST(fixture.failure("registry.example.com/acme/null", "1.0.0") == theirs);
    }
    BOOST_TEST(fixture.release("acme/null", "1.0.0").has_value());
    BOOST_TEST(fixture.failure("registry.example.com/acme/null", "1.0.0") == theirs);
  }
}

BOOST_AUTO_TEST_CASE(each_host_has_its_own_warning) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.0.0", .signing = Signing::expired_key});
  for (const std::string host : {"registry.opentofu.org", "registry.example.com"}) {
    const auto release = fixture.release(host + "/acme/null", "1.0.0");
    BOOST_TEST_REQUIRE(release.has_value());
    BOOST_TEST_REQUIRE(release->warnings.size() == 1U);
    BOOST_TEST(release->warnings.front().what.message.find(host + "/acme/null 1.0.0") != std::string::npos);
  }
}

// Tokens go to the registry alone, not to where its files lie.
BOOST_AUTO_TEST_CASE(only_the_registry_gets_the_token) {
  SourceFixture fixture;
  fixture.registry.publish({.name = "acme/null", .version = "1.2.3"});
  fixture.credentials.add_token(CredentialUse::registry, "registry.example.com", "s3cret");
  fixture.registry.server().require_token("/v1/", "s3cret");
  BOOST_REQUIRE(fixture.release("registry.example.com/acme/null", "1.2.3"));
  for (const auto& request : fixture.registry.server().requests()) {
    const bool is_api = request.target.starts_with("/v1/");
    BOOST_TEST(request.header("Authorization") == (is_api ? "Bearer s3cret" : ""), request.target);
    BOOST_TEST(request.header("X-Terraform-Version") == (is_api ? "1.12.6" : ""), request.target);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
