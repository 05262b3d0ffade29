// Engine::plan(), with packages in memory.

#include "plugin/engine/plan_request.h"

#include <functional>

#include "backends/base/digest.h"
#include "plugin/lock/edit.h"
#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_plan, EngineFixture)

BOOST_AUTO_TEST_CASE(both_forms_of_an_edit_give_the_lock_file) {
  const auto planned = succeed(&Engine::plan, plan_params("missing"));
  BOOST_TEST_REQUIRE(planned.modules.size() == 1U);
  BOOST_TEST_REQUIRE(planned.edits.documents.size() == 1U);
  const messages::EditedDocument& document = planned.edits.documents[0];
  const std::string text = fmt::format(
      "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n\n"
      "module \"vpc\" {{\n  version = \"1.0.0\"\n  source  = \"{}\"\n\n  constraints = \"~> 1.0\"\n\n"
      "  hashes = [\n    \"git:{}\",\n    \"h1:e0fkZVGnJ5Zqfh32v/vvwe3FFcOI1rJeyIPkyZOJyio=\",\n  ]\n}}\n",
      kVpc, vpc_1_0);
  BOOST_TEST(document.new_text.value() == text);
  BOOST_TEST(document.path == kLock);
  BOOST_TEST((document.operation == messages::EditOperation::create));
  BOOST_TEST(!document.base_sha256);
  BOOST_TEST(document.result_sha256 == sha256_hex(text));
  BOOST_TEST(apply_edits("", document.edits.value()) == text);
  BOOST_TEST(lines_of(planned.changes) == "module.vpc added: not locked before\n");
  BOOST_TEST(planned.modules[0].commit == vpc_1_0);
  BOOST_TEST(planned.stats.requests == 2U);
  BOOST_TEST(!exists(kLock));
}

BOOST_AUTO_TEST_CASE(edits_have_the_forms_that_the_options_name) {
  struct Row {
    const char* name;
    bool full_text;
    bool ranges;
  };
  const Row rows[] = {{"both", true, true}, {"the full text", true, false}, {"ranges", false, true}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      options.edits_as_full_text = row.full_text;
      options.edits_as_ranges = row.ranges;
      open();
      const auto planned = succeed(&Engine::plan, plan_params("missing"));
      BOOST_TEST_REQUIRE(planned.edits.documents.size() == 1U);
      BOOST_TEST(planned.edits.documents[0].new_text.has_value() == row.full_text);
      BOOST_TEST(planned.edits.documents[0].edits.has_value() == row.ranges);
    }
  }
}

BOOST_AUTO_TEST_CASE(documents_need_no_checkout) {
  auto params = of_root<messages::LockPlanParams>("nowhere");
  params.root.documents = {{"main.tf", fmt::format("module \"a\" {{\n  source = \"{}?ref=v1.0.0\"\n}}\n", kVpc)}};
  const auto planned = succeed(&Engine::plan, params);
  BOOST_TEST_REQUIRE(planned.modules.size() == 1U);
  BOOST_TEST(planned.modules[0].key == "a");
  BOOST_TEST(planned.modules[0].ref == "v1.0.0");
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_sent_replaces_the_one_on_disk) {
  lock();
  auto params = plan_params("missing");
  params.lock.text = read(kLock);
  fs::remove(directory / "root/.terraform.lock.hcl");
  fs::remove_all(directory / "root/.terraform");
  const auto again = succeed(&Engine::plan, params);
  BOOST_TEST(again.edits.documents.empty());
  BOOST_TEST(lines_of(again.changes) == "");
}

BOOST_AUTO_TEST_CASE(modes_and_targets_select_what_changes) {
  git.add_tag("git::https://example.com/dns.git", "v1.0.0", {{"main.tf", "# dns 1\n"}});
  write("main.tf", fmt::format("module \"dns\" {{\n  source = \"git::https://example.com/dns.git\"\n}}\n"
                               "module \"vpc\" {{\n  source = \"{}\"\n}}\n",
                               kVpc));
  write(kSettings, "module \"vpc\" {\n  version = \"~> 1.0\"\n}\nmodule \"dns\" {\n  version = \"~> 1.0\"\n}\n");
  lock();
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  git.add_tag("git::https://example.com/dns.git", "v1.1.0", {{"main.tf", "# dns 1.1\n"}});
  struct Row {
    const char* name;
    const char* mode;
    std::vector<std::string> targets;
    const char* changes;
  };
  const Row rows[] = {
      {"missing keeps what is locked", "missing", {}, ""},
      {"frozen finds nothing to change", "frozen", {}, ""},
      {"upgrade takes the newest",
       "upgrade",
       {},
       "module.dns updated: another version was chosen\nmodule.vpc updated: another version was chosen\n"},
      {"only a target", "upgrade", {"module.vpc"}, "module.vpc updated: another version was chosen\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto params = plan_params(row.mode);
      params.targets = row.targets;
      BOOST_TEST(lines_of(succeed(&Engine::plan, params).changes) == row.changes);
    }
  }
}

BOOST_AUTO_TEST_CASE(frozen_leaves_the_changes_in_the_run) {
  const auto planned = call(&Engine::plan, plan_params("frozen"));
  BOOST_TEST(outcome(planned) ==
             "FROZEN: the missing .terraform.lock.hcl does not match the configuration: module.vpc (not locked)");
  BOOST_TEST(lines_of(run->changes) == "module.vpc added: not locked\n");
}

BOOST_AUTO_TEST_CASE(a_first_lock_adopts_what_is_installed) {
  constexpr const char* kModule = "registry.opentofu.org/modules/acme/vpc/aws";
  registry.add_tag(kModule, "1.0.0", {{"main.tf", "# 1\n"}});
  write("main.tf", "module \"vpc\" {\n  source  = \"acme/vpc/aws\"\n  version = \"~> 1.0\"\n}\n");
  write(kSettings, "");
  lock();
  install();
  fs::remove(directory / "root/.terraform.lock.hcl");
  fs::remove_all(directory / "root/.terraform/tofu-modlock");
  registry.add_tag(kModule, "1.1.0", {{"main.tf", "# 1.1\n"}});
  struct Row {
    const char* name;
    bool adopt;
    const char* changes;
    const char* version;
  };
  const Row rows[] = {
      {"adopted", true, "module.vpc adopted: it is already installed\n", "1.0.0"},
      {"not adopted", false, "module.vpc added: not locked before\n", "1.1.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto params = plan_params("missing");
      params.adopt = row.adopt;
      const auto planned = succeed(&Engine::plan, params);
      BOOST_TEST(lines_of(planned.changes) == row.changes);
      BOOST_TEST(planned.modules.at(0).version.value() == row.version);
    }
  }
}

BOOST_AUTO_TEST_CASE(module_blocks_move_to_the_sidecar) {
  lock();
  const std::string inline_text = read(kLock);
  write(kSettings, "module_lock_file = \"sidecar\"\nmodule \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  auto providers = plan_params("missing");
  providers.include.modules = false;
  BOOST_TEST(succeed(&Engine::plan, providers).edits.documents.empty());
  const auto moved = succeed(&Engine::plan, plan_params("missing"));
  BOOST_TEST(lines_of(moved.changes) == "");
  BOOST_TEST_REQUIRE(moved.edits.documents.size() == 2U);
  BOOST_TEST(moved.edits.documents[0].path == kSidecar);
  BOOST_TEST(moved.edits.documents[0].new_text.value() == as_sidecar(inline_text));
  BOOST_TEST(moved.edits.documents[0].new_text->starts_with(
      "# This file is maintained automatically by tofu-modlock for \"tofu init\".\n"
      "# Manual edits may be lost in future updates.\n\nmodule "));
  BOOST_TEST(moved.edits.documents[1].path == kLock);
  BOOST_TEST(moved.edits.documents[1].new_text.value() == "");
  BOOST_TEST(outcome(apply(moved)) == "ok");
  BOOST_TEST(succeed(&Engine::plan, plan_params("missing")).edits.documents.empty());
  BOOST_TEST(succeed(&Engine::install, of_root<messages::ModulesInstallParams>()).installed.size() == 1U);
}

BOOST_AUTO_TEST_CASE(providers_come_from_where_the_client_finds_them) {
  add_provider("hashicorp/null", "3.2.0");
  write("main.tf",
        "terraform {\n  required_providers {\n    null = {\n      source  = \"hashicorp/null\"\n"
        "      version = \"~> 3.0\"\n    }\n  }\n}\n");
  write(kSettings, "platforms = [\"linux_amd64\"]\n");
  const auto planned = succeed(&Engine::plan, plan_params("missing"));
  BOOST_TEST_REQUIRE(planned.providers.size() == 1U);
  const messages::LockedProvider& provider = planned.providers[0];
  BOOST_TEST(provider.address == "registry.opentofu.org/hashicorp/null");
  BOOST_TEST(provider.version == "3.2.0");
  BOOST_TEST(provider.constraints == "~> 3.0");
  BOOST_TEST(provider.signature.status == "none");
  BOOST_TEST(lines_of(planned.changes) ==
             "provider.registry.opentofu.org/hashicorp/null added: the root module needs it\n");
  BOOST_TEST(planned.stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(include_without_modules_needs_what_is_locked) {
  auto params = plan_params("missing");
  params.include.modules = false;
  BOOST_TEST(outcome(call(&Engine::plan, params)) ==
             "MISSING: cannot determine the providers of module \"vpc\": it is neither locked nor installed");
  lock();
  BOOST_TEST(lines_of(succeed(&Engine::plan, params).changes) == "");
}

BOOST_AUTO_TEST_CASE(a_run_over_roots_asks_each_source_once) {
  const std::vector<std::string> names = {"root", "two", "three"};
  for (const std::string& name : names) {
    make_root(name);
  }
  succeed(&Engine::plan, plan_params("upgrade"));
  BOOST_TEST(git.listings == 1);
  const Run all = Run::for_many_roots({});
  for (const std::string& name : names) {
    Run one = all.for_root();
    auto params = of_root<messages::LockPlanParams>(name);
    params.mode = messages::PlanMode::upgrade;
    BOOST_TEST(outcome(engine->plan(params, one)) == "ok");
  }
  BOOST_TEST(git.listings == 2);
  BOOST_TEST(all.stats().requests == 1U);
}

BOOST_AUTO_TEST_CASE(what_a_plan_refuses) {
  struct Row {
    const char* name;
    std::function<void(messages::LockPlanParams&)> spoil;
    const char* outcome;
  };
  const Row rows[] = {
      {"a configuration that does not parse", [&](auto&) { write("main.tf", "module \"vpc\" {\n"); },
       "CONFIG_PARSE: the \"{\" of block \"module\" is never closed: expected \"}\" before the end of the file"},
      {"settings that do not parse", [&](auto&) { write(kSettings, "surprise = 1\n"); },
       "CONFIG_PARSE: unknown setting \"surprise\" in .tofu-modlock.hcl:1"},
      {"a lock that does not parse", [&](auto&) { write(kLock, "module \"vpc\" {\n"); },
       "LOCK_PARSE: the \"{\" of block \"module\" is never closed: expected \"}\" before the end of the file"},
      {"no such version", [&](auto&) { write(kSettings, "module \"vpc\" {\n  version = \"~> 2.0\"\n}\n"); },
       "NO_MATCHING_VERSION: no version of \"git::https://example.com/vpc.git\" matches the constraint \"~> 2.0\" of "
       "module \"vpc\"; "
       "the newest are: 1.0.0"},
      {"a source that is denied", [&](auto& params) { params.deny = {"git::https://example.com/**"}; },
       "SOURCE_DENIED: the source \"git::https://example.com/vpc.git\" is denied by \"git::https://example.com/**\" in "
       "params.policy"},
      {"an age that is no duration", [&](auto& params) { params.minimum_release_age = "soon"; },
       "INVALID_PARAMS: the minimum release age must be a duration, found \"soon\""},
      {"calls of one package that exclude each other",
       [&](auto&) {
         git.add_tag(kVpc, "v0.9.0", {{"main.tf", "# 0.9\n"}});
         write("main.tf", read("main.tf") + fmt::format("module \"two\" {{\n  source = \"{}\"\n}}\n", kVpc));
         write(kSettings, "module \"vpc\" {\n  version = \"1.0.0\"\n}\nmodule \"two\" {\n  version = \"0.9.0\"\n}\n");
       },
       "CONSTRAINT_CONFLICT: conflicting module version requirements: no version of "
       "\"git::https://example.com/vpc.git\" "
       "satisfies all of its 2 constraints; the newest are: 1.0.0, 0.9.0"},
      {"no repository", [&](auto&) { git.remove_package(kVpc); },
       "NOT_FOUND: no such repository: git::https://example.com/vpc.git"},
      {"a locked commit with other content",
       [&](auto& params) {
         params.lock.text = fmt::format(
             "module \"vpc\" {{\n  version = \"1.0.0\"\n  source  = \"{}\"\n\n  constraints = \"~> 1.0\"\n\n"
             "  hashes = [\n    \"git:{}\",\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}}\n",
             kVpc, vpc_1_0);
       },
       "HASH_MISMATCH: module \"vpc\" has a checksum that doesn't match the lock file: expected "
       "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=, got h1:e0fkZVGnJ5Zqfh32v/vvwe3FFcOI1rJeyIPkyZOJyio="},
      {"offline without a cache",
       [&](auto&) {
         fs::remove_all(directory / "cache");
         options.offline = true;
         open();
       },
       "OFFLINE_MISS: offline: git::https://example.com/vpc.git is not cached"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      make_root("root");
      fs::remove(directory / "root/.terraform.lock.hcl");
      git.add_tag(kVpc, "v1.0.0", {{"main.tf", "# 1\n"}});
      auto params = plan_params("missing");
      row.spoil(params);
      BOOST_TEST(outcome(call(&Engine::plan, params)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
