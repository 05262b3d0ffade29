#include "plugin/report/cyclonedx.h"

#include <boost/test/unit_test.hpp>

#include <regex>

#include "protocol/base/json.h"

using namespace modlock;

namespace {

constexpr std::string_view kCommit = "8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807";

LockFile sample_lock() {
  const std::string network =
      "  source = \"git::https://github.com/example/net.git\"\n  version = \"1.2.5\"\n"
      "  hashes = [\"git:" +
      std::string(kCommit) + "\", \"h1:abc=\"]\n}\n";
  return parse_lock("module \"a\" {\n  constraints = \"~> 1.2\"\n" + network +
                        "module \"a.local.deep\" {\n  source = \"https://example.com/deep.zip\"\n"
                        "  hashes = [\"zh:" +
                        std::string(64, 'b') +
                        "\"]\n}\n"
                        "module \"b\" {\n  constraints = \">= 1.0\"\n" +
                        network +
                        "module \"host:x\" {\n  source = \"what is this\"\n}\n"
                        "provider \"registry.opentofu.org/hashicorp/null\" {\n  version = \"3.2.1\"\n"
                        "  constraints = \"~> 3.0\"\n  hashes = [\"h1:def=\"]\n}\n",
                    ".terraform.lock.hcl")
      .value();
}

std::vector<std::string> properties_of(const Json::Value& component, const std::string& name) {
  std::vector<std::string> values;
  for (const Json::Value& property : component["properties"]) {
    if (property["name"] == "tofu-modlock:" + name) {
      values.push_back(property["value"].asString());
    }
  }
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cyclonedx)

BOOST_AUTO_TEST_CASE(what_every_bill_has) {
  const Json::Value bill = bill_of_materials(sample_lock(), "shop");
  BOOST_TEST(bill["bomFormat"].asString() == "CycloneDX");
  BOOST_TEST(bill["specVersion"].asString() == "1.6");
  BOOST_TEST(bill["version"].asInt() == 1);
  BOOST_TEST(bill["metadata"]["component"]["name"].asString() == "shop");
  BOOST_TEST(bill["metadata"]["component"]["type"].asString() == "application");
  BOOST_TEST(bill["metadata"]["tools"]["components"][0]["name"].asString() == "tofu-modlock");
  BOOST_TEST(!bill["metadata"].isMember("timestamp"));
  const std::regex uuid("urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  BOOST_TEST(std::regex_match(bill["serialNumber"].asString(), uuid));
}

BOOST_AUTO_TEST_CASE(the_same_lock_gives_the_same_bytes) {
  const std::string bill = write_json_pretty(bill_of_materials(sample_lock(), {}));
  BOOST_TEST(write_json_pretty(bill_of_materials(sample_lock(), {})) == bill);
  LockFile other = sample_lock();
  other.modules.at("a").hashes.back() = "h1:abd=";
  BOOST_TEST(bill_of_materials(other, {})["serialNumber"].asString() !=
             bill_of_materials(sample_lock(), {})["serialNumber"].asString());
}

BOOST_AUTO_TEST_CASE(calls_of_one_package_are_one_component) {
  const Json::Value bill = bill_of_materials(sample_lock(), {});
  BOOST_TEST_REQUIRE(bill["components"].size() == 4U);
  const Json::Value& network = bill["components"][0];
  BOOST_TEST(network["type"].asString() == "library");
  BOOST_TEST(network["bom-ref"].asString() == "module.a");
  BOOST_TEST(network["name"].asString() == "net");
  BOOST_TEST(network["version"].asString() == "1.2.5");
  BOOST_TEST(network["purl"].asString() == "pkg:github/example/net@" + std::string(kCommit));
  BOOST_TEST(network["pedigree"]["commits"][0]["uid"].asString() == std::string(kCommit));
  BOOST_TEST(network["externalReferences"][0]["type"].asString() == "vcs");
  BOOST_TEST(network["externalReferences"][0]["url"].asString() == "https://github.com/example/net.git");
  BOOST_TEST((properties_of(network, "call") == std::vector<std::string>{"module.a", "module.b"}));
  BOOST_TEST((properties_of(network, "constraints") == std::vector<std::string>{"~> 1.2", ">= 1.0"}));
  BOOST_TEST((properties_of(network, "hash") == std::vector<std::string>{"git:" + std::string(kCommit), "h1:abc="}));
}

BOOST_AUTO_TEST_CASE(the_version_of_a_component) {
  struct Row {
    const char* name;
    const char* source;
    const char* version;
  };
  const Row rows[] = {
      {"a tag", "git::https://example.com/net.git?ref=v1.2.0", "1.2.0"},
      {"a tag with a prefix", "git::https://example.com/net.git//a?ref=network/v1.2.0", "1.2.0"},
      {"a full reference", "git::https://example.com/net.git?ref=refs/tags/v1.2.0", "1.2.0"},
      {"a tag of OCI", "oci://example.com/net?tag=1.2.0", "1.2.0"},
      {"a branch", "git::https://example.com/net.git?ref=main", ""},
      {"a partial tag", "git::https://example.com/net.git?ref=v1", ""},
      {"no reference", "git::https://example.com/net.git", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      LockFile lock;
      lock.modules.emplace("a", ModuleLock{.key = "a", .source = row.source, .hashes = {"h1:abc="}});
      BOOST_TEST(bill_of_materials(lock, {})["components"][0]["version"].asString() == row.version);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_archive_has_its_sum) {
  const Json::Value archive = bill_of_materials(sample_lock(), {})["components"][1];
  BOOST_TEST(archive["bom-ref"].asString() == "module.a.local.deep");
  BOOST_TEST(!archive.isMember("version"));
  BOOST_TEST(archive["hashes"][0]["alg"].asString() == "SHA-256");
  BOOST_TEST(archive["hashes"][0]["content"].asString() == std::string(64, 'b'));
  BOOST_TEST(archive["externalReferences"][0]["type"].asString() == "distribution");
}

BOOST_AUTO_TEST_CASE(what_is_no_address_has_a_name) {
  const Json::Value unknown = bill_of_materials(sample_lock(), {})["components"][2];
  BOOST_TEST(unknown["name"].asString() == "host:x");
  BOOST_TEST(!unknown.isMember("purl"));
}

BOOST_AUTO_TEST_CASE(no_secret_of_a_lock_edited_by_hand_is_shown) {
  struct Row {
    const char* source;
    const char* shown;
  };
  const Row rows[] = {
      {"git::https://us3r:passw0rd@example.com/net.git?sshkey=s3cretkey", "git::https://example.com/net.git"},
      {"git::https://example.com/net.git?sshkey=s3cretkey", "git::https://example.com/net.git"},
      {"git::https://example.com/net.git", "git::https://example.com/net.git"},
      {"git::ssh://git@example.com/net.git", "git::ssh://git@example.com/net.git"},
      {"git::ssh://git@example.com/net.git?SSHKEY=s3cretkey", "git::ssh://git@example.com/net.git"},
      {"git::ssh://git@example.com/net.git?%73shkey=s3cretkey", "git::ssh://git@example.com/net.git"},
      {"git::ssh://git@example.com/net.git?sshkey=s3cretkey&ref=v1&sshkey=s3cretkey",
       "git::ssh://git@example.com/net.git?ref=v1"},
      {"git::ssh://git@example.com/net.git&sshkey=s3cretkey", "git::ssh://git@example.com/net.git…"},
      {"git::https://example.com/net.git&sshkey=s3cretkey", "git::https://example.com/net.git…"},
      {"git::https://example.com/net.git%26%73shkey%3Ds3cretkey", "git::https://example.com/net.git…"},
      {"git::https://example.com/net.git%3FSSHKEY=s3cretkey", "git::https://example.com/net.git…"},
      {"git::https://example.com/net.git//sub&sshkey=s3cretkey", "git::https://example.com/net.git//sub…"},
      {"git::https://example.com/net.git?ref=v1%26sshkey=s3cretkey", "git::https://example.com/net.git…"},
      {"git::https://example.com/net.git?ref=v1%3Fsshkey%3Ds3cretkey", "git::https://example.com/net.git…"},
      {"https://example.com/a.zip?token=s3cretkey", "https://example.com/a.zip"},
      {"https://example.com/a.zip&token=s3cretkey", "https://example.com/a.zip…"},
      {"https://example.com/a.zip?checksum=file:https://h/x%26token=s3cretkey", "https://example.com/a.zip…"},
      {"s3::https://s3.example.com/b/k.zip&aws_access_key_secret=s3cretkey", "s3::https://s3.example.com/b/k.zip…"},
      {"no address &sshkey=s3cretkey", "no address …"},
      {"no address ?sshkey=s3cretkey", "no address …"},
      {"https://example.com/r&d/a.zip", "https://example.com/r&d/a.zip"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.source) {
      LockFile lock = sample_lock();
      lock.modules.at("a").source = row.source;
      const Json::Value bill = bill_of_materials(lock, {});
      BOOST_TEST((properties_of(bill["components"][0], "source") == std::vector<std::string>{row.shown}));
      const std::string text = write_json(bill);
      for (const char* secret : {"us3r", "passw0rd", "s3cretkey"}) {
        BOOST_TEST(text.find(secret) == std::string::npos, secret);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_commit_is_none) {
  for (const std::string& text : {std::string("zz"), std::string(), std::string(39, 'a'), std::string(40, 'z')}) {
    BOOST_TEST_CONTEXT(text) {
      LockFile lock = sample_lock();
      lock.modules.at("a").hashes = {"git:" + text, "h1:abc="};
      const Json::Value network = bill_of_materials(lock, {})["components"][0];
      BOOST_TEST(!network.isMember("pedigree"));
      BOOST_TEST(network["purl"].asString() == "pkg:github/example/net@1.2.5");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_provider_has_its_namespace_as_group) {
  const Json::Value provider = bill_of_materials(sample_lock(), {})["components"][3];
  BOOST_TEST(provider["bom-ref"].asString() == "provider.registry.opentofu.org/hashicorp/null");
  BOOST_TEST(provider["group"].asString() == "hashicorp");
  BOOST_TEST(provider["name"].asString() == "terraform-provider-null");
  BOOST_TEST((properties_of(provider, "hash") == std::vector<std::string>{"h1:def="}));
}

BOOST_AUTO_TEST_CASE(a_call_depends_on_the_nearest_locked_caller) {
  const Json::Value dependencies = bill_of_materials(sample_lock(), {})["dependencies"];
  BOOST_TEST(
      write_json(dependencies) ==
      R"([{"dependsOn":["module.a.local.deep"],"ref":"module.a"},)"
      R"({"dependsOn":["module.a","module.host:x","provider.registry.opentofu.org/hashicorp/null"],"ref":"root"}])");
}

BOOST_AUTO_TEST_CASE(an_empty_lock_is_a_bill_without_parts) {
  const Json::Value bill = bill_of_materials(LockFile{}, {});
  BOOST_TEST(bill["components"].isArray());
  BOOST_TEST(bill["components"].empty());
  BOOST_TEST(write_json(bill["dependencies"]) == R"([{"ref":"root"}])");
}

BOOST_AUTO_TEST_SUITE_END()
