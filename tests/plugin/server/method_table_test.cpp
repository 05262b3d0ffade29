#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "plugin/lock/edit.h"
#include "tests/plugin/server/session_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(methods, Session)

BOOST_AUTO_TEST_CASE(variable_arguments) {
  initialize();
  write_text(directory / "root/main.tf", "variable \"at\" {}\nmodule \"m\" {\n  source = \"./${var.at}\"\n}\n");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  for (const char* name : {"a", "b", "c"}) {
    fs::create_directories(directory / "root" / name);
  }
  write_text(directory / "root/b.tfvars", "at = \"b\"\n");
  struct Row {
    const char* name;
    const char* arguments;
    const char* outcome;  // the source, or the error
  };
  const Row rows[] = {
      {"a file wins over a value before it", R"([{"name": "at", "value": "a"}, {"file": "b.tfvars"}])", "./b"},
      {"a value wins over a file before it", R"([{"file": "b.tfvars"}, {"name": "at", "value": "a"}])", "./a"},
      {"over variables", R"([{"file": "b.tfvars"}])", "./b"},
      {"none", "[]", "./c"},
      {"a name without value", R"([{"name": "at"}])",
       "decode: expected a file, or a name with a value at params.variableArguments[0].value"},
      {"a value without name", R"([{"value": "a"}])",
       "decode: expected a file, or a name with a value at params.variableArguments[0].name"},
      {"both", R"([{"file": "b.tfvars", "name": "at", "value": "a"}])",
       "decode: expected either a file or a name with a value at params.variableArguments[0].file"},
      {"no object", R"(["b.tfvars"])", "decode: expected an object at params.variableArguments[0], found a string"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json::Value params = root();
      params["variables"]["at"] = "c";
      params["variableArguments"] = *parse_json(row.arguments);
      const auto result = call("config/inspect", params);
      BOOST_TEST((result ? (*result)["modules"][0]["source"].asString() : result.error().message) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(lock_plan_gives_edits_whose_forms_agree) {
  initialize();
  const Json::Value result = succeed("lock/plan", root());
  BOOST_REQUIRE(result["edits"]["documents"].size() == 1U);
  const Json::Value& document = result["edits"]["documents"][0];
  BOOST_TEST(document["path"].asString() == ".terraform.lock.hcl");
  BOOST_TEST(document["op"].asString() == "create");
  BOOST_TEST(document["base"].isNull());
  const std::string text = document["newText"].asString();
  BOOST_TEST(document["result"]["sha256"].asString() == sha256_hex(text));
  std::vector<TextEdit> edits;
  for (const Json::Value& edit : document["edits"]) {
    edits.push_back(
        {edit["start"].asUInt64(), edit["end"].asUInt64(), edit["oldText"].asString(), edit["newText"].asString(), {}});
  }
  BOOST_TEST(apply_edits("", edits) == text);
  BOOST_TEST(result["changes"][0]["action"].asString() == "added");
  BOOST_TEST(result["modules"][0]["version"].asString() == "1.0.0");
  BOOST_TEST(result["stats"]["requests"].asUInt() == 2U);
  BOOST_TEST(!fs::exists(directory / "root/.terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(lock_plan_gives_the_forms_that_the_host_asked_for) {
  initialize(R"({"capabilities":{"editForms":["ranges"]}})");
  const Json::Value document = succeed("lock/plan", root())["edits"]["documents"][0];
  BOOST_TEST(!document.isMember("newText"));
  BOOST_TEST(document["edits"].size() == 1U);
}

BOOST_AUTO_TEST_CASE(lock_plan_works_on_documents_without_a_checkout) {
  initialize();
  Json::Value params;
  params["root"] = (directory / "nowhere").string();
  params["documents"][0]["path"] = "main.tf";
  params["documents"][0]["text"] = "module \"a\" {\n  source = \"git::" + repository.url() + "?ref=v1.0.0\"\n}\n";
  const Json::Value result = succeed("lock/plan", params);
  BOOST_TEST(result["modules"][0]["key"].asString() == "a");
  BOOST_TEST(result["modules"][0]["ref"].asString() == "v1.0.0");
}

BOOST_AUTO_TEST_CASE(lock_plan_takes_the_lock_from_the_request) {
  initialize();
  const std::string text = succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString();
  Json::Value params = root();
  params["lock"]["text"] = text;
  const Json::Value again = succeed("lock/plan", params);
  BOOST_TEST(again["edits"]["documents"].empty());
  BOOST_TEST(again["changes"].empty());
}

BOOST_AUTO_TEST_CASE(lock_plan_under_frozen_names_the_changes_in_the_error) {
  initialize();
  Json::Value params = root();
  params["mode"] = "frozen";
  const auto result = call("lock/plan", params);
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "FROZEN");
  BOOST_TEST(result.error().message == ".terraform.lock.hcl does not match the configuration: module.vpc (not locked)");
  BOOST_TEST(write_json(error_data) ==
             R"({"changes":[{"action":"added","reason":"not locked","subject":"module.vpc"}]})");
}

BOOST_AUTO_TEST_CASE(roots_are_judged_before_anything_is_read) {
  struct Row {
    const char* name;
    std::string root;
    const char* code;
  };
  const Row rows[] = {
      {"relative", "root", "INVALID_PARAMS"},
      {"no directory", (directory / "gone").string(), "INVALID_PARAMS"},
  };
  initialize();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json::Value params;
      params["root"] = row.root;
      const auto result = call("config/inspect", params);
      BOOST_REQUIRE(!result);
      BOOST_TEST(to_string(result.error().code) == row.code);
    }
  }
}

BOOST_AUTO_TEST_CASE(workspace_roots_bound_what_is_read_and_anchor_relative_roots) {
  write_text(directory / "outside/main.tf", "");
  Json::Value more;
  more["workspaceRoots"].append((directory / "root").string());
  initialize(write_json(more));
  Json::Value params;
  params["root"] = ".";
  BOOST_TEST(succeed("config/inspect", params)["modules"].size() == 1U);
  params["root"] = (directory / "outside").string();
  const auto refused = call("config/inspect", params);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "PATH_OUTSIDE_ROOT");
  write_text(directory / "root/main.tf", "module \"out\" {\n  source = \"../outside\"\n}\n");
  write_text(directory / "root/.tofu-modlock.hcl", "");
  params["root"] = ".";
  const Json::Value result = succeed("config/inspect", params);
  BOOST_TEST(result["diagnostics"][0]["code"].asString() == "PATH_OUTSIDE_ROOT");
}

BOOST_AUTO_TEST_CASE(install_then_verify_holds) {
  initialize();
  write_text(directory / "root/.terraform.lock.hcl",
             succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString());
  const Json::Value installed = succeed("modules/install", root());
  BOOST_TEST(installed["installed"][0]["dir"].asString() == ".terraform/modules/vpc");
  BOOST_TEST(installed["manifest"].asString() == ".terraform/modules/modules.json");
  BOOST_TEST(installed["stats"]["requests"].asUInt() == 0U);
  const Json::Value verified = succeed("lock/verify", root());
  BOOST_TEST(verified["ok"].asBool());
  BOOST_TEST(verified["verdicts"][0]["verdict"].asString() == "held");
  repository.commit({{"main.tf", "# new\n"}});
  repository.git({"tag", "--force", "v1.0.0", "main"});
  Json::Value params = root();
  params["online"] = true;
  const Json::Value asked = succeed("lock/verify", params);
  BOOST_TEST(!asked["ok"].asBool());
  BOOST_TEST(asked["verdicts"][0]["verdict"].asString() == "moved");
  BOOST_TEST(asked["verdicts"][0]["descends"].asBool());
  BOOST_TEST(asked["verdicts"][0]["commitsBehind"].asInt() == 1);
}

BOOST_AUTO_TEST_CASE(install_of_a_call_without_an_entry_is_frozen) {
  initialize();
  const auto result = call("modules/install", root());
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "FROZEN");
  BOOST_TEST(result.error().hint == "run: tofu-modlock lock, review the change and commit it");
  BOOST_TEST(!fs::exists(directory / "root/.terraform"));
}

BOOST_AUTO_TEST_CASE(install_takes_each_entry_for_itself) {
  repository.tag("v2.0.0");
  write_text(directory / "root/main.tf", "module \"one\" {\n  source = \"git::" + repository.url() +
                                             "\"\n}\nmodule \"two\" {\n  source = \"git::" + repository.url() +
                                             "\"\n}\n");
  write_text(directory / "root/.tofu-modlock.hcl",
             "module \"one\" {\n  version = \"~> 1.0\"\n}\nmodule \"two\" {\n  version = \"~> 2.0\"\n}\n");
  initialize();
  Json::Value params = root();
  params["policy"]["resolution"] = "per-call";
  write_text(directory / "root/.terraform.lock.hcl",
             succeed("lock/plan", params)["edits"]["documents"][0]["newText"].asString());
  BOOST_TEST(succeed("modules/install", root())["installed"].size() == 2U);
}

BOOST_AUTO_TEST_CASE(install_refuses_an_entry_without_hashes) {
  initialize();
  write_text(directory / "root/.terraform.lock.hcl", "module \"vpc\" {\n  version = \"1.0.0\"\n  source  = \"git::" +
                                                         repository.url() + "\"\n\n  constraints = \"~> 1.0\"\n}\n");
  const auto result = call("modules/install", root());
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "FROZEN");
  BOOST_TEST(result.error().message ==
             ".terraform.lock.hcl does not match the configuration: module.vpc (hashes were missing)");
}

BOOST_AUTO_TEST_CASE(install_refuses_a_data_directory_whose_parts_are_links) {
  initialize();
  write_text(directory / "root/.terraform.lock.hcl",
             succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString());
  for (const char* part : {"modules", "tofu-modlock"}) {
    BOOST_TEST_CONTEXT(part) {
      fs::remove_all(directory / "root/.terraform");
      write_text(directory / "outside/vpc/file", "keep");
      fs::create_directories(directory / "root/.terraform");
      fs::create_directory_symlink(directory / "outside", directory.path() / "root/.terraform" / part);
      const auto result = call("modules/install", root());
      BOOST_REQUIRE(!result);
      BOOST_TEST(to_string(result.error().code) == "PATH_OUTSIDE_ROOT");
      BOOST_TEST(read_text(directory / "outside/vpc/file") == "keep");
    }
  }
}

BOOST_AUTO_TEST_CASE(install_never_takes_the_root_for_its_data_directory) {
  initialize();
  write_text(directory / "root/.terraform.lock.hcl",
             succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString());
  write_text(directory / "root/modules/vpc/own.tf", "# precious\n");
  for (const char* name : {".", "..", "./x/.."}) {
    BOOST_TEST_CONTEXT(name) {
      Json::Value params = root();
      params["dataDir"] = name;
      const auto result = call("modules/install", params);
      BOOST_REQUIRE(!result);
      BOOST_TEST(to_string(result.error().code) == "PATH_OUTSIDE_ROOT");
    }
  }
  Json::Value params = root();
  params["dataDir"] = "";
  BOOST_TEST(succeed("modules/install", params)["manifest"].asString() == ".terraform/modules/modules.json");
  BOOST_TEST(read_text(directory / "root/modules/vpc/own.tf") == "# precious\n");
}

BOOST_AUTO_TEST_CASE(paths_with_control_characters_are_refused) {
  initialize();
  for (const char* member : {"root", "dataDir"}) {
    BOOST_TEST_CONTEXT(member) {
      Json::Value params = root();
      params[member] = params["root"].asString() + std::string("\0x", 2);
      const auto result = call("lock/plan", params);
      BOOST_REQUIRE(!result);
      BOOST_TEST(to_string(result.error().code) == "INVALID_PARAMS");
      BOOST_TEST(result.error().message ==
                 std::string("decode: expected a path without control characters at params.") + member);
    }
  }
}

BOOST_AUTO_TEST_CASE(module_blocks_move_to_the_sidecar) {
  initialize();
  const std::string inline_text = succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString();
  write_text(directory / "root/.terraform.lock.hcl", inline_text);
  write_text(directory / "root/.tofu-modlock.hcl",
             "module_lock_file = \"sidecar\"\nmodule \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  Json::Value providers = root();
  providers["include"].append("providers");
  BOOST_TEST(succeed("lock/plan", providers)["edits"]["documents"].empty());
  const Json::Value result = succeed("lock/plan", root());
  BOOST_TEST(result["changes"].empty());
  BOOST_REQUIRE(result["edits"]["documents"].size() == 2U);
  const Json::Value& sidecar = result["edits"]["documents"][0];
  const Json::Value& beside = result["edits"]["documents"][1];
  BOOST_TEST(sidecar["path"].asString() == ".terraform.modules.lock.hcl");
  BOOST_TEST(sidecar["newText"].asString() == inline_text);
  BOOST_TEST(beside["path"].asString() == ".terraform.lock.hcl");
  BOOST_TEST(beside["newText"].asString().find("module") == std::string::npos);
  write_text(directory / "root/.terraform.modules.lock.hcl", inline_text);
  write_text(directory / "root/.terraform.lock.hcl", beside["newText"].asString());
  BOOST_TEST(succeed("lock/plan", root())["edits"]["documents"].empty());
  BOOST_TEST(succeed("modules/install", root())["installed"].size() == 1U);
}

BOOST_AUTO_TEST_CASE(include_narrows_a_request) {
  initialize();
  Json::Value params = root();
  params["include"].append("providers");
  const auto unknown = call("lock/plan", params);
  BOOST_REQUIRE(!unknown);
  BOOST_TEST(to_string(unknown.error().code) == "MISSING");
  BOOST_TEST(unknown.error().message ==
             "cannot determine the providers of module \"vpc\": it is neither locked nor installed");
  write_text(directory / "root/.terraform.lock.hcl",
             succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString());
  BOOST_TEST(succeed("lock/plan", params)["changes"].empty());
  params["include"][0] = "stars";
  const auto refused = call("lock/plan", params);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "INVALID_PARAMS");
}

BOOST_AUTO_TEST_CASE(versions_list_shows_what_a_constraint_selects) {
  repository.tag("v1.1.0-rc1");
  repository.tag("latest");
  initialize();
  Json::Value params;
  params["source"] = "git::" + repository.url();
  params["colour"] = "red";
  const Json::Value all = succeed("versions/list", params);
  BOOST_TEST(all["versions"].size() == 1U);
  BOOST_TEST(all["selected"].asString() == "1.0.0");
  BOOST_TEST(write_json(all["skipped"]) == R"([{"reason":"not a semantic version","tag":"latest"}])");
  BOOST_TEST(all["kind"].asString() == "git");
  BOOST_TEST(write_json(all["_meta"]) == R"({"unknownParams":["colour"]})");
  const std::string& commit = all["versions"][0]["commit"].asString();
  BOOST_TEST(write_json(all["versions"]) == R"([{"commit":")" + commit + R"(","tag":"v1.0.0","version":"1.0.0"}])");
  params["constraint"] = "~> 2.0";
  BOOST_TEST(!succeed("versions/list", params).isMember("selected"));
  params["source"] = "s3::https://s3.amazonaws.com/bucket/a.zip";
  const auto unserved = call("versions/list", params);
  BOOST_REQUIRE(!unserved);
  BOOST_TEST(to_string(unserved.error().code) == "SOURCE_UNSUPPORTED");
}

BOOST_AUTO_TEST_SUITE_END()
