#include "backends/providers/provider_mirrors.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/mirror_fixture.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fake_http_client.h"

using namespace modlock::test;
using namespace modlock;

namespace {

constexpr const char* kMirror = "https://mirror.example.com/providers/";
const std::string kNull = std::string(kMirror) + "registry.opentofu.org/acme/null/";

struct NetworkMirrorFixture {
  std::unique_ptr<ProviderSource> source(NetworkMirrorOptions options = {}) {
    options.url = options.url.empty() ? kMirror : options.url;
    return make_network_mirror(std::move(options), metadata, http, archives);
  }
  // `<version>.json` of acme/null; the archives themselves are "amd" and "arm".
  void serve(const std::string& amd_hashes, const std::string& arm_hashes) {
    http.on(kNull + "2.0.0.json", R"({"archives": {"linux_amd64": {"url": "amd.zip", "hashes": )" + amd_hashes +
                                      R"(}, "linux_arm64": {"url": "../arm.zip", "hashes": )" + arm_hashes + "}}}");
    http.on(kNull + "amd.zip", "amd", "application/zip");
    http.on(std::string(kMirror) + "registry.opentofu.org/acme/arm.zip", "arm", "application/zip");
  }
  std::string released(ProviderSource& mirror, const char* address = "acme/null",
                       const std::vector<const char*>& names = {"linux_amd64"}) {
    std::vector<Platform> platforms;
    for (const char* name : names) {
      platforms.push_back(platform(name));
    }
    return shown(mirror.release(provider(address), version("2.0.0"), platforms, context));
  }

  FakeHttpClient http;
  FakeCredentials credentials;
  registry::RegistryHttp metadata{http, credentials, {}, "1.12.6"};
  FakeArchives archives;
  Context context;
};

std::string list(const std::vector<std::string>& hashes) {
  std::string text;
  for (const std::string& hash : hashes) {
    text += (text.empty() ? "\"" : ", \"") + hash + "\"";
  }
  return "[" + text + "]";
}

struct IndexRow {
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

BOOST_FIXTURE_TEST_SUITE(network_mirror, NetworkMirrorFixture)

BOOST_AUTO_TEST_CASE(lists_versions) {
  http.on(kNull + "index.json", R"({"versions": {"1.0.0": {}, "10.0.0": {}, "2.0.0": {}, "x": {}}})");
  http.on("GET", std::string(kMirror) + "b.io/acme/null/index.json", {FakeAnswer{.status = 404}});
  http.on(std::string(kMirror) + "xn--bcher-kva.example/acme/n%C3%BCll/index.json", R"({"versions": {"1.0.0": {}}})");
  credentials.add_token(CredentialUse::registry, "mirror.example.com", "secret");
  const auto mirror = source();
  BOOST_TEST(shown(mirror->list_versions(provider("acme/null"), context)) == "10.0.0 2.0.0 1.0.0");
  BOOST_REQUIRE(http.sent().size() == 1U);
  BOOST_TEST(http.sent()[0].header("Authorization") == "Bearer secret");
  BOOST_TEST(http.sent()[0].header("X-Terraform-Version") == "1.12.6");
  BOOST_TEST(shown(mirror->list_versions(provider("b.io/acme/null"), context)) ==
             "NOT_FOUND: provider b.io/acme/null was not found in any of the search locations");
  BOOST_TEST(shown(mirror->list_versions(provider("b\u00fccher.example/acme/n\u00fcll"), context)) == "1.0.0");
}

BOOST_AUTO_TEST_CASE(rejects_invalid_responses) {
  struct Row {
    const char* name;
    FakeAnswer answer;
    const char* expected;
  };
  const Row rows[] = {
      {"another type",
       {.headers = {{"Content-Type", "text/html"}}, .body = "{}"},
       "BAD_RESPONSE: failed to query provider mirror https://mirror.example.com/providers/ for "
       "registry.opentofu.org/acme/null: response has invalid Content-Type: must be application/json"},
      {"no type",
       {.body = "{}"},
       "BAD_RESPONSE: failed to query provider mirror https://mirror.example.com/providers/ for "
       "registry.opentofu.org/acme/null: response has invalid Content-Type: must be application/json"},
      {"a type with parameters",
       {.headers = {{"Content-Type", "Application/JSON; charset=utf-8"}}, .body = R"({"versions": {"1.0.0": {}}})"},
       "1.0.0"},
      {"no JSON",
       {.headers = {{"Content-Type", "application/json"}}, .body = "[]"},
       "BAD_RESPONSE: failed to query provider mirror https://mirror.example.com/providers/ for "
       "registry.opentofu.org/acme/null: invalid response content from mirror server: it is not a JSON object"},
      {"another status",
       {.status = 204},
       "BAD_RESPONSE: failed to query provider mirror https://mirror.example.com/providers/ for "
       "registry.opentofu.org/acme/null: server returned unsuccessful status 204"},
      {"a failure",
       {.status = 503},
       "UNREACHABLE: could not query provider mirror https://mirror.example.com/providers/ for "
       "registry.opentofu.org/acme/null: "
       "https://mirror.example.com/providers/registry.opentofu.org/acme/null/index.json: server error"},
      {"refused",
       {.status = 401},
       "AUTH_REQUIRED: could not query provider mirror https://mirror.example.com/providers/ for "
       "registry.opentofu.org/acme/null: "
       "https://mirror.example.com/providers/registry.opentofu.org/acme/null/index.json: authentication "
       "is required"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      NetworkMirrorFixture fixture;
      fixture.http.on("GET", kNull + "index.json", {row.answer});
      const auto mirror = fixture.source();
      const auto versions = shown(mirror->list_versions(provider("acme/null"), fixture.context));
      BOOST_TEST(versions.substr(0, std::string_view(row.expected).size()) == row.expected);
      BOOST_TEST(fixture.http.sent().size() == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(records_the_listed_hashes_that_match) {
  struct Row {
    const char* name;
    std::vector<std::string> hashes;
    const char* expected;
  };
  const std::string zh = zh_of("amd");
  const std::string with_zh = "linux_amd64 h1:dir amd = h1:dir amd " + zh + "\n";
  const std::string where = "registry.opentofu.org/acme/null 2.0.0 for linux_amd64 from " + std::string(kMirror) + ": ";
  const std::string one_wrong =
      "HASH_MISMATCH: " + where + "provider package doesn't match the expected checksum \"h1:other\"";
  const std::string all_wrong =
      "HASH_MISMATCH: " + where + "provider package doesn't match the any of the expected checksums";
  const std::string unknown = "SOURCE_UNSUPPORTED: " + where +
                              "this version of OpenTofu does not support any of the checksum formats given for this "
                              "provider";
  const Row rows[] = {
      {"none", {}, "linux_amd64 h1:dir amd = h1:dir amd\n"},
      {"of the archive", {zh}, with_zh.c_str()},
      {"of its entries", {"h1:zip amd"}, "linux_amd64 h1:dir amd = h1:dir amd h1:zip amd\n"},
      {"one of several", {"h1:other", zh, "h9:x"}, with_zh.c_str()},
      {"another one", {"h1:other"}, one_wrong.c_str()},
      {"the one of the directory, which clients do not compare", {"h1:dir amd", "zh:1"}, all_wrong.c_str()},
      {"of no known scheme", {"h9:x"}, unknown.c_str()},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      NetworkMirrorFixture fixture;
      fixture.serve(list(row.hashes), "[\"h1:zip arm\"]");
      const auto mirror = fixture.source();
      BOOST_TEST(fixture.released(*mirror) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(trusts_the_hashes_of_all_platforms) {
  const std::string zh = zh_of("amd");
  serve(list({zh}), R"(["h1:zip arm", "h9:x"])");
  credentials.add_token(CredentialUse::registry, "mirror.example.com", "secret");
  const std::string recorded = "linux_amd64 h1:dir amd = h1:dir amd " + zh + "\n";
  const std::string published = "published h1:zip arm " + zh + "\ncovers all\n";
  BOOST_TEST(released(*source({.trust_all_hashes = true})) == recorded + published);
  BOOST_TEST(http.sent().back().url == kNull + "amd.zip");
  BOOST_TEST(http.sent().back().header("Authorization").empty());
  BOOST_TEST(released(*source({.trust_all_hashes = true, .requires_signatures = true})) == recorded);
  BOOST_TEST(released(*source({.trust_all_hashes = true, .records_listed_hashes = false})) ==
             "linux_amd64 h1:dir amd = h1:dir amd\n" + published);
  const auto two = source({.trust_all_hashes = true});
  BOOST_TEST(released(*two, "acme/null", {"linux_amd64", "linux_arm64"}) ==
             recorded + "linux_arm64 h1:dir arm = h1:dir arm h1:zip arm\n" + published);

  // Those of another platform will do, then.
  serve("[]", list({zh_of("amd")}));
  BOOST_TEST(released(*source()) == "linux_amd64 h1:dir amd = h1:dir amd\n");
  BOOST_TEST(released(*source({.trust_all_hashes = true})) == recorded + "published " + zh + "\ncovers all\n");
}

// Providers of other registries have to be signed.
BOOST_AUTO_TEST_CASE(trusts_no_hashes_of_other_registries) {
  const std::string base = std::string(kMirror) + "b.io/acme/null/";
  http.on(base + "2.0.0.json",
          R"({"archives": {"linux_amd64": {"url": "a.zip", "hashes": ["h1:zip amd", "h1:other"]}}})");
  http.on(base + "a.zip", "amd", "application/zip");
  BOOST_TEST(released(*source({.trust_all_hashes = true}), "b.io/acme/null") ==
             "linux_amd64 h1:dir amd = h1:dir amd h1:zip amd\n");
}

BOOST_AUTO_TEST_CASE(reads_no_archive_whose_hashes_are_known) {
  serve(list({"zh:1234", "h1:zip known"}), "[]");
  archives.remembered["zh:1234"] = {.h1 = "h1:known", .archive_h1 = "h1:zip known", .zh = "zh:1234"};
  BOOST_TEST(released(*source()) == "linux_amd64 h1:known = h1:known h1:zip known zh:1234\n");
  BOOST_TEST(http.sent_lines() == std::vector<std::string>{"GET " + kNull + "2.0.0.json"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(archive_is_sent) {
  serve("[]", "[]");
  const auto mirror = source();
  BOOST_TEST(downloaded(*mirror, "acme/null", "2.0.0") == "amd");
  BOOST_TEST(downloaded(*mirror, "acme/null", "2.0.0", "linux_arm64") == "arm");
  BOOST_TEST(downloaded(*mirror, "acme/null", "2.0.0", "windows_386") ==
             "NOT_FOUND: provider mirror https://mirror.example.com/providers/ does not have a package of "
             "registry.opentofu.org/acme/null 2.0.0 for windows_386");
}

BOOST_AUTO_TEST_CASE(what_a_mirror_does_not_have) {
  serve("[]", "[]");
  http.on("GET", kNull + "3.0.0.json", {FakeAnswer{.status = 404}});
  http.on(kNull + "4.0.0.json", R"({"archives": {"linux_amd64": {"url": "missing.zip"}}})");
  http.on("GET", kNull + "missing.zip", {FakeAnswer{.status = 404}});
  const auto mirror = source();
  BOOST_TEST(released(*mirror, "acme/null", {"linux_amd64", "windows_386"}) ==
             "NOT_FOUND: provider mirror https://mirror.example.com/providers/ does not have a package of "
             "registry.opentofu.org/acme/null 2.0.0 for windows_386");
  const std::vector<Platform> platforms = {platform("linux_amd64")};
  BOOST_TEST(shown(mirror->release(provider("acme/null"), version("3.0.0"), platforms, context)) ==
             "BAD_RESPONSE: failed to query provider mirror https://mirror.example.com/providers/ for "
             "registry.opentofu.org/acme/null: provider mirror does not have archive index for previously-reported "
             "registry.opentofu.org/acme/null version 3.0.0");
  BOOST_TEST(
      shown(mirror->release(provider("acme/null"), version("4.0.0"), platforms, context))
          .starts_with("BAD_RESPONSE: could not download registry.opentofu.org/acme/null 4.0.0 for linux_amd64: "));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(mirror_index)

BOOST_AUTO_TEST_CASE(versions) {
  const IndexRow rows[] = {
      {"some", R"({"versions": {"1.0.0": {}, "2.0.0-beta": {"x": 1}}})", "1.0.0 2.0.0-beta "},
      {"what is no version", R"({"versions": {"1.0.0": {}, "v2": {}, "latest": null}})", "1.0.0 "},
      {"none", R"({"versions": {}})", ""},
      {"nothing said", R"({})", ""},
      {"null", R"({"versions": null})", ""},
      {"a list", R"({"versions": ["1.0.0"]})",
       "invalid response content from mirror server: its \"versions\" is not an object"},
      {"no object", R"([])", "invalid response content from mirror server: it is not a JSON object"},
  };
  for (const IndexRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(versions_in(row.json) == row.expected);
    }
  }
  BOOST_TEST(versions_in("{").starts_with("invalid response content from mirror server: "));
}

BOOST_AUTO_TEST_CASE(archives) {
  const IndexRow rows[] = {
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
  for (const IndexRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(archives_in(row.json) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
