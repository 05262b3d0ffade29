#include "backends/providers/authentication.h"

#include <boost/test/unit_test.hpp>

namespace modlock::provider_registry {
namespace {

const std::string kChecksum(64, 'a');

BOOST_AUTO_TEST_SUITE(provider_authentication_test)

BOOST_AUTO_TEST_CASE(who_has_to_sign) {
  struct Row {
    const char* name;
    SignatureRules rules;
    bool required;
  };
  const Row rows[] = {
      {"default host", {ClientRules::opentofu_1_12, true, false, false}, false},
      {"default host, older", {ClientRules::opentofu, true, false, false}, false},
      {"default host, enforced", {ClientRules::opentofu_1_12, true, true, false}, true},
      {"default host, expiration enforced", {ClientRules::opentofu_1_12, true, false, true}, false},
      {"another host", {ClientRules::opentofu_1_12, false, false, false}, true},
      {"Terraform", {ClientRules::terraform, true, false, false}, true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(row.rules.are_required() == row.required);
    }
  }
}

BOOST_AUTO_TEST_CASE(keys_that_cannot_be_read) {
  struct Row {
    const char* name;
    ClientRules rules;
    const char* failure;
  };
  const Row rows[] = {
      {"OpenTofu", ClientRules::opentofu_1_12,
       "x 1.0.0: the provider is not signed with a valid signing key; please contact the provider author (error "
       "decoding signing key: no public key can be read from it)"},
      {"Terraform", ClientRules::terraform, "x 1.0.0: error decoding signing key: no public key can be read from it"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto outcome = verify_signature({"key"}, "checksums", "signature", {.client = row.rules}, "x 1.0.0");
      BOOST_REQUIRE(!outcome);
      BOOST_TEST((outcome.error().code == Code::signature_invalid));
      BOOST_TEST(outcome.error().message == row.failure);
    }
  }
}

BOOST_AUTO_TEST_CASE(listed_packages) {
  struct Row {
    const char* name;
    std::map<Platform, ListedPackage> packages;
    std::string failure;  // empty: none
    bool is_listed = false;
  };
  const Platform linux{"linux", "amd64"};
  const Platform other{"darwin", "arm64"};
  const std::string zh = "zh:" + kChecksum;
  const Row rows[] = {
      {"none", {}, "", false},
      {"the one", {{linux, {{"h1:x=", zh}, 5}}}, "", true},
      {"others", {{other, {{zh}, 5}}}, "registry response missing package with platform \"linux_amd64\""},
      {"no size", {{linux, {{zh}, 0}}}, "registry response has invalid package size 0"},
      {"a negative size", {{linux, {{zh}, -1}}}, "registry response has invalid package size -1"},
      {"no hash of the archive",
       {{linux, {{"h1:x="}, 5}}},
       "registry response does not contain matching sha256sum package entry and is invalid"},
      {"another hash",
       {{linux, {{zh, "zh:bb"}, 5}}},
       "registry response expected sha256sum is \"" + kChecksum +
           "\", which does not match the platform's value of \"bb\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      PackageMetadata metadata{.checksum = kChecksum, .zh = zh};
      metadata.packages = row.packages;
      const auto listed = listed_package(metadata, linux);
      BOOST_TEST((listed ? "" : listed.error().message) == row.failure);
      BOOST_TEST((listed && *listed != nullptr) == row.is_listed);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::provider_registry
