// Objects of S3 from a server that checks every signature.
#include <boost/test/unit_test.hpp>

#include "backends/http/curl_http_client.h"
#include "tests/backends/archive/bucket_fixture.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

constexpr const char* kKeyId = "AKIAEXAMPLE";
constexpr const char* kSecret = "canary/s3cr3t+key=";
constexpr const char* kToken = "canary+session/token==";

struct Buckets : BucketFixture {
  Buckets() {
    http = make_curl_http_client("test");
    backend = make_archive_backend(*http, credentials, others, SourceKind::s3);
    sign();
  }
  void sign(const std::string& token = {}) {
    server.require(kKeyId, kSecret, token);
    credentials.add(
        CredentialUse::s3, "S3",
        {.secret = AwsCredential{SecretText(kKeyId), SecretText(kSecret), SecretText(token)}, .from = "test"});
  }
  std::string source(const std::string& below) const { return "s3::" + server.url() + "/mods/" + below; }
  Result<FetchedTree> fetch(const std::string& text, const FetchRequest& request = {}) {
    return fetch_source(text, request);
  }
};

const std::string kUrl = "http://localhost:PORT/mods";

BOOST_FIXTURE_TEST_SUITE(s3_backend, Buckets)

BOOST_AUTO_TEST_CASE(fetches_an_archive_with_one_signed_request) {
  const auto tree = fetch(source("a.zip"));
  BOOST_TEST(outcome(tree) == "main.tf");
  BOOST_TEST(tree->id == "zh:" + sha256_hex(zip));
  BOOST_TEST(server.server().lines() == std::vector<std::string>{"GET /mods/a.zip"});
  const auto again = fetch(source("a.zip"), {.id = {}, .ref = {}, .held = tree->id, .validator = tree->validator});
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(again->directory.empty());  // 304
}

// Each character that can be printed, and others, in the key, the version, the prefix and the session token.
BOOST_AUTO_TEST_CASE(signs_every_character) {
  sign(kToken);
  std::string all = "é€𝄞\x7f";
  for (char c = ' '; c < 0x7f; ++c) {
    all += c == '/' ? std::string() : std::string(1, c);
  }
  server.put("mods", "in " + all + "/x.zip", zip);
  server.put("mods", all + "/main.tf", kModule);
  const std::string escaped = percent_encoded(all);
  std::string key = escaped;
  key.replace(key.find("%7F"), 3, "");  // an address must not have it
  server.put("mods", "in " + percent_decode(key) + "/x.zip", zip);
  server.put("mods", percent_decode(key) + "/main.tf", kModule);
  BOOST_TEST(outcome(fetch(source("in%20" + key + "/x.zip"))) == "main.tf");
  BOOST_TEST(outcome(fetch(source(key))) == "main.tf");
  BOOST_TEST(outcome(fetch(source("a.zip?version=" + key))).find("NoSuchVersion") != std::string::npos);
  for (char c = ' '; c < 0x7f; ++c) {
    const std::string one = percent_encoded(std::string(1, c));
    if (c != '.' && c != '/') {
      server.put("mods", std::string("one/") + c + "/x.zip", zip);
      BOOST_TEST(outcome(fetch(source("one/" + one + "/x.zip"))) == "main.tf", one);
    }
  }
}

BOOST_AUTO_TEST_CASE(fetches_a_version) {
  server.put("mods", "a.zip", make_zip({{.name = "new.tf", .content = kModule}}));
  BOOST_TEST(outcome(fetch(source("a.zip"))) == "new.tf");
  BOOST_TEST(outcome(fetch(source("a.zip?version=1"))) == "main.tf");
  BOOST_TEST(server.server().lines().back() == "GET /mods/a.zip?versionId=1");
  BOOST_TEST(parse_source(source("a.zip?version=1&region=x"))->source.identity() == source("a.zip?version=1"));
}

BOOST_AUTO_TEST_CASE(fetches_a_directory_object_by_object) {
  for (const std::size_t size : {1000U, 2U, 1U}) {
    server.set_page_size(size);
    const auto tree = fetch(source("dir"));
    BOOST_TEST(outcome(tree) == "main.tf, sub, sub/b c+d&e.tf");
    BOOST_TEST(tree->id ==
               "zh:" + sha256_hex(sha256_hex(kModule) + "  main.tf\n" + sha256_hex("# 2\n") + "  sub/b c+d&e.tf\n"));
    BOOST_TEST(outcome(fetch(source("dir/"), {.id = tree->id})) == "main.tf, sub, sub/b c+d&e.tf");
  }
  server.put("mods", "dir/main.tf", "# new\n");
  BOOST_TEST(fetch(source("dir"))->id != "zh:" + sha256_hex(sha256_hex(kModule) + "  main.tf\n"));
  BOOST_TEST(outcome(fetch(source("dir/a.zip?archive=false"))) ==
             "NOT_FOUND: there are no objects below \"s3::" + kUrl + "/dir/a.zip?archive=false\"");
}

BOOST_AUTO_TEST_CASE(refusals) {
  const std::string looked = " | the bucket is in the region us-east-1 | looked for credentials for S3 in test: used";
  BOOST_TEST(outcome(fetch(source("none.zip"))) ==
             "NOT_FOUND: could not download the module package: " + kUrl +
                 "/none.zip: not found (status 404) | the error code of the server is NoSuchKey");
  server.require(kKeyId, "other");
  BOOST_TEST(outcome(fetch(source("a.zip"))).find("SignatureDoesNotMatch" + looked) != std::string::npos);
  server.require(kKeyId, kSecret, {}, "eu-west-1");
  BOOST_TEST(
      outcome(fetch(source("a.zip"))).find("AuthorizationHeaderMalformed | the bucket is in the region eu-west-1") !=
      std::string::npos);
  BOOST_TEST(outcome(fetch(source("a.zip?region=eu-west-1"))) == "main.tf");
  server.require(kKeyId, kSecret, "renewed");
  BOOST_TEST(outcome(fetch(source("a.zip"))).starts_with("AUTH_REQUIRED: "));
}

BOOST_AUTO_TEST_CASE(without_a_key_requests_are_not_signed) {
  S3Server open;
  open.put("mods", "a.zip", zip);
  FakeCredentials none;
  const auto unsigned_backend = make_archive_backend(*http, none, others, SourceKind::s3);
  const auto address = parse_source("s3::" + open.url() + "/mods/a.zip");
  const FetchRequest request;
  BOOST_TEST(unsigned_backend->fetch(*address, {&request, 1}, parent.path(), Context{}).front().has_value());
  BOOST_TEST(open.server().log().back().header("Authorization").empty());
}

BOOST_AUTO_TEST_CASE(a_redirect_is_not_followed) {
  server.server().add({.behaviour = faults::redirect("http://localhost:1/mods/a.zip", 307)});
  BOOST_TEST(outcome(fetch(source("a.zip"))).starts_with("BAD_RESPONSE: could not download the module package: "));
  BOOST_TEST(server.server().lines().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_content_encoding_is_part_of_the_object) {
  const std::string tar = compress("gzip", make_tar({{.name = "main.tf", .content = kModule}}));
  server.server().add({.behaviour = faults::answer({.headers = {{"Content-Encoding", "gzip"}}, .body = tar})});
  BOOST_TEST(outcome(fetch(source("a.tar.gz"))) == "main.tf");
}

BOOST_AUTO_TEST_CASE(names_that_leave_the_directory) {
  struct Row {
    const char* name;
    std::string key;
    std::string expected;  // a part
  };
  for (const Row& row :
       {Row{"above", "bad/../x.tf", "ARCHIVE_UNSAFE"}, Row{"above, deeper", "bad/a/../../x", "UNSAFE"},
        Row{"above, after two slashes", "bad//../x.tf", "UNSAFE"}, Row{"backslashes", "bad/..\\x", "UNSAFE"},
        Row{"two slashes", "bad//etc/x", "etc, etc/x, main.tf"}, Row{"three slashes", "bad///x", "main.tf, x"},
        Row{"a file below a file", "bad/main.tf/x", "ARCHIVE_UNSAFE"}, Row{"twice", "bad/a//b", "main.tf"},
        Row{"dots in a name", "bad/a..b", "main.tf"}, Row{"a directory", "bad/x/", "main.tf"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      server.put("mods", "bad/main.tf", kModule);
      server.put("mods", row.key, "x");
      BOOST_TEST(outcome(fetch(source("bad"))).find(row.expected) != std::string::npos);
      BOOST_TEST(!std::filesystem::exists(parent / "x.tf"));
      server.remove("mods", row.key);
    }
  }
  server.put("mods", "/x.tf", "x");
  BOOST_TEST(outcome(fetch(source(""))).find("has an absolute path") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lists_that_do_not_end_or_lie) {
  const auto page = [](const std::string& key, const std::string& more) {
    return "<ListBucketResult><Contents><Key>" + key + "</Key></Contents>" + more + "</ListBucketResult>";
  };
  const std::string more = "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>";
  struct Row {
    const char* name;
    std::string body;
    std::string expected;
  };
  for (const Row& row : {Row{"the same page again and again", page("dir/main.tf", more), "ARCHIVE_UNSAFE"},
                         Row{"pages without files", page("dir/sub/", more), "LIMIT_EXCEEDED"},
                         Row{"an object of another directory", page("secret/main.tf", ""), "ARCHIVE_UNSAFE"},
                         Row{"no list", "<html></html>", "BAD_RESPONSE"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      server.server().clear_rules();
      server.server().add({.behaviour = faults::answer({.body = row.body})});
      BOOST_TEST(outcome(fetch(source("dir"))).starts_with(row.expected));
      BOOST_TEST(std::filesystem::is_empty(parent.path()));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_object_that_changes_between_list_and_download) {
  server.server().add(
      {.behaviour = faults::answer({.headers = {{"ETag", "\"new\""}}, .body = "x"}), .path = "/mods/dir/main.tf"});
  const auto tree = fetch(source("dir"));
  BOOST_TEST(outcome(tree) == "BAD_RESPONSE: \"s3::" + kUrl + "/dir\" changed while it was downloaded");
  BOOST_TEST(std::filesystem::is_empty(parent.path()));
}

BOOST_AUTO_TEST_CASE(an_object_that_vanishes_between_list_and_download) {
  server.server().add({.behaviour = faults::status(404), .path = "/mods/dir/main.tf"});
  BOOST_TEST(outcome(fetch(source("dir"))).starts_with("NOT_FOUND: "));
  BOOST_TEST(std::filesystem::is_empty(parent.path()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
