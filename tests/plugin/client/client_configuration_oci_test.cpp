#include "plugin/client/client_configuration_providers.h"

#include <boost/test/unit_test.hpp>

#include "backends/address/source.h"
#include "plugin/client/client_configuration.h"
#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

namespace {

ClientConfiguration read(const std::string& text, ClientKind tool = ClientKind::opentofu) {
  const User user;
  user.write(".terraformrc", text);
  return read_client_configuration(tool, user.environment());
}

std::string warnings(const ClientConfiguration& configuration) {
  std::string text;
  for (const Diagnostic& warning : configuration.warnings) {
    text += (text.empty() ? "" : "\n") + warning.what.message;
  }
  BOOST_TEST(!has_canary(text));
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oci_configuration)

BOOST_AUTO_TEST_CASE(blocks) {
  const auto configuration = read(R"(
oci_credentials "ghcr.io:5000/team/app" { username = "u", PASSWORD = 0123 }
oci_credentials "quay.io" { access_token = "canary-a", refresh_token = "canary-r" }
oci_credentials "a.io" { docker_credentials_helper = "pass" })");
  BOOST_TEST(warnings(configuration).empty());
  BOOST_TEST_REQUIRE(configuration.oci.size() == 3U);
  BOOST_TEST(configuration.oci[0].host == "ghcr.io:5000");
  BOOST_TEST(configuration.oci[0].repository == "team/app");
  BOOST_TEST(configuration.oci[0].user.reveal() == "u");
  BOOST_TEST(configuration.oci[0].password.reveal() == "0123");
  BOOST_TEST(configuration.oci[0].from == "~/.terraformrc:2");
  BOOST_TEST(configuration.oci[1].label() == "quay.io");
  BOOST_TEST(configuration.oci[1].access_token.reveal() == "canary-a");
  BOOST_TEST(configuration.oci[1].refresh_token.reveal() == "canary-r");
  BOOST_TEST(configuration.oci[2].helper == "pass");
}

BOOST_AUTO_TEST_CASE(blocks_in_json) {
  const auto configuration = read(R"({"oci_credentials": [{"a.io": {"username": "u", "password": "canary"}},
                                      {"b.io": {"docker_credentials_helper": "pass"}}]})");
  BOOST_TEST(warnings(configuration).empty());
  BOOST_TEST_REQUIRE(configuration.oci.size() == 2U);
  BOOST_TEST(configuration.oci[0].label() == "a.io");
  BOOST_TEST(configuration.oci[1].label() == "b.io");
}

BOOST_AUTO_TEST_CASE(blocks_that_are_left_out) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"assigned", "oci_credentials = { \"a.io\" = { username = \"u\", password = \"canary\" } }",
       "1:1: oci_credentials must not be followed by \"=\""},
      {"no label", "oci_credentials { \"a.io\" { username = \"u\", password = \"canary\" } }",
       "1:1: oci_credentials must have one label, the registry or the start of repositories"},
      {"two labels", "oci_credentials \"a.io\" \"b\" {}",
       "1:1: oci_credentials must have one label, the registry or the start of repositories"},
      {"a URL", "oci_credentials \"https://a.io\" { username = \"u\", password = \"canary\" }",
       "1:1: oci_credentials \"https://a.io\" names no registry and no start of repositories"},
      {"a tag", "oci_credentials \"a.io/b:1\" { username = \"u\", password = \"canary\" }",
       "1:1: oci_credentials \"a.io/b:1\" names no registry and no start of repositories"},
      {"nothing", "oci_credentials \"a.io\" {}",
       "1:1: oci_credentials \"a.io\" must set either username and password, or access_token and refresh_token, or "
       "docker_credentials_helper"},
      {"two kinds", "oci_credentials \"a.io\" { username = \"u\", password = \"canary\", access_token = \"canary\" }",
       "1:1: oci_credentials \"a.io\" must set either username and password, or access_token and refresh_token, or "
       "docker_credentials_helper"},
      {"no password", "oci_credentials \"a.io\" { username = \"canary\" }",
       "1:1: oci_credentials \"a.io\" must set both username and password"},
      {"no refresh token", "oci_credentials \"a.io\" { access_token = \"canary\" }",
       "1:1: oci_credentials \"a.io\" must set both access_token and refresh_token"},
      {"a program for a path", "oci_credentials \"a.io/b\" { docker_credentials_helper = \"x\" }",
       "1:1: oci_credentials \"a.io/b\" must not set docker_credentials_helper, which serves whole registries only"},
      {"a path as a program", "oci_credentials \"a.io\" { docker_credentials_helper = \"../x\" }",
       "1:1: oci_credentials \"a.io\" must set docker_credentials_helper to the part after docker-credential-"},
      {"another type", "oci_credentials \"a.io\" { username = \"u\", password = [\"canary\"] }",
       "1:53: password must be a string"},
      {"JSON with something else", R"({"oci_credentials": {"a.io": {"username": "u", "password": "canary"}, "b": 1}})",
       "1:2: oci_credentials must contain one object for each registry or start of repositories"},
      {"JSON of another type", R"({"oci_credentials": "canary"})", "1:21: \"oci_credentials\" must be an object"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto configuration = read(row.text);
      BOOST_TEST(configuration.oci.empty());
      BOOST_TEST(warnings(configuration) == std::string("~/.terraformrc:") + row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_two_for_the_same_the_first_counts) {
  const auto configuration = read(
      "oci_credentials \"a.io\" { username = \"first\", password = \"canary\" }\n"
      "oci_credentials \"a.io\" { username = \"second\", password = \"canary\" }\n"
      "oci_default_credentials { docker_credentials_helper = \"first\" }\n"
      "oci_default_credentials { docker_credentials_helper = \"second\" }\n");
  BOOST_TEST(warnings(configuration) ==
             "~/.terraformrc:2:1: oci_credentials \"a.io\" is set twice, first in ~/.terraformrc:1\n"
             "~/.terraformrc:4:1: oci_default_credentials is set twice, first in ~/.terraformrc:3");
  BOOST_TEST_REQUIRE(configuration.oci.size() == 1U);
  BOOST_TEST(configuration.oci[0].user.reveal() == "first");
  BOOST_TEST(configuration.oci_defaults->helper == "first");
}

BOOST_AUTO_TEST_CASE(defaults) {
  const User user;
  user.write(".terraform.d/a.tfrc",
             "oci_default_credentials {\n docker_style_config_files = [\"../own.json\", \"/abs.json\"]\n}");
  const auto configuration = read_client_configuration(ClientKind::opentofu, user.environment());
  BOOST_TEST_REQUIRE(configuration.oci_defaults.has_value());
  const std::vector<std::string> files = {user.path("own.json").string(), "/abs.json"};
  BOOST_TEST(*configuration.oci_defaults->files == files, boost::test_tools::per_element());
  BOOST_TEST(configuration.oci_defaults->discover_ambient);
  BOOST_TEST(configuration.oci_defaults->from == "~/.terraform.d/a.tfrc:1");
  const auto json = read(R"({"oci_default_credentials": {"discover_ambient_credentials": false}})");
  BOOST_TEST(!json.oci_defaults->discover_ambient);
  BOOST_TEST(!json.oci_defaults->files);
}

BOOST_AUTO_TEST_CASE(defaults_with_problems) {
  struct Row {
    const char* name;
    const char* text;
    bool is_kept;
    const char* expected;
  };
  const Row rows[] = {
      {"a label", "oci_default_credentials \"x\" {}", false, "1:1: oci_default_credentials must have no label"},
      {"assigned", "oci_default_credentials = {}", false, "1:1: oci_default_credentials must not be followed by \"=\""},
      {"another type", "oci_default_credentials { discover_ambient_credentials = \"false\" }", false,
       "1:58: discover_ambient_credentials must be true or false"},
      {"a path as a program", "oci_default_credentials { docker_credentials_helper = \"a/b\" }", true,
       "1:1: oci_default_credentials must set docker_credentials_helper to the part after docker-credential-"},
      {"files that are turned off",
       "oci_default_credentials { discover_ambient_credentials = false, docker_style_config_files = [] }", true,
       "1:1: oci_default_credentials names docker_style_config_files and turns them off by "
       "discover_ambient_credentials"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto configuration = read(row.text);
      BOOST_TEST(configuration.oci_defaults.has_value() == row.is_kept);
      BOOST_TEST(warnings(configuration) == std::string("~/.terraformrc:") + row.expected);
      BOOST_TEST((!row.is_kept || configuration.oci_defaults->helper.empty()));
    }
  }
}

BOOST_AUTO_TEST_CASE(terraform_knows_no_such_blocks) {
  const auto configuration =
      read("oci_credentials \"a.io\" {}\noci_default_credentials \"x\" {}\nregistry_protocols { retry_count = 3 }",
           ClientKind::terraform);
  BOOST_TEST(configuration.oci.empty());
  BOOST_TEST(!configuration.oci_defaults);
  BOOST_TEST(!configuration.retry_count);
  BOOST_TEST(warnings(configuration).empty());
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

std::vector<ProviderPattern> patterns(const std::vector<const char*>& texts) {
  std::vector<ProviderPattern> all;
  for (const char* text : texts) {
    all.push_back(ProviderPattern::parse(text, kOpenTofuRegistry).value());
  }
  return all;
}

struct Row {
  const char* name;
  const char* text;
  std::vector<const char*> include;
  const char* expected;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(repository_template)

BOOST_AUTO_TEST_CASE(names_a_repository) {
  const Row rows[] = {
      {"all parts", "a.io/${hostname}/${namespace}/${type}", {}, "a.io/registry.opentofu.org/acme/null"},
      {"a host by include", "a.io:5000/m/${namespace}-${type}", {"acme/*", "hashicorp/*"}, "a.io:5000/m/acme-null"},
      {"a namespace by include", "a.io/${type}", {"acme/*"}, "a.io/null"},
      {"all by include", "a.io/fixed", {"acme/null"}, "a.io/fixed"},
      {"one expression", "${\"a.io/${hostname}/${namespace}/${type}\"}", {}, "a.io/registry.opentofu.org/acme/null"},
      {"a conditional",
       "a.io/%{ if hostname == \"example.com\" }x%{ else }${hostname}%{ endif }/${namespace}/${type}",
       {},
       "a.io/registry.opentofu.org/acme/null"},
      {"a failure for this one",
       "a.io/${{\"example.com\": \"ok\"}[hostname]}/${namespace}/${type}",
       {},
       "CONFIG_PARSE"},
  };
  const auto provider = ProviderAddress::parse("acme/null", kOpenTofuRegistry).value();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto repository = read_repository_template(row.text, patterns(row.include));
      BOOST_REQUIRE_MESSAGE(repository.has_value(), (repository ? "" : repository.error().message));
      const auto named = (*repository)(provider);
      BOOST_TEST((named ? *named : std::string(to_string(named.error().code))) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong) {
  const char* const kParts = " symbol unless the \"include\" argument selects exactly one ";
  const std::string host = std::string("template must refer to the \"hostname\"") + kParts + "registry hostname";
  const std::string name = std::string("template must refer to the \"namespace\"") + kParts + "provider namespace";
  const std::string type = std::string("template must refer to the \"type\"") + kParts + "provider";
  const std::string address =
      "template must generate a valid OCI repository address, including a registry hostname followed by a slash and "
      "then a repository name";
  const Row rows[] = {
      {"no host", "a.io/${namespace}/${type}", {}, host.c_str()},
      {"two hosts", "a.io/${namespace}/${type}", {"acme/*", "example.com/*/*"}, host.c_str()},
      {"no namespace", "a.io/${hostname}/${type}", {"example.com/*/*"}, name.c_str()},
      {"no type", "a.io/${hostname}/${namespace}", {"acme/*"}, type.c_str()},
      {"another name",
       "a.io/${hostname}/${namespace}/${type}/${version}",
       {},
       "the symbol \"version\" is not available for an OCI mirror repository address template. Only \"hostname\", "
       "\"namespace\", and \"type\" are available"},
      {"a tag", "a.io/${hostname}/${namespace}/${type}:latest", {}, address.c_str()},
      {"a scheme", "https://a.io/${hostname}/${namespace}/${type}", {}, address.c_str()},
      {"capitals", "a.io/A/${hostname}/${namespace}/${type}", {}, address.c_str()},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto repository = read_repository_template(row.text, patterns(row.include));
      BOOST_REQUIRE(!repository);
      BOOST_TEST((repository.error().code == Code::config_parse));
      BOOST_TEST(repository.error().message == row.expected);
    }
  }
  for (const char* text : {"a.io/${lower(hostname)}/${namespace}/${type}", "a.io/${hostname[1]}/${namespace}/${type}",
                           "a.io/${hostname + 1}/${namespace}/${type}", "a.io/${hostname"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST((read_repository_template(text, {}).error().code == Code::config_parse));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
