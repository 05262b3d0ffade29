// A requested bump of modules and providers: what it makes of the configuration and of the lock.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

struct UpdatePlanning : Scene {
  UpdatePlanning() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    release(vpc, "2.0.0");
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    name_text(registry.authority(), "<registry>");
  }

  std::string git() const { return "git::" + vpc.url(); }

  void publish(const std::string& version) { registry.publish({.name = "acme/cloud", .version = version}); }

  Json::Value plan(const std::string& updates, const std::string& more = {}, int exit_code = 0) const {
    // By way of a file: byte offsets do not fit what is shown under other names.
    const Ran ran =
        program({"sh", "-c", "exec \"$0\" \"$@\" > ../result.json", binary, "call", "update/plan", "--params",
                 fmt::format("{{\"root\": \"{}\", \"updates\": {}{}}}", root().string(), updates, more)});
    BOOST_TEST(ran.exit_code == exit_code, ran.err);
    const auto value = parse_json(read_text(path("result.json")));
    BOOST_TEST_REQUIRE(value.has_value());
    return *value;
  }

  // The text after the ranges of a document, which have to be those of its base, and to give its result.
  std::string after(const Json::Value& document) const {
    std::string result = read(document["path"].asString());
    BOOST_TEST(document["base"]["sha256"].asString() == sha256_hex(result));
    for (Json::ArrayIndex i = document["edits"].size(); i-- > 0;) {
      const Json::Value& edit = document["edits"][i];
      const std::size_t start = edit["start"].asUInt64();
      const std::size_t size = edit["end"].asUInt64() - start;
      BOOST_TEST(result.substr(start, size) == edit["oldText"].asString());
      result.replace(start, size, edit["newText"].asString());
    }
    BOOST_TEST(document["result"]["sha256"].asString() == sha256_hex(result));
    return result;
  }

  // Of the only document that is no lock.
  std::string configuration_after(const Json::Value& result) const {
    BOOST_TEST_REQUIRE(result["edits"]["documents"].size() == 2U);
    BOOST_TEST(!result["edits"]["documents"][0].isMember("newText"));
    BOOST_TEST(result["edits"]["documents"][1]["path"].asString() == ".terraform.lock.hcl");
    return after(result["edits"]["documents"][0]);
  }

  ProviderRegistry registry;
  GitRepository& vpc;
};

std::string change_of(const Json::Value& result, int index = 0) {
  const Json::Value& change = result["changes"][index];
  return fmt::format("{} {} {} -> {}", change["subject"].asString(), change["action"].asString(),
                     change["from"]["version"].asString(), change["to"]["version"].asString());
}

std::string required_with_comments(const std::string& constraint) {
  return "terraform {\n  required_providers {\n    cloud = { # ours\n      source  = \"acme/cloud\"\n      version = "
         "\"" +
         constraint + "\" // pinned\n    }\n  }\n}\n";
}

BOOST_FIXTURE_TEST_SUITE(update_plan, UpdatePlanning)

BOOST_AUTO_TEST_CASE(a_constraint_and_its_entry_change_together) {
  write("main.tf", module_call("vpc", git(), "~> 1.0.0"));
  modlock({"lock"});
  const Json::Value result = plan(R"([{"subject": "module.vpc", "newVersion": "2.0.0"}])");
  BOOST_TEST(configuration_after(result) == module_call("vpc", git(), "~> 2.0.0"));
  BOOST_TEST(change_of(result) == "module.vpc updated 1.0.0 -> 2.0.0");
  BOOST_TEST(result["modules"][0]["constraints"].asString() == "~> 2.0.0");
  BOOST_TEST(result["edits"]["documents"][1]["newText"].asString().find("\"2.0.0\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_a_version_the_newest_below_the_next_major_one_is_selected) {
  write("main.tf", module_call("vpc", git(), "~> 1.0.0"));
  modlock({"lock"});
  const Json::Value result = plan(R"([{"subject": "module.vpc"}])");
  BOOST_TEST(change_of(result) == "module.vpc updated 1.0.0 -> 1.1.0");
  write("main.tf", module_call("vpc", git(), "~> 1.1"));
  modlock({"lock"});
  const Json::Value none = plan(R"([{"subject": "module.vpc"}])");
  BOOST_TEST(none["edits"]["documents"].empty());
  const Json::Value& last = none["diagnostics"][none["diagnostics"].size() - 1];
  BOOST_TEST(last["severity"].asString() == "info");
  BOOST_TEST(last["message"].asString() == "module.vpc 1.1.0 is the newest version below 2");
}

BOOST_AUTO_TEST_CASE(where_the_constraint_allows_it_the_lock_alone_changes) {
  write("main.tf", module_call("vpc", git(), "~> 1.0"));
  vpc.tag("v1.2.0");
  modlock({"lock"});
  const Json::Value result = plan(R"([{"subject": "module.vpc", "newVersion": "1.1.0"}])");
  BOOST_TEST_REQUIRE(result["edits"]["documents"].size() == 1U);
  BOOST_TEST(change_of(result) == "module.vpc updated 1.2.0 -> 1.1.0");
}

BOOST_AUTO_TEST_CASE(other_calls_keep_what_is_locked) {
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0");
  write("main.tf", module_call("vpc", git(), "~> 1.0.0") + module_call("dns", "git::" + dns.url(), "~> 1.0"));
  modlock({"lock"});
  release(dns, "1.1.0");
  const Json::Value result = plan(R"([{"subject": "module.vpc", "newVersion": "1.1.0"}])");
  BOOST_TEST(result["changes"].size() == 1U);
  BOOST_TEST(change_of(result) == "module.vpc updated 1.0.0 -> 1.1.0");
}

BOOST_AUTO_TEST_CASE(a_tag_in_the_source) {
  const std::string call = "# net\r\nmodule \"vpc\" {\r\n  source = \"" + git() + "?ref=v1.0.0\" # pin\r\n}\r\n";
  write("main.tf", "\xEF\xBB\xBF" + call);
  modlock({"lock"});
  const Json::Value result = plan(R"([{"subject": "module.vpc", "newVersion": "1.1.0"}])");
  std::string expected = call;
  expected.replace(expected.find("v1.0.0"), 6, "v1.1.0");
  BOOST_TEST(configuration_after(result) == "\xEF\xBB\xBF" + expected);
  BOOST_TEST(result["changes"][0]["to"]["commit"].asString() == vpc.id("v1.1.0"));
}

BOOST_AUTO_TEST_CASE(a_version_argument_becomes_a_commit) {
  write("main.tf", module_call("vpc", git(), "~> 1.0"));
  const Json::Value result = plan(R"([{"subject": "module.vpc", "newVersion": "1.1.0"}])", R"(, "pin": "immutable")");
  BOOST_TEST(shown(configuration_after(result)) ==
             "module \"vpc\" {\n  source = \"" + shown(git()) + "?ref=<1.1.0>\"\n}\n");
}

BOOST_AUTO_TEST_CASE(the_default_of_a_variable) {
  write("main.tf", "variable \"tag\" {\n  default = \"v1.0.0\"\n}\n" + module_call("vpc", git() + "?ref=${var.tag}"));
  modlock({"lock"});
  const char* updates = R"([{"subject": "module.vpc", "newVersion": "1.1.0"}])";
  BOOST_TEST(configuration_after(plan(updates)).find("default = \"v1.1.0\"") != std::string::npos);
  const Json::Value refused = plan(updates, R"(, "variables": {"tag": "v1.0.0"})", 8);
  BOOST_TEST(refused["data"]["code"].asString() == "CONFIG_NON_STATIC", refused["message"].asString());
}

BOOST_AUTO_TEST_CASE(a_nested_call_of_a_local_module) {
  write("main.tf", module_call("net", "./net"));
  write("net/main.tf.json", R"({"module": {"vpc": {"source": ")" + git() + R"(", "version": "~> 1.0.0"}}})");
  modlock({"lock"});
  const Json::Value result = plan(R"([{"subject": "module.net.vpc", "newVersion": "1.1.0"}])");
  BOOST_TEST(configuration_after(result).find(R"("version": "~> 1.1.0")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_call_inside_a_package_cannot_be_edited) {
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0", {{"vpc.tf", module_call("vpc", git(), "~> 1.0.0")}});
  write("main.tf", module_call("dns", "git::" + dns.url(), "~> 1.0"));
  const Json::Value refused = plan(R"([{"subject": "module.dns.vpc", "newVersion": "2.0.0"}])", {}, 8);
  BOOST_TEST(refused["message"].asString().find("it is in the package of module.dns") != std::string::npos,
             refused["message"].asString());
}

BOOST_AUTO_TEST_CASE(a_constraint_alone_keeps_what_it_allows) {
  write("main.tf", module_call("vpc", git(), "~> 1.0.0"));
  modlock({"lock"});
  const Json::Value wider = plan(R"([{"subject": "module.vpc", "newConstraint": ">= 1.0.0"}])");
  BOOST_TEST(wider["changes"][0]["action"].asString() == "constraints-changed");
  const Json::Value other = plan(R"([{"subject": "module.vpc", "newConstraint": "~> 2.0"}])");
  BOOST_TEST(change_of(other) == "module.vpc updated 1.0.0 -> 2.0.0");
}

BOOST_AUTO_TEST_CASE(a_provider_in_every_local_module) {
  publish("1.0.0");
  write("main.tf", required_with_comments("~> 1.0") + module_call("net", "./net"));
  write("net/main.tf", required_with_comments("1.0.0"));
  modlock({"lock"});
  publish("2.1.0");
  publish("2.2.0");
  const Json::Value result = plan(R"([{"subject": "provider.acme/cloud", "newVersion": "2.1.0"}])");
  BOOST_TEST_REQUIRE(result["edits"]["documents"].size() == 3U);
  BOOST_TEST(after(result["edits"]["documents"][0]) == required_with_comments("~> 2.1") + module_call("net", "./net"));
  BOOST_TEST(after(result["edits"]["documents"][1]) == required_with_comments("2.1.0"));
  BOOST_TEST(change_of(result) == "provider.registry.opentofu.org/acme/cloud updated 1.0.0 -> 2.1.0");
}

BOOST_AUTO_TEST_CASE(the_constraint_of_a_provider) {
  publish("1.0.0");
  write("main.tf", required_with_comments("~> 1.0"));
  modlock({"lock"});
  publish("2.0.0");
  const Json::Value result = plan(R"([{"subject": "provider.acme/cloud", "newConstraint": ">= 2.0, < 3.0"}])");
  BOOST_TEST(configuration_after(result) == required_with_comments(">= 2.0, < 3.0"));
  BOOST_TEST(change_of(result) == "provider.registry.opentofu.org/acme/cloud updated 1.0.0 -> 2.0.0");
}

BOOST_AUTO_TEST_CASE(a_package_that_keeps_a_provider_back) {
  publish("1.0.0");
  publish("2.0.0");
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0", {{"versions.tf", required_with_comments("< 2.0.0")}});
  write("main.tf", required_with_comments(">= 1.0") + module_call("dns", "git::" + dns.url(), "~> 1.0"));
  modlock({"lock"});
  const Json::Value refused = plan(R"([{"subject": "provider.acme/cloud", "newVersion": "2.0.0"}])", {}, 6);
  BOOST_TEST(refused["message"].asString() ==
             "provider registry.opentofu.org/acme/cloud: the constraints >= 1.0.0, < 2.0.0 do not allow 2.0.0");
  BOOST_TEST(refused["data"]["related"][0]["message"].asString() == "module \"dns\" requires \"< 2.0.0\"");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  struct Row {
    const char* name;
    const char* update;
    int exit_code;
    const char* message;
  };
  write("main.tf", module_call("vpc", git(), "~> 1.0") + module_call("tagged", git() + "?ref=v1.0.0") +
                       module_call("net", "./net"));
  write("net/main.tf", "");
  const Row rows[] = {
      {"no call", R"({"subject": "module.nope", "newVersion": "2.0.0"})", 2,
       "\"module.nope\" matches no module call or provider"},
      {"a local module", R"({"subject": "module.net", "newVersion": "2.0.0"})", 2, "module.net has no versions"},
      {"no version", R"({"subject": "module.vpc", "newVersion": "main"})", 2,
       "the new version of module.vpc must be a version number, found \"main\""},
      {"no constraint to change", R"({"subject": "module.tagged", "newConstraint": "~> 2.0"})", 2,
       "module.tagged has no version constraint that could be changed"},
      {"a tag that is not there", R"({"subject": "module.tagged", "newVersion": "7.0.0"})", 6,
       "git::file://<dir>/repositories/vpc.git has no version 7.0.0; the newest are 2.0.0, 1.1.0, 1.0.0"},
      {"a provider that nobody needs", R"({"subject": "provider.acme/cloud", "newVersion": "2.0.0"})", 2,
       "\"provider.registry.opentofu.org/acme/cloud\" matches no module call or provider"},
      {"the newest version of what has none", R"({"subject": "module.net"})", 2,
       "cannot update module.net: local module"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Json::Value refused = plan(fmt::format("[{}]", row.update), {}, row.exit_code);
      BOOST_TEST(shown(refused["message"].asString()) == row.message);
      BOOST_TEST(!has(".terraform.lock.hcl"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
