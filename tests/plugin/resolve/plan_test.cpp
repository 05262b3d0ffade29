#include "plugin/resolve/plan.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(plan, PlanFixture)

BOOST_AUTO_TEST_CASE(plan_chooses_the_newest_version_that_the_constraint_selects) {
  const std::string id = source->add_tag(kVpc, "v1.2.5", kLeaf);
  source->add_tag(kVpc, "v1.2.4", kLeaf);
  source->add_tag(kVpc, "v2.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.2");
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "module.vpc added: not locked before\n");
  const ModuleLock& entry = plan.modules.at("vpc");
  BOOST_TEST(entry.version.value() == "1.2.5");
  BOOST_TEST(entry.source == kVpc);
  BOOST_TEST(entry.constraints.value() == "~> 1.2");
  BOOST_TEST(entry.hash_value("git") == id);
  BOOST_TEST(entry.hash_value("h1").size() == 44U);
  BOOST_TEST(source->listings == 1);
}

BOOST_AUTO_TEST_CASE(plan_keeps_a_locked_version_and_asks_nobody) {
  source->add_tag(kVpc, "v1.2.5", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.2");
  lock();
  source->add_tag(kVpc, "v1.3.0", kLeaf);
  const Plan again = lock();
  BOOST_TEST(summary(again) == "");
  BOOST_TEST(again.modules.at("vpc").version.value() == "1.2.5");
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(plan_upgrade_takes_the_newest_and_names_both_sides) {
  source->add_tag(kVpc, "v1.2.5", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.2");
  lock();
  source->add_tag(kVpc, "v1.3.0", kLeaf);
  request.mode = PlanMode::upgrade;
  const Plan upgraded = lock();
  BOOST_TEST(summary(upgraded) == "module.vpc updated: another version was chosen\n");
  BOOST_TEST(upgraded.changes[0].from->version.value() == "1.2.5");
  BOOST_TEST(upgraded.changes[0].to->version.value() == "1.3.0");
}

BOOST_AUTO_TEST_CASE(plan_upgrade_of_a_target_leaves_the_others) {
  for (const char* package : {kVpc, kNested}) {
    source->add_tag(package, "v1.0.0", kLeaf);
  }
  write("main.tf",
        "module \"a\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n"
        "module \"b\" {\n  source = \"git::https://example.com/nested.git\"\n}\n");
  constrain("a", "~> 1.0");
  constrain("b", "~> 1.0");
  lock();
  source->add_tag(kVpc, "v1.1.0", kLeaf);
  source->add_tag(kNested, "v1.1.0", kLeaf);
  request.mode = PlanMode::upgrade;
  request.targets = {"module.a"};
  const Plan upgraded = lock();
  BOOST_TEST(upgraded.modules.at("a").version.value() == "1.1.0");
  BOOST_TEST(upgraded.modules.at("b").version.value() == "1.0.0");
}

BOOST_AUTO_TEST_CASE(plan_refuses_a_target_that_no_call_has) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  request.mode = PlanMode::upgrade;
  request.targets = {"module.vcp"};
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "INVALID_PARAMS");
  BOOST_TEST(planned.error().message == "\"module.vcp\" matches no module call or provider");
}

BOOST_AUTO_TEST_CASE(plan_resolves_anew_where_the_constraint_excludes_the_locked_version) {
  source->add_tag(kVpc, "v1.2.5", kLeaf);
  source->add_tag(kVpc, "v2.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.2");
  lock();
  constrain("vpc", ">= 2.0");
  request.mode = PlanMode::frozen;
  const auto frozen = plan();
  BOOST_REQUIRE(frozen.has_value());
  BOOST_TEST(summary(*frozen) == "module.vpc updated: the constraint \">= 2.0\" excludes the locked version 1.2.5\n");
  request.mode = PlanMode::missing;
  BOOST_TEST(summary(lock()) == "module.vpc updated: constraints-changed: >= 2.0\n");
}

BOOST_AUTO_TEST_CASE(plan_records_a_changed_constraint_that_still_allows_the_version) {
  source->add_tag(kVpc, "v1.2.5", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.2");
  lock();
  constrain("vpc", ">= 1.0");
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "module.vpc constraints-changed: the constraint was ~> 1.2\n");
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(plan_gives_calls_of_one_package_one_version) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kNested, "v1.1.0", kLeaf);
  source->add_tag(kNested, "v2.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("common", "git::https://example.com/nested.git"));
  write("main.tf",
        "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n"
        "module \"common\" {\n  source = \"git::https://example.com/nested.git\"\n}\n");
  constrain("common", ">= 1.0");
  constrain("vpc.common", "< 2.0");
  const Plan shared = lock();
  BOOST_TEST(shared.modules.at("common").version.value() == "1.1.0");
  BOOST_TEST(shared.modules.at("vpc.common").version.value() == "1.1.0");
  BOOST_TEST(source->listings == 1);

  request.lock = {};
  request.resolution = Resolution::per_call;
  const Plan apart = lock();
  BOOST_TEST(apart.modules.at("common").version.value() == "2.0.0");
  BOOST_TEST(apart.modules.at("vpc.common").version.value() == "1.1.0");
}

BOOST_AUTO_TEST_CASE(plan_names_every_constraint_of_a_conflict) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kNested, "v2.0.0", kLeaf);
  write("main.tf",
        "module \"app\" {\n  source = \"git::https://example.com/nested.git\"\n}\n"
        "module \"utils\" {\n  source = \"git::https://example.com/nested.git\"\n}\n");
  constrain("app", ">= 2.0.0");
  constrain("utils", "< 2.0.0");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "CONSTRAINT_CONFLICT");
  BOOST_TEST(
      planned.error().message ==
      "conflicting module version requirements: no version of \"git::https://example.com/nested.git\" satisfies all "
      "of its 2 constraints; the newest are: 2.0.0, 1.0.0");
  BOOST_REQUIRE(planned.error().related.size() == 2U);
  BOOST_TEST(planned.error().related[0].message == "module \"app\" requires version \">= 2.0.0\"");
  BOOST_TEST(planned.error().related[1].message == "module \"utils\" requires version \"< 2.0.0\"");
  BOOST_TEST(planned.error().hint ==
             "change the version constraints in .tofu-modlock.hcl; or set resolution = \"per-call\" in "
             ".tofu-modlock.hcl, so that each call has its own version");
}

BOOST_AUTO_TEST_CASE(plan_says_what_there_is_where_no_version_matches) {
  for (const char* tag : {"v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "latest", "v1"}) {
    source->add_tag(kVpc, tag, kLeaf);
  }
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 9.0");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "NO_MATCHING_VERSION");
  BOOST_TEST(
      planned.error().message ==
      "no version of \"git::https://example.com/vpc.git\" matches the constraint \"~> 9.0\" of module \"vpc\"; the "
      "newest are: 1.3.0, 1.2.0, 1.1.0");
  BOOST_REQUIRE(planned.error().notes.size() == 1U);
  BOOST_TEST(planned.error().notes[0] == "2 tags were skipped: 2 not a semantic version");
}

BOOST_AUTO_TEST_CASE(plan_pins_branches_and_calls_a_moved_tag_moved) {
  const std::string first = source->add_branch(kVpc, "main", kLeaf, std::string(40, 'a'));
  source->add_tag(kNested, "v1", kLeaf, std::string(40, 'b'));
  write("main.tf",
        "module \"branch\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n"
        "module \"tag\" {\n  source = \"git::https://example.com/nested.git?ref=v1\"\n}\n");
  const Plan locked = lock();
  BOOST_TEST(!locked.modules.at("branch").version);
  BOOST_TEST(locked.modules.at("branch").hash_value("git") == first);

  source->add_branch(kVpc, "main", kLeaf, std::string(40, 'c'));
  source->add_tag(kNested, "v1", kLeaf, std::string(40, 'd'));
  BOOST_TEST(summary(lock()) == "");
  request.mode = PlanMode::upgrade;
  const Plan upgraded = lock();
  BOOST_TEST(summary(upgraded) ==
             "module.branch updated: the branch moved from aaaaaaaaaaaa to cccccccccccc\n"
             "module.tag moved: the tag was moved from bbbbbbbbbbbb to dddddddddddd\n");
  BOOST_REQUIRE(upgraded.diagnostics.size() == 1U);
  BOOST_TEST(to_string(upgraded.diagnostics[0].what.code) == "TAG_MOVED");
}

BOOST_AUTO_TEST_CASE(plan_removes_calls_that_disappeared_and_keeps_entries_of_hosts) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  request.lock.modules["terragrunt:source"] = {.key = "terragrunt:source", .source = "x"};
  write("main.tf", "");
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "module.vpc removed: no module call has this key\n");
  BOOST_TEST(plan.modules.count("terragrunt:source") == 1U);
}

BOOST_AUTO_TEST_CASE(plan_restores_blocks_that_were_dropped_without_a_request) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.0");
  const Plan locked = lock();
  source->add_tag(kVpc, "v1.1.0", kLeaf);
  request.lock.modules.clear();
  files.lost.modules = locked.modules;
  const Plan restored = lock();
  BOOST_TEST(summary(restored) == "module.vpc restored: the block was dropped from the lock file\n");
  BOOST_TEST(restored.modules.at("vpc").version.value() == "1.0.0");
  BOOST_TEST(stats.requests == 0U);

  request.lock.modules.clear();
  constrain("vpc", "~> 1");
  BOOST_TEST(summary(lock()) == "module.vpc added: not locked before\n");
}

BOOST_AUTO_TEST_CASE(plan_under_frozen_asks_nobody_and_restores_nothing) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  request.mode = PlanMode::frozen;
  const auto frozen = plan();
  BOOST_REQUIRE(frozen.has_value());
  BOOST_TEST(summary(*frozen) == "module.vpc added: not locked\n");
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(plan_under_frozen_says_nothing_of_what_it_did_not_look_at) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("leaf", "git::https://example.com/nested.git?ref=v1.0.0"));
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.0");
  lock();
  constrain("vpc", "~> 2.0");
  request.mode = PlanMode::frozen;
  const auto frozen = plan();
  BOOST_REQUIRE(frozen.has_value());
  BOOST_TEST(summary(*frozen) == "module.vpc updated: the constraint \"~> 2.0\" excludes the locked version 1.0.0\n");
}

BOOST_AUTO_TEST_CASE(plan_under_frozen_names_deeper_calls_of_a_source_that_it_left_open) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("leaf", "git::https://example.com/nested.git"));
  write("main.tf",
        "module \"leaf\" {\n  source = \"git::https://example.com/nested.git\"\n}\n"
        "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  constrain("leaf", "~> 1.0");
  constrain("vpc.leaf", "~> 1.0");
  lock();
  constrain("leaf", "~> 2.0");
  constrain("vpc.leaf", "~> 2.0");
  request.mode = PlanMode::frozen;
  BOOST_TEST(summary(*plan()) ==
             "module.leaf updated: the constraint \"~> 2.0\" excludes the locked version 1.0.0\n"
             "module.vpc.leaf updated: the constraint \"~> 2.0\" excludes the locked version 1.0.0\n");
}

BOOST_AUTO_TEST_CASE(plan_refuses_a_locked_package_with_another_h1) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  const std::string h1 = lock().modules.at("vpc").hash_value("h1");
  const std::string wrong(43, 'x');
  request.lock.modules.at("vpc").hashes[1] = "h1:" + wrong + "=";
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "HASH_MISMATCH");
  BOOST_TEST(planned.error().message == "module \"vpc\" has a checksum that doesn't match the lock file: expected h1:" +
                                            wrong + "=, got h1:" + h1);
}

BOOST_AUTO_TEST_CASE(plan_counts_an_entry_only_for_its_own_source) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  source->add_tag(kNested, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/nested.git?ref=v1.0.0\"\n}\n");
  BOOST_TEST(summary(lock()) ==
             "module.vpc source-changed: the source was git::https://example.com/vpc.git?ref=v1.0.0\n");
}

BOOST_AUTO_TEST_CASE(plan_takes_a_commit_as_the_constraint) {
  const std::string id(40, 'e');
  source->add_tag(kVpc, "v1.0.0", kLeaf, id);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", id);
  const Plan plan = lock();
  BOOST_TEST(!plan.modules.at("vpc").version);
  BOOST_TEST(plan.modules.at("vpc").constraints.value() == id);
  BOOST_TEST(plan.modules.at("vpc").hash_value("git") == id);
  BOOST_TEST(summary(lock()) == "");
}

BOOST_AUTO_TEST_CASE(plan_keeps_a_locked_version_that_only_a_deeper_call_has) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("leaf", "git::https://example.com/nested.git"));
  const std::string vpc = "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n";
  write("main.tf", vpc);
  constrain("vpc.leaf", "~> 1.0");
  lock();
  source->add_tag(kNested, "v1.5.0", kLeaf);
  write("main.tf", vpc + "module \"leaf\" {\n  source = \"git::https://example.com/nested.git\"\n}\n");
  constrain("leaf", "~> 1.0");
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "module.leaf added: not locked before\n");
  BOOST_TEST(plan.modules.at("leaf").version.value() == "1.0.0");
}

BOOST_AUTO_TEST_CASE(plan_uses_what_is_installed_where_the_store_is_gone) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.0");
  lock();
  std::filesystem::remove_all(directory / "cache");
  source->remove_package(kVpc);
  const std::string h1 = "h1:" + request.lock.modules.at("vpc").hash_value("h1");
  std::string installed_h1 = h1;
  write_text(directory / "installed/main.tf", kLeaf.at("main.tf"));
  files.installed = [&](const ModuleNode& node, std::string_view wanted) {
    BOOST_TEST(node.key == "vpc");
    BOOST_TEST(wanted == h1);
    return wanted == installed_h1 ? std::optional(LocalPackage{directory / "installed"}) : std::nullopt;
  };
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "");
  BOOST_TEST(stats.requests == 0U);
  BOOST_TEST(!std::filesystem::exists(directory / "cache/v2/packages"));

  installed_h1 = "h1:of another tree";
  const auto gone = this->plan();
  BOOST_REQUIRE(!gone);
  BOOST_TEST(exit_code(gone.error()) == 5);
}

BOOST_AUTO_TEST_CASE(plan_continues_past_errors_of_calls_that_are_not_wanted) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", call("vpc", kVpc) + call("gone", "git::https://example.com/gone.git"));
  constrain("vpc", "~> 1.0");
  BOOST_TEST(!plan().has_value());
  request.continues_past_errors = true;
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "module.vpc added: not locked before\n");
  BOOST_TEST(plan.diagnostics.empty());
  BOOST_TEST_REQUIRE(plan.tree.diagnostics.size() == 1U);
  BOOST_TEST(plan.tree.diagnostics[0].what.subject == "module.gone");
  request.wanted.emplace("gone", Version::parse("1.0.0").value());
  BOOST_TEST(!this->plan().has_value());
}

BOOST_AUTO_TEST_CASE(dropped_blocks_that_cannot_be_read_end_a_plan_that_needs_them) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", call("vpc", kVpc + std::string("?ref=v1.0.0")));
  lock();
  files.lost.unreadable = Error{.code = Code::io_error, .message = "no git"};
  BOOST_TEST(plan().has_value());
  request.lock.modules.clear();
  const auto ended = plan();
  BOOST_TEST_REQUIRE(!ended.has_value());
  BOOST_TEST(ended.error().message == "no git");
}

BOOST_AUTO_TEST_CASE(plan_keeps_the_commit_where_a_constraint_is_taken_away) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.0");
  lock();
  request.walk.settings.modules.clear();
  BOOST_TEST(summary(lock()) == "module.vpc constraints-changed: the constraint was ~> 1.0\n");
}

BOOST_AUTO_TEST_CASE(plan_resolves_anew_where_the_named_commit_is_another) {
  source->add_tag(kVpc, "v1.0.0", kLeaf, std::string(40, 'a'));
  source->add_tag(kVpc, "v2.0.0", kLeaf, std::string(40, 'b'));
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", std::string(40, 'a'));
  lock();
  constrain("vpc", std::string(40, 'b'));
  request.mode = PlanMode::frozen;
  BOOST_TEST(summary(*plan()) == "module.vpc updated: the configuration names commit " + std::string(40, 'b') +
                                     ", and " + std::string(40, 'a') + " is locked\n");
  constrain("vpc", "~> 2.0");
  BOOST_TEST(summary(*plan()) ==
             "module.vpc updated: the constraint \"~> 2.0\" requires a version, but the locked commit has none\n");
}

BOOST_AUTO_TEST_SUITE_END()
