// How params become those of the engine, and what it returns becomes JSON. What the engine does is in
// tests/plugin/engine.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/server/session_fixture.h"
#include "tests/support/run.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

namespace {

std::string outcome(const Result<Json::Value>& result) {
  return result ? write_json(*result) : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(methods, Session)

BOOST_AUTO_TEST_CASE(variable_arguments) {
  initialize();
  write_text(directory / "root/main.tf", "variable \"at\" {}\nmodule \"m\" {\n  source = \"./${var.at}\"\n}\n");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  for (const char* name : {"a", "b"}) {
    fs::create_directories(directory / "root" / name);
  }
  write_text(directory / "root/b.tfvars", "at = \"b\"\n");
  struct Row {
    const char* name;
    const char* arguments;
    const char* outcome;  // the source, or the error
  };
  const Row rows[] = {
      {"a value and a file", R"([{"name": "at", "value": "a"}, {"file": "b.tfvars"}])", "./b"},
      {"a file and a value", R"([{"file": "b.tfvars"}, {"name": "at", "value": "a"}])", "./a"},
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
      params["variableArguments"] = *parse_json(row.arguments);
      const auto result = call("config/inspect", params);
      BOOST_TEST((result ? (*result)["modules"][0]["source"].asString() : result.error().message) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(params_that_are_not_those_of_a_method) {
  initialize();
  struct Row {
    const char* name;
    const char* method;
    const char* params;  // of the root, besides `root`
    const char* message;
  };
  const Row rows[] = {
      {"an unknown kind to include", "lock/plan", R"({"include": ["stars"]})",
       "decode: expected \"modules\" or \"providers\" at params.include"},
      {"an unknown mode", "lock/plan", R"({"mode": "soon"})",
       "decode: expected one of \"missing\", \"upgrade\", \"frozen\" at params.mode, found \"soon\""},
      {"targets that are no list", "lock/plan", R"({"targets": "module.vpc"})",
       "decode: expected an array of strings at params.targets, found a string"},
      {"a number for a flag", "lock/verify", R"({"online": 1})",
       "decode: expected a boolean at params.online, found a number"},
      {"no subject", "lock/explain", "{}", "decode: expected a string at params.subject, found nothing"},
      {"no release", "lock/find", "{}", "decode: expected a string at params.release, found nothing"},
      {"no updates", "update/plan", R"({"updates": []})", "decode: expected one update at least at params.updates"},
      {"an update of what is left out", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "newVersion": "2.0.0"}], "include": ["providers"]})",
       "decode: expected the kinds of all subjects that updates name at params.include"},
      {"version in place of newVersion", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "version": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].version"},
      {"to in place of newVersion", "update/plan", R"({"updates": [{"subject": "module.vpc", "to": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].to"},
      {"target in place of newVersion", "update/plan", R"({"updates": [{"subject": "module.vpc", "target": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].target"},
      {"To in place of newVersion", "update/plan", R"({"updates": [{"subject": "module.vpc", "To": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].To"},
      {"VERSION in place of newVersion", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "VERSION": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].VERSION"},
      {"toVersion in place of newVersion", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "toVersion": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].toVersion"},
      {"targetVersion in place of newVersion", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "targetVersion": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].targetVersion"},
      {"newValue in place of newVersion", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "newValue": "v2.0.0"}]})",
       "decode: unknown member at params.updates[0].newValue"},
      {"newVersion misspelled", "update/plan", R"({"updates": [{"subject": "module.vpc", "newVersoin": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].newVersoin"},
      {"newVersion in another case", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "new_version": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].new_version"},
      {"constraint in place of newConstraint", "update/plan",
       R"({"updates": [{"subject": "module.vpc", "constraint": "2.0.0"}]})",
       "decode: unknown member at params.updates[0].constraint"},
      {"no source", "versions/list", "{}", "decode: expected a source or a call at params.source, found nothing"},
      {"a source and a call", "versions/list",
       R"({"tagPrefix": "nested/", "call": {"root": "/srv/infra", "subject": "module.vpc"}})",
       "decode: expected either a source or a call at params.call"},
      {"a negative size", "cache/prune", R"({"maxBytes": -1})",
       "decode: expected a non-negative integer at params.maxBytes, found a number"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json::Value params = *parse_json(row.params);
      params["root"] = (directory / "root").string();
      const auto result = call(row.method, params);
      BOOST_TEST(outcome(result) == std::string("INVALID_PARAMS: ") + row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_unknown_members_of_an_update_are_ignored_and_listed) {
  initialize();
  Json::Value params = *parse_json(R"({"updates": [{"subject": "module.vpc", "newVersion": "1.0.0", "id": 7,
                                    "currentValue": "v1.0.0", "currentVersion": "1.0.0", "depName": "vpc"}]})");
  params["root"] = (directory / "root").string();
  const Json::Value result = succeed("update/plan", params);
  BOOST_TEST(write_json(result["_meta"]["unknownParams"]) ==
             R"(["updates[0].currentValue","updates[0].currentVersion","updates[0].depName","updates[0].id"])");
}

BOOST_AUTO_TEST_CASE(lock_plan_gives_edits_in_both_forms) {
  initialize();
  const Json::Value result = succeed("lock/plan", root());
  BOOST_TEST_REQUIRE(result["edits"]["documents"].size() == 1U);
  const Json::Value& document = result["edits"]["documents"][0];
  BOOST_TEST(document["path"].asString() == ".terraform.lock.hcl");
  BOOST_TEST(document["op"].asString() == "create");
  BOOST_TEST(document.isMember("base"));
  BOOST_TEST(document["base"].isNull());
  BOOST_TEST_REQUIRE(document["edits"].size() == 1U);
  const Json::Value& edit = document["edits"][0];
  BOOST_TEST(edit["start"].asUInt() == 0U);
  BOOST_TEST(edit["end"].asUInt() == 0U);
  BOOST_TEST(edit["oldText"].asString() == "");
  BOOST_TEST(edit["newText"].asString() == document["newText"].asString());
  BOOST_TEST(write_json(result["changes"]) ==
             R"([{"action":"added","constraints":"~> 1.0","reason":"not locked before","subject":"module.vpc",)"
             R"("to":{"commit":")" +
                 commit + R"(","version":"1.0.0"}}])");
  BOOST_TEST(result["modules"][0]["commit"].asString() == commit);
  BOOST_TEST(result["stats"]["requests"].asUInt() == 2U);
}

BOOST_AUTO_TEST_CASE(lock_plan_gives_the_forms_that_the_host_asked_for) {
  initialize(R"({"capabilities":{"editForms":["ranges"]}})");
  const Json::Value document = succeed("lock/plan", root())["edits"]["documents"][0];
  BOOST_TEST(!document.isMember("newText"));
  BOOST_TEST(document["edits"].size() == 1U);
}

BOOST_AUTO_TEST_CASE(lock_plan_takes_documents_a_lock_and_a_policy) {
  initialize();
  Json::Value params;
  params["root"] = (directory / "nowhere").string();
  params["documents"][0]["path"] = "main.tf";
  params["documents"][0]["text"] = std::string("module \"a\" {\n  source = \"") + kVpc + "?ref=v1.0.0\"\n}\n";
  const Json::Value first = succeed("lock/plan", params);
  BOOST_TEST(first["modules"][0]["key"].asString() == "a");
  params["lock"]["text"] = first["edits"]["documents"][0]["newText"];
  BOOST_TEST(succeed("lock/plan", params)["edits"]["documents"].empty());
  params["policy"]["deny"].append("git::https://example.com/**");
  BOOST_TEST(outcome(call("lock/plan", params)) ==
             "SOURCE_DENIED: the source \"git::https://example.com/vpc.git?ref=v1.0.0\" is denied by "
             "\"git::https://example.com/**\" in params.policy");
}

BOOST_AUTO_TEST_CASE(documents_are_named_by_paths_and_uris) {
  initialize();
  fs::remove(directory / "root/.tofu-modlock.hcl");
  fs::create_directory_symlink(directory / "root", directory / "link");
  const std::string root_path = (directory / "root").string();
  const std::string no_uri =
      "INVALID_PARAMS: invalid path of a document: expected a file:// URI of this machine, found ";
  struct Row {
    const char* name;
    std::string path;
    std::string outcome;  // the source of the call, or the error
  };
  const Row rows[] = {
      {"relative", "main.tf", "./overlaid"},
      {"relative with dots", "../root/./main.tf", "./overlaid"},
      {"absolute", root_path + "/main.tf", "./overlaid"},
      {"absolute by the link that is the root", (directory / "link/main.tf").string(), "./overlaid"},
      {"a URI", "file://" + root_path + "/main.tf", "./overlaid"},
      {"an encoded URI", "file://" + root_path + "/m%61in%2Etf", "./overlaid"},
      {"a URI of localhost", "FILE://LocalHost" + root_path + "/main.tf", "./overlaid"},
      {"a URI of another machine", "file://host/main.tf", no_uri + "\"file://host/main.tf\""},
      {"a URI with a user", "file://me@localhost/main.tf", no_uri + "\"file://me@localhost/main.tf\""},
      {"a URI without a path", "file://", no_uri + "\"file://\""},
      {"a URI without a directory", "file:main.tf", no_uri + "\"file:main.tf\""},
      {"a URI with a bad escape", "file:///%zz", no_uri + "\"file:///%zz\""},
      {"a URI with a query", "file:///main.tf?a", no_uri + "\"file:///main.tf?a\""},
      {"a URI with a fragment", "file:///main.tf#a", no_uri + "\"file:///main.tf#a\""},
      {"a URI with an escaped line end", "file:///main%0A.tf",
       "INVALID_PARAMS: the path of a document contains control characters"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json::Value params;
      params["root"] = (directory / "link").string();
      params["documents"][0]["path"] = row.path;
      params["documents"][0]["text"] = "module \"vpc\" {\n  source = \"./overlaid\"\n}\n";
      const auto result = call("config/inspect", params);
      BOOST_TEST((result ? (*result)["modules"][0]["source"].asString() : outcome(result)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(documents_that_match_nothing_are_named) {
  initialize();
  write_text(directory / "root/main.tf",
             "variable \"at\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\nlocals {\n  f = file(\"f.txt\")\n}\n");
  fs::remove(directory / "root/.tofu-modlock.hcl");
  write_text(directory / "root/m/main.tf", "");
  struct Row {
    const char* path;
    bool is_read;
  };
  const Row rows[] = {{"main.tf", true},
                      {"more.tf", true},
                      {"m/more.tf", true},
                      {"terraform.tfvars", true},
                      {".tofu-modlock.hcl", true},
                      {".terraform.lock.hcl", true},
                      {"terraform.tfstate", true},
                      {"more_override.tf.json", true},
                      {"mian.tfs", false},
                      {"not_called/main.tf", false},
                      {"README.md", false},
                      {"/elsewhere/main.tf", false},
                      {"file:///elsewhere/main.tf", false}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.path) {
      Json::Value params = root();
      params["documents"][0]["path"] = row.path;
      params["documents"][0]["text"] = std::string(row.path).ends_with(".json") ? "{}" : "";
      const std::string expected =
          fmt::format(R"([{{"code":"INVALID_PARAMS","hint":"send its path relative to the root, or an absolute path",)"
                      R"("message":"the document \"{}\" has no effect: no file with this path is read",)"
                      R"("severity":"warning"}}])",
                      row.path);
      BOOST_TEST(write_json(succeed("config/inspect", params)["diagnostics"]) == (row.is_read ? "[]" : expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(lock_plan_under_frozen_names_the_changes_in_the_error) {
  initialize();
  Json::Value params = root();
  params["mode"] = "frozen";
  BOOST_TEST(outcome(call("lock/plan", params)) ==
             "FROZEN: the missing .terraform.lock.hcl does not match the configuration: module.vpc (not locked)");
  BOOST_TEST(write_json(error_data) ==
             R"({"changes":[{"action":"added","reason":"not locked","subject":"module.vpc"}]})");
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
  const std::string moved_to = git.add_tag(kVpc, "v1.0.0", {{"main.tf", "# new\n"}});
  git.distances[{commit, moved_to}] = {.descends = true, .commits = 1};
  Json::Value params = root();
  params["online"] = true;
  const Json::Value asked = succeed("lock/verify", params);
  BOOST_TEST(!asked["ok"].asBool());
  BOOST_TEST(asked["verdicts"][0]["verdict"].asString() == "moved");
  BOOST_TEST(asked["verdicts"][0]["descends"].asBool());
  BOOST_TEST(asked["verdicts"][0]["commitsBehind"].asInt() == 1);
}

BOOST_AUTO_TEST_CASE(workspace_methods_have_a_result_or_an_error_for_each_root) {
  make_root("other");
  write_text(directory / "other/main.tf", "module\n");
  initialize();
  Json::Value params;
  params["roots"].append((directory / "root").string());
  params["roots"].append("file://" + (directory / "other").string());
  const Json::Value result = succeed("workspace/plan", params);
  BOOST_TEST_REQUIRE(result["results"].size() == 2U);
  BOOST_TEST(result["results"][0]["root"].asString() == (directory / "root").string());
  BOOST_TEST(result["results"][0]["changes"][0]["action"].asString() == "added");
  BOOST_TEST(!result["results"][0].isMember("stats"));
  BOOST_TEST(result["results"][1]["root"].asString() == "file://" + (directory / "other").string());
  BOOST_TEST(result["results"][1]["error"]["data"]["code"].asString() == "CONFIG_PARSE");
  BOOST_TEST(result["stats"]["requests"].asUInt() == 2U);
  params["roots"] = Json::arrayValue;
  BOOST_TEST(outcome(call("workspace/plan", params)) ==
             "INVALID_PARAMS: decode: expected one root at least at params.roots");
}

// What makes a root is in tests/plugin/workspace/root_search_test.cpp.
BOOST_AUTO_TEST_CASE(workspace_roots_finds_the_roots_of_a_directory) {
  test::run({"git", "init", "--quiet", "--template=", directory.path().string()});
  make_root("live/a");
  make_root("live/b");
  directory.write("live/b/old/.tofu-modlock.hcl", "exclude = [\".\"]\n");
  directory.write("live/b/old/main.tf", "provider \"aws\" {}\n");
  directory.write("unit/terragrunt.hcl", "terraform {\n  source = \"../live/b\"\n}\n");
  fs::create_directory_symlink(directory / "live", directory / "link");
  const std::string excluded = R"({"by":"exclude in <dir>/live/b/old/.tofu-modlock.hcl:1","root":"<dir>/live/b/old"})";
  const std::string called = R"({"by":"<dir>/unit","directory":"<dir>/live/b"})";
  const auto found = [](const std::string& roots, const std::string& by_calls, const std::string& out,
                        const std::string& warnings = "") {
    return R"({"called":[)" + by_calls + R"(],"diagnostics":[)" + warnings + R"(],"excluded":[)" + out +
           R"(],"hasUnits":true,"notOnDisk":0,"roots":[)" + roots + "]}";
  };
  struct Row {
    const char* name;
    const char* workspace_roots;  // of initialize
    const char* params;
    std::string outcome;
  };
  const Row rows[] = {
      {"a repository", "", R"({"directory":"<dir>"})", found(R"("<dir>/live/a","<dir>/root")", called, excluded)},
      {"a part", "", R"({"directory":"<dir>/live/a/"})", found(R"("<dir>/live/a")", "", "")},
      {"a URI of a link", "", R"({"directory":"file://<dir>/l%69nk"})", found(R"("<dir>/live/a")", called, excluded)},
      {"globs of the host", "", R"({"directory":"<dir>/live","rootGlobs":["b","c*"],"exclude":["a"]})",
       found(
           R"("<dir>/live/b")", "", R"({"by":"params.exclude a","root":"<dir>/live/a"},)" + excluded,
           R"({"code":"CONFIG_PARSE","message":"no directory with configuration matches params.rootGlobs c*","severity":"warning"})")},
      {"within a workspace root", R"(["<dir>/root","<dir>/live"])", R"({"directory":"<dir>/live"})",
       R"({"called":[],"diagnostics":[],"excluded":[)" + excluded +
           R"(],"hasUnits":false,"notOnDisk":0,"roots":["<dir>/live/a","<dir>/live/b"]})"},
      {"relative to the first one", R"(["<dir>/live","<dir>/root"])", R"({"directory":"a"})",
       R"({"called":[],"diagnostics":[],"excluded":[],"hasUnits":false,"notOnDisk":0,"roots":["<dir>/live/a"]})"},
      {"outside of them", R"(["<dir>/live"])", R"({"directory":"<dir>/root"})",
       R"(PATH_OUTSIDE_ROOT: the path "<dir>/root" is outside "<dir>/live")"},
      {"a link that leads outside", R"(["<dir>/live"])", R"({"directory":"a/out"})",
       R"(PATH_OUTSIDE_ROOT: the path "<dir>/live/a/out" is outside "<dir>/live")"},
      {"above them", R"(["<dir>/live"])", R"({"directory":".."})",
       R"(PATH_OUTSIDE_ROOT: the path "<dir>" is outside "<dir>/live")"},
      {"relative", "", R"({"directory":"live"})",
       R"(INVALID_PARAMS: decode: expected an absolute path at params.directory, found "live")"},
      {"a file", "", R"({"directory":"<dir>/root/main.tf"})", "INVALID_PARAMS: <dir>/root/main.tf is not a directory"},
      {"no directory", "", R"({})", "INVALID_PARAMS: decode: expected a string at params.directory, found nothing"},
      {"a URI of another machine", "", R"({"directory":"file://host/live"})",
       R"(INVALID_PARAMS: invalid path of the directory: expected a file:// URI of this machine, found "file://host/live")"},
      {"a glob that leads out", "", R"({"directory":"<dir>","exclude":["../x"]})",
       R"(INVALID_PARAMS: params.exclude must not contain "..", found "../x")"},
  };
  fs::create_directory_symlink(directory / "root", directory / "live/a/out");
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    return text;
  };
  const std::string place = directory.path().string();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Engine host(options());
      MethodTable methods = make_method_table(host, {});
      const std::string bounds = *row.workspace_roots == '\0' ? "[]" : row.workspace_roots;
      const std::string begin = R"({"protocolVersions":["1.0"],"workspaceRoots":)" + bounds +
                                R"(,"options":{"cacheDir":"<dir>/cache","implementation":"opentofu"}})";
      RequestContext request;
      BOOST_REQUIRE(methods.call("initialize", *parse_json(replaced(begin, "<dir>", place)), request).has_value());
      const auto result = methods.call("workspace/roots", *parse_json(replaced(row.params, "<dir>", place)), request);
      BOOST_TEST(replaced(outcome(result), place, "<dir>") == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_result_too_long_for_the_host_leaves_out_the_longest_roots) {
  make_root("other");
  std::string calls;
  for (int i = 0; i < 40; ++i) {
    calls += fmt::format("module \"vpc{}\" {{\n  source = \"{}?ref=v1.0.0\"\n}}\n", i, kVpc);
  }
  write_text(directory / "other/main.tf", calls);
  fs::remove(directory / "other/.tofu-modlock.hcl");
  initialize();
  Json::Value params;
  params["roots"].append((directory / "other").string());
  params["roots"].append((directory / "root").string());
  max_result_bytes = 6000;
  const Json::Value planned = succeed("workspace/plan", params);
  BOOST_TEST(write_json(planned).size() <= max_result_bytes);
  BOOST_TEST_REQUIRE(planned["results"].size() == 2U);
  BOOST_TEST(planned["results"][0]["root"].asString() == (directory / "other").string());
  BOOST_TEST(planned["results"][0]["error"]["data"]["code"].asString() == "LIMIT_EXCEEDED");
  BOOST_TEST(!planned["results"][0].isMember("changes"));
  BOOST_TEST(planned["results"][1]["root"].asString() == (directory / "root").string());
  BOOST_TEST(planned["results"][1]["changes"][0]["action"].asString() == "added");
}

BOOST_AUTO_TEST_CASE(a_deadline_is_an_error_of_the_roots_that_did_not_finish) {
  initialize();
  Json::Value params;
  params["roots"].append((directory / "root").string());
  deadline = std::chrono::steady_clock::now();
  const Json::Value result = succeed("workspace/plan", params);
  BOOST_TEST(result["results"][0]["error"]["data"]["code"].asString() == "DEADLINE_EXCEEDED");
}

// What was written is not undone, so a host must not read it as a failure.
BOOST_AUTO_TEST_CASE(an_install_is_no_error_because_its_result_is_too_long) {
  std::string calls;
  for (int i = 0; i < 60; ++i) {
    calls += fmt::format("module \"vpc{}\" {{\n  source = \"{}?ref=v1.0.0\"\n}}\n", i, kVpc);
  }
  write_text(directory / "root/main.tf", calls);
  fs::remove(directory / "root/.tofu-modlock.hcl");
  initialize();
  write_text(directory / "root/.terraform.lock.hcl",
             succeed("lock/plan", root())["edits"]["documents"][0]["newText"].asString());
  Json::Value many;
  many["roots"].append((directory / "root").string());

  max_result_bytes = 2047;
  const std::string refused = "LIMIT_EXCEEDED: the response may have 2048 bytes, but the host accepts 2047";
  BOOST_TEST(outcome(call("modules/install", root())) == refused);
  BOOST_TEST(outcome(call("workspace/install", many)) == refused);
  BOOST_TEST(!fs::exists(directory / "root/.terraform"));

  max_result_bytes = 2048;
  for (const char* method : {"modules/install", "workspace/install"}) {
    BOOST_TEST_CONTEXT(method) {
      fs::remove_all(directory / "root/.terraform");
      const bool is_one = std::string_view(method) == "modules/install";
      const Json::Value result = succeed(method, is_one ? root() : many);
      BOOST_TEST(write_json(result).size() <= max_result_bytes);
      const Json::Value& installed = is_one ? result : result["results"][0];
      BOOST_TEST(installed["installed"].isArray());
      BOOST_TEST(installed["installed"].empty());
      BOOST_TEST(installed["manifest"].asString() == ".terraform/modules/modules.json");
      BOOST_TEST_REQUIRE(installed["diagnostics"].size() == 1U);
      BOOST_TEST(installed["diagnostics"][0]["code"].asString() == "LIMIT_EXCEEDED");
      BOOST_TEST(installed["diagnostics"][0]["severity"].asString() == "warning");
      BOOST_TEST(fs::exists(directory / "root/.terraform/modules/vpc59/main.tf"));
    }
  }
  max_result_bytes = 0;
  BOOST_TEST(succeed("modules/install", root())["reused"].size() == 60U);
}

BOOST_AUTO_TEST_CASE(versions_list_in_full) {
  git.add_tag(kVpc, "latest", {});
  initialize();
  Json::Value params;
  params["source"] = kVpc;
  params["colour"] = "red";
  Json::Value all = succeed("versions/list", params);
  BOOST_TEST(all["evidence"]["fetchedAt"].isString());
  all["evidence"].removeMember("fetchedAt");
  BOOST_TEST(write_json(all) == R"({"_meta":{"unknownParams":["colour"]},"evidence":{"complete":true},"kind":"git",)"
                                R"("selected":"1.0.0","skipped":[{"reason":"not a semantic version","tag":"latest"}],)"
                                R"("source":"git::https://example.com/vpc.git","versions":[{"commit":")" +
                                    commit + R"(","tag":"v1.0.0","version":"1.0.0"}]})");
  params["constraint"] = "~> 2.0";
  BOOST_TEST(!succeed("versions/list", params).isMember("selected"));
}

BOOST_AUTO_TEST_CASE(the_cache_is_measured) {
  initialize();
  succeed("lock/plan", root());
  const Json::Value info = succeed("cache/info", Json::objectValue);
  BOOST_TEST(info["directory"].asString() == (directory / "cache").string());
  BOOST_TEST(info["sizes"]["packages"].asUInt() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
