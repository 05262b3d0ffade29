#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "plugin/server/engine_methods.h"
#include "protocol/base/json.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A host that has initialised a session, with a root that calls one repository.
struct Session {
  Session() {
    repository.commit({{"main.tf", "# one\n"}});
    repository.tag("v1.0.0");
    write_text(directory / "root/main.tf", "module \"vpc\" {\n  source = \"git::" + repository.url() + "\"\n}\n");
    write_text(directory / "root/.tofu-modlock.hcl", "module \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  }

  Json::Value initialize(const std::string& more = "{}") {
    Json::Value params = *parse_json(more);
    params["protocolVersions"].append("1.0");
    params["options"]["cacheDir"] = (directory / "cache").string();
    params["options"]["implementation"] = "opentofu";
    return succeed("initialize", params);
  }

  Result<Json::Value> call(const std::string& method, const Json::Value& params) {
    RequestContext request;
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
  GitRepository repository{directory / "vpc.git"};
  Engine engine{Engine::default_options()};
  MethodTable table{make_method_table(engine, {})};
  Json::Value error_data;
};

}  // namespace modlock::test
