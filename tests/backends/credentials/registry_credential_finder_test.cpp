#include "backends/credentials/registry_credential_finder.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// Keeps what is logged.
class KeptLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override {
    lines += std::string(to_string(level)) + ": " + std::string(line) + "\n";
  }
  std::string lines;
};

struct Helped {
  Helped(const std::string& script, const std::string& file = "plugins/terraform-credentials-vault") {
    user.write_program(file, script);
    configuration.files = {"~/.tofurc"};
    configuration.helper =
        ClientConfiguration::Helper{.name = "vault",
                                    .arguments = {"--from", "a b"},
                                    .directories = {user.path("plugins").string(), user.path("more").string()},
                                    .from = "~/.tofurc:3"};
    context.log = &log;
  }
  std::unique_ptr<Credentials> credentials() const { return make_credentials(configuration, user.environment()); }

  User user;
  ClientConfiguration configuration;
  KeptLog log;
  Context context;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(registry_places)

BOOST_AUTO_TEST_CASE(variables_name_hosts) {
  struct Row {
    const char* name;
    const char* variable;
    const char* host;  // as Source::host
    const char* expected;
  };
  const Row rows[] = {
      {"dots", "TF_TOKEN_example.com", "example.com", "token canary-1"},
      {"underscores", "TF_TOKEN_example_com", "example.com", "token canary-1"},
      {"two underscores for a dash", "TF_TOKEN_my__host_example_com", "my-host.example.com", "token canary-1"},
      {"a dash", "TF_TOKEN_my-host_example_com", "my-host.example.com", "token canary-1"},
      {"upper case", "TF_TOKEN_EXAMPLE_Com", "example.com", "token canary-1"},
      {"punycode", "TF_TOKEN_xn--caf-dma_fr", "café.fr", "token canary-1"},
      {"punycode in underscores", "TF_TOKEN_xn____caf__dma_fr", "café.fr", "token canary-1"},
      {"Unicode", "TF_TOKEN_café_fr", "café.fr", "token canary-1"},
      {"a port", "TF_TOKEN_example_com:8443", "example.com:8443", "token canary-1"},
      {"the usual port", "TF_TOKEN_example_com:443", "example.com", "token canary-1"},
      {"another port", "TF_TOKEN_example_com", "example.com:8443", "none"},
      {"three underscores", "TF_TOKEN_a___b_fr", "a.b.fr", "none"},
      {"no host", "TF_TOKEN_", "example.com", "none"},
      {"another prefix", "TF_TOKENS_example_com", "example.com", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      user.set(row.variable, "canary-1");
      const auto credentials = make_credentials({}, user.environment());
      BOOST_TEST(shown(credentials->find({CredentialUse::registry, row.host}, Context{})) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_to_set) {
  BOOST_TEST(token_variable_name("my-host.example.com") == "TF_TOKEN_my__host_example_com");
  BOOST_TEST(token_variable_name("xn--caf-dma.fr") == "TF_TOKEN_xn____caf__dma_fr");
  BOOST_TEST(token_variable_name("example.com:8443").empty());
}

BOOST_AUTO_TEST_CASE(the_first_place_that_knows_the_host_decides) {
  Helped helped("echo '{\"token\": \"canary-3\"}'");
  const auto look = [&helped](const std::string& host) {
    const auto credentials = helped.credentials();
    return shown(credentials->find({CredentialUse::registry, host}, helped.context)) + "\n" +
           shown(credentials->places({CredentialUse::registry, host}, helped.context));
  };
  BOOST_TEST(look("example.com") ==
             "token canary-3\n"
             "environment variable TF_TOKEN_example_com: not set\n"
             "credentials blocks in ~/.tofurc: no entry for example.com\n"
             "credentials_helper \"vault\" in ~/.tofurc:3: used\n");
  helped.configuration.tokens["example.com"] = {SecretText("canary-2"), "~/.tofurc:1"};
  BOOST_TEST(look("example.com") ==
             "token canary-2\n"
             "environment variable TF_TOKEN_example_com: not set\n"
             "credentials \"example.com\" in ~/.tofurc:1: used\n"
             "credentials_helper \"vault\" in ~/.tofurc:3: hidden by credentials \"example.com\" in ~/.tofurc:1\n");
  helped.user.set("TF_TOKEN_example.com", "canary-1");
  BOOST_TEST(look("example.com") ==
             "token canary-1\n"
             "environment variable TF_TOKEN_example.com: used\n"
             "credentials \"example.com\" in ~/.tofurc:1: hidden by environment variable TF_TOKEN_example.com\n"
             "credentials_helper \"vault\" in ~/.tofurc:3: hidden by environment variable TF_TOKEN_example.com\n");
  helped.user.set("TF_TOKEN_example_com", "");
  BOOST_TEST(look("example.com") ==
             "none\n"
             "environment variable TF_TOKEN_example_com: used: it is empty, so no token is sent\n"
             "credentials \"example.com\" in ~/.tofurc:1: hidden by environment variable TF_TOKEN_example_com\n"
             "credentials_helper \"vault\" in ~/.tofurc:3: hidden by environment variable TF_TOKEN_example_com\n");
}

BOOST_AUTO_TEST_CASE(nothing_is_configured) {
  const User user;
  const auto credentials = make_credentials({}, user.environment());
  BOOST_TEST(shown(credentials->places({CredentialUse::registry, "café.fr:8443"}, Context{})) ==
             "environment variable TF_TOKEN_* for café.fr:8443: not set\n"
             "credentials blocks of the CLI configuration: no such file\n"
             "credentials_helper of the CLI configuration: not configured\n");
}

BOOST_AUTO_TEST_CASE(a_helper_is_asked_with_its_arguments_and_the_host_in_ascii) {
  const Helped helped("printf '{\"token\": \"canary %s|%s|%s|%s %s\"}' \"$1\" \"$2\" \"$3\" \"$4\" \"$TF_TOKEN_x\"");
  BOOST_TEST(shown(helped.credentials()->find({CredentialUse::registry, "café.fr:8443"}, helped.context)) ==
             "token canary --from|a b|get|xn--caf-dma.fr:8443 ");
}

BOOST_AUTO_TEST_CASE(a_helper_that_gives_nothing_leaves_the_request_without) {
  struct Row {
    const char* name;
    const char* script;
    const char* outcome;
    const char* log;
  };
  const Row rows[] = {
      {"null", "echo null", "has none for example.com", ""},
      {"no token", "echo {}", "has none for example.com", ""},
      {"a token of another type", "echo '{\"token\": 12}'", "has none for example.com", ""},
      {"an empty token", "echo '{\"token\": \"\"}'", "used: it is empty, so no token is sent", ""},
      {"a failure", "echo canary-1; echo canary-2 >&2; exit 3",
       "failed: the credential helper terraform-credentials-vault ended with exit code 3",
       "warning: the credential helper terraform-credentials-vault ended with exit code 3, so requests to example.com "
       "are sent without a token\n"},
      {"no JSON", "echo canary-1",
       "failed: the credential helper terraform-credentials-vault did not print a JSON object",
       "warning: the credential helper terraform-credentials-vault did not print a JSON object, so requests to "
       "example.com are sent without a token\n"},
      {"text behind it", "echo '{\"token\": \"canary-1\"} canary-2'",
       "failed: the credential helper terraform-credentials-vault did not print a JSON object",
       "warning: the credential helper terraform-credentials-vault did not print a JSON object, so requests to "
       "example.com are sent without a token\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Helped helped(row.script);
      const auto credentials = helped.credentials();
      BOOST_TEST(shown(credentials->find({CredentialUse::registry, "example.com"}, helped.context)) == "none");
      BOOST_TEST(helped.log.lines == row.log);
      const auto places = credentials->places({CredentialUse::registry, "example.com"}, helped.context);
      BOOST_TEST_REQUIRE(places.has_value());
      BOOST_TEST(places->back().outcome == row.outcome);
      BOOST_TEST(helped.log.lines == row.log, "told once");
      BOOST_TEST(!has_canary(shown(places) + helped.log.lines));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_helper_lies_in_a_plugin_directory) {
  struct Row {
    const char* name;
    const char* file;
    const char* expected;
  };
  const Row rows[] = {
      {"a later directory", "more/terraform-credentials-vault", "token canary-1"},
      {"with a version", "plugins/terraform-credentials-vault_v1.2.0_x4", "token canary-1"},
      {"in upper case", "plugins/terraform-credentials-VAULT", "token canary-1"},
      {"another name", "plugins/terraform-credentials-vault2", "none"},
      {"a version that is none", "plugins/terraform-credentials-vault_vx", "none"},
      {"another directory", "elsewhere/terraform-credentials-vault", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Helped helped("echo '{\"token\": \"canary-1\"}'", row.file);
      BOOST_TEST(shown(helped.credentials()->find({CredentialUse::registry, "example.com"}, helped.context)) ==
                 row.expected);
    }
  }
  const Helped helped("echo '{\"token\": \"canary-old\"}'", "plugins/terraform-credentials-vault_v1.9.0");
  helped.user.write_program("more/terraform-credentials-vault_v1.10.0", "echo '{\"token\": \"canary-new\"}'");
  BOOST_TEST(shown(helped.credentials()->find({CredentialUse::registry, "example.com"}, helped.context)) ==
             "token canary-new");
  std::filesystem::remove_all(helped.user.path("plugins"));
  std::filesystem::remove_all(helped.user.path("more"));
  const auto places = helped.credentials()->places({CredentialUse::registry, "example.com"}, helped.context);
  BOOST_TEST_REQUIRE(places.has_value());
  BOOST_TEST(places->back().outcome == "terraform-credentials-vault not found in ~/plugins, ~/more");
}

BOOST_AUTO_TEST_CASE(a_helper_is_asked_once_for_each_host_however_many_want_it) {
  const Helped helped("sleep 0.2; echo '{\"token\": \"canary-1\"}'");
  const auto credentials = helped.credentials();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&credentials, &right, i]() {
      const char* host = i % 2 == 0 ? "a.example" : "b.example";
      right += shown(credentials->find({CredentialUse::registry, host}, Context{})) == "token canary-1" ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  BOOST_TEST(right == 8);
  BOOST_TEST(helped.user.runs_of("plugins/terraform-credentials-vault") == 2U);
}

BOOST_AUTO_TEST_CASE(a_cancelled_question_is_asked_again) {
  const Helped helped("if [ -e \"$0.ready\" ]; then echo '{\"token\": \"canary-1\"}'; else exec sleep 60; fi");
  const auto credentials = helped.credentials();
  Context hurried = helped.context;
  hurried.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  const auto first = credentials->find({CredentialUse::registry, "example.com"}, hurried);
  BOOST_TEST_REQUIRE(!first.has_value());
  BOOST_TEST((first.error().code == Code::deadline_exceeded));
  helped.user.write("plugins/terraform-credentials-vault.ready", "");
  BOOST_TEST(shown(credentials->find({CredentialUse::registry, "example.com"}, helped.context)) == "token canary-1");
}

BOOST_AUTO_TEST_CASE(a_token_writes_no_headers) {
  User user;
  user.set("TF_TOKEN_example_com", "canary-1\r\nX-Evil: canary-2");
  const auto credentials = make_credentials({}, user.environment());
  const auto found = credentials->find({CredentialUse::registry, "example.com"}, Context{});
  BOOST_TEST(shown(found) ==
             "CONFIG_PARSE the token of environment variable TF_TOKEN_example_com contains a line ending or another "
             "control character");
  BOOST_TEST(!has_canary(shown(credentials->places({CredentialUse::registry, "example.com"}, Context{}))));
}

BOOST_AUTO_TEST_SUITE_END()
