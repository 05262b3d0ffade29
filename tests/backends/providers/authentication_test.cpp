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

namespace modlock::provider_registry {
namespace {

const std::string kA(64, 'a');
const std::string kB(64, 'b');

std::string text_of(const Result<void>& result) {
  return result ? "" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

BOOST_AUTO_TEST_SUITE(checksum_list_test)

BOOST_AUTO_TEST_CASE(one_file) {
  struct Row {
    const char* name;
    std::string document;
    std::string failure;
  };
  const Row rows[] = {
      {"two blanks", kA + "  f.zip\n", ""},
      {"tab, carriage return", kA + "\tf.zip\r\n", ""},
      {"no line end", kB + "  g.zip\n" + kA + "  f.zip", ""},
      {"blanks in front", "  " + kA + " f.zip\n", ""},
      {"in upper case", std::string(64, 'A') + "  f.zip\n", ""},
      {"more behind", kA + "  f.zip more\n", ""},
      {"the first counts", kB + "  f.zip\n" + kA + "  f.zip\n",
       "HASH_MISMATCH: checksum list has unexpected SHA-256 hash " + kB + " (expected " + kA + ")"},
      {"a blank line before it", "\n" + kA + "  f.zip\n", ""},
      {"empty", "", "BAD_RESPONSE: checksum list has no SHA-256 hash for \"f.zip\""},
      {"another file", kA + "  f.zip.sig\n", "BAD_RESPONSE: checksum list has no SHA-256 hash for \"f.zip\""},
      {"binary mark", kA + " *f.zip\n", "BAD_RESPONSE: checksum list has no SHA-256 hash for \"f.zip\""},
      {"no hash", "abc  f.zip\n", "BAD_RESPONSE: checksum list has invalid SHA256 hash \"abc\""},
      {"too long a hash", kA + "aa  f.zip\n", "BAD_RESPONSE: checksum list has invalid SHA256 hash \"" + kA + "aa\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text_of(expect_listed(row.document, "f.zip", "zh:" + kA)) == row.failure);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_without_a_name_is_in_no_list) {
  BOOST_TEST(text_of(expect_listed(kA + "\n", "", "zh:" + kA)) ==
             "BAD_RESPONSE: checksum list has no SHA-256 hash for \"\"");
}

BOOST_AUTO_TEST_CASE(all_hashes) {
  struct Row {
    const char* name;
    std::string document;
    std::vector<std::string> hashes;
    const char* failure;
  };
  const Row rows[] = {
      {"in their order, whatever the files", kB + "  g.json\n" + kA + "  f.zip\n", {"zh:" + kB, "zh:" + kA}, ""},
      {"in upper case", std::string(64, 'A') + "  f.zip", {"zh:" + kA}, ""},
      {"empty", "", {}, ""},
      {"one field", kA + "  f.zip\n" + kB + "\n", {}, ""},
      {"no hash", kA + "  f.zip\nabc  g.zip\n", {}, ""},
      {"no hexadecimal digits", std::string(64, 'g') + "  f.zip\n", {}, ""},
      {"a blank line inside", kA + "  f.zip\n\n" + kB + "  g.zip\n", {}, "checksum list has a blank line"},
      {"a blank line at the end", kA + "  f.zip\n\n", {}, "checksum list has a blank line"},
      {"a line of blanks", kA + "  f.zip\n \t\n", {}, "checksum list has a blank line"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto hashes = hashes_of(row.document);
      BOOST_TEST((hashes ? "" : hashes.error().message) == row.failure);
      BOOST_TEST(hashes.value_or(std::vector<std::string>()) == row.hashes, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::provider_registry
