#include "plugin/client/client_configuration.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

namespace {

std::string block(std::string_view token) {
  return "credentials \"example.com\" { token = \"" + std::string(token) + "\" }\n";
}

// "token from", "none" where no block names example.com; then the warnings, one a line.
std::string token(const ClientConfiguration& configuration) {
  const auto found = configuration.tokens.find("example.com");
  std::string text =
      found == configuration.tokens.end() ? "none" : found->second.token.reveal() + " " + found->second.from;
  for (const Diagnostic& warning : configuration.warnings) {
    BOOST_TEST((warning.severity == Severity::warning && warning.what.code == Code::config_parse));
    BOOST_TEST(!has_canary(warning.what.message + warning.what.hint.text()));
    text += "\n" + warning.what.message;
  }
  return text;
}

struct FileRow {
  const char* name;
  std::vector<std::pair<const char*, std::string>> files;
  std::vector<std::pair<const char*, const char*>> variables;  // "$HOME/x" is below home
  const char* opentofu;
  const char* terraform;
};

struct TextRow {
  const char* name;
  std::string text;
  std::string expected;
};

std::string read_as(ClientKind tool, const std::string& text) {
  const User user;
  user.write(".terraformrc", text);
  return token(read_client_configuration(tool, user.environment()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_configuration)

BOOST_AUTO_TEST_CASE(files_in_order) {
  const std::string json = R"({"credentials": {"example.com": {"token": "canary-j"}}})";
  const FileRow rows[] = {
      {"no file", {}, {}, "none", "none"},
      {"OpenTofu's own", {{".tofurc", block("canary-n")}}, {}, "canary-n ~/.tofurc:1", "none"},
      {"Terraform's",
       {{".terraformrc", block("canary-o")}},
       {},
       "canary-o ~/.terraformrc:1",
       "canary-o ~/.terraformrc:1"},
      {"both",
       {{".tofurc", block("canary-n")}, {".terraformrc", block("canary-o")}},
       {},
       "canary-n ~/.tofurc:1",
       "canary-o ~/.terraformrc:1"},
      {"the directory replaces",
       {{".tofurc", block("a")}, {".terraformrc", block("a")}, {".terraform.d/x.tfrc", block("canary-d")}},
       {},
       "canary-d ~/.terraform.d/x.tfrc:1",
       "canary-d ~/.terraform.d/x.tfrc:1"},
      {"by name",
       {{".terraform.d/a.tfrc", block("a")}, {".terraform.d/credentials.tfrc.json", json}},
       {},
       "canary-j ~/.terraform.d/credentials.tfrc.json:1",
       "canary-j ~/.terraform.d/credentials.tfrc.json:1"},
      {"another ending", {{".terraform.d/x.tf", block("a")}}, {}, "none", "none"},
      {"the content says the syntax",
       {{".terraform.d/x.tfrc.json", block("canary-c")}},
       {},
       "canary-c ~/.terraform.d/x.tfrc.json:1",
       "canary-c ~/.terraform.d/x.tfrc.json:1"},
      {"XDG",
       {{"x/opentofu/tofurc", block("canary-x")}},
       {{"XDG_CONFIG_HOME", "$HOME/x"}},
       "canary-x ~/x/opentofu/tofurc:1",
       "none"},
      {"XDG beside a file at home",
       {{"x/opentofu/tofurc", block("a")}, {".terraformrc", block("canary-o")}},
       {{"XDG_CONFIG_HOME", "$HOME/x"}},
       "canary-o ~/.terraformrc:1",
       "canary-o ~/.terraformrc:1"},
      {"the XDG directory",
       {{"x/opentofu/a.tfrc", block("canary-x")}},
       {{"XDG_CONFIG_HOME", "$HOME/x"}},
       "canary-x ~/x/opentofu/a.tfrc:1",
       "none"},
      {"the XDG directory beside one at home",
       {{"x/opentofu/a.tfrc", block("a")}, {".terraform.d/b", ""}},
       {{"XDG_CONFIG_HOME", "$HOME/x"}},
       "none",
       "none"},
      {"a variable and nothing else",
       {{"own", block("canary-v")}, {".terraform.d/a.tfrc", block("a")}},
       {{"TF_CLI_CONFIG_FILE", "$HOME/own"}},
       "canary-v ~/own:1",
       "canary-v ~/own:1"},
      {"a relative variable",
       {{"own", block("canary-v")}},
       {{"TF_CLI_CONFIG_FILE", "own"}},
       "canary-v ~/own:1",
       "canary-v ~/own:1"},
      {"the older variable",
       {{"own", block("canary-v")}, {"old", block("a")}},
       {{"TERRAFORM_CONFIG", "$HOME/old"}, {"TF_CLI_CONFIG_FILE", "$HOME/own"}},
       "canary-v ~/own:1",
       "canary-v ~/own:1"},
      {"an empty variable",
       {{".terraformrc", block("canary-o")}},
       {{"TF_CLI_CONFIG_FILE", ""}},
       "canary-o ~/.terraformrc:1",
       "canary-o ~/.terraformrc:1"},
      {"a variable that names no file",
       {{".terraformrc", block("a")}},
       {{"TF_CLI_CONFIG_FILE", "$HOME/gone"}},
       "none\nTF_CLI_CONFIG_FILE names ~/gone, which does not exist, so no CLI configuration is read",
       "none\nTF_CLI_CONFIG_FILE names ~/gone, which does not exist, so no CLI configuration is read"},
  };
  for (const FileRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      for (const auto& [name, text] : row.files) {
        user.write(name, text);
      }
      for (const auto& [name, value] : row.variables) {
        const std::string_view text(value);
        user.set(name, text.starts_with("$HOME/") ? user.path(text.substr(6)).string() : std::string(text));
      }
      BOOST_TEST(token(read_client_configuration(ClientKind::opentofu, user.environment())) == row.opentofu);
      BOOST_TEST(token(read_client_configuration(ClientKind::terraform, user.environment())) == row.terraform);
    }
  }
}

BOOST_AUTO_TEST_CASE(tokens_are_found_however_they_are_written) {
  const TextRow rows[] = {
      {"twice", block("a") + block("canary-2"), "canary-2 ~/.terraformrc:2"},
      {"upper case", "CREDENTIALS \"EXAMPLE.com\" { token = \"canary\" }", "canary ~/.terraformrc:1"},
      {"nested", "credentials { \"example.com\" { token = \"canary\" } }", "canary ~/.terraformrc:1"},
      {"assigned", "credentials = { \"example.com\" = { token = \"canary\" } }", "canary ~/.terraformrc:1"},
      {"JSON in a list", R"({"credentials": [{"example.com": [{"token": "canary"}]}]})", "canary ~/.terraformrc:1"},
      {"JSON twice",
       R"({"credentials": {"example.com": {"token": "a"}}, "credentials": {"example.com": {"token": "canary"}}})",
       "canary ~/.terraformrc:1"},
      {"beside what is not ours", "x \"y\" \"z\" { a = [1] }\ndisable_checkpoint = []\n" + block("canary"),
       "canary ~/.terraformrc:3"},
      {"no token", "credentials \"example.com\" { user = \"canary\" }", " ~/.terraformrc:1"},
      {"a number", "credentials \"example.com\" { token = 12 }", " ~/.terraformrc:1"},
      {"null", R"({"credentials": {"example.com": {"token": null}}})", " ~/.terraformrc:1"},
      {"another case", "credentials \"example.com\" { Token = \"canary\" }", " ~/.terraformrc:1"},
      {"punycode", "credentials \"xn--caf-dma.fr\" { token = \"canary\" }",
       "none\n~/.terraformrc:1:1: credentials \"xn--caf-dma.fr\" names no host"},
  };
  for (const TextRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(read_as(ClientKind::opentofu, row.text) == row.expected);
      BOOST_TEST(read_as(ClientKind::terraform, row.text) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_problem_leaves_what_the_client_keeps) {
  struct Row {
    const char* name;
    std::string text;
    const char* opentofu;
    const char* terraform;
  };
  const Row rows[] = {
      {"no syntax", block("canary") + "credentials \"canary", "none\n~/.terraformrc:2:13: a string that does not end",
       "none\n~/.terraformrc:2:13: a string that does not end"},
      {"an argument twice", "credentials \"example.com\" {\ntoken = \"canary-1\"\ntoken = \"canary-2\"\n}",
       "none\n~/.terraformrc:3:1: the argument \"token\" is set twice", "canary-2 ~/.terraformrc:3"},
      {"hosts that are none", block("canary") + "host = \"canary\"",
       "none\n~/.terraformrc:2:8: \"host\" must be an object", "none\n~/.terraformrc:2:8: \"host\" must be an object"},
      {"credentials that are none", block("canary") + "credentials = \"canary\"",
       "canary ~/.terraformrc:1\n~/.terraformrc:2:15: \"credentials\" must be an object",
       "none\n~/.terraformrc:2:15: \"credentials\" must be an object"},
      {"a helper that is none", block("canary") + "credentials_helper \"h\" { args = \"canary\" }",
       "canary ~/.terraformrc:1\n~/.terraformrc:2:33: args must be a list of strings",
       "none\n~/.terraformrc:2:33: args must be a list of strings"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(read_as(ClientKind::opentofu, row.text) == row.opentofu);
      BOOST_TEST(read_as(ClientKind::terraform, row.text) == row.terraform);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_passed_over) {
  const User user;
  user.write(".tofurc/inside", "");
  user.write(".terraform.d/a.tfrc", block("canary"));
  const auto configuration = read_client_configuration(ClientKind::opentofu, user.environment());
  BOOST_TEST(configuration.tokens.at("example.com").token.reveal() == "canary");
  BOOST_TEST(configuration.warnings.size() == 1U);
  const std::vector<std::string> files = {"~/.terraform.d/a.tfrc"};
  BOOST_TEST(configuration.files == files, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(services_of_hosts) {
  const User user;
  user.write(".tofurc", R"(host "Example.com:0443" { services = { "modules.v1" = "http://a/", "x.v1" = 1 } }
host "café.fr" { Services { modules.v1 = "b" } }
host "xn--caf-dma.fr" {})");
  user.write(".terraform.d/a.tfrc.json", R"({"host": {"example.com": {"services": {"modules.v1": "http://c/"}}}})");
  const auto configuration = read_client_configuration(ClientKind::opentofu, user.environment());
  BOOST_TEST_REQUIRE(configuration.hosts.size() == 2U);
  const auto& replaced = configuration.hosts.at("example.com");
  BOOST_TEST(replaced.services.size() == 1U);
  BOOST_TEST(replaced.services.at("modules.v1") == "http://c/");
  BOOST_TEST(replaced.from == "~/.terraform.d/a.tfrc.json:1");
  BOOST_TEST(configuration.hosts.at("xn--caf-dma.fr").services.at("modules.v1") == "b");
  BOOST_TEST_REQUIRE(configuration.warnings.size() == 1U);
  BOOST_TEST(configuration.warnings[0].what.message == "~/.tofurc:3:1: host \"xn--caf-dma.fr\" names no host");
  BOOST_TEST(configuration.warnings[0].what.hint == "the client ignores it too; fix it");
}

BOOST_AUTO_TEST_CASE(helpers_and_where_they_lie) {
  User user;
  user.set("XDG_DATA_HOME", user.path("data").string());
  user.write(".terraformrc", "\ncredentials_helper \"vault\" { args = [\"a b\", 1] }\ncredentials_helper \"pass\" {}");
  const auto configuration = read_client_configuration(ClientKind::opentofu, user.environment());
  BOOST_TEST_REQUIRE(configuration.helper.has_value());
  BOOST_TEST(configuration.helper->name == "vault");
  const std::vector<std::string> arguments = {"a b", "1"};
  BOOST_TEST(configuration.helper->arguments == arguments, boost::test_tools::per_element());
  BOOST_TEST(configuration.helper->from == "~/.terraformrc:2");
  BOOST_TEST_REQUIRE(configuration.helper->directories.size() == 4U);
  BOOST_TEST(configuration.helper->directories[0] == user.path(".terraform.d/plugins").string());
  BOOST_TEST(configuration.helper->directories[2] == user.path("data/opentofu/plugins").string());
  BOOST_TEST_REQUIRE(configuration.warnings.size() == 1U);
  BOOST_TEST(configuration.warnings[0].what.message ==
             "~/.terraformrc:3:1: a second credentials_helper, \"pass\", next to \"vault\" in ~/.terraformrc:2");
  BOOST_TEST(read_client_configuration(ClientKind::terraform, user.environment()).helper->directories.size() == 2U);
}

BOOST_AUTO_TEST_CASE(settings_of_registry_requests) {
  struct Row {
    const char* name;
    const char* text;
    int count;    // -9: not set
    int seconds;  // likewise
    const char* warning;
  };
  const Row rows[] = {
      {"both", "registry_protocols { retry_count = 3, request_timeout_seconds = 20 }", 3, 20, ""},
      {"one", "registry_protocols { RETRY_COUNT = 0 }", 0, -9, ""},
      {"in quotes", "registry_protocols { retry_count = \"0x10\", request_timeout_seconds = \"010\" }", 16, 8, ""},
      {"assigned", "registry_protocols = { retry_count = 3 }", 3, -9, ""},
      {"JSON", R"({"registry_protocols": {"retry_count": 3}})", 3, -9, ""},
      {"upper case", "REGISTRY_protocols { retry_count = 3 }", -9, -9, ""},
      {"no number", "registry_protocols { retry_count = 3, request_timeout_seconds = \"x\" }", -9, -9,
       "~/.tofurc:1:65: request_timeout_seconds must be a whole number"},
      {"a number that is too long", "registry_protocols { retry_count = 99999999999 }", -9, -9,
       "~/.tofurc:1:36: retry_count must be a whole number"},
      {"twice", "registry_protocols { retry_count = 1 }\nregistry_protocols { retry_count = 2 }", 1, -9,
       "~/.tofurc:2:1: a second registry_protocols block"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const User user;
      user.write(".tofurc", row.text);
      const auto configuration = read_client_configuration(ClientKind::opentofu, user.environment());
      BOOST_TEST(configuration.retry_count.value_or(-9) == row.count);
      BOOST_TEST(configuration.request_timeout.value_or(std::chrono::seconds(-9)).count() == row.seconds);
      BOOST_TEST((configuration.warnings.empty() ? "" : configuration.warnings[0].what.message) == row.warning);
    }
  }
  const User user;
  user.write(".terraform.d/a.tfrc", "registry_protocols { retry_count = 3 }");
  BOOST_TEST(!read_client_configuration(ClientKind::opentofu, user.environment()).retry_count);
}

BOOST_AUTO_TEST_SUITE_END()
