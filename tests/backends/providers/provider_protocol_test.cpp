#include "backends/providers/provider_protocol.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

namespace modlock::provider_registry {
namespace {

const Platform kLinux{"linux", "amd64"};
const std::string kSum(64, 'a');

BOOST_AUTO_TEST_SUITE(provider_protocol_test)

BOOST_AUTO_TEST_CASE(versions) {
  struct Row {
    const char* name;
    const char* body;
    const char* versions;  // or the failure
  };
  const Row rows[] = {
      {"none", R"({"versions":[]})", ""},
      {"null", R"({"versions":null,"warnings":null})", ""},
      {"not there", "{}", ""},
      {"text after it", R"({"versions":[{"version":"1.0.0"}]}</html>)", "1.0.0"},
      {"newest first", R"({"versions":[{"version":"1.0.0"},{"version":"1.2.0"},{"version":"1.1.0"}]})",
       "1.2.0 1.1.0 1.0.0"},
      {"each once", R"({"versions":[{"version":"1.0.0"},{"version":"1.0"},{"version":"1"}]})", "1.0.0"},
      {"metadata makes another", R"({"versions":[{"version":"1.0.0+b"},{"version":"1.0.0"}]})", "1.0.0 1.0.0+b"},
      {"names in any case", R"({"VERSIONS":[{"Version":"1.0.0"}]})", "1.0.0"},
      {"what nobody asks for", R"({"id":7,"versions":[{"version":"1.0.0","platforms":"none"}]})", "1.0.0"},
      {"a page", "<html>", "the server sent an HTML page, not JSON"},
      {"no JSON", "hello", "the text is not JSON: byte 0: expected a value, found 'h'"},
      {"a list", "[]", "the response is not an object"},
      {"no list", R"({"versions":{}})", "\"versions\" is not a list"},
      {"a number", R"({"versions":[{"version":1}]})", "\"versions[0].version\" is not a string"},
      {"a text", R"({"versions":["1.0.0"]})", "\"versions[0]\" is not an object"},
      {"protocols", R"({"versions":[{"version":"1.0.0","protocols":"5"}]})", "\"versions[0].protocols\" is not a list"},
      {"warnings", R"({"warnings":[1]})", "\"warnings[0]\" is not a string"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = parse_versions(row.body);
      std::string text = found ? "" : found.error().message;
      for (const ListedProvider& listed : found.value_or(ProviderVersions{}).versions) {
        text += (text.empty() ? "" : " ") + listed.version.to_string();
      }
      BOOST_TEST(text == row.versions);
    }
  }
}

BOOST_AUTO_TEST_CASE(three_hundred_thousand_versions_are_listed) {
  const auto listed = [](std::string_view more) {
    std::string body = R"({"versions":[{"version":"0.0.0"})";
    for (int i = 1; i < 300'000; ++i) {
      body += fmt::format(R"(,{{"version":"1.{}.{}"{}}})", i / 1000, i % 1000, more);
    }
    return parse_versions(body + "]}");
  };
  for (const char* more : {"", R"(,"protocols":[])"}) {
    BOOST_TEST_CONTEXT(more) {
      const auto found = listed(more);
      BOOST_REQUIRE(found);
      BOOST_TEST(found->versions.size() == 300'000U);
      BOOST_TEST(found->versions.front().version.to_string() == "1.299.999");
      BOOST_TEST(found->versions.back().version.to_string() == "0.0.0");
    }
  }
  const auto refused = listed(R"(,"protocols":["5.0"])");
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "LIMIT_EXCEEDED");
  BOOST_TEST(refused.error().message == "the JSON text has more than 1,000,000 values");
}

BOOST_AUTO_TEST_CASE(the_newest_that_is_supported) {
  struct Row {
    const char* name;
    const char* body;
    const char* newest;
  };
  const Row rows[] = {
      {"the newest of two", R"({"versions":[{"version":"1.0.0","protocols":["5.0"]},
                                            {"version":"2.0.0","protocols":["6.0"]},
                                            {"version":"3.0.0","protocols":["7.0"]}]})",
       "2.0.0"},
      {"one of several", R"({"versions":[{"version":"1.0.0","protocols":["4","5.1"]}]})", "1.0.0"},
      {"none", R"({"versions":[{"version":"1.0.0","protocols":["4.0"]},{"version":"1.1.0"}]})", "none"},
      {"garbage", R"({"versions":[{"version":"1.0.0","protocols":["x"]}]})", "failure"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto versions = parse_versions(row.body).value();
      const auto newest = newest_supported(versions);
      const std::string text = !newest ? "failure" : *newest == nullptr ? "none" : (*newest)->version.to_string();
      BOOST_TEST(text == row.newest);
    }
  }
}

// A whole answer in which one member is another.
std::string body_with(const std::string& name, const std::string& value) {
  const std::map<std::string, std::string> members = {
      {"protocols", R"(["5.0"])"},
      {"os", R"("linux")"},
      {"arch", R"("amd64")"},
      {"filename", R"("f.zip")"},
      {"download_url", R"("f.zip")"},
      {"shasum", '"' + kSum + '"'},
      {"shasums_url", R"("/sums")"},
      {"shasums_signature_url", R"("https://other.example.com/sums.sig?token=x")"},
      {"signing_keys", R"({"gpg_public_keys":[{"ascii_armor":"key"}]})"},
      {"packages", R"({"linux_amd64":{"hashes":["h1:x=","zh:y"],"package_size":5}})"},
  };
  std::string body;
  for (const auto& [member, usual] : members) {
    body += fmt::format("{}\"{}\":{}", body.empty() ? "{" : ",", member, member == name ? value : usual);
  }
  return body + "}";
}

Result<PackageMetadata> parsed(const std::string& name, const std::string& value,
                               ClientRules rules = ClientRules::opentofu_1_12) {
  return parse_package(body_with(name, value), "https://r.example.com/v1/a/b/1.0.0/download/linux/amd64", kLinux,
                       rules);
}

BOOST_AUTO_TEST_CASE(a_package) {
  const auto metadata = parsed("", "").value();
  BOOST_TEST(metadata.is_supported);
  BOOST_TEST(metadata.file_name == "f.zip");
  BOOST_TEST(metadata.archive_url.reveal() == "https://r.example.com/v1/a/b/1.0.0/download/linux/f.zip");
  BOOST_TEST(metadata.checksums_url.reveal() == "https://r.example.com/sums");
  BOOST_TEST(metadata.signature_url.reveal() == "https://other.example.com/sums.sig?token=x");
  BOOST_TEST(metadata.checksum == kSum);
  BOOST_TEST(metadata.zh == "zh:" + kSum);
  BOOST_TEST(metadata.keys == std::vector<std::string>{"key"}, boost::test_tools::per_element());
  BOOST_REQUIRE(metadata.packages.size() == 1U);
  BOOST_TEST(metadata.packages.at(kLinux).size == 5);
  BOOST_TEST(metadata.packages.at(kLinux).hashes == (std::vector<std::string>{"h1:x=", "zh:y"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(only_opentofu_1_12_reads_the_packages) {
  for (const ClientRules rules : {ClientRules::terraform, ClientRules::opentofu}) {
    const auto metadata = parsed("packages", "7", rules);
    BOOST_REQUIRE(metadata);
    BOOST_TEST(metadata->packages.empty());
  }
}

BOOST_AUTO_TEST_CASE(members_of_a_package) {
  struct Row {
    const char* name;
    const char* member;
    std::string value;
    std::string failure;  // empty: none
  };
  const Row rows[] = {
      {"no protocols", "protocols", "[]", ""},
      {"a protocol that is none", "protocols", R"(["five"])",
       "registry response includes invalid version string \"five\": " + ProviderVersion::parse("five").error().message},
      {"another system", "os", R"("darwin")",
       "registry response to request for linux_amd64 archive has incorrect target darwin_amd64"},
      {"another architecture", "arch", "null",
       "registry response to request for linux_amd64 archive has incorrect target linux_"},
      {"a file", "download_url", R"("file:///etc/passwd")",
       "registry response includes invalid download URL: must use http or https scheme"},
      {"no URL", "download_url", R"("http://[::1/f.zip")",
       "registry response includes invalid download URL: \"http://[::1/f.zip\""},
      {"http", "download_url", R"("http://files.example.com/f.zip")", ""},
      {"ftp", "shasums_url", R"("ftp://files.example.com/f")",
       "registry response includes invalid SHASUMS URL: must use http or https scheme"},
      {"git", "shasums_signature_url", R"("git://files.example.com/f")",
       "registry response includes invalid SHASUMS signature URL: must use http or https scheme"},
      {"in upper case", "shasum", '"' + std::string(64, 'A') + '"', ""},
      {"too short", "shasum", R"("aa")", "registry response includes invalid SHA256 hash \"aa\""},
      {"no digits", "shasum", '"' + std::string(64, 'x') + '"',
       "registry response includes invalid SHA256 hash \"" + std::string(64, 'x') + '"'},
      {"no keys", "signing_keys", "null", ""},
      {"keys of another shape", "signing_keys", R"({"gpg_public_keys":["key"]})",
       "\"signing_keys.gpg_public_keys[0]\" is not an object"},
      {"no packages", "packages", "null", ""},
      {"a package without anything", "packages", R"({"linux_amd64":{}})", ""},
      {"another platform", "packages", R"({"linux":{}})",
       "registry response includes invalid package platform \"linux\": must be two words separated by an underscore"},
      {"no hash", "packages", R"({"linux_amd64":{"hashes":["abc"]}})",
       "registry response includes invalid package hash \"abc\": hash string must start with a scheme keyword followed "
       "by a colon"},
      {"half a size", "packages", R"({"linux_amd64":{"package_size":1.5}})",
       "\"packages.linux_amd64.package_size\" is not a whole number"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto metadata = parsed(row.member, row.value);
      BOOST_TEST((metadata ? "" : metadata.error().message) == row.failure);
      BOOST_TEST((metadata || metadata.error().code == Code::bad_response));
    }
  }
}

BOOST_AUTO_TEST_CASE(protocols_that_nobody_speaks) {
  for (const char* protocols : {R"(["4.0"])", R"(["7"])", R"(["4.9","7.0"])", R"(["5.0-beta"])"}) {
    const auto metadata = parsed("protocols", protocols);
    BOOST_REQUIRE(metadata);
    BOOST_TEST(!metadata->is_supported, protocols);
  }
  for (const char* protocols : {R"(["5.0"])", R"(["6.99"])", R"(["4.0","5.0"])"}) {
    BOOST_TEST(parsed("protocols", protocols)->is_supported, protocols);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::provider_registry
