// Releases that the settings deny, and where they are locked, with packages in memory.

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kAddress = "git::https://example.com/vpc.git";

std::string deny_rule(const std::string& what, const std::string& glob = "example.com/vpc") {
  return fmt::format("deny \"{}\" {{\n  {}\n  reason = \"stolen keys\"\n}}\n", glob, what);
}

struct Denied : EngineFixture {
  Denied() { vpc_1_1 = git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}}); }

  void add_rule(const std::string& text) const { write(kSettings, read(kSettings) + text); }
  // Writes the configuration with another source, without a version.
  void call(const std::string& source) const {
    write("main.tf", fmt::format("module \"vpc\" {{\n  source = \"{}\"\n}}\n", source));
    write(kSettings, "");
  }
  // "1.0.0", or the error.
  std::string planned(const std::string& mode) {
    const auto plan = EngineFixture::call(&Engine::plan, plan_params(mode));
    return plan ? plan->modules.at(0).version.value_or(plan->modules.at(0).commit) : outcome(plan);
  }
  std::string found(const std::string& release) {
    auto params = of_root<messages::LockFindParams>();
    params.release = release;
    std::string text;
    for (const messages::FoundRelease& one : succeed(&Engine::find, params).found) {
      text += fmt::format("{} {} {} {}:{}\n", one.subject, one.version.value_or("-"), one.source, one.location->path,
                          one.location->range->start.line);
    }
    return text;
  }

  std::string vpc_1_1;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engine_denial, Denied)

BOOST_AUTO_TEST_CASE(resolution_skips_denied_releases) {
  struct Row {
    const char* name;
    std::string rule;
    std::string outcome;  // of `lock` and `upgrade`
  };
  const std::string none = "RELEASE_DENIED: no matching version of \"git::https://example.com/vpc.git\" is left: ";
  for (const Row& row : {
           Row{"no rule", "", "1.1.0"},
           Row{"version", deny_rule("versions = \"= 1.1.0\""), "1.0.0"},
           Row{"range", deny_rule("versions = \">= 1.1, < 1.5\""), "1.0.0"},
           Row{"commit", deny_rule("commits = [\"" + vpc_1_1.substr(0, 12) + "\"]"), "1.0.0"},
           Row{"glob", deny_rule("versions = \"1.1.0\"", "example.com/*"), "1.0.0"},
           Row{"other source", deny_rule("versions = \"1.1.0\"", "example.com/other"), "1.1.0"},
           Row{"two rules", deny_rule("versions = \"1.1.0\"") + deny_rule("versions = \"1.0.0\""),
               none + "1.1.0 is denied by \"example.com/vpc\" in .tofu-modlock.hcl:4: stolen keys"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write(kSettings, "module \"vpc\" {\n  version = \"~> 1.0\"\n}\n" + row.rule);
      BOOST_TEST(planned("missing") == row.outcome);
      BOOST_TEST(planned("upgrade") == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(content_that_only_a_fetch_shows_is_skipped_too) {
  constexpr const char* kModule = "registry.opentofu.org/modules/acme/vpc/aws";
  registry.add_tag(kModule, "1.0.0", {{"main.tf", "# 1\n"}});
  const std::string id = registry.add_tag(kModule, "1.1.0", {{"main.tf", "# 1.1\n"}});
  call("acme/vpc/aws");
  BOOST_TEST(planned("missing") == "1.1.0");
  lock();
  std::string h1 = read(kLock);
  h1 = h1.substr(h1.find("h1:"), 47);
  add_rule(deny_rule("digests = [\"" + h1 + "\"]", "acme/vpc/aws"));
  BOOST_TEST(planned("upgrade") == "1.0.0");
}

BOOST_AUTO_TEST_CASE(a_denied_entry_stops_every_command_but_upgrade) {
  add_provider("hashicorp/null", "3.2.0");
  lock();
  install();
  add_rule(deny_rule("versions = \"1.1.0\""));
  const std::string error =
      "RELEASE_DENIED: 1.1.0 of \"git::https://example.com/vpc.git\" is denied by \"example.com/vpc\" in "
      ".tofu-modlock.hcl:4: stolen keys";
  BOOST_TEST(planned("missing") == error);
  BOOST_TEST(exit_code(Code::release_denied) == 4);
  BOOST_TEST(planned("frozen") == error);
  // It is in the cache and installed.
  const auto installed = EngineFixture::call(&Engine::install, of_root<messages::ModulesInstallParams>());
  BOOST_TEST(outcome(installed) == error);
  BOOST_TEST(installed.error().hint ==
             "to select a release that no rule denies, run: tofu-modlock upgrade --target module.vpc");
  BOOST_TEST(installed.error().related.at(0).message == "the rule is here");
  const auto verified = succeed(&Engine::verify, of_root<messages::LockVerifyParams>());
  BOOST_TEST(!verified.ok);
  BOOST_TEST((verified.verdicts.at(0).kind == messages::VerdictKind::denied));
  BOOST_TEST(verified.verdicts.at(0).detail == "denied by \"example.com/vpc\" in .tofu-modlock.hcl:4: stolen keys");
  BOOST_TEST(planned("upgrade") == "1.0.0");
}

BOOST_AUTO_TEST_CASE(references_and_commits_are_checked) {
  const std::string branch = git.add_branch(kVpc, "main", {{"main.tf", "# main\n"}});
  struct Row {
    const char* name;
    std::string source;
    std::string rule;
    std::string release;
  };
  for (const Row& row : {
           Row{"tag", std::string(kAddress) + "?ref=v1.1.0", deny_rule("versions = \"1.1.0\""), "v1.1.0"},
           Row{"full name of a tag", std::string(kAddress) + "?ref=refs/tags/v1.1.0", deny_rule("versions = \"1.1.0\""),
               "refs/tags/v1.1.0"},
           Row{"peeled tag", std::string(kAddress) + "?ref=v1.1.0^{}", deny_rule("versions = \"1.1.0\""), "v1.1.0^{}"},
           Row{"tag, no step back", std::string(kAddress) + "?ref=v1.1.0~0", deny_rule("versions = \"1.1.0\""),
               "v1.1.0~0"},
           Row{"commit of a tag", std::string(kAddress) + "?ref=v1.1.0", deny_rule("commits = [\"" + vpc_1_1 + "\"]"),
               "v1.1.0 (" + vpc_1_1.substr(0, 12) + ")"},
           Row{"branch", std::string(kAddress) + "?ref=main", deny_rule("commits = [\"" + branch + "\"]"),
               "main (" + branch.substr(0, 12) + ")"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      call(row.source);
      BOOST_TEST(planned("missing").find("RELEASE_DENIED") == std::string::npos);
      add_rule(row.rule);
      BOOST_TEST(planned("missing") ==
                 "RELEASE_DENIED: " + row.release +
                     " of \"git::https://example.com/vpc.git\" is denied by \"example.com/vpc\" in "
                     ".tofu-modlock.hcl:1: stolen keys");
    }
  }
  call(kAddress);
  add_rule("module \"vpc\" {\n  version = \"" + vpc_1_1 + "\"\n}\n" + deny_rule("commits = [\"" + vpc_1_1 + "\"]"));
  BOOST_TEST(planned("missing").find("RELEASE_DENIED: commit " + vpc_1_1.substr(0, 12) + " of ") == 0U);
}

BOOST_AUTO_TEST_CASE(a_checkout_adds_to_the_rules_of_its_user) {
  directory.write("user.hcl", deny_rule("versions = \"1.1.0\""));
  options.user_settings = directory / "user.hcl";
  open();
  BOOST_TEST(planned("missing") == "1.0.0");
  add_rule(deny_rule("versions = \"1.0.0\""));
  BOOST_TEST(planned("missing").find("RELEASE_DENIED: no matching version") == 0U);
}

BOOST_AUTO_TEST_CASE(providers_are_denied_too) {
  for (const char* version : {"3.1.0", "3.2.0"}) {
    add_provider("hashicorp/null", version);
  }
  write("main.tf",
        "terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n");
  write(kSettings, "");
  const auto provider = [&](const std::string& mode) {
    const auto plan = EngineFixture::call(&Engine::plan, plan_params(mode));
    return plan ? plan->providers.at(0).version : outcome(plan);
  };
  BOOST_TEST(provider("missing") == "3.2.0");
  lock();
  add_rule(deny_rule("versions = \"= 3.2.0\"", "registry.opentofu.org/hashicorp/null"));
  const std::string rule = "denied by \"registry.opentofu.org/hashicorp/null\" in .tofu-modlock.hcl:1: stolen keys";
  const std::string error = "RELEASE_DENIED: 3.2.0 of \"registry.opentofu.org/hashicorp/null\" is " + rule;
  BOOST_TEST(provider("missing") == error);
  BOOST_TEST(provider("frozen") == error);
  BOOST_TEST(outcome(EngineFixture::call(&Engine::install, of_root<messages::ModulesInstallParams>())) == error);
  const auto root = of_root<messages::LockVerifyParams>().root;
  run.emplace();
  BOOST_TEST(outcome(engine->create_bundle(
                 {.roots = {root}, .output = directory / "bundle"}, [](const remote::NamedClosure&) {}, *run)) ==
             error);
  BOOST_TEST(provider("upgrade") == "3.1.0");
  const auto verified = succeed(&Engine::verify, of_root<messages::LockVerifyParams>());
  BOOST_TEST((verified.verdicts.at(0).kind == messages::VerdictKind::denied));
  BOOST_TEST(verified.verdicts.at(0).detail.find(rule) == 0U, verified.verdicts.at(0).detail);
  add_rule(deny_rule("versions = \"3.1.0\"", "hashicorp/null"));
  BOOST_TEST(provider("upgrade") ==
             "RELEASE_DENIED: no matching version of provider registry.opentofu.org/hashicorp/null is left: 3.2.0 of "
             "\"registry.opentofu.org/hashicorp/null\" is " +
                 rule);
}

BOOST_AUTO_TEST_CASE(explain_and_outdated_name_the_rule) {
  lock();
  git.add_tag(kVpc, "v1.2.0", {{"main.tf", "# 1.2\n"}});
  add_rule(deny_rule("versions = \"1.2.0\""));
  auto params = of_root<messages::LockExplainParams>();
  params.subject = "module.vpc";
  const auto explained = succeed(&Engine::explain, params);
  BOOST_TEST_REQUIRE(explained.chain.size() == 3U);
  BOOST_TEST(explained.chain[1].constraint == "deny \"example.com/vpc\"");
  BOOST_TEST(explained.chain[1].rejected.at(0).version == "1.2.0");
  BOOST_TEST(explained.chain[1].rejected.at(0).why ==
             "denied by \"example.com/vpc\" in .tofu-modlock.hcl:4: stolen keys");
  BOOST_TEST(succeed(&Engine::lookup, of_root<messages::UpdateLookupParams>()).dependencies.at(0).updates.empty());
  add_rule(deny_rule("versions = \"1.1.0\""));
  const auto found = succeed(&Engine::lookup, of_root<messages::UpdateLookupParams>());
  BOOST_TEST(lines_of(found.diagnostics).find("warning RELEASE_DENIED: 1.1.0 of") != std::string::npos,
             lines_of(found.diagnostics));
}

BOOST_AUTO_TEST_CASE(entries_of_a_release_are_found_offline) {
  add_provider("hashicorp/null", "3.2.0");
  write("main.tf", read("main.tf") +
                       "terraform {\n  required_providers {\n    null = {\n"
                       "      source = \"hashicorp/null\"\n    }\n  }\n}\n");
  lock();
  options.offline = true;
  open();
  const int listings = git.listings;
  const std::string vpc = fmt::format("module.vpc 1.1.0 {} .terraform.lock.hcl:4\n", kVpc);
  BOOST_TEST(found("example.com/vpc") == vpc);
  BOOST_TEST(found("git::https://example.com/vpc@1.1.0") == vpc);
  BOOST_TEST(found("git::https://example.com/vpc@1.0.0") == "");
  BOOST_TEST(found("*@" + vpc_1_1.substr(0, 7)) == vpc);
  BOOST_TEST(found("hashicorp/null@3.2.0") ==
             "provider.registry.opentofu.org/hashicorp/null 3.2.0 registry.opentofu.org/hashicorp/null "
             ".terraform.lock.hcl:16\n");
  BOOST_TEST(git.listings == listings);
  auto params = of_root<messages::LockFindParams>();
  params.release = "vpc";
  BOOST_TEST(outcome(EngineFixture::call(&Engine::find, params)) ==
             "INVALID_PARAMS: \"vpc\" does not name a source: it has no path");
  write(kLock, "module {\n");
  params.release = "*";
  BOOST_TEST(outcome(EngineFixture::call(&Engine::find, params)).find("LOCK_PARSE") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
