#include "plugin/client/client_configuration_providers.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "plugin/client/client_configuration.h"
#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(provider_installation_configuration)

namespace {

ClientConfiguration read(const std::string& text, ClientKind tool = ClientKind::opentofu) {
  const User user;
  user.write(".terraformrc", text);
  return read_client_configuration(tool, user.environment());
}

std::string warnings(const ClientConfiguration& configuration) {
  std::string text;
  for (const Diagnostic& warning : configuration.warnings) {
    BOOST_TEST((warning.severity == Severity::warning && warning.what.code == Code::config_parse));
    text += (text.empty() ? "" : "\n") + warning.what.message;
  }
  return text;
}

std::string shown(const std::vector<ProviderPattern>& patterns) {
  std::string text;
  for (const ProviderPattern& pattern : patterns) {
    text += fmt::format(" {}/{}/{}", pattern.host(), pattern.name_space(), pattern.type());
  }
  return text;
}

// One method a line: "<kind> <location> +<include> -<exclude> retries=<n> trust"; then the overrides.
std::string shown(const ClientConfiguration& configuration) {
  if (!configuration.provider_installation) {
    return "none";
  }
  constexpr std::array<const char*, 4> kKinds = {"direct", "filesystem", "network", "oci"};
  std::string text;
  for (const ProviderInstallation::Method& method : configuration.provider_installation->methods) {
    text += kKinds.at(static_cast<std::size_t>(method.kind));
    text += method.location.empty() ? "" : " " + method.location;
    text += method.include.empty() ? "" : " +" + shown(method.include);
    text += method.exclude.empty() ? "" : " -" + shown(method.exclude);
    text += method.download_retries ? fmt::format(" retries={}", *method.download_retries) : "";
    text += method.trust_all_hashes ? " trust\n" : "\n";
  }
  for (const auto& [provider, path] : configuration.provider_installation->dev_overrides) {
    text += fmt::format("override {} {}\n", provider.to_string(), path);
  }
  return text;
}

constexpr const char* kAllMethods = R"(
provider_installation {
  dev_overrides {
    "acme/dev" = "/opt/build/../dev"
    "example.com/acme/other" = "other"
  }
  filesystem_mirror {
    path    = "/opt/mirror"
    include = ["example.com/*/*"]
  }
  network_mirror {
    url = "https://Mirror.example.com/providers/"
    include = ["*/*/*"]
    exclude = ["HashiCorp/aws", "example.org:8443/a/b"]
    download_retry_count = 4
    trust_all_hashes = true
  }
  direct {
    exclude = ["example.com/*/*"]
    download_retry_count = 0
  }
}
)";

}  // namespace

BOOST_AUTO_TEST_CASE(methods_of_opentofu) {
  const auto configuration = read(kAllMethods);
  BOOST_TEST(warnings(configuration).empty());
  BOOST_TEST(shown(configuration) ==
             "filesystem /opt/mirror + example.com/*/*\n"
             "network https://Mirror.example.com/providers/ + */*/* - registry.opentofu.org/hashicorp/aws "
             "example.org:8443/a/b retries=4 trust\n"
             "direct - example.com/*/* retries=0\n"
             "override example.com/acme/other other\n"
             "override registry.opentofu.org/acme/dev /opt/dev\n");
  BOOST_TEST(configuration.provider_installation->from == "~/.terraformrc:2");
  BOOST_TEST(configuration.provider_installation->methods[1].from == "~/.terraformrc:11");
}

// Terraform knows neither settings for downloads nor OCI mirrors, and has another default registry.
BOOST_AUTO_TEST_CASE(methods_of_terraform) {
  const auto configuration = read(kAllMethods, ClientKind::terraform);
  BOOST_TEST(warnings(configuration).empty());
  BOOST_TEST(shown(configuration) ==
             "filesystem /opt/mirror + example.com/*/*\n"
             "network https://Mirror.example.com/providers/ + */*/* - registry.terraform.io/hashicorp/aws "
             "example.org:8443/a/b\n"
             "direct - example.com/*/*\n"
             "override example.com/acme/other other\n"
             "override registry.terraform.io/acme/dev /opt/dev\n");
  const auto oci = read("provider_installation {\n oci_mirror { repository_template = \"a.io/${hostname}\" }\n}",
                        ClientKind::terraform);
  BOOST_TEST(warnings(oci) == "~/.terraformrc:2:2: unknown provider installation method \"oci_mirror\"");
}

// What OpenTofu 1.12 makes of these: HCL 1 takes the names in objects of objects for labels.
BOOST_AUTO_TEST_CASE(json) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
    const char* warnings;
  };
  const Row rows[] = {
      {"lists of objects",
       R"({"provider_installation": {"dev_overrides": {"acme/dev": "/dev"},
           "filesystem_mirror": [{"path": "/a"}, {"path": "/b"}], "direct": [{"exclude": ["a/*"]}]}})",
       "filesystem /a\nfilesystem /b\ndirect - registry.opentofu.org/a/*\noverride registry.opentofu.org/acme/dev "
       "/dev\n",
       ""},
      {"a method twice",
       R"({"provider_installation": {"filesystem_mirror": [{"path": "/a"}], "direct": [{"include": ["a/*"]}],
           "filesystem_mirror": [{"path": "/b"}]}})",
       "filesystem /a\ndirect + registry.opentofu.org/a/*\nfilesystem /b\n", ""},
      {"empty objects in lists", R"({"provider_installation": {"direct": [{}]}})", "direct\n", ""},
      {"objects become labels", R"({"provider_installation": {"filesystem_mirror": {"path": "/a"}}})", "",
       "~/.terraformrc:1:50: \"path\" in provider_installation must be a block, without an equals sign"},
      {"an empty object becomes a label", R"({"provider_installation": {"direct": {}}})", "", ""},
      {"two such blocks", R"({"provider_installation": {"direct": {}, "network_mirror": {}}})", "",
       "~/.terraformrc:1:2: no more than one provider_installation block may be specified, and the first is in "
       "~/.terraformrc:1"},
      {"a text", R"({"provider_installation": "direct"})", "none",
       "~/.terraformrc:1:2: the block provider_installation must be a block, without an equals sign"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto configuration = read(row.text);
      BOOST_TEST(shown(configuration) == row.expected);
      BOOST_TEST(warnings(configuration) == row.warnings);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_left_out) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
    const char* warning;
  };
  const Row rows[] = {
      {"an unknown method", "provider_installation {\n not_a_thing {}\n direct {}\n}", "direct\n",
       "2:2: unknown provider installation method \"not_a_thing\""},
      {"no path", "provider_installation {\n filesystem_mirror {}\n direct {}\n}", "direct\n",
       "2:2: the argument \"path\" of filesystem_mirror is required"},
      {"no URL", "provider_installation { network_mirror {} }", "",
       "1:25: the argument \"url\" of network_mirror is required"},
      {"http", "provider_installation { network_mirror { url = \"http://a.io/\" } }", "",
       "1:25: cannot use \"http://a.io/\" as a URL for a network provider mirror: the mirror must be at an https: URL"},
      {"no URL at all", "provider_installation { network_mirror { url = \"a.io/b\" } }", "",
       "1:25: cannot use \"a.io/b\" as a URL for a network provider mirror: the mirror must be at an https: URL"},
      {"an argument", "provider_installation {\n direct = {}\n}", "",
       "2:2: \"direct\" in provider_installation must be a block, without an equals sign"},
      {"a label", "provider_installation {\n direct \"what\" {}\n}", "direct\n",
       "2:2: \"direct\" in provider_installation must not have any labels"},
      {"a label of all", "provider_installation \"what\" { direct {} }", "direct\n",
       "1:1: the block provider_installation must not have any labels"},
      {"assigned", "provider_installation = { direct {} }", "none",
       "1:1: the block provider_installation must be a block, without an equals sign"},
      {"a pattern that is none", "provider_installation {\n direct { include = [\"aws\"] }\n}", "",
       "2:2: invalid provider matching pattern \"aws\": must have either two or three slash-separated segments"},
      {"patterns of another type", "provider_installation { direct { include = \"a/b\" } }", "",
       "1:44: include must be a list of strings"},
      {"a count that is none", "provider_installation { direct { download_retry_count = \"x\" } }", "",
       "1:57: download_retry_count must be a whole number"},
      {"overrides behind a method", "provider_installation {\n direct {}\n dev_overrides { \"a/b\" = \"/c\" }\n}",
       "direct\n", "3:2: dev_overrides must appear before all other installation methods"},
      {"an override of nothing", "provider_installation { dev_overrides { \"a_b\" = \"/c\" } }", "",
       "1:41: an entry of dev_overrides is not a valid provider source string: invalid provider type \"a_b\" in source "
       "\"a_b\": must contain only letters, digits, and dashes, and may not use leading or trailing dashes"},
      {"an override that is no path", "provider_installation { dev_overrides { \"a/b\" = [] } }", "",
       "1:41: dev_overrides must contain a directory for each provider source address"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto configuration = read(row.text);
      BOOST_TEST(shown(configuration) == row.expected);
      BOOST_TEST(warnings(configuration) == std::string("~/.terraformrc:") + row.warning);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_several_blocks_the_first_counts) {
  const User user;
  user.write(".tofurc", "provider_installation { filesystem_mirror { path = \"/first\" } }\n");
  user.write(".terraform.d/a.tfrc", "\nprovider_installation { filesystem_mirror { path = \"/second\" } }\n");
  const auto configuration = read_client_configuration(ClientKind::opentofu, user.environment());
  BOOST_TEST(shown(configuration) == "filesystem /first\n");
  BOOST_TEST(warnings(configuration) ==
             "~/.terraform.d/a.tfrc:2:1: no more than one provider_installation block may be specified, and the first "
             "is in ~/.tofurc:1");
}

BOOST_AUTO_TEST_CASE(the_plugin_cache) {
  struct Row {
    const char* name;
    const char* text;
    const char* variable;
    const char* expected;  // below home
  };
  const Row rows[] = {
      {"none", "", "", ""},
      {"written", "plugin_cache_dir = \"cache\"", "", "cache"},
      {"with variables", "plugin_cache_dir = \"$HERE/a-${NAME}$NAME-b$\"", "", "cache/a-xx-b$"},
      {"by a variable", "plugin_cache_dir = \"cache\"", "other", "other"},
      {"without variables in one", "", "$HERE", "$HERE"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      user.set("HERE", "cache");
      user.set("NAME", "x");
      user.set("TF_PLUGIN_CACHE_DIR", row.variable);
      user.write(".tofurc", row.text);
      const std::string expected = *row.expected == '\0' ? "" : user.path(row.expected).string();
      const auto missing = read_client_configuration(ClientKind::opentofu, user.environment());
      BOOST_TEST(missing.plugin_cache_directory == expected);
      BOOST_TEST(
          warnings(missing) ==
          (expected.empty() ? "" : fmt::format("the specified plugin cache dir ~/{} cannot be opened", row.expected)));
      if (!expected.empty()) {
        std::filesystem::create_directories(expected);
        BOOST_TEST(warnings(read_client_configuration(ClientKind::opentofu, user.environment())).empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(directories_that_are_implied) {
  struct Row {
    const char* name;
    std::vector<std::pair<const char*, const char*>> variables;
    const char* opentofu;  // "~" is home
    const char* terraform;
  };
  const Row rows[] = {
      {"no variables",
       {},
       "/r/terraform.d/plugins ~/.terraform.d/plugins ~/.local/share/terraform/plugins "
       "/usr/local/share/terraform/plugins /usr/share/terraform/plugins",
       "/r/terraform.d/plugins ~/.terraform.d/plugins ~/.local/share/terraform/plugins "
       "/usr/local/share/terraform/plugins /usr/share/terraform/plugins"},
      {"the user's and the system's",
       {{"XDG_DATA_HOME", "/data"}, {"XDG_DATA_DIRS", "/a:relative:/b"}},
       "/r/terraform.d/plugins ~/.terraform.d/plugins /data/opentofu/plugins /data/terraform/plugins "
       "/a/terraform/plugins /b/terraform/plugins",
       "/r/terraform.d/plugins ~/.terraform.d/plugins /data/terraform/plugins /a/terraform/plugins "
       "/b/terraform/plugins"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      for (const auto& [name, value] : row.variables) {
        user.set(name, value);
      }
      for (const ClientKind tool : {ClientKind::opentofu, ClientKind::terraform}) {
        std::string text;
        for (const auto& directory : implied_provider_directories(tool, user.environment(), "/r")) {
          text += (text.empty() ? "" : " ") + user.environment().display(directory);
        }
        BOOST_TEST(text == (tool == ClientKind::opentofu ? row.opentofu : row.terraform));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
