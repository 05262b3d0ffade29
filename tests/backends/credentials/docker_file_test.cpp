#include "backends/credentials/oci_credential_finder.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(docker_file)

BOOST_AUTO_TEST_CASE(entries_are_read) {
  const auto file = parse_docker_file(R"({
    "auths": {"ghcr.io": {"auth": "dTpw"}, "ghcr.io/team": {"AUTH": "dTpw\nOnE="}, "empty.io": {"auth": ""},
              "null.io": null, "token.io": {"identitytoken": "x"}},
    "credHelpers": {"a.io": "one", "b.io": null}, "credsStore": "two", "HttpHeaders": {"x": "y"}})",
                                      "f");
  BOOST_TEST_REQUIRE(file.has_value());
  BOOST_TEST_REQUIRE(file->auths.size() == 2U);
  BOOST_TEST(file->auths[0].where == "ghcr.io");
  BOOST_TEST(file->auths[0].decoded.reveal() == "u:p");
  BOOST_TEST(file->auths[1].decoded.reveal() == "u:p:q");
  BOOST_TEST(file->helpers.at("a.io") == "one");
  BOOST_TEST(file->helpers.at("b.io").empty());
  BOOST_TEST(file->store == "two");
}

BOOST_AUTO_TEST_CASE(what_is_no_such_file) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"an array", "[]", "f: it is not a JSON object"},
      {"auths of another type", R"({"auths": []})", "f: auths and credHelpers must be objects, credsStore a string"},
      {"an entry of another type", R"({"auths": {"h": "canary-1"}})", "f: auths \"h\" is not an object"},
      {"a secret of another type", R"({"auths": {"h": {"auth": 7}}})", "f: the auth of auths \"h\" is not base64"},
      {"a secret that is not encoded", R"({"auths": {"h": {"auth": "canary-1:x"}}})",
       "f: the auth of auths \"h\" is not base64"},
      {"no padding", R"({"auths": {"h": {"auth": "dXU6cHA"}}})", "f: the auth of auths \"h\" is not base64"},
      {"padding inside", R"({"auths": {"h": {"auth": "dT=w"}}})", "f: the auth of auths \"h\" is not base64"},
      {"a program of another type", R"({"credHelpers": {"h": 1}})", "f: credHelpers \"h\" is not a string"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto file = parse_docker_file(row.text, "f");
      BOOST_TEST_REQUIRE(!file.has_value());
      BOOST_TEST((file.error().code == Code::config_parse));
      BOOST_TEST(file.error().message == row.expected);
    }
  }
  const auto broken = parse_docker_file(R"({"auths": {"h": {"auth": canary-1)", "f");
  BOOST_TEST_REQUIRE(!broken.has_value());
  BOOST_TEST(broken.error().message.starts_with("f: it is not JSON: "));
  BOOST_TEST(broken.error().message.find("canary") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(keys_match_whole_segments) {
  struct Row {
    const char* name;
    const char* key;
    std::size_t expected;
  };
  const Row rows[] = {
      {"the host", "ghcr.io:5000", 2},
      {"a segment", "ghcr.io:5000/team", 3},
      {"all segments", "ghcr.io:5000/team/app", 4},
      {"more segments", "ghcr.io:5000/team/app/x", 0},
      {"part of a segment", "ghcr.io:5000/te", 0},
      {"another host", "ghcr.io", 0},
      {"an empty path", "ghcr.io:5000/", 0},
      {"an empty segment", "ghcr.io:5000/team/", 0},
      {"a URL", "https://ghcr.io:5000", 0},
      {"nothing", "", 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(specificity(row.key, "ghcr.io:5000", "team/app") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
