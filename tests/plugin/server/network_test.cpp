#include <boost/test/unit_test.hpp>

#include "tests/plugin/server/session_fixture.h"
#include "tests/support/module_registry.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kModule = "registry.example.test/acme/vpc/aws";

struct NetworkSession : Session {
  void configure(const std::string& text) const { write_text(directory / "home/.tofurc", text); }

  // The versions of the module, or the error.
  std::string versions() {
    Json::Value params(Json::objectValue);
    params["source"] = kModule;
    const auto result = call("versions/list", params);
    if (!result) {
      return result.error().message;
    }
    diagnostics = (*result)["diagnostics"];
    std::string text;
    for (const Json::Value& version : (*result)["versions"]) {
      text += version["version"].asString() + " ";
    }
    return text;
  }

  Json::Value diagnostics;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(network, NetworkSession)

BOOST_AUTO_TEST_CASE(edited_cli_configuration_holds_from_the_next_request_on) {
  ModuleRegistry first;
  ModuleRegistry second;
  first.add_version("acme/vpc/aws", "1.0.0", {});
  second.add_version("acme/vpc/aws", "2.0.0", {});
  second.require_token("/v1/", "canary-token");
  initialize();
  configure(first.host_block("registry.example.test"));
  BOOST_TEST(versions() == "1.0.0 ");
  configure(second.host_block("registry.example.test"));
  BOOST_TEST(versions().find("authentication is required") != std::string::npos);
  // Of the same size as what it takes the place of would be: content counts, not time or size.
  write_text(directory / "home/.terraform.d/a.tfrc",
             "credentials \"registry.example.test\" { token = \"other-token0\" }\n");
  BOOST_TEST(versions().find("authentication is required") != std::string::npos);
  write_text(directory / "home/.terraform.d/a.tfrc",
             "credentials \"registry.example.test\" { token = \"canary-token\" }\n");
  BOOST_TEST(versions() == "2.0.0 ");
  std::filesystem::remove(directory / "home/.terraform.d/a.tfrc");
  BOOST_TEST(versions().find("authentication is required") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(unread_cli_configuration_is_a_diagnostic_of_what_succeeds) {
  ModuleRegistry registry;
  registry.add_version("acme/vpc/aws", "1.0.0", {});
  initialize();
  configure(registry.host_block("registry.example.test"));
  BOOST_TEST(versions() == "1.0.0 ");
  BOOST_TEST(diagnostics.isNull());
  write_text(directory / "home/.terraform.d/broken.tfrc", "credentials \"x.example\" {\n  token = \"canary\n}\n");
  BOOST_TEST(versions() == "1.0.0 ");
  BOOST_TEST_REQUIRE(diagnostics.size() == 1U);
  BOOST_TEST(diagnostics[0]["code"].asString() == "CONFIG_PARSE");
  BOOST_TEST(diagnostics[0]["severity"].asString() == "warning");

  const Json::Value plan = succeed("lock/plan", root());
  write_text(directory / "root/.terraform.lock.hcl", plan["edits"]["documents"][0]["newText"].asString());
  const Json::Value installed = succeed("modules/install", root());
  BOOST_TEST_REQUIRE(installed["diagnostics"].size() == 1U);
  BOOST_TEST(installed["diagnostics"][0]["message"].asString() == diagnostics[0]["message"].asString());
}

BOOST_AUTO_TEST_SUITE_END()
