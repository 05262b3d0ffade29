#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct Inspection : Scene {
  Json::Value inspect(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"inspect", "--json"});
    const Ran ran = modlock(more);
    BOOST_TEST(ran.err == "");
    return parse_json(ran.out).value();
  }

  // "key source" of each module.
  static std::string modules(const Json::Value& result) {
    std::string text;
    for (const Json::Value& module : result["modules"]) {
      text += fmt::format("{} {}\n", module["key"].asString(), module["source"].asString());
    }
    return text;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(inspect_command, Inspection)

BOOST_AUTO_TEST_CASE(a_tree_with_providers) {
  write("main.tf", R"(terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

locals {
  parts = { network = "net", storage = "disk" }
}

module "network" {
  source = "./modules/${local.parts.network}"
  zone   = var.zone
}

module "storage" {
  for_each = toset(["a"])
  source   = "./modules/${local.parts["storage"]}"
}
)");
  write("variables.tf", "variable \"zone\" {\n  type    = string\n  default = \"a\"\n}\n");
  write(
      "modules/net/main.tf.json",
      R"({"variable": {"zone": {}}, "module": {"zone": {"source": "./zones/${var.zone}"}}, "resource": {"aws_vpc": {"this": {}}}})");
  write("modules/net/zones/b/main.tofu", "terraform {\n  required_providers {\n    aws = \">= 5.1\"\n  }\n}\n");
  write("modules/net/zones/b/main.tf", "hidden {\n");
  write("modules/disk/main.tf", "resource \"random_id\" \"this\" {}\n");
  write("prod.auto.tfvars", "zone = \"b\"\n");
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.out == R"(.
├─ module.network          local  ./modules/net
│  └─ module.network.zone  local  ./zones/b
└─ module.storage          local  ./modules/disk  [for_each]
Providers:
  registry.opentofu.org/hashicorp/aws     ~> 5.0 (the root module), >= 5.1 (module.network.zone)
  registry.opentofu.org/hashicorp/random  any version (implied by random_id.this)
3 module calls, 2 providers, 5 files.
)");
}

BOOST_AUTO_TEST_CASE(ranges_and_names_in_json) {
  write("main.tf", "module \"a\" {\n  source  = \"git::https://example.test/a.git\"\n  version = local.v\n}\n");
  write("locals.tf.json", R"({"locals": {"v": "~> 1.2"}, "terraform": {"required_providers": {"x": "1.0"}}})");
  write("versions.tofu", "terraform {\n  required_version = \">= 1.10\"\n}\n");
  const Json::Value result = inspect();
  const Json::Value& module = result["modules"][0];
  BOOST_TEST(module["constraint"].asString() == "~> 1.2");
  BOOST_TEST(module["static"].asBool() == false);
  BOOST_TEST(module["path"].asString() == "main.tf");
  BOOST_TEST(module["range"]["start"]["byte"].asInt() == 25);
  const Json::Value& provider = result["providers"][0];
  BOOST_TEST(provider["address"].asString() == "registry.opentofu.org/hashicorp/x");
  BOOST_TEST(provider["localName"].asString() == "x");
  BOOST_TEST(provider["constraints"][0]["text"].asString() == "1.0");
  BOOST_TEST(provider["constraints"][0]["path"].asString() == "locals.tf.json");
  BOOST_TEST(provider["constraints"][0]["range"]["start"]["byte"].asInt() == 70);
  BOOST_TEST(result["coreVersion"][0]["from"].asString() == "required_version");
  BOOST_TEST(result["coreVersion"][0]["constraint"].asString() == ">= 1.10");
}

BOOST_AUTO_TEST_CASE(variables_come_as_for_tofu) {
  write("main.tf", "variable \"at\" {}\nmodule \"m\" {\n  source = \"./${var.at}\"\n}\n");
  for (const char* name : {"env", "file", "named", "flag"}) {
    write(std::string(name) + "/main.tf", "");
  }
  environment["TF_VAR_at"] = "env";
  BOOST_TEST(modules(inspect()) == "m ./env\n");
  write("terraform.tfvars", "at = \"file\"\n");
  BOOST_TEST(modules(inspect()) == "m ./file\n");
  write("x.tfvars", "at = \"named\"\n");
  BOOST_TEST(modules(inspect({"--var-file", "x.tfvars"})) == "m ./named\n");
  BOOST_TEST(modules(inspect({"--var-file", "x.tfvars", "--var", "at=flag"})) == "m ./flag\n");
  BOOST_TEST(modules(inspect({"--var", "at=flag", "--var-file", "x.tfvars"})) == "m ./named\n");
  environment["TF_CLI_ARGS_init"] = "-var at=flag";
  BOOST_TEST(modules(inspect()) == "m ./flag\n");
  BOOST_TEST(modules(inspect({"--var", "at=env", root().string()})) == "m ./env\n");
  environment["TF_CLI_ARGS"] = "-var-file=x.tfvars";
  BOOST_TEST(modules(inspect()) == "m ./named\n");
}

BOOST_AUTO_TEST_CASE(a_source_without_value_shows_its_line_and_where_it_comes_from) {
  write("main.tf", "locals {\n  url = \"git::${var.host}\"\n}\nmodule \"m\" {\n  source = local.url\n}\n");
  write("variables.tf", "variable \"host\" {\n  type = string\n}\n");
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err == R"(Error: variable "host" has no value and no default [CONFIG_NON_STATIC]
  at variables.tf:1:1
     1 | variable "host" {
       | ^^^^^^^^^^^^^^^
  - main.tf:2:17: referenced by local.url
  - main.tf:5:12: referenced by module.m.source
  hint: set it in terraform.tfvars, with --variable host=… or with TF_VAR_host
)");
}

BOOST_AUTO_TEST_CASE(a_release_that_a_module_refuses) {
  write("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
  write("m/versions.tofu", "terraform {\n  required_version = \">= 2.0\"\n}\n");
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(
      ran.err ==
      R"(Error: Incompatible module: this module is not compatible with OpenTofu v1.12.6, it requires ">= 2.0" [CONSTRAINT_CONFLICT]
  at m/versions.tofu:2:22 (module.m)
     2 |   required_version = ">= 2.0"
       |                      ^^^^^^^^
  - main.tf:2:12: the module is called here
  hint: choose another release of OpenTofu or of the module; such a constraint is normally set for good reason
)");
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 6);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(a_refusing_module_hides_what_else_is_wrong_in_it) {
  write("main.tf", "module \"m\" {\n  source = \"./m\"\n}\nmodule \"n\" {\n  source = local.none\n}\n");
  write("m/versions.tofu", "terraform {\n  required_version = \">= 2.0\"\n}\n");
  write("m/main.tf", "locals {\n  a =\n}\nresource \"x\" {}\nmodule \"x\" {\n  source = local.b\n}\n");
  const Json::Value diagnostics = inspect()["diagnostics"];
  BOOST_TEST_REQUIRE(diagnostics.size() == 2U);
  BOOST_TEST(diagnostics[0]["location"]["path"].asString() == "main.tf");
  BOOST_TEST(diagnostics[1]["code"].asString() == "CONSTRAINT_CONFLICT");
}

// A script that stands in for a client, as version managers have them, answers by directory.
BOOST_AUTO_TEST_CASE(a_stand_in_is_asked_where_the_root_is) {
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION_VERSION");
  const auto program = path("bin/tofu-shim");
  write_text(program, "#!/bin/sh\nprintf '{\"terraform_version\":\"%s\"}' \"$(cat .version)\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  environment["TG_CTX_TF_PATH"] = program.string();
  const auto refusal = [&](const std::string& root, const std::string& release) {
    write(root + "/main.tofu", "terraform {\n  required_version = \"0.1\"\n}\n");
    write(root + "/.version", release);
    return inspect({root})["diagnostics"][0]["message"].asString();
  };
  const auto expected = [](const std::string& release) {
    return fmt::format("Incompatible module: this module is not compatible with OpenTofu v{}, it requires \"0.1\"",
                       release);
  };
  BOOST_TEST(refusal("a", "1.12.1") == expected("1.12.1"));
  BOOST_TEST(refusal("b", "1.12.2") == expected("1.12.2"));
  BOOST_TEST(refusal("a", "1.12.3") == expected("1.12.3"));
}

BOOST_AUTO_TEST_CASE(calls_that_cannot_be_resolved) {
  write("main.tf",
        "module \"a\" {\n  source = \"git::${var.host}/x.git\"\n  count  = 2\n}\n"
        "module \"b\" {\n  source = \"./b\"\n}\n"
        "module \"c\" {\n  source = \"https://me:secret@host/${var.host}.zip\"\n}\n"
        "module \"d\" {\n  source = \"nothing\"\n}\n"
        "module \"e\" {\n}\n");
  write("b/main.tf", "module \"c\" {\n  source = each.key\n}\n");
  const Json::Value modules = inspect()["modules"];
  std::string listed;
  for (const Json::Value& module : modules) {
    listed += fmt::format("{} {} {} {} {}:{}\n", module["key"].asString(), module.get("source", "-").asString(),
                          module.get("rawSource", "-").asString(), module["static"].asBool(), module["path"].asString(),
                          module["range"]["start"]["line"].asInt());
  }
  BOOST_TEST(listed ==
             "a - \"git::${var.host}/x.git\" false main.tf:2\n"
             "b ./b \"./b\" true main.tf:6\n"
             "b.c - each.key false b/main.tf:2\n"
             "c - - false main.tf:9\n"
             "d - \"nothing\" true main.tf:12\n"
             "e - - true main.tf:14\n");
  BOOST_TEST(modules[0]["repeatedBy"].asString() == "count");
  BOOST_TEST(!modules[1].isMember("repeatedBy"));
  BOOST_TEST(modlock({"inspect"}).out == R"(.
├─ module.a       not resolved  "git::${var.host}/x.git"  [count]
├─ module.b       local         ./b
│  └─ module.b.c  not resolved  each.key
├─ module.c       not resolved
├─ module.d       not resolved  "nothing"
└─ module.e       not resolved
6 module calls, 0 providers, 2 files.
)");
}

BOOST_AUTO_TEST_CASE(locked_calls_are_marked) {
  GitRepository& made = repository("vpc.git");
  release(made, "1.0.0");
  write("main.tf", module_call("branch", "git::" + made.url() + "?ref=main") +
                       module_call("tag", "git::" + made.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  write("more.tf", module_call("new", "git::" + made.url()));
  BOOST_TEST(modlock({"inspect"}).out ==
             ".\n"
             "├─ module.branch  locked main (<1.0.0...>)    git::file://<dir>/repositories/vpc.git?ref=main\n"
             "├─ module.new     not locked                    git::file://<dir>/repositories/vpc.git\n"
             "└─ module.tag     locked v1.0.0 (<1.0.0...>)  git::file://<dir>/repositories/vpc.git?ref=v1.0.0\n"
             "3 module calls, 0 providers, 4 files.\n");
  BOOST_TEST(shown(inspect()["modules"][0]["commit"].asString()) == "<1.0.0>");
  BOOST_TEST(!inspect()["modules"][1].isMember("locked"));
}

BOOST_AUTO_TEST_CASE(a_directory_without_configuration) {
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err ==
             "Error: <dir>/root has no configuration files [CONFIG_PARSE]\n"
             "  hint: name the directory of a root module with --chdir; most commands also have --recursive\n");
}

BOOST_AUTO_TEST_CASE(a_state_elsewhere_is_not_read) {
  write("main.tf", "terraform {\n  backend \"local\" {\n    path = \"../../state\"\n  }\n}\n");
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(
      ran.err ==
      "Info: providers that only the state needs are not known: the state file \"../../state\" is outside of the "
      "directories that may be read [STATE_UNREAD]\n"
      "  hint: nothing to do, unless the state uses providers that the configuration lacks\n");
}

BOOST_AUTO_TEST_CASE(a_release_is_a_version) {
  write("main.tf", "");
  const std::string message =
      "Error: expected a version at --implementation-version or TOFU_MODLOCK_IMPLEMENTATION_VERSION, found \"newest\" "
      "[INVALID_PARAMS]\n"
      "  hint: write it as 1.12.6\n";
  const Ran flag = modlock({"inspect", "--implementation-version", "newest"});
  BOOST_TEST(flag.exit_code == 2);
  BOOST_TEST(flag.err == message);
  environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "newest";
  const Ran variable = modlock({"call", "cache/info"});
  BOOST_TEST(variable.exit_code == 2);
  BOOST_TEST(variable.err == message);
}

BOOST_AUTO_TEST_CASE(call_is_told_the_client) {
  write("main.tf", "terraform {\n  required_version = \">= 99\"\n}\n");
  const std::string params = fmt::format(R"({{"root": "{}"}})", root().string());
  const Ran ran = modlock({"call", "config/inspect", "--implementation", "terraform", "--implementation-version",
                           "1.5.7", "--params", params});
  BOOST_TEST(parse_json(ran.out).value()["diagnostics"][0]["message"].asString() ==
             "Unsupported Terraform Core version: this module is not compatible with Terraform v1.5.7, it requires "
             "\">= 99\"");
}

BOOST_AUTO_TEST_CASE(state_is_a_second_source_of_providers) {
  write("main.tf", "resource \"null_resource\" \"x\" {}\n");
  write("terraform.tfstate", R"({"version": 4, "resources": [{"mode": "managed", "type": "old_thing", "name": "x",
    "provider": "provider[\"registry.opentofu.org/hashicorp/old\"]", "instances": []}]})");
  const Json::Value result = inspect();
  BOOST_TEST(result["providers"][0]["impliedBy"].asString() == "null_resource.x");
  BOOST_TEST(result["providers"][1]["address"].asString() == "registry.opentofu.org/hashicorp/old");
  BOOST_TEST(result["providers"][1]["impliedBy"].asString() == "state");
  write("terraform.tfstate",
        R"({"serial": 1, "lineage": "x", "meta": {}, "encrypted_data": "eA==", "encryption_version": "v0"})");
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(
      ran.err ==
      "Info: providers that only the state needs are not known: the state file \"terraform.tfstate\" is encrypted "
      "[STATE_UNREAD]\n  hint: nothing to do, unless the state uses providers that the configuration lacks\n");
}

BOOST_AUTO_TEST_CASE(documents_overlay_the_disk) {
  write("main.tf", "module \"old\" {\n  source = \"./old\"\n}\n");
  const std::string params = fmt::format(
      R"({{"root": "{}", "documents": [{{"path": "main.tf", "text": "module \"m\" {{\n  source = \"./m\"\n}}\n"}}, {{"path": "m/a.tf", "text": ""}}]}})",
      root().string());
  const Ran ran = modlock({"call", "config/inspect", "--params", "-"}, params);
  BOOST_TEST(modules(parse_json(ran.out).value()) == "m ./m\n");
}

BOOST_AUTO_TEST_CASE(several_roots_are_one_document) {
  write("a/main.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
  write("a/m/main.tf", "");
  write("b/main.tf", "");
  const Json::Value all = inspect({"a", "b"});
  BOOST_REQUIRE(all["results"].size() == 2U);
  BOOST_TEST(all["results"][0]["root"].asString() == "<dir>/root/a");
  BOOST_TEST(modules(all["results"][0]) == "m ./m\n");
  Json::Value alone = inspect({"b"});
  alone["root"] = "<dir>/root/b";
  alone["exitCode"] = 0;
  BOOST_TEST(write_json(all["results"][1]) == write_json(alone));
}

BOOST_AUTO_TEST_CASE(graphs) {
  write("main.tf", "module \"m\" {\n  source = \"./m\"\n}\nresource \"null_resource\" \"x\" {}\n");
  write("m/main.tf", "terraform {\n  required_providers {\n    null = \"~> 3.0\"\n  }\n}\n");
  BOOST_TEST(modlock({"graph"}).out == R"(graph LR
  m0["root module"]
  m1["m<br/>./m"]
  m0 --> m1
  p0("registry.opentofu.org/hashicorp/null")
  m0 -.-> p0
  m1 -.->|"~> 3.0"| p0
)");
  BOOST_TEST(modlock({"graph", "--format", "dot"}).out == R"(digraph modules {
  rankdir = "LR";
  m0 [label = "root module" shape = "box"];
  m1 [label = "m\n./m" shape = "box"];
  m0 -> m1 [label = ""];
  p0 [label = "registry.opentofu.org/hashicorp/null" shape = "ellipse"];
  m0 -> p0 [label = "" style = "dashed"];
  m1 -> p0 [label = "~> 3.0" style = "dashed"];
}
)");
}

BOOST_AUTO_TEST_CASE(graphs_show_what_is_locked) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("pinned", "git::" + vpc.url() + "?ref=v1.0.0") +
                       module_call("ranged", "git::" + vpc.url()) +
                       module_call("branch", "git::" + vpc.url() + "?ref=main"));
  write(".tofu-modlock.hcl", module_rule("ranged", "~> 1.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  write("other.tf", module_call("other", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"graph"}).out == R"g(graph LR
  m0["root module"]
  m1["branch<br/>git::file://<dir>/repositories/vpc.git?ref=main<br/>main (<1.0.0...>)"]
  m2["other<br/>git::file://<dir>/repositories/vpc.git?ref=v1.0.0"]
  m3["pinned<br/>git::file://<dir>/repositories/vpc.git?ref=v1.0.0<br/>v1.0.0 (<1.0.0...>)"]
  m4["ranged<br/>git::file://<dir>/repositories/vpc.git<br/>~> 1.0 = 1.0.0"]
  m0 --> m1
  m0 --> m2
  m0 --> m3
  m0 --> m4
)g");
  BOOST_TEST(modlock({"graph", "--format", "dot"}).out.find(R"g(\nv1.0.0 (<1.0.0...>)" shape = "box"])g") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_release_is_one_node_of_a_graph) {
  GitRepository& label = repository("label.git");
  release(label, "1.0.0");
  GitRepository& net = repository("net.git");
  release(net, "1.0.0", {{"main.tf", module_call("label", "git::" + label.url() + "?ref=v1.0.0")}});
  release(label, "1.1.0");
  write("main.tf", module_call("label", "git::" + label.url() + "?ref=v1.0.0") +
                       module_call("net", "git::" + net.url() + "?ref=v1.0.0") +
                       module_call("newer", "git::" + label.url() + "?ref=v1.1.0") + module_call("own", "./own"));
  write("own/main.tf", "");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"graph"}).out == R"g(graph LR
  m0["root module"]
  m1["label, net.label<br/>git::file://<dir>/repositories/label.git?ref=v1.0.0<br/>v1.0.0 (<1.0.0...>)"]
  m2["net<br/>git::file://<dir>/repositories/net.git?ref=v1.0.0<br/>v1.0.0 (<1.0.0...>)"]
  m3["newer<br/>git::file://<dir>/repositories/label.git?ref=v1.1.0<br/>v1.1.0 (<1.1.0...>)"]
  m4["own<br/>./own"]
  m0 --> m1
  m0 --> m2
  m2 --> m1
  m0 --> m3
  m0 --> m4
)g");
}

BOOST_AUTO_TEST_SUITE_END()
