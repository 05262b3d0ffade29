#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <string>
#include <thread>

#include "backends/base/ascii.h"
#include "backends/http/url.h"
#include "backends/oci/registry.h"
#include "tests/backends/oci/oci_fixture.h"

namespace modlock::test {
namespace {

using oci::Repository;

const std::string kRealm = "https://auth.example.com/token";

Repository repository(const std::string& name) {
  return {"oci://reg.example.com/" + name, "reg.example.com", "reg.example.com", name};
}

FakeAnswer challenge(const std::string& value) {
  return {.status = 401, .headers = {{"WWW-Authenticate", value}}, .body = R"({"errors":[{"code":"UNAUTHORIZED"}]})"};
}

FakeAnswer bearer() {
  return challenge("Bearer realm=\"" + kRealm + "\",service=\"reg\"");
}

std::string token_url(const std::string& name) {
  return kRealm + "?scope=repository%3A" + name + "%3Apull&service=reg";
}

// The Authorization of each request, "-" where there was none.
std::string authorizations(const FakeHttpClient& http) {
  std::string text;
  for (const SentRequest& request : http.sent()) {
    const std::string value = request.header("Authorization");
    text += (text.empty() ? "" : ", ") + (value.empty() ? std::string("-") : value);
  }
  return text;
}

struct Scene {
  // The tags of a repository, after these answers.
  void serve(const std::string& name, std::vector<FakeHttpClient::Answer> before) {
    before.push_back(FakeAnswer{.body = "{\"tags\":[\"" + name + "\"]}"});
    http.on("GET", kRegistry + name + "/tags/list", std::move(before));
  }
  void serve_token(const std::string& name, const std::string& token) {
    http.on(token_url(name), "{\"token\":\"" + token + "\"}");
  }
  std::string tags(const std::string& name) {
    const auto listed = registry.tags(repository(name), context);
    last_error = listed ? Error{} : listed.error();
    return listed ? listed->names.at(0) : outcome(listed);
  }

  FakeHttpClient http;
  FakeCredentials credentials;
  oci::Registry registry{http, credentials};
  Context context;
  Error last_error;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(oci_authorization, Scene)

BOOST_AUTO_TEST_CASE(an_open_registry_is_asked_for_nothing) {
  serve("a", {});
  BOOST_TEST(tags("a") == "a");
  BOOST_TEST(authorizations(http) == "-");
  BOOST_TEST(credentials.asked().empty());
}

BOOST_AUTO_TEST_CASE(challenges_are_answered_with_what_is_configured) {
  struct Row {
    const char* name;
    FakeAnswer challenge;
    FoundCredential credential;
    const char* expected;
  };
  const FoundCredential basic{BasicCredential{SecretText("me"), SecretText("pass")}, "test"};
  for (const Row& row : {
           Row{"anonymous token", bearer(), {}, "-, -, Bearer t"},
           Row{"token for a password", bearer(), basic, "-, Basic bWU6cGFzcw==, Bearer t"},
           Row{"access token, used as it is",
               bearer(),
               {TokenCredential{SecretText("mine")}, "test"},
               "-, Bearer mine"},
           Row{"refresh token",
               bearer(),
               {TokenCredential{SecretText(), SecretText("again")}, "test"},
               "-, -, Bearer posted"},
           Row{"basic", challenge("Basic realm=\"r\""), basic, "-, Basic bWU6cGFzcw=="},
           Row{"the first that is understood", challenge("Negotiate, Basic realm=\"r\", Bearer realm=\"x\""), basic,
               "-, Basic bWU6cGFzcw=="},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Scene scene;
      scene.credentials.add(CredentialUse::oci, "reg.example.com", row.credential);
      scene.serve("a", {row.challenge});
      scene.serve_token("a", "t");
      scene.http.on("POST", kRealm, {FakeAnswer{.body = R"({"access_token":"posted"})"}});
      BOOST_TEST(scene.tags("a") == "a");
      BOOST_TEST(authorizations(scene.http) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_token_service_on_another_host_is_judged_before_it_is_asked) {
  serve("a", {bearer()});
  serve_token("a", "t");
  std::vector<std::string> judged;
  context.check_source = [&](const Source& source, const ServerHop&) -> Result<void> {
    judged.push_back(source.identity());
    return fail(Code::source_denied, "not that one");
  };
  BOOST_TEST(tags("a") ==
             "SOURCE_DENIED: the registry of \"oci://reg.example.com/a\" requires a token from "
             "https://auth.example.com/token: not that one");
  BOOST_TEST(judged == std::vector<std::string>{kRealm}, boost::test_tools::per_element());
  BOOST_TEST(authorizations(http) == "-");
  Scene own;
  own.context = context;
  own.serve("b", {challenge("Bearer realm=\"https://reg.example.com/token\"")});
  own.http.on("https://reg.example.com/token?scope=repository%3Ab%3Apull", R"({"token":"own"})");
  BOOST_TEST(own.tags("b") == "b");
  BOOST_TEST(judged.size() == 1U);
}

BOOST_AUTO_TEST_CASE(credentials_go_to_token_services_of_the_same_domain_only) {
  struct Row {
    const char* registry;
    const char* realm;  // its host
    bool gets_credentials;
  };
  const FoundCredential basic{BasicCredential{SecretText("me"), SecretText("pass")}, "test"};
  const FoundCredential refresh{TokenCredential{SecretText(), SecretText("again")}, "test"};
  for (const Row& row : {
           Row{"ghcr.io", "ghcr.io", true},
           Row{"registry-1.docker.io", "auth.docker.io", true},
           Row{"registry.gitlab.com", "gitlab.com", true},
           Row{"reg.example.com", "REG.example.com", true},
           Row{"reg.example.com:5000", "reg.example.com:8443", true},
           Row{"reg.example.com", "auth.eu.example.com", true},
           Row{"example.com", "auth.example.com", true},
           Row{"reg.example.com", "auth.partner.net", true},  // allowed by name
           Row{"reg.example.com", "www.auth.partner.net", false},
           Row{"reg.example.com", "example.net", false},
           Row{"reg.example.com", "notexample.com", false},
           Row{"reg.example.com", "reg.example.com.evil.net", false},
           Row{"example.com", "evil.com", false},
           Row{"example.com", "com", false},
           Row{"localhost", "evil", false},
           Row{"a.reg.example.com", "evil.example.com", false},
       }) {
    BOOST_TEST_CONTEXT(row.registry << " and " << row.realm) {
      const std::string host = http::split_url(fmt::format("https://{}", row.registry))->host;
      const Repository asked{fmt::format("oci://{}/a", row.registry), row.registry, row.registry, "a"};
      const std::string realm = fmt::format("https://{}/token", row.realm);
      const std::string sent = fmt::format("https://{}/token", ascii::lower(row.realm));  // as a client sends it
      const std::string token = sent + "?scope=repository%3Aa%3Apull";
      for (const FoundCredential* credential : {&basic, &refresh}) {
        FakeHttpClient server;
        FakeCredentials known;
        known.add(CredentialUse::oci, row.registry, *credential);
        server.on("GET", fmt::format("https://{}/v2/a/tags/list", row.registry),
                  {challenge("Bearer realm=\"" + realm + "\""), FakeAnswer{.body = R"({"tags":["a"]})"}});
        server.on(token, R"({"token":"t"})");
        server.on("POST", sent, {FakeAnswer{.body = R"({"token":"t"})"}});
        const auto listed = oci::Registry(server, known, {"auth.partner.net"}).tags(asked, {});
        BOOST_TEST(listed.has_value() == row.gets_credentials);
        BOOST_TEST(server.sent().size() == (row.gets_credentials ? 3U : 1U));
        if (!listed) {
          BOOST_TEST(
              outcome(listed) ==
              fmt::format("SOURCE_DENIED: the registry of \"{}\" requires a token from \"{}\", and the credentials "
                          "for {} are not sent to another domain",
                          asked.display, row.realm, host));
          BOOST_TEST(listed.error().hint ==
                     fmt::format("if that host belongs to the registry, write oci_token_realms = [\"{}\"] in your own "
                                 "configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl",
                                 row.realm));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_anonymous_token_is_asked_for_anywhere) {
  serve("a", {challenge("Bearer realm=\"https://auth.partner.net/token\"")});
  http.on("https://auth.partner.net/token?scope=repository%3Aa%3Apull", R"({"token":"t"})");
  BOOST_TEST(tags("a") == "a");
  BOOST_TEST(authorizations(http) == "-, -, Bearer t");
}

BOOST_AUTO_TEST_CASE(the_most_specific_credential_is_asked_for_by_repository) {
  credentials.add_token(CredentialUse::oci, "reg.example.com/team", "team");
  credentials.add_token(CredentialUse::oci, "reg.example.com", "all");
  serve("team/a", {bearer()});
  serve("b", {});
  BOOST_TEST(tags("team/a") == "team/a");
  BOOST_TEST(tags("b") == "b");
  BOOST_TEST(authorizations(http) == "-, Bearer team, Bearer all");
}

BOOST_AUTO_TEST_CASE(a_token_is_used_again_and_the_next_repository_is_not_asked_in_vain) {
  serve("a", {bearer()});
  serve("b", {});
  serve_token("a", "ta");
  serve_token("b", "tb");
  BOOST_TEST(tags("a") == "a");
  BOOST_TEST(tags("a") == "a");
  BOOST_TEST(tags("b") == "b");
  BOOST_TEST(authorizations(http) == "-, -, Bearer ta, Bearer ta, -, Bearer tb");
}

BOOST_AUTO_TEST_CASE(a_token_that_is_refused_is_replaced_once) {
  serve("a", {bearer(), FakeAnswer{.body = R"({"tags":["first"]})"}, bearer()});
  http.on("GET", token_url("a"), {FakeAnswer{.body = R"({"token":"one"})"}, FakeAnswer{.body = R"({"token":"two"})"}});
  BOOST_TEST(tags("a") == "first");
  BOOST_TEST(tags("a") == "a");
  BOOST_TEST(authorizations(http) == "-, -, Bearer one, Bearer one, -, Bearer two");
}

BOOST_AUTO_TEST_CASE(a_scope_that_the_registry_names_is_asked_for_too) {
  serve("a", {challenge("Bearer realm=\"" + kRealm +
                        "\",service=\"reg\",scope=\"repository:a:metadata_read repository:a:pull\"")});
  http.on(kRealm + "?scope=repository%3Aa%3Apull&scope=repository%3Aa%3Ametadata_read&service=reg", R"({"token":"t"})");
  BOOST_TEST(tags("a") == "a");
}

// A token service that grants no more than the repository that is asked for alone.
BOOST_AUTO_TEST_CASE(a_scope_stays_with_its_repository) {
  const auto of = [](const std::string& name) {
    return challenge("Bearer realm=\"" + kRealm + "\",service=\"reg\",scope=\"repository:" + name + ":pull\"");
  };
  serve("a", {of("a")});
  serve("b", {});
  serve_token("a", "ta");
  serve_token("b", "tb");
  BOOST_TEST(tags("a") == "a");
  BOOST_TEST(tags("b") == "b");
  BOOST_TEST(authorizations(http) == "-, -, Bearer ta, -, Bearer tb");
  // Nor does a registry that names another repository get what it says.
  oci::Registry another(http, credentials);
  serve("c", {of("a")});
  serve_token("c", "tc");
  const auto listed = another.tags(repository("c"), {});
  BOOST_TEST(outcome(listed) == "ok");
}

BOOST_AUTO_TEST_CASE(what_stays_refused_says_where_was_looked) {
  const std::string refusal =
      "AUTH_REQUIRED: could not list the tags of \"oci://reg.example.com/a\": "
      "https://reg.example.com/v2/a/tags/list: authentication is required, or the credentials were rejected (status "
      "401)";
  struct Row {
    const char* name;
    FakeAnswer challenge;
    FoundCredential credential;
    std::string expected;
    std::size_t requests;
  };
  const FoundCredential basic{BasicCredential{SecretText("me"), SecretText("canary")}, "test"};
  const FoundCredential token{TokenCredential{SecretText("canary")}, "test"};
  for (const Row& row : {
           Row{"nothing to answer with", challenge("Basic realm=\"r\""), {}, refusal, 1},
           Row{"a token where a password is asked for", challenge("Basic realm=\"r\""), token, refusal, 1},
           Row{"a wrong password", challenge("Basic realm=\"r\""), basic, refusal, 2},
           Row{"a wrong access token", bearer(), token, refusal, 2},
           Row{"a token that is not enough", bearer(), {}, refusal, 3},
           Row{"no challenge", {.status = 401}, basic, refusal, 1},
           Row{"a challenge that nobody knows", challenge("Negotiate"), basic, refusal, 1},
           Row{"a realm of http", challenge("Bearer realm=\"http://auth.example.com/\""), basic,
               "BAD_RESPONSE: the registry of \"oci://reg.example.com/a\" sent a challenge with a realm of the scheme "
               "\"http\", but only https may receive credentials",
               1},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Scene scene;
      scene.credentials.add(CredentialUse::oci, "reg.example.com", row.credential);
      scene.http.on("GET", kRegistry + "a/tags/list", {row.challenge});
      scene.serve_token("a", "t");
      BOOST_TEST(scene.tags("a") == row.expected);
      BOOST_TEST(scene.http.sent().size() == row.requests);
      std::string all = scene.last_error.hint;
      for (const std::string& note : scene.last_error.notes) {
        all += note;
      }
      BOOST_TEST(all.find("canary") == std::string::npos);
      if (to_string(scene.last_error.code) == "AUTH_REQUIRED") {
        BOOST_TEST(all.find("looked for credentials for reg.example.com") != std::string::npos);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_token_service_that_refuses_is_named) {
  serve("a", {bearer()});
  http.on("GET", token_url("a"), {FakeAnswer{.status = 401}});
  BOOST_TEST(tags("a") ==
             "AUTH_REQUIRED: could not get a token for \"oci://reg.example.com/a\": https://auth.example.com/token: "
             "authentication is required, or the credentials were rejected (status 401)");
  http.on("GET", kRegistry + "b/tags/list", {bearer()});
  http.on("GET", token_url("b"), {FakeAnswer{.status = 404}});
  BOOST_TEST(tags("b") ==
             "NOT_FOUND: could not get a token for \"oci://reg.example.com/b\": https://auth.example.com/token: "
             "not found (status 404)");
}

BOOST_AUTO_TEST_CASE(a_challenge_from_elsewhere_is_not_answered) {
  credentials.add_basic(CredentialUse::oci, "reg.example.com", "me", "canary");
  http.redirect(kRegistry + "a/tags/list", "https://evil.example.com/t");
  http.on("GET", "https://evil.example.com/t", {challenge("Basic realm=\"r\"")});
  BOOST_TEST(tags("a").substr(0, 13) == "AUTH_REQUIRED");
  BOOST_TEST(authorizations(http) == "-, -");
}

BOOST_AUTO_TEST_CASE(docker_io_is_another_host_to_its_credentials) {
  credentials.add_basic(CredentialUse::oci, "docker.io", "me", "canary");
  credentials.add_basic(CredentialUse::oci, "registry-1.docker.io", "me", "canary");
  http.on("GET", "https://registry-1.docker.io/v2/a/tags/list", {challenge("Basic realm=\"r\"")});
  const auto listed = registry.tags({"oci://docker.io/a", "docker.io", "registry-1.docker.io", "a"}, {});
  BOOST_TEST(to_string(listed.error().code) == "AUTH_REQUIRED");
  BOOST_TEST(listed.error().hint ==
             "OpenTofu sends no credentials to docker.io: write oci://registry-1.docker.io/ and configure credentials "
             "for that host");
  BOOST_TEST(authorizations(http) == "-");
}

BOOST_AUTO_TEST_CASE(a_failing_credential_helper_ends_the_call) {
  credentials.fail_with({.code = Code::tool_missing, .message = "docker-credential-x is not there"});
  serve("a", {bearer()});
  BOOST_TEST(tags("a") == "TOOL_MISSING: docker-credential-x is not there");
}

BOOST_AUTO_TEST_CASE(callers_at_the_same_time_share_one_token) {
  serve("a", {bearer()});
  serve_token("a", "t");
  oci::Authorizer authorizer(http, credentials);
  const oci::Challenge asked{"bearer", {{"realm", kRealm}, {"service", "reg"}}};
  std::atomic<int> fine = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&authorizer, &asked, &fine] {
      const auto answered = authorizer.answer(repository("a"), asked, {}, {});
      fine += answered && *answered && (*answered)->reveal() == "Bearer t" ? 1 : 0;
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  BOOST_TEST(fine == 8);
  BOOST_TEST(http.sent().size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
