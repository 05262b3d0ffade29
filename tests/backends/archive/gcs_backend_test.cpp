// Objects of Google Cloud Storage from a server that checks the token.
#include <boost/test/unit_test.hpp>

#include "backends/archive/archive_request.h"
#include "backends/http/curl_http_client.h"
#include "tests/backends/archive/bucket_fixture.h"
#include "tests/support/environment.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

constexpr const char* kBearer = "canary-ya29.token";
const std::string kStorage = "https://storage.googleapis.com/";

// Sends what is for storage.googleapis.com to a server on the loopback, and nothing else.
class Redirected final : public HttpClient {
 public:
  explicit Redirected(std::string server) : server_(std::move(server)) {}
  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override {
    BOOST_REQUIRE(request.url.reveal().starts_with(kStorage));
    HttpRequest sent = request;
    sent.url = SecretText(server_ + "/" + request.url.reveal().substr(kStorage.size()));
    sent.validated_address = sent.validators.empty() ? "" : validator_scope(sent.url.reveal());
    return http_->send(sent, context);
  }

 private:
  std::string server_;
  std::unique_ptr<HttpClient> http_ = make_curl_http_client("test");
};

struct GoogleBuckets : BucketFixture {
  GoogleBuckets() {
    http = std::make_unique<Redirected>(server.url());
    backend = make_archive_backend(*http, credentials, others, SourceKind::gcs);
    server.require_token(kBearer);
    credentials.add(CredentialUse::gcs, "Google Cloud Storage",
                    {.secret = TokenCredential{SecretText(kBearer)}, .from = "test"});
  }
  Result<FetchedTree> fetch(const std::string& below, const FetchRequest& request = {}) {
    return fetch_source("gcs::https://www.googleapis.com/storage/v1/mods/" + below, request);
  }
};

BOOST_FIXTURE_TEST_SUITE(gcs_backend, GoogleBuckets)

BOOST_AUTO_TEST_CASE(addresses_as_the_clients_read_them) {
  struct Row {
    const char* name;
    const char* source;
    const char* expected;  // "<URL> <generation>"
  };
  const std::string storage = kStorage;
  for (const Row& row : {
           Row{"usual", "gcs::https://www.googleapis.com/storage/v1/b/a/x.zip", "b/a/x.zip "},
           Row{"detected", "www.googleapis.com/storage/v1/b/x.zip//sub", "b/x.zip "},
           Row{"http, and another name", "gcs::http://storage.googleapis.com/x/y/b/x.zip", "b/x.zip "},
           Row{"a generation", "gcs::https://www.googleapis.com/storage/v1/b/x.zip#17", "b/x.zip 17"},
           Row{"escapes", "gcs::https://www.googleapis.com/storage/v1/b/a%20b+c&d.zip", "b/a%20b%2Bc%26d.zip "},
           Row{"a whole bucket", "gcs::https://www.googleapis.com/storage/v1/b/", "b/ "},
           Row{"no key", "gcs::https://www.googleapis.com/storage/v1/b", "refused"},
           Row{"no bucket", "gcs::https://www.googleapis.com/storage/v1", "refused"},
           Row{"another host", "gcs::https://googleapis.com.example/storage/v1/b/x.zip", "refused"},
           Row{"a longer host", "gcs::https://a.www.googleapis.com/storage/v1/b/x.zip", "refused"},
           Row{"a name that ends like Google's", "gcs::https://www.evilgoogleapis.com/storage/v1/b/x.zip", "refused"},
           Row{"a port", "gcs::https://www.googleapis.com:443/storage/v1/b/x.zip", "refused"},
           Row{"another bucket by dots", "gcs::https://www.googleapis.com/storage/v1/b/%2e%2e/c/x.zip", "refused"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = parse_source(row.source);
      BOOST_REQUIRE(address.has_value());
      BOOST_TEST(address->source.identity().find("canary") == std::string::npos);
      const auto object = archive::read_gcs_object(*GoUrl::parse(address->package_url.reveal()), "it");
      const std::string read = object ? object->url(object->key).reveal() + " " + object->version : "refused";
      BOOST_TEST(read == (object ? storage : "") + row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_generation_is_part_of_the_identity) {
  struct Row {
    const char* source;
    const char* identity;
  };
  for (const Row& row :
       {Row{"b/x.zip#17", "b/x.zip#17"}, Row{"b/x.zip#17//sub", "b/x.zip//sub?#17"},
        Row{"b/x.zip//sub?#17", "b/x.zip//sub?#17"}, Row{"b/x?archive=zip#17", "b/x?archive=zip#17"},
        Row{"b/x//sub?archive=zip#17", "b/x//sub?archive=zip#17"}, Row{"b/x.zip?generation=5", "b/x.zip"},
        Row{"b/x.zip?%23=5", "b/x.zip"}, Row{"b/x.zip#no", "b/x.zip"}}) {
    const std::string root = "gcs::https://www.googleapis.com/storage/v1/";
    const auto address = parse_source(root + row.source);
    BOOST_REQUIRE(address.has_value());
    BOOST_TEST(address->source.identity() == root + row.identity);
    const auto again = parse_source(address->source.identity());
    BOOST_REQUIRE(again.has_value());
    BOOST_TEST((again->source == address->source), row.source);
  }
}

BOOST_AUTO_TEST_CASE(fetches_an_archive_and_a_generation) {
  const auto tree = fetch("a.zip");
  BOOST_TEST(outcome(tree) == "main.tf");
  BOOST_TEST(tree->id == "zh:" + sha256_hex(zip));
  server.put("mods", "a.zip", make_zip({{.name = "new.tf", .content = kModule}}));
  BOOST_TEST(outcome(fetch("a.zip")) == "new.tf");
  BOOST_TEST(outcome(fetch("a.zip?generation=1")) == "new.tf");
  BOOST_TEST(outcome(fetch("a.zip#1")) == "main.tf");
  BOOST_TEST(server.server().lines().back() == "GET /mods/a.zip?generation=1");
}

// As in the client, a fragment is ignored if no object is named.
BOOST_AUTO_TEST_CASE(a_fragment_that_is_no_generation) {
  BOOST_TEST(outcome(fetch("dir#canary")) == "main.tf, sub, sub/b c+d&e.tf");
  BOOST_TEST(outcome(fetch("dir#7")) == "main.tf, sub, sub/b c+d&e.tf");
  const std::size_t before = server.server().lines().size();
  BOOST_TEST(outcome(fetch("a.zip#canary")) ==
             "SOURCE_INVALID: \"gcs::https://www.googleapis.com/storage/v1/mods/a.zip\" has a fragment that is not the "
             "generation of an object");
  BOOST_TEST(server.server().lines().size() == before);
}

BOOST_AUTO_TEST_CASE(fetches_a_directory_object_by_object) {
  for (const std::size_t size : {1000U, 2U, 1U}) {
    server.set_page_size(size);
    const auto tree = fetch("dir");
    BOOST_TEST(outcome(tree) == "main.tf, sub, sub/b c+d&e.tf");
    BOOST_TEST(tree->id ==
               "zh:" + sha256_hex(sha256_hex(kModule) + "  main.tf\n" + sha256_hex("# 2\n") + "  sub/b c+d&e.tf\n"));
    BOOST_TEST(outcome(fetch("dir/", {.id = tree->id})) == "main.tf, sub, sub/b c+d&e.tf");
  }
}

BOOST_AUTO_TEST_CASE(the_token_is_sent_only_to_google) {
  const ScopedEnvironment emulator("STORAGE_EMULATOR_HOST", server.server().host());
  const auto plain = make_curl_http_client("test");
  const auto to_emulator = make_archive_backend(*plain, credentials, others, SourceKind::gcs);
  const auto address = parse_source("gcs::https://www.googleapis.com/storage/v1/mods/a.zip");
  const FetchRequest request;
  const auto tree = std::move(to_emulator->fetch(*address, {&request, 1}, parent.path(), Context{}).front());
  BOOST_TEST(
      outcome(tree).find("is AuthenticationRequired | no token is sent to STORAGE_EMULATOR_HOST") != std::string::npos,
      outcome(tree));
  BOOST_TEST(credentials.asked().empty());
  BOOST_TEST(server.server().log().back().header("Authorization").empty());
  server.require_token({});
  BOOST_TEST(to_emulator->fetch(*address, {&request, 1}, parent.path(), Context{}).front().has_value());
}

BOOST_AUTO_TEST_CASE(refusals) {
  BOOST_TEST(outcome(fetch("none.zip")).starts_with("NOT_FOUND: "));
  server.require_token("renewed");
  const auto tree = fetch("a.zip");
  const std::string refused = outcome(tree);
  BOOST_TEST(refused.starts_with("AUTH_REQUIRED: "), refused);
  BOOST_TEST(refused.ends_with("the error code of the server is AuthenticationRequired | looked for credentials for "
                               "Google Cloud Storage in test: used"),
             refused);
  BOOST_TEST(tree.error().hint.text() == "Google Cloud Storage rejected the credential from test: renew it there");
}

BOOST_AUTO_TEST_CASE(a_redirect_is_not_followed) {
  server.server().add({.behaviour = faults::redirect("http://localhost:1/mods/a.zip", 307)});
  BOOST_TEST(outcome(fetch("a.zip")).starts_with("BAD_RESPONSE: "));
  BOOST_TEST(server.server().lines().size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_object_that_changes_or_vanishes_between_list_and_download) {
  server.server().add({.behaviour = faults::answer({.headers = {{"x-goog-generation", "2"}}, .body = "x"}),
                       .path = "/mods/dir/main.tf"});
  BOOST_TEST(outcome(fetch("dir")).find("changed while it was downloaded") != std::string::npos);
  server.server().clear_rules();
  // Another ETag is only another encoding.
  server.server().add(
      {.behaviour = faults::answer({.headers = {{"ETag", "W/x"}, {"x-goog-generation", "1"}}, .body = "x"}),
       .path = "/mods/dir/main.tf"});
  BOOST_TEST(outcome(fetch("dir")) == "main.tf, sub, sub/b c+d&e.tf");
  server.server().clear_rules();
  server.server().add({.behaviour = faults::status(404), .path = "/mods/dir/main.tf"});
  BOOST_TEST(outcome(fetch("dir")).starts_with("NOT_FOUND: "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
