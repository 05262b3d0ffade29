#pragma once

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/engine/engine.h"
#include "tests/support/environment.h"
#include "tests/support/fake_backend.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

inline constexpr const char* kLock = ".terraform.lock.hcl";
inline constexpr const char* kSidecar = ".terraform.modules.lock.hcl";
inline constexpr const char* kSettings = ".tofu-modlock.hcl";
inline constexpr const char* kVpc = "git::https://example.com/vpc.git";

// "ok", or the code and the message of an error.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : fmt::format("{}: {}", to_string(result.error().code), result.error().message);
}

// A line for each: "module.vpc added: not locked".
inline std::string lines_of(const std::vector<messages::Change>& changes) {
  std::string text;
  for (const messages::Change& change : changes) {
    text += fmt::format("{} {}: {}\n", change.subject, to_string(change.action), change.reason);
  }
  return text;
}

// "warning UNREACHABLE: …".
inline std::string lines_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += fmt::format("{} {}: {}\n", diagnostic.severity == Severity::error ? "error" : "warning",
                        to_string(diagnostic.what.code), diagnostic.what.message);
  }
  return text;
}

// An engine whose sources are in memory: no program is on PATH, so that none can run, and nothing is sent. There is a
// root module "root" that calls the package kVpc, which has the version 1.0.0.
struct EngineFixture {
  EngineFixture() {
    vpc_1_0 = git.add_tag(kVpc, "v1.0.0", {{"main.tf", "# 1\n"}});
    make_root("root");
    options = {.cache_directory = directory / "cache",
               .user_settings = {},
               .implementation = "opentofu",
               .implementation_version = "1.12.6",
               .replacement = [this](std::string_view name) -> std::unique_ptr<BackendCore> {
                 FakeBackend* const fake = name == "git" ? &git : name == "registry" ? &registry : nullptr;
                 return fake == nullptr ? nullptr : make_core_of(*fake);
               }};
    open();
  }

  // Opens the engine again after `options` changed.
  void open() {
    engine.emplace(options);
    const auto opened = engine->open();
    BOOST_REQUIRE_MESSAGE(opened.has_value(), outcome(opened));
  }
  void make_root(const std::string& name) const {
    directory.write(name + "/main.tf", fmt::format("module \"vpc\" {{\n  source = \"{}\"\n}}\n", kVpc));
    directory.write(name + "/" + kSettings, "module \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  }
  // Of the root module "root".
  void write(const std::string& name, std::string_view text) const { directory.write("root/" + name, text); }
  std::string read(const std::string& name) const { return read_text(directory / ("root/" + name)); }
  bool exists(const std::string& name) const { return std::filesystem::exists(directory / ("root/" + name)); }

  // Installs a provider in a directory where the client finds it: "hashicorp/null", "3.2.0".
  void add_provider(const std::string& address, const std::string& version) const {
    write(fmt::format("terraform.d/plugins/registry.opentofu.org/{}/{}/linux_amd64/terraform-provider-{}", address,
                      version, address.substr(address.find('/') + 1)),
          address + version);
  }

  template <typename Params>
  Params of_root(const std::string& name = "root") const {
    Params params;
    params.root.root = (directory / name).string();
    return params;
  }
  messages::LockPlanParams plan_params(const std::string& mode) const {
    auto params = of_root<messages::LockPlanParams>();
    params.mode = *messages::named<messages::PlanMode>(mode);
    return params;
  }

  // Calls the engine with a new run, which stays in `run`.
  template <typename Params, typename Output>
  Result<Output> call(Result<Output> (Engine::*method)(const Params&, Run&) const, const Params& params) {
    run.emplace();
    return (*engine.*method)(params, *run);
  }
  template <typename Params, typename Output>
  Output succeed(Result<Output> (Engine::*method)(const Params&, Run&) const, const Params& params) {
    auto result = call(method, params);
    BOOST_REQUIRE_MESSAGE(result.has_value(), outcome(result));
    return std::move(*result);
  }

  Result<void> apply(const messages::LockPlanResult& plan, const messages::Include& include = {}) {
    run.emplace();
    return engine->apply(of_root<messages::LockPlanParams>().root, plan, include, *run);
  }
  // Writes the lock file of the root.
  void lock(const std::string& mode = "missing") {
    const auto applied = apply(succeed(&Engine::plan, plan_params(mode)));
    BOOST_REQUIRE_MESSAGE(applied.has_value(), outcome(applied));
  }
  void install() { succeed(&Engine::install, of_root<messages::ModulesInstallParams>()); }

  TemporaryDirectory directory;
  ScopedEnvironment home{"HOME", (directory / "home").string()};
  ScopedEnvironment config{"XDG_CONFIG_HOME", (directory / "home").string()};
  ScopedEnvironment data{"XDG_DATA_HOME", (directory / "home").string()};
  ScopedEnvironment cli{"TF_CLI_CONFIG_FILE", std::nullopt};
  ScopedEnvironment terraform_cli{"TERRAFORM_CONFIG", std::nullopt};
  ScopedEnvironment programs{"PATH", (directory / "no-programs").string()};
  FakeBackend git;
  FakeBackend registry{SourceKind::registry};
  std::string vpc_1_0;  // its commit
  EngineOptions options;
  std::optional<Engine> engine;
  std::optional<Run> run;  // of the last call
};

}  // namespace modlock::test
