#include "backends/providers/mirror_index.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

namespace {

struct Row {
  const char* name;
  const char* json;
  const char* expected;
};

std::string versions_in(const char* json) {
  const auto versions = parse_mirror_versions(json);
  if (!versions) {
    BOOST_TEST((versions.error().code == Code::bad_response));
    return versions.error().message;
  }
  std::string text;
  for (const ProviderVersion& version : *versions) {
    text += version.to_string() + " ";
  }
  return text;
}

std::string archives_in(const char* json) {
  const auto archives = parse_mirror_archives(json);
  if (!archives) {
    BOOST_TEST((archives.error().code == Code::bad_response));
    return archives.error().message;
  }
  std::string text;
  for (const auto& [platform, archive] : *archives) {
    text += platform + " " + archive.url;
    for (const std::string& hash : archive.hashes) {
      text += " " + hash;
    }
    text += "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mirror_index)

BOOST_AUTO_TEST_CASE(versions) {
  const Row rows[] = {
      {"some", R"({"versions": {"1.0.0": {}, "2.0.0-beta": {"x": 1}}})", "1.0.0 2.0.0-beta "},
      {"what is no version", R"({"versions": {"1.0.0": {}, "v2": {}, "latest": null}})", "1.0.0 "},
      {"none", R"({"versions": {}})", ""},
      {"nothing said", R"({})", ""},
      {"null", R"({"versions": null})", ""},
      {"a list", R"({"versions": ["1.0.0"]})",
       "invalid response content from mirror server: its \"versions\" is not an object"},
      {"no object", R"([])", "invalid response content from mirror server: it is not a JSON object"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(versions_in(row.json) == row.expected);
    }
  }
  BOOST_TEST(versions_in("{").starts_with("invalid response content from mirror server: "));
}

BOOST_AUTO_TEST_CASE(archives) {
  const Row rows[] = {
      {"with hashes", R"({"archives": {"linux_amd64": {"url": "a.zip", "hashes": ["h1:x", "zh:y", "h9:z"]}}})",
       "linux_amd64 a.zip h1:x zh:y h9:z\n"},
      {"without", R"({"archives": {"linux_amd64": {"url": "a.zip"}, "b_c": {"url": "b.zip", "hashes": null}}})",
       "b_c b.zip\nlinux_amd64 a.zip\n"},
      {"none", R"({"archives": {}})", ""},
      {"another type of archive", R"({"archives": {"linux_amd64": "a.zip"}})",
       "invalid response content from mirror server: the archive of \"linux_amd64\" is not an object with a url and "
       "hashes"},
      {"another type of hash", R"({"archives": {"linux_amd64": {"url": "a", "hashes": [1]}}})",
       "invalid response content from mirror server: the archive of \"linux_amd64\" has a hash that is not a string"},
      {"no scheme", R"({"archives": {"linux_amd64": {"url": "a", "hashes": ["abc"]}}})",
       "invalid response content from mirror server: the archive of \"linux_amd64\" has the invalid hash \"abc\": it "
       "must start with a scheme keyword followed by a colon"},
      {"an empty scheme", R"({"archives": {"linux_amd64": {"url": "a", "hashes": [":abc"]}}})",
       "invalid response content from mirror server: the archive of \"linux_amd64\" has the invalid hash \":abc\": it "
       "must start with a scheme keyword followed by a colon"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(archives_in(row.json) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
