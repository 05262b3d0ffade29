#include "plugin/resolve/explanation.h"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct ExplainFixture : PlanFixture {
  ExplainFixture() {
    now = SourceFetcher::Time(std::chrono::seconds(1'800'000'000));
    source->add_tag(kVpc, "v0.9.0", kLeaf);
    source->add_tag(kVpc, "v1.0.0", kLeaf, kCommitA);
    source->add_tag(kVpc, "v1.1.0", kLeaf, kCommitB);
    source->add_tag(kVpc, "v1.2.0-rc1", kLeaf);
    source->add_tag(kVpc, "v2.0.0", kLeaf);
    source->add_branch(kVpc, "main", kLeaf, kCommitB);
    call("vpc", kVpc);
  }
  void call(const std::string& name, const std::string& source_text) {
    text += "module \"" + name + "\" {\n  source = \"" + source_text + "\"\n}\n";
    write("main.tf", text);
  }

  void ask_for_age(const std::string& age) {
    SourceRule rule;
    rule.glob = "*";
    rule.minimum_release_age = SourceText{age, {"../.tofu-modlock.hcl", std::nullopt}};
    request.walk.settings.sources.push_back(rule);
  }

  Result<messages::LockExplainResult> explained(const std::string& subject) {
    store = Store::open(directory.path() / "cache").value();
    SourceFetcher fetcher(backends, *store, context, std::nullopt, now);
    kept_plan = make_plan(request, fetcher, context, files).value();
    return explain({request, *kept_plan, subject, ".terraform.lock.hcl"}, fetcher, context);
  }

  std::string text;
  Context context;
  std::optional<Store> store;
  std::optional<Plan> kept_plan;
};

// One line for a step: "~> 1.0 [module.vpc main.tf] + 1.1.0 1.0.0 - 2.0.0: why".
std::string chain(const messages::LockExplainResult& explanation) {
  std::string text;
  for (const ExplainedStep& step : explanation.chain) {
    text += step.constraint;
    if (!step.subject.empty() || step.location) {
      text += " [" + step.subject + (step.location ? " " + step.location->path : "") + "]";
    }
    text += " +";
    for (const std::string& version : step.kept) {
      text += " " + version;
    }
    for (const messages::Rejection& version : step.rejected) {
      text += " - " + version.version + ": " + version.why;
    }
    text += "\n";
  }
  return text + "=> " + explanation.selected.reason + "\n";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(explanation, ExplainFixture)

BOOST_AUTO_TEST_CASE(each_constraint_says_what_it_rejects) {
  constrain("vpc", "~> 1.0, != 1.1.0");
  const auto explanation = explained("module.vpc");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(explanation->source == kVpc);
  BOOST_TEST(explanation->selected.version.value() == "1.0.0");
  BOOST_TEST(explanation->selected.ref == "refs/tags/v1.0.0");
  BOOST_TEST(explanation->selected.first_seen == time_text(now));
  BOOST_TEST(chain(*explanation) ==
             "~> 1.0, != 1.1.0 [module.vpc .tofu-modlock.hcl] + 1.0.0 - 2.0.0: \"~> 1.0\" excludes it"
             " - 1.2.0-rc1: \"~> 1.0\" excludes it, as every prerelease - 1.1.0: \"!= 1.1.0\" excludes it"
             " - 0.9.0: \"~> 1.0\" excludes it\n"
             "=> it is the newest remaining version\n");
}

BOOST_AUTO_TEST_CASE(calls_that_share_a_version_all_have_their_say) {
  source->add_tag(kNested, "v1.0.0", calling("leaf", kVpc));
  call("outer", std::string(kNested) + "?ref=v1.0.0");
  constrain("vpc", ">= 1.0");
  constrain("outer.leaf", "< 1.1");
  const auto explanation = explained("module.outer.leaf");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(chain(*explanation) ==
             "< 1.1 [module.outer.leaf .tofu-modlock.hcl] + 1.0.0 0.9.0 - 2.0.0: \"< 1.1\" excludes it"
             " - 1.2.0-rc1: \"< 1.1\" excludes it, as every prerelease - 1.1.0: \"< 1.1\" excludes it\n"
             ">= 1.0 [module.vpc .tofu-modlock.hcl] + 1.0.0 - 0.9.0: \">= 1.0\" excludes it\n"
             "=> it is the newest remaining version\n");
  request.resolution = Resolution::per_call;
  BOOST_TEST(explained("module.outer.leaf")->chain.size() == 1U);
}

BOOST_AUTO_TEST_CASE(locked_version_stays_and_newer_ones_are_named) {
  constrain("vpc", "= 1.0.0");
  lock();
  request.lock.module_ranges["vpc"] = {{4, 1, 90}, {9, 2, 200}};
  constrain("vpc", "~> 1.0");
  const auto explanation = explained("module.vpc");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(chain(*explanation) ==
             "~> 1.0 [module.vpc .tofu-modlock.hcl] + 1.1.0 1.0.0 - 2.0.0: \"~> 1.0\" excludes it"
             " - 1.2.0-rc1: \"~> 1.0\" excludes it, as every prerelease - 0.9.0: \"~> 1.0\" excludes it\n"
             "locked: 1.0.0 [ .terraform.lock.hcl] + 1.0.0 - 1.1.0: newer; only upgrade selects it\n"
             "=> it was selected for \"= 1.0.0\" when it was locked, and the constraints allow it\n");
  BOOST_TEST(explanation->chain[1].location->range->start.line == 4U);
}

BOOST_AUTO_TEST_CASE(renamed_call_is_locked_under_its_former_name) {
  struct Row {
    const char* name;
    std::string source;
    const char* constraint;  // null: none
    std::string expected;
  };
  const std::string tagged = std::string(kVpc) + "?ref=v1.0.0";
  for (const Row& row :
       {Row{"version", kVpc, "~> 1.0.0",
            "~> 1.0.0 [module.network .tofu-modlock.hcl] + 1.0.0 - 2.0.0: \"~> 1.0.0\" excludes it"
            " - 1.2.0-rc1: \"~> 1.0.0\" excludes it, as every prerelease - 1.1.0: \"~> 1.0.0\" excludes it"
            " - 0.9.0: \"~> 1.0.0\" excludes it\n"
            "locked as module.vpc: 1.0.0 [ .terraform.lock.hcl] + 1.0.0\n"
            "=> it was selected for \"~> 1.0.0\" when it was locked as module.vpc, and the constraints allow it; run "
            "tofu-modlock lock to rename the entry\n"},
        Row{"tag", tagged, nullptr,
            "v1.0.0 [module.network main.tf] + git:" + kCommitA + "\nlocked as module.vpc: git:" + kCommitA +
                " [ .terraform.lock.hcl] + git:" + kCommitA +
                "\n=> it was v1.0.0 when it was locked as module.vpc; run tofu-modlock lock to rename the entry\n"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      for (const std::string name : {"vpc", "network"}) {
        text.clear();
        call(name, row.source);
        request.walk.settings.modules.clear();
        if (row.constraint != nullptr) {
          constrain(name, row.constraint);
        }
        if (name == "vpc") {
          lock();
          request.lock.module_ranges["vpc"] = {{4, 1, 90}, {9, 2, 200}};
        }
      }
      const auto explanation = explained("module.network");
      BOOST_TEST_REQUIRE(explanation.has_value());
      BOOST_TEST(chain(*explanation) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(installed_version_stays_in_a_first_lock) {
  constrain("vpc", ">= 1.0");
  files.records["vpc"] = {.commit = kCommitA};
  const auto explanation = explained("module.vpc");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(chain(*explanation).find("installed: 1.0.0 + 1.0.0 - 2.0.0: newer; only --no-adopt selects it") !=
             std::string::npos);
  BOOST_TEST(explanation->selected.reason == "it is installed, and nothing is locked yet");
}

BOOST_AUTO_TEST_CASE(age_rejects_what_is_too_young) {
  constrain("vpc", "~> 1.0");
  source->remove_package(kVpc);
  source->add_tag(kVpc, "v1.0.0", kLeaf, kCommitA);
  BOOST_REQUIRE(plan().has_value());
  now += std::chrono::hours(100);
  source->add_tag(kVpc, "v1.1.0", kLeaf, kCommitB);
  ask_for_age("72h");
  const auto explanation = explained("module.vpc");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(chain(*explanation) ==
             "~> 1.0 [module.vpc .tofu-modlock.hcl] + 1.1.0 1.0.0\n"
             "minimum_release_age = \"3d\" [ ../.tofu-modlock.hcl] + 1.0.0 - 1.1.0: first seen at "
             "2027-01-19T12:00:00Z\n"
             "=> it is the newest remaining version\n");
}

BOOST_AUTO_TEST_CASE(what_is_younger_than_asked_for_is_an_exception) {
  struct Row {
    const char* name;
    std::function<void(ExplainFixture&)> arrange;
    const char* reason;
  };
  const Row rows[] = {
      {"locked, for less was asked for then",
       [](ExplainFixture& f) {
         f.constrain("vpc", "~> 1.0");
         f.lock();
       },
       "it was selected for \"~> 1.0\" when it was locked, and the constraints allow it; an exception from "
       "minimum_release_age: first seen at "
       "2027-01-15T08:00:00Z; the minimum release age is 3d, but a locked version stays"},
      {"less is asked for now",
       [](ExplainFixture& f) {
         f.constrain("vpc", "~> 1.0");
         f.request.walk.settings.requested_age = std::chrono::seconds(0);
       },
       "it is the newest remaining version; an exception from minimum_release_age: first seen at 2027-01-15T08:00:00Z; "
       "the minimum release age is 3d, but it was requested"},
      {"named exactly", [](ExplainFixture& f) { f.constrain("vpc", "1.0.0"); },
       "it is the newest remaining version; an exception from minimum_release_age: first seen at 2027-01-15T08:00:00Z; "
       "the minimum release age is 3d, but the constraint \"1.0.0\" names it"},
      {"a branch", [](ExplainFixture&) {},
       "it is the current content of the source; an exception from minimum_release_age: first seen at "
       "2027-01-15T08:00:00Z; the minimum release age is 3d, but the configuration names no version to choose"},
      {"installed",
       [](ExplainFixture& f) {
         f.constrain("vpc", ">= 1.0");
         f.files.records["vpc"] = {.commit = kCommitA};
       },
       "it is installed, and nothing is locked yet; an exception from minimum_release_age: first seen at "
       "2027-01-15T08:00:00Z; the minimum release age is 3d, but it is already installed"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ExplainFixture scene;
      row.arrange(scene);
      scene.ask_for_age("72h");
      const auto explanation = scene.explained("module.vpc");
      BOOST_REQUIRE(explanation.has_value());
      BOOST_TEST(explanation->selected.reason == row.reason);
      scene.now += std::chrono::hours(72);
      const auto later = scene.explained("module.vpc");
      BOOST_REQUIRE(later.has_value());
      BOOST_TEST(later->selected.reason.find("exception") == std::string::npos, later->selected.reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_source_names_itself) {
  struct Row {
    const char* name;
    std::string source;
    const char* constraint;  // null: none
    std::string expected;
  };
  const std::string git = kVpc;
  const std::string now_text = "=> it is the current content of the source\n";
  const Row rows[] = {
      {"a branch", git, nullptr, "the default branch [module.vpc main.tf] + git:" + kCommitB + "\n" + now_text},
      {"a tag", git + "?ref=v1.0.0", nullptr, "v1.0.0 [module.vpc main.tf] + git:" + kCommitA + "\n" + now_text},
      {"a commit", git, kCommitA.c_str(),
       kCommitA + " [module.vpc .tofu-modlock.hcl] + git:" + kCommitA + "\n" + now_text},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      text.clear();
      call("vpc", row.source);
      request.walk.settings.modules.clear();
      request.lock = {};
      if (row.constraint != nullptr) {
        constrain("vpc", row.constraint);
      }
      const auto explanation = explained("module.vpc");
      BOOST_REQUIRE(explanation.has_value());
      BOOST_TEST(chain(*explanation) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(source_that_does_not_answer_leaves_what_is_locked) {
  constrain("vpc", "~> 1.0");
  lock();
  source->remove_package(kVpc);
  const auto explanation = explained("module.vpc");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(chain(*explanation) ==
             "~> 1.0 [module.vpc .tofu-modlock.hcl] + 1.1.0\nlocked: 1.1.0 + 1.1.0\n"
             "=> it was selected for \"~> 1.0\" when it was locked, and the constraints allow it\n");
  BOOST_REQUIRE(explanation->diagnostics.size() == 1U);
  BOOST_TEST(explanation->diagnostics[0].what.message ==
             "the versions are not known: no such repository: git::https://example.com/vpc.git");
  BOOST_TEST(explanation->selected.first_seen == time_text(now));
}

BOOST_AUTO_TEST_CASE(local_module_has_nothing_to_explain) {
  call("own", "./own");
  write("own/main.tf", "");
  const auto explanation = explained("module.own");
  BOOST_REQUIRE(explanation.has_value());
  BOOST_TEST(explanation->selected.hashes.empty());
  BOOST_TEST(chain(*explanation) == "=> it is part of the module that calls it, and nothing is locked\n");
}

BOOST_AUTO_TEST_CASE(subject_that_is_none) {
  struct Row {
    const char* name;
    const char* subject;
    const char* message;
  };
  const Row rows[] = {
      {"no such call", "module.vcp", "\"module.vcp\" matches no module call or provider"},
      {"a key", "vpc", "\"vpc\" matches no module call or provider"},
      {"nothing", "", "\"\" matches no module call or provider"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto explanation = explained(row.subject);
      BOOST_REQUIRE(!explanation);
      BOOST_TEST(to_string(explanation.error().code) == "INVALID_PARAMS");
      BOOST_TEST(explanation.error().message == row.message);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
