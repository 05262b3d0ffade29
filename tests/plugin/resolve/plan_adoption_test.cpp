// A first lock keeps what is installed.

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// A repository with 1.0.0 at a, 1.1.0 at b, 2.0.0 at c, which is its main branch too.
struct AdoptionFixture : PlanFixture {
  AdoptionFixture() {
    source->add_tag(kVpc, "v1.0.0", kLeaf, kCommitA);
    source->add_tag(kVpc, "v1.1.0", kLeaf, kCommitB);
    source->add_tag(kVpc, "v2.0.0", kLeaf, kCommitC);
    source->add_branch(kVpc, "main", kLeaf, kCommitC);
    auto backend = std::make_unique<FakeBackend>(SourceKind::registry);
    for (const char* version : {"1.0.0", "1.1.0", "2.0.0"}) {
      backend->add_tag(kRegistry, version, kLeaf);
    }
    registry = backend.get();
    backends.add(std::move(backend));
  }
  static InstalledRecord version(const char* text) { return {.version = Version::parse(text).value()}; }
  static InstalledRecord commit(const std::string& id) { return {.commit = id}; }

  std::map<std::string, InstalledRecord>& installed = files.records;
  FakeBackend* registry = nullptr;
};

// "<version> <commit> <action>: <reason>" of the one call.
std::string outcome(const Plan& plan) {
  const ModuleLock& entry = plan.modules.begin()->second;
  const Change& change = plan.changes.at(0);
  return entry.version.value_or("-") + " " + entry.hash_value("git").substr(0, 1) + " " +
         std::string(to_string(change.action)) + ": " + change.reason;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(plan_adoption, AdoptionFixture)

BOOST_AUTO_TEST_CASE(first_lock_keeps_what_is_installed_and_allowed) {
  struct Row {
    const char* name;
    std::string source;
    const char* constraint;  // of our settings; null: none
    InstalledRecord installed;
    std::string expected;
  };
  const std::string git = kVpc;
  const std::string other = "not locked before, and not what is installed: ";
  const Row rows[] = {
      {"a version's commit", git, "~> 1.0", commit(kCommitA), "1.0.0 a adopted: it is already installed"},
      {"the newest anyway", git, "~> 1.0", commit(kCommitB), "1.1.0 b adopted: it is already installed"},
      {"excluded by the constraint", git, "~> 2.0", commit(kCommitA),
       "2.0.0 c added: " + other + "commit aaaaaaaaaaaa"},
      {"a commit without version", git, "~> 1.0", commit(std::string(40, 'd')),
       "1.1.0 b added: " + other + "commit dddddddddddd"},
      {"the default branch moved on", git, nullptr, commit(kCommitA), "- a adopted: it is already installed"},
      {"a tag that was moved", git + "?ref=v2.0.0", nullptr, commit(kCommitA), "- a adopted: it is already installed"},
      {"a commit as the constraint", git, kCommitA.c_str(), commit(kCommitA), "- a adopted: it is already installed"},
      {"another commit as the constraint", git, kCommitB.c_str(), commit(kCommitA),
       "- b added: " + other + "commit aaaaaaaaaaaa"},
      {"the beginning of its id", git + "?ref=aaaaaaaa", nullptr, commit(kCommitA),
       "- a adopted: it is already installed"},
      {"a registry's version", "acme/vpc/aws", nullptr, version("1.0.0"),
       "1.0.0 "
       "? adopted: it is already installed"},
      {"a registry's, excluded by settings", "acme/vpc/aws", "> 1.0", version("1.0.0"),
       "2.0.0 ? added: " + other + "1.0.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", call("vpc", row.source));
      request.lock = {};
      request.walk.settings.modules.clear();
      if (row.constraint != nullptr) {
        constrain("vpc", row.constraint);
      }
      installed = {{"vpc", row.installed}};
      std::string seen = outcome(lock());
      if (row.source == "acme/vpc/aws") {
        seen[6] = '?';
      }
      BOOST_TEST(seen == row.expected);
      BOOST_TEST(summary(lock()) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(registry_version_is_adopted_with_the_commit_of_its_tree) {
  const std::string id = registry->add_tag(kRegistry, "1.2.0", kLeaf, "git:" + kCommitA);
  registry->add_tag(kRegistry, "1.2.0", calling("new", kVpc), "git:" + kCommitB);  // the tag was moved since
  registry->add_tag(kRegistry, "0.1.0", kLeaf, id);
  write("main.tf", call("vpc", "acme/vpc/aws", "~> 1.0"));
  installed["vpc"] = {.version = Version::parse("1.2.0").value(), .commit = kCommitA};
  const Plan plan = lock();
  BOOST_TEST(outcome(plan) == "1.2.0 a adopted: it is already installed");
  BOOST_TEST(registry->listings == 0);
}

BOOST_AUTO_TEST_CASE(adoption_is_for_a_first_lock_alone) {
  struct Row {
    const char* name;
    std::function<void(PlanRequest&)> change;
    std::string expected;  // version
  };
  const ModuleLock elsewhere{.key = "other", .source = kNested, .hashes = {"git:" + kCommitB, "h1:x"}};
  const ModuleLock of_host{.key = "terragrunt:source", .source = kNested};
  const Row rows[] = {
      {"a first lock", [](PlanRequest&) {}, "1.0.0"},
      {"a block of a host is none of ours", [&](PlanRequest& r) { r.lock.modules[of_host.key] = of_host; }, "1.0.0"},
      {"another call is locked", [&](PlanRequest& r) { r.lock.modules[elsewhere.key] = elsewhere; }, "1.1.0"},
      {"blocks can be restored",
       [&](PlanRequest&) {
         files.lost.modules = {{elsewhere.key, elsewhere}};
       },
       "1.1.0"},
      {"upgrade", [](PlanRequest& r) { r.mode = PlanMode::upgrade; }, "1.1.0"},
      {"upgrade of it",
       [](PlanRequest& r) {
         r.mode = PlanMode::upgrade;
         r.targets = {"module.vpc"};
       },
       "1.1.0"},
      {"upgrade of another",
       [](PlanRequest& r) {
         r.mode = PlanMode::upgrade;
         r.targets = {"module.own"};
       },
       "1.0.0"},
      {"nothing is to be adopted", [&](PlanRequest&) { installed.clear(); }, "1.1.0"},
  };
  write("main.tf", call("vpc", kVpc) + call("own", "./own"));
  write("own/main.tf", "");
  constrain("vpc", "~> 1.0");
  installed["vpc"] = commit(kCommitA);
  const PlanRequest start = request;
  const KnownFiles known = files;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request = start;
      files = known;
      row.change(request);
      const auto planned = plan();
      BOOST_REQUIRE_MESSAGE(planned.has_value(), (planned ? "" : planned.error().message));
      BOOST_TEST(planned->modules.at("vpc").version.value() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(frozen_adopts_nothing) {
  write("main.tf", call("vpc", kVpc));
  installed["vpc"] = commit(kCommitA);
  request.mode = PlanMode::frozen;
  BOOST_TEST(summary(*plan()) == "module.vpc added: not locked\n");
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(calls_that_share_a_version_adopt_the_highest_installed) {
  write("main.tf", call("a", kVpc) + call("b", kVpc));
  constrain("a", "~> 1.0");
  constrain("b", ">= 1.0");
  installed = {{"a", commit(kCommitA)}, {"b", commit(kCommitB)}};
  BOOST_TEST(summary(lock()) ==
             "module.a added: not locked before, and not what is installed: commit aaaaaaaaaaaa\n"
             "module.b adopted: it is already installed\n");
  BOOST_TEST(request.lock.modules.at("a").version.value() == "1.1.0");
}

BOOST_AUTO_TEST_CASE(deeper_call_may_hold_the_installed_version_of_a_shared_one) {
  source->add_tag(kNested, "v1.0.0", calling("leaf", kVpc), std::string(40, 'd'));
  write("main.tf", call("outer", std::string(kNested) + "?ref=v1.0.0") + call("vpc", kVpc));
  constrain("vpc", "~> 1.0");
  constrain("outer.leaf", "~> 1.0");
  installed = {{"outer.leaf", commit(kCommitA)}};
  BOOST_TEST(summary(lock()) ==
             "module.outer added: not locked before\n"
             "module.outer.leaf adopted: it is already installed\n"
             "module.vpc added: not locked before\n");
  BOOST_TEST(request.lock.modules.at("vpc").version.value() == "1.0.0");
}

BOOST_AUTO_TEST_CASE(installed_thing_that_is_gone_is_an_error_that_says_the_way_out) {
  write("main.tf", call("vpc", kVpc));
  installed["vpc"] = commit(std::string(40, 'd'));
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "NOT_FOUND");
  BOOST_TEST(exit_code(planned.error()) == 7);  // nothing is locked that could have vanished
  BOOST_REQUIRE(planned.error().notes.size() == 1U);
  BOOST_TEST(planned.error().notes[0] ==
             "commit dddddddddddd is installed for module \"vpc\", and a first lock keeps it");
  BOOST_TEST(
      planned.error().hint ==
      "to select a version from the source instead, run: tofu-modlock upgrade --target module.vpc, or for all modules: "
      "tofu-modlock lock --no-adopt");
}

BOOST_AUTO_TEST_SUITE_END()
