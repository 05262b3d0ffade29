#pragma once

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/server/engine_methods.h"
#include "protocol/base/json.h"
#include "tests/support/environment.h"
#include "tests/support/fake_backend.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

inline constexpr const char* kVpc = "git::https://example.com/vpc.git";

// A host that has initialised a session. The git packages of its engine are in memory; a root "root" calls one.
struct Session {
  Session() {
    commit = git.add_tag(kVpc, "v1.0.0", {{"main.tf", "# one\n"}});
    make_root("root");
  }

  void make_root(const std::string& name) const {
    directory.write(name + "/main.tf", std::string("module \"vpc\" {\n  source = \"") + kVpc + "\"\n}\n");
    directory.write(name + "/.tofu-modlock.hcl", "module \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  }

  EngineOptions options() {
    EngineOptions options = Engine::default_options();
    options.replacement = [this](std::string_view name) { return name == "git" ? make_core_of(git) : nullptr; };
    return options;
  }

  Json::Value initialize(const std::string& more = "{}") {
    Json::Value params = *parse_json(more);
    params["protocolVersions"].append("1.0");
    params["options"]["cacheDir"] = (directory / "cache").string();
    params["options"]["implementation"] = "opentofu";
    return succeed("initialize", params);
  }

  Result<Json::Value> call(const std::string& method, const Json::Value& params) {
    RequestContext request{.deadline = deadline, .max_result_bytes = max_result_bytes};
    auto result = table.call(method, params, request);
    error_data = request.error_data;
    return result;
  }

  Json::Value succeed(const std::string& method, const Json::Value& params) {
    auto result = call(method, params);
    BOOST_REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
    return *result;
  }

  Json::Value root() const {
    Json::Value params(Json::objectValue);
    params["root"] = (directory / "root").string();
    return params;
  }

  TemporaryDirectory directory;
  ScopedEnvironment home{"HOME", (directory / "home").string()};
  ScopedEnvironment config{"XDG_CONFIG_HOME", (directory / "home").string()};
  ScopedEnvironment cli{"TF_CLI_CONFIG_FILE", std::nullopt};
  ScopedEnvironment terraform_cli{"TERRAFORM_CONFIG", std::nullopt};
  FakeBackend git;
  std::string commit;  // of the version 1.0.0
  Engine engine{options()};
  MethodTable table{make_method_table(engine, {})};
  Json::Value error_data;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::size_t max_result_bytes = 0;
};

}  // namespace modlock::test
