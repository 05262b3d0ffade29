#include <boost/test/unit_test.hpp>

#include "tests/plugin/server/session_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(initialize_method, Session)

BOOST_AUTO_TEST_CASE(initialize_names_what_is_served) {
  const Json::Value result = initialize();
  BOOST_TEST(result["protocolVersion"].asString() == "1.0");
  BOOST_TEST(result["serverInfo"]["name"].asString() == "tofu-modlock");
  BOOST_TEST(write_json(result["implementation"]) == R"({"from":"options","name":"opentofu","version":""})");
  BOOST_TEST(
      write_json(result["capabilities"]) ==
      R"({"backends":["git","registry","archive","oci","s3","gcs"],"editForms":["fullText","ranges"],"maxInFlight":8,"methods":["$/cancelRequest",)"
      R"("cache/info","cache/prune","config/inspect","exit","initialize","initialized","lock/explain","lock/find","lock/plan","lock/verify","log/setLevel",)"
      R"("modules/install","ping","rpc.discover","shutdown","update/diff","update/lookup","update/plan","versions/list",)"
      R"("workspace/install","workspace/plan","workspace/roots","workspace/verify"]})");
}

BOOST_AUTO_TEST_CASE(initialize_takes_external_backends) {
  const Json::Value result = initialize(
      R"({"options":{"backends":[{"scheme":"hg","command":["/bin/hg-backend"]},{"scheme":"s3","command":["s3"]},)"
      R"({"scheme":"git","command":["/bin/git-backend"],"hosts":["git.example.com"]}]}})");
  BOOST_TEST(write_json(result["capabilities"]["backends"]) == R"(["git","registry","archive","oci","gcs","hg","s3"])");
}

BOOST_AUTO_TEST_CASE(the_settings_of_the_user_come_from_where_the_host_says) {
  write_text(directory / "mine.hcl", "surprise\n");
  Json::Value params = *parse_json(R"({"protocolVersions":["1.0"]})");
  params["options"]["cacheDir"] = (directory / "cache").string();
  params["options"]["configFile"] = (directory / "mine.hcl").string();
  const auto result = call("initialize", params);
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "CONFIG_PARSE");
  BOOST_TEST(result.error().location->path == (directory / "mine.hcl").string());
}

BOOST_AUTO_TEST_CASE(initialize_warns_of_a_setting_of_an_older_version) {
  write_text(directory / "mine.hcl", "remote_write = false\n");
  Json::Value params = *parse_json(R"({"protocolVersions":["1.0"]})");
  params["options"]["cacheDir"] = (directory / "cache").string();
  params["options"]["configFile"] = (directory / "mine.hcl").string();
  struct Lines final : Log {
    void write(LogLevel level, std::string_view line) override {
      text += std::string(to_string(level)) + " " + std::string(line) + "\n";
    }
    std::string text;
  } log;
  RequestContext request{.log = &log};
  BOOST_TEST(table.call("initialize", params, request).has_value());
  BOOST_TEST(log.text == "warning remote_write in " + (directory / "mine.hcl").string() + ":1 is ignored: remove it\n");
}

BOOST_AUTO_TEST_CASE(initialize_refuses_external_backends_that_cannot_be) {
  struct Row {
    const char* name;
    const char* backend;
    const char* message;
  };
  const Row rows[] = {
      {"a built-in scheme", R"({"scheme":"git","command":["x"]})", "git"},
      {"no program", R"({"scheme":"hg","command":[]})", "hg"},
      {"a relative program", R"({"scheme":"hg","command":["./x"]})", "./x"},
      {"no scheme", R"({"command":["x"]})", "params.options.backends[0].scheme"},
      {"hosts of another scheme", R"({"scheme":"hg","command":["x"],"hosts":["a.example"]})", "cannot have hosts"},
      {"no host", R"({"scheme":"git","command":["x"],"hosts":["a/b"]})", "a/b"},
      {"no list of hosts", R"({"scheme":"git","command":["x"],"hosts":"a"})", "params.options.backends[0].hosts"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json::Value params = *parse_json(R"({"protocolVersions":["1.0"]})");
      params["options"]["cacheDir"] = (directory / "cache").string();
      params["options"]["backends"].append(*parse_json(row.backend));
      Engine fresh{Engine::default_options()};
      MethodTable methods = make_method_table(fresh, {});
      RequestContext request;
      const auto result = methods.call("initialize", params, request);
      BOOST_REQUIRE(!result);
      BOOST_TEST(to_string(result.error().code) == "INVALID_PARAMS");
      BOOST_TEST(result.error().message.find(row.message) != std::string::npos, result.error().message);
    }
  }
}

BOOST_AUTO_TEST_CASE(initialize_refuses_a_release_that_is_none) {
  struct Row {
    const char* name;
    const char* release;
    const char* error;  // empty: taken
  };
  const Row rows[] = {
      {"a release", "1.12.6", ""},
      {"a prerelease", "1.13.0-rc1", ""},
      {"nothing", "", ""},
      {"a word", "latest", "expected a version at params.options.implementationVersion, found \"latest\""},
      {"with the v of a tag", "v1.12.6",
       "expected a version at params.options.implementationVersion, found \"v1.12.6\""},
      {"a constraint", "~> 1.12", "expected a version at params.options.implementationVersion, found \"~> 1.12\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Json::Value params = *parse_json(R"({"protocolVersions":["1.0"]})");
      params["options"]["cacheDir"] = (directory / "cache").string();
      params["options"]["implementationVersion"] = row.release;
      const auto result = call("initialize", params);
      BOOST_TEST((result ? "" : result.error().message) == row.error);
      BOOST_TEST((result || result.error().code == Code::invalid_params));
    }
  }
}

BOOST_AUTO_TEST_CASE(workspace_roots_are_named_by_paths_and_uris) {
  struct Row {
    const char* name;
    std::string workspace_root;
    std::string error;  // empty: the directory of a relative root
  };
  const Row rows[] = {
      {"a path", directory.path().string(), ""},
      {"a URI", "file://" + directory.path().string(), ""},
      {"relative", "live", "decode: expected an absolute path in params.workspaceRoots, found \"live\""},
      {"a URI of another machine", "file://host/live",
       "invalid path of a workspace root: expected a file:// URI of this machine, found \"file://host/live\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Engine fresh{Engine::default_options()};
      const MethodTable methods = make_method_table(fresh, {});
      Json::Value params = *parse_json(R"({"protocolVersions":["1.0"]})");
      params["options"]["cacheDir"] = (directory / "cache").string();
      params["workspaceRoots"].append(row.workspace_root);
      RequestContext request;
      const auto result = methods.call("initialize", params, request);
      BOOST_TEST((result ? "" : result.error().message) == row.error);
      if (row.error.empty()) {
        BOOST_TEST(methods.call("config/inspect", *parse_json(R"({"root":"root"})"), request).has_value());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_names_its_client) {
  struct Row {
    const char* program;
    const char* client;
  };
  const Row rows[] = {
      {"/usr/bin/terraform", "terraform"},  {"terraform-1.5", "terraform"},    {"terraform1.5.7", "terraform"},
      {"terraform.exe", "terraform"},       {"terraform_1.5", "terraform"},    {"tofu", "opentofu"},
      {"/opt/opentofu-1.12", "opentofu"},   {"my-terraform-tofu", "opentofu"}, {"terraformer", "opentofu"},
      {"/opt/terraform/bin/x", "opentofu"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.program) {
      const ScopedEnvironment named("TG_CTX_TF_PATH", row.program);
      Json::Value params = *parse_json(R"({"protocolVersions":["1.0"]})");
      params["options"]["cacheDir"] = (directory / "cache").string();
      const Json::Value found = succeed("initialize", params)["implementation"];
      BOOST_TEST(found["name"].asString() == row.client);
      BOOST_TEST(found["from"].asString() == "TG_CTX_TF_PATH");
    }
  }
}

BOOST_AUTO_TEST_CASE(initialize_refuses_a_version_that_nobody_speaks) {
  const auto result = call("initialize", *parse_json(R"({"protocolVersions":["9.0"]})"));
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "INVALID_PARAMS");
  BOOST_TEST(result.error().message == "initialize: none of params.protocolVersions is spoken here, only \"1.0\"");
}

BOOST_AUTO_TEST_SUITE_END()
