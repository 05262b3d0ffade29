#include "backends/git/git_configuration.h"

#include <boost/test/unit_test.hpp>
#include <map>

namespace modlock::git {

BOOST_AUTO_TEST_SUITE(git_http_plan)

namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentLookup lookup(Variables variables) {
  variables.try_emplace("GIT_CONFIG_NOSYSTEM", "1");
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

// One setting, as GIT_CONFIG_COUNT has it.
Variables setting(const std::string& key, const std::string& value) {
  return {{"GIT_CONFIG_COUNT", "1"}, {"GIT_CONFIG_KEY_0", key}, {"GIT_CONFIG_VALUE_0", value}};
}

auto plan_of(const RemoteAddress& remote, const EnvironmentLookup& environment) {
  const auto read = GitConfiguration::read(environment);
  return plan_http(remote, environment, read ? Result<GitConfiguration>(*read) : fail(Code::io_error, ""));
}

RemoteAddress remote() {
  return {.url = "https://h.test/a/b.git",
          .full_url = {},
          .display = "git::https://h.test/a/b.git",
          .scheme = "https",
          .host = "h.test",
          .username = SecretText("u"),
          .password = SecretText("p")};
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_only_git_can_do_is_named_without_its_value) {
  struct Row {
    const char* name;
    Variables variables;
    std::string expected;  // "fine", or the reason
  };
  for (const Row& row : {
           Row{"nothing", {}, "fine"},
           Row{"authorities of git alone",
               {{"GIT_SSL_CAINFO", "/s"}},
               "GIT_SSL_CAINFO is set, and SSL_CERT_FILE does not name the same"},
           Row{"the same authorities", {{"GIT_SSL_CAINFO", "/s"}, {"SSL_CERT_FILE", "/s"}}, "fine"},
           Row{"more authorities of the client's",
               {{"GIT_SSL_CAINFO", "/s"}, {"SSL_CERT_FILE", "/s"}, {"SSL_CERT_DIR", "/d"}},
               "GIT_SSL_CAINFO is set, and SSL_CERT_FILE does not name the same"},
           Row{"no verification", {{"GIT_SSL_NO_VERIFY", "1"}}, "GIT_SSL_NO_VERIFY is set"},
           Row{"a client certificate", {{"GIT_SSL_CERT", "/s"}}, "GIT_SSL_CERT is set"},
           Row{"other transports",
               {{"GIT_ALLOW_PROTOCOL", "ssh:http"}},
               "GIT_ALLOW_PROTOCOL does not name its transport"},
           Row{"this transport", {{"GIT_ALLOW_PROTOCOL", "ssh:https"}}, "fine"},
           Row{"a policy of transports", setting("protocol.allow", "never"), "protocol.allow is set"},
           Row{"redirects forbidden", setting("http.followRedirects", "False"), "http.followredirects is set"},
           Row{"redirects allowed", setting("http.followRedirects", "true"), "fine"},
           Row{"a proxy", setting("http.proxy", "s3cret"), "http.proxy is set"},
           Row{"no proxy", setting("http.proxy", ""), "fine"},
           Row{"authorities", setting("http.sslCAInfo", "/s"), "http.sslcainfo is set"},
           Row{"verification", setting("http.sslVerify", "true"), "fine"},
           Row{"what nobody knows", setting("http.future", "1"), "http.future is set"},
           Row{"no header", setting("http.extraHeader", "s3cret"), "http.extraHeader is no header"},
           Row{"two headers", setting("http.extraHeader", "a: b\nc: d"), "http.extraHeader is no header"},
           Row{"ssh instead", setting("url.ssh://git@h.test/.insteadOf", "https://h.test/"),
               "url.<base>.insteadOf leads to another transport"},
           Row{"a path instead", setting("url./srv/.insteadOf", "https://h.test/"),
               "url.<base>.insteadOf leads to another transport"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto plan = plan_of(remote(), lookup(row.variables));
      BOOST_TEST((plan ? "fine" : plan.error()) == row.expected);
    }
  }
  Variables none = setting("http.proxy", "");
  none["https_proxy"] = "http://proxy.test";
  BOOST_TEST(!plan_of(remote(), lookup(none)).has_value());
  RemoteAddress with_query = remote();
  with_query.full_url = SecretText("https://h.test/a/b.git?token=x");
  BOOST_TEST(plan_of(with_query, lookup({})).value().remote.full_url.reveal() == "https://h.test/a/b.git?token=x");
}

BOOST_AUTO_TEST_CASE(credentials_stay_with_their_host) {
  struct Row {
    const char* name;
    std::string base;
    std::string url;
    std::string credentials;
  };
  for (const Row& row : {
           Row{"the same host", "https://h.test/mirror/", "https://h.test/mirror/b.git", "u:p"},
           Row{"another host", "https://other.test/", "https://other.test/b.git", ":-"},
           Row{"another port", "https://h.test:8443/", "https://h.test:8443/b.git", ":-"},
           Row{"a token of the rule", "https://t0ken@h.test/a/", "https://h.test/a/b.git", "t0ken:-"},
           Row{"user and password of the rule", "https://x:y@other.test/", "https://other.test/b.git", "x:y"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto plan = plan_of(remote(), lookup(setting("url." + row.base + ".insteadOf", "https://h.test/a/")));
      BOOST_REQUIRE(plan.has_value());
      BOOST_TEST(plan->remote.url == row.url);
      BOOST_TEST(plan->remote.display == remote().display);
      const auto& password = plan->remote.password;
      BOOST_TEST(plan->remote.username.reveal() + ":" + (password ? password->reveal() : "-") == row.credentials);
    }
  }
}

BOOST_AUTO_TEST_CASE(headers_add_up_and_an_empty_one_clears_them) {
  Variables variables = {{"GIT_CONFIG_COUNT", "3"}};
  const auto set = [&](int number, const std::string& value) {
    variables["GIT_CONFIG_KEY_" + std::to_string(number)] = "http.extraHeader";
    variables["GIT_CONFIG_VALUE_" + std::to_string(number)] = value;
  };
  set(0, "A: 1");
  set(1, "B:2");
  set(2, "C:  3");
  const auto shown = [&] {
    const auto plan = plan_of(remote(), lookup(variables));
    std::string text;
    for (const auto& [name, value] : plan->secret_headers) {
      text += name + "=" + value.reveal() + " ";
    }
    return text;
  };
  BOOST_TEST(shown() == "A=1 B=2 C=3 ");
  set(1, "");
  BOOST_TEST(shown() == "C=3 ");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
