#include "backends/registry/service_discovery.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/parallel.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fake_http_client.h"

namespace modlock::registry {
namespace {

using test::FakeAnswer;

constexpr std::string_view kDocument = "https://registry.example.com/.well-known/terraform.json";
const std::string kModules = R"({"modules.v1":"/v1/modules/"})";

struct DiscoveryFixture {
  // The URL of the service, or the error.
  std::string find(std::string_view service = "modules.v1", std::string_view host = "registry.example.com") {
    const auto url = discovery.find(host, service, context);
    return url ? *url : std::string(to_string(url.error().code)) + ": " + url.error().message;
  }

  test::FakeHttpClient client;
  test::FakeCredentials credentials;
  ClientConfiguration configuration;
  RegistryHttp http{client, credentials};
  ServiceDiscovery discovery{http, configuration};
  Context context;
};

BOOST_AUTO_TEST_SUITE(service_discovery_test)

BOOST_AUTO_TEST_CASE(service_urls) {
  struct Row {
    const char* name;
    const char* body;
    const char* expected;
  };
  const Row rows[] = {
      {"absolute", R"({"modules.v1":"https://api.example.com/m/"})", "https://api.example.com/m/"},
      {"http", R"({"modules.v1":"http://api.example.com:8080/m/"})", "http://api.example.com:8080/m/"},
      {"root-relative", R"({"modules.v1":"/v1/modules/"})", "https://registry.example.com/v1/modules/"},
      {"relative", R"({"modules.v1":"modules/"})", "https://registry.example.com/.well-known/modules/"},
      {"without a slash at the end", R"({"modules.v1":"/v1/modules"})", "https://registry.example.com/v1/modules/"},
      {"without a path", R"({"modules.v1":"https://api.example.com"})", "https://api.example.com/"},
      {"escapes", R"({"modules.v1":"/a%2Fb"})", "https://registry.example.com/a%2Fb/"},
      {"query and fragment", R"({"modules.v1":"/v1?a=b#c"})", "https://registry.example.com/v1/"},
      {"other services", R"({"login.v1":{"client":"x"},"providers.v1":"/p/","modules.v1":"/m/"})",
       "https://registry.example.com/m/"},
      {"user-info", R"({"modules.v1":"https://user:CANARY@api.example.com/"})",
       "BAD_RESPONSE: the URL \"https://…@api.example.com/\" of the service \"modules.v1\" of \"registry.example.com\" "
       "contains user-info, which is not allowed"},
      {"another scheme", R"({"modules.v1":"ftp://api.example.com/"})",
       "BAD_RESPONSE: the URL \"ftp://api.example.com/\" of the service \"modules.v1\" of \"registry.example.com\" "
       "is neither http nor https"},
      {"no service", "{}", "NOT_FOUND: host \"registry.example.com\" does not provide the service \"modules\""},
      {"null", "null", "NOT_FOUND: host \"registry.example.com\" does not provide the service \"modules\""},
      {"another version", R"({"modules.v2":"/v2/"})",
       "NOT_FOUND: host \"registry.example.com\" does not provide the service \"modules.v1\" in this version"},
      {"not a text", R"({"modules.v1":{}})",
       "NOT_FOUND: host \"registry.example.com\" does not provide the service \"modules.v1\" in this version"},
      {"a name that only begins alike", R"({"modulesx.v1":"/v2/"})",
       "NOT_FOUND: host \"registry.example.com\" does not provide the service \"modules\""},
      {"a list", "[]",
       "BAD_RESPONSE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: the response is JSON, but not an object"},
      {"not JSON", "hello",
       "BAD_RESPONSE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: the text is not JSON: byte 0: expected a value, found "
       "'h'"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      DiscoveryFixture fixture;
      fixture.client.on(kDocument, row.body);
      BOOST_TEST(fixture.find() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(answers_that_are_no_document) {
  struct Row {
    const char* name;
    FakeAnswer answer;
    const char* expected;
  };
  const Row rows[] = {
      {"not found",
       {.status = 404},
       "NOT_FOUND: host \"registry.example.com\" does not provide the service \"modules\""},
      {"another type",
       {.headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = kModules},
       "BAD_RESPONSE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: expected the Content-Type \"application/json\", got "
       "\"text/html; charset=utf-8\""},
      {"a page",
       {.headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = "<!doctype html><title>Sign in</title>"},
       "BAD_RESPONSE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: the server sent an HTML page, not JSON"},
      {"no type",
       {.body = kModules},
       "BAD_RESPONSE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: expected the Content-Type \"application/json\", got "
       "\"\""},
      {"type with parameters",
       {.headers = {{"content-type", "Application/JSON ;charset=utf-8"}}, .body = kModules},
       "https://registry.example.com/v1/modules/"},
      {"no content",
       {.status = 204},
       "BAD_RESPONSE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: expected status 200, got 204"},
      {"too large",
       {.headers = {{"Content-Type", "application/json"}}, .body = std::string((1U << 20U) + 1, ' ')},
       "LIMIT_EXCEEDED: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: the response is larger than 1048576 bytes"},
      {"unavailable",
       {.status = 503},
       "UNREACHABLE: could not discover the services of \"registry.example.com\": "
       "https://registry.example.com/.well-known/terraform.json: server error (status "
       "503)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      DiscoveryFixture fixture;
      fixture.client.on("GET", kDocument, {row.answer});
      BOOST_TEST(fixture.find() == row.expected);
      BOOST_TEST(fixture.client.sent().size() == 1U);  // discovery is not tried again
    }
  }
}

BOOST_AUTO_TEST_CASE(the_request_bears_the_token_of_the_host) {
  DiscoveryFixture fixture;
  fixture.client.on(kDocument, kModules);
  fixture.credentials.add_token(CredentialUse::registry, "registry.example.com", "s3cret");
  fixture.find();
  const auto sent = fixture.client.sent();
  BOOST_REQUIRE(sent.size() == 1U);
  BOOST_TEST(sent[0].header("Authorization") == "Bearer s3cret");
  BOOST_TEST(sent[0].header("Accept") == "application/json");
}

BOOST_AUTO_TEST_CASE(redirects_move_the_base_and_leave_the_token_behind) {
  DiscoveryFixture fixture;
  fixture.credentials.add_token(CredentialUse::registry, "registry.example.com", "s3cret");
  fixture.client.redirect(kDocument, "https://api.example.com/tf/services.json");
  fixture.client.on("https://api.example.com/tf/services.json", R"({"modules.v1":"modules"})");
  BOOST_TEST(fixture.find() == "https://api.example.com/tf/modules/");
  const auto sent = fixture.client.sent();
  BOOST_REQUIRE(sent.size() == 2U);
  BOOST_TEST(sent[1].header("Authorization") == "");
}

BOOST_AUTO_TEST_CASE(a_host_block_takes_the_place_of_the_request) {
  DiscoveryFixture fixture;
  fixture.configuration.hosts["registry.example.com"] = {
      .services = {{"modules.v1", "http://127.0.0.1:8080/v1"}, {"x.v1", "/x"}, {"y.v1", "/%zz"}},
      .from = "~/.tofurc:3"};
  BOOST_TEST(fixture.find() == "http://127.0.0.1:8080/v1/");
  BOOST_TEST(fixture.find("x.v1") == "https://registry.example.com/x/");
  BOOST_TEST(fixture.find("providers.v1") ==
             "NOT_FOUND: host \"registry.example.com\" does not provide the service \"providers\"");
  BOOST_TEST(fixture.find("y.v1") ==
             "CONFIG_PARSE: the URL \"/%zz\" of the service \"y.v1\" of \"registry.example.com\" in ~/.tofurc:3 cannot "
             "be read");
  BOOST_TEST(fixture.find("modules.v1", "REGISTRY.example.com") == "http://127.0.0.1:8080/v1/");
  BOOST_TEST(fixture.client.sent().empty());
}

BOOST_AUTO_TEST_CASE(names_beyond_ascii_are_asked_in_punycode) {
  DiscoveryFixture fixture;
  fixture.client.on("https://xn--bcher-kva.example:8443/.well-known/terraform.json", kModules);
  BOOST_TEST(fixture.find("modules.v1", "bücher.example:8443") == "https://xn--bcher-kva.example:8443/v1/modules/");
}

BOOST_AUTO_TEST_CASE(a_host_is_asked_once) {
  DiscoveryFixture fixture;
  fixture.client.on(kDocument, kModules);
  parallel_for(16, 16, [&](std::size_t) { (void)fixture.discovery.find("registry.example.com", "modules.v1", {}); });
  BOOST_TEST(fixture.find("providers.v1") ==
             "NOT_FOUND: host \"registry.example.com\" does not provide the service \"providers\"");
  BOOST_TEST(fixture.client.sent().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_failing_host_is_asked_once_by_those_who_come_together) {
  DiscoveryFixture fixture;
  fixture.client.on("GET", kDocument, {FakeAnswer{.status = 500}, FakeAnswer{.status = 404}});
  BOOST_TEST(fixture.find().starts_with("UNREACHABLE"));
  BOOST_TEST(fixture.find().starts_with("UNREACHABLE"));
  BOOST_TEST(fixture.client.sent().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_service_on_another_host_is_judged_each_time) {
  DiscoveryFixture fixture;
  fixture.client.on(kDocument, R"({"modules.v1":"https://api.example.net/m/","providers.v1":"/p/"})");
  fixture.configuration.hosts["named.example.com"] = {.services = {{"modules.v1", "https://api.example.net/m/"}},
                                                      .from = "~/.tofurc:1"};
  BOOST_TEST(fixture.find() == "https://api.example.net/m/");
  std::vector<std::string> judged;
  fixture.context.check_source = [&](const Source& source, const ServerHop&) -> Result<void> {
    judged.push_back(source.identity());
    return fail(Code::source_denied, "not that one");
  };
  BOOST_TEST(fixture.find() ==
             "SOURCE_DENIED: the service \"modules.v1\" of \"registry.example.com\" is at https://api.example.net/m/: "
             "not that one");
  BOOST_TEST(fixture.find("providers.v1") == "https://registry.example.com/p/", "its own host");
  BOOST_TEST(fixture.find("modules.v1", "named.example.com") == "https://api.example.net/m/", "the user says so");
  BOOST_TEST(judged == std::vector<std::string>{"https://api.example.net/m/"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_end_of_one_run_says_nothing_to_the_next) {
  DiscoveryFixture fixture;
  fixture.client.on(kDocument, kModules);
  Context offline;
  offline.offline = true;
  Context late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  std::stop_source stopped;
  stopped.request_stop();
  Context cancelled;
  cancelled.stop = stopped.get_token();
  for (const auto& [context, code] :
       {std::pair(&offline, Code::offline_miss), std::pair(&late, Code::deadline_exceeded),
        std::pair(&cancelled, Code::request_cancelled)}) {
    const auto url = fixture.discovery.find("registry.example.com", "modules.v1", *context);
    BOOST_REQUIRE(!url);
    BOOST_TEST(to_string(url.error().code) == to_string(code));
  }
  BOOST_TEST(fixture.client.sent().empty());
  BOOST_TEST(fixture.find() == "https://registry.example.com/v1/modules/");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::registry
