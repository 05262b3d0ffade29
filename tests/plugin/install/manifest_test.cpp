#include "plugin/install/manifest.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;

namespace {

ManifestRecord record(const std::string& key, const std::string& source, const std::string& version,
                      const std::string& directory) {
  return {.key = key, .source = source, .version = version, .directory = directory};
}

}  // namespace

BOOST_AUTO_TEST_CASE(manifest_is_written_as_a_client_writes_it) {
  Manifest manifest;
  manifest["vpc"] = record("vpc", "git::https://example.com/vpc.git?ref=v1&x=<y>", "", ".terraform/modules/vpc");
  manifest[""] = record("", "", "", ".");
  manifest["net"] = record("net", "registry.opentofu.org/a/b/c", "1.2.3", ".terraform/modules/net");
  BOOST_TEST(write_manifest(manifest) ==
             "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},"
             "{\"Key\":\"net\",\"Source\":\"registry.opentofu.org/a/b/c\",\"Version\":\"1.2.3\",\"Dir\":\".terraform/"
             "modules/net\"},"
             "{\"Key\":\"vpc\",\"Source\":\"git::https://example.com/vpc.git?ref=v1\\u0026x=\\u003cy\\u003e\","
             "\"Dir\":\".terraform/modules/vpc\"}]}");
}

BOOST_AUTO_TEST_CASE(manifest_reads_what_it_writes) {
  const TemporaryDirectory directory;
  Manifest manifest;
  manifest[""] = record("", "", "", ".");
  manifest["a.b"] = record("a.b", "./x \"quoted\" \\ \t \u2028 ü", "", "x");
  write_text(directory / "modules.json", write_manifest(manifest));
  const auto read = read_manifest(directory.path() / "modules.json");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST((*read == manifest));
}

BOOST_AUTO_TEST_CASE(manifest_that_is_missing_or_empty_has_no_records) {
  const TemporaryDirectory directory;
  BOOST_TEST(read_manifest(directory.path() / "modules.json")->empty());
  write_text(directory / "modules.json", "");
  BOOST_TEST(read_manifest(directory.path() / "modules.json")->empty());
}

BOOST_AUTO_TEST_CASE(manifest_that_cannot_be_used_is_an_error_that_says_what_to_do) {
  struct Row {
    const char* name;
    const char* text;
    const char* reason;
  };
  const Row rows[] = {
      {"no list", "{}x", ""},
      {"wrong list", R"({"Modules":3})", "it has no list \"Modules\""},
      {"record of another type", R"({"Modules":[{"Key":1}]})", "a record is not an object of strings"},
      {"a member that clients read instead", R"({"Modules":[{"Key":"a","Source":"x","Dir":"a","dir":"b"}]})",
       "the name of a member is in another case than clients write it"},
      {"another letter that is read as s", R"({"Modules":[{"Key":"a","Source":"x","\u017fource":"y","Dir":"a"}]})",
       "the name of a member is in another case than clients write it"},
      {"a second list", R"({"Modules":[],"modules":[{"Key":"a","Dir":"b"}]})", "it has no list \"Modules\""},
      {"two of one key", R"({"Modules":[{"Key":"a"},{"Key":"a"}]})", "two records have the same key"},
  };
  const TemporaryDirectory directory;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(directory / "modules.json", row.text);
      const auto read = read_manifest(directory.path() / "modules.json");
      BOOST_REQUIRE(!read);
      BOOST_TEST(to_string(read.error().code) == "IO_ERROR");
      BOOST_TEST(read.error().message.find(std::string("cannot be used: ") + row.reason) != std::string::npos);
      BOOST_TEST(read.error().hint == "`tofu-modlock install` moves it to modules.json.broken and writes a new one");
    }
  }
}

BOOST_AUTO_TEST_CASE(installed_modules_lie_below_the_root) {
  struct Row {
    const char* name;
    const char* directory;
    const char* place;  // null: left out
  };
  const Row rows[] = {
      {"the root module", ".", "/root"},
      {"a package", ".terraform/modules/vpc", "/root/.terraform/modules/vpc"},
      {"a module in a package", ".terraform/modules/vpc/modules/net", "/root/.terraform/modules/vpc/modules/net"},
      {"a local module", "modules/net", "/root/modules/net"},
      {"not normal", "./modules//net", "/root/modules/net"},
      {"beside the root", "../net", nullptr},
      {"beside the root, by a detour", "modules/../../net", nullptr},
      {"absolute", "/etc", nullptr},
      {"none", "", nullptr},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Manifest manifest;
      manifest["key"] = record("key", "", "", row.directory);
      std::set<std::filesystem::path> expected = {"/root"};
      if (row.place != nullptr) expected.insert(row.place);
      BOOST_TEST((installed_directories(manifest, "/root") == expected));
    }
  }
}
