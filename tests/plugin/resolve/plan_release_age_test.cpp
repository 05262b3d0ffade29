// minimum_release_age: what is chosen must have been known for a while.

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

using std::chrono::hours;

const FakeBackend::Files kTree = {{"main.tf", ""}, {"sub/main.tf", ""}};

// A repository that had 1.0.0 four days ago and got 1.1.0 an hour ago; 72 hours are asked for.
struct AgeFixture : PlanFixture {
  AgeFixture() {
    now = SourceFetcher::Time(std::chrono::seconds(1'800'000'000));  // 2027-01-15T08:00:00Z
    call(kVpc);
    constrain("vpc", "~> 1.0");
    source->add_tag(kVpc, "v1.0.0", kTree, kCommitA);
    see(hours(96));
    source->add_tag(kVpc, "v1.1.0", kTree, kCommitB);
    see(hours(1));
    SourceRule rule;
    rule.glob = "git::https://example.com/*";
    rule.minimum_release_age = SourceText{"72h", {".tofu-modlock.hcl", std::nullopt}};
    request.walk.settings.sources.push_back(rule);
  }
  void call(const std::string& source_text) {
    write("main.tf", "module \"vpc\" {\n  source = \"" + source_text + "\"\n}\n");
  }
  // A plan that is not kept, as of some time ago.
  void see(hours ago) {
    now -= ago;
    BOOST_REQUIRE(plan().has_value());
    now += ago;
  }
  std::string locked(const Plan& planned) const { return planned.modules.at("vpc").version.value_or("-"); }
};

constexpr const char* kException =
    "; an exception from minimum_release_age: first seen at 2027-01-15T07:00:00Z; the minimum release age is 3d, but ";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(plan_release_age, AgeFixture)

BOOST_AUTO_TEST_CASE(newest_that_is_old_enough_is_chosen) {
  const Plan young = lock();
  BOOST_TEST(locked(young) == "1.0.0");
  BOOST_TEST(summary(young) == "module.vpc added: not locked before\n");
  BOOST_TEST(young.diagnostics.empty());
  now += hours(70);
  request.mode = PlanMode::upgrade;
  BOOST_TEST(summary(lock()) == "");
  now += hours(1);
  BOOST_TEST(summary(lock()) == "module.vpc updated: another version was chosen\n");
  BOOST_TEST(locked(lock()) == "1.1.0");
}

BOOST_AUTO_TEST_CASE(which_age_holds) {
  struct Row {
    const char* name;
    std::function<void(PlanRequest&)> change;
    std::string expected;
  };
  const auto rule = [](const char* glob, const char* age) {
    SourceRule made;
    made.glob = glob;
    made.minimum_release_age = SourceText{age, {"nearer.hcl", std::nullopt}};
    return made;
  };
  const auto put_first = [](PlanRequest& r, SourceRule first) {
    r.walk.settings.sources.insert(r.walk.settings.sources.begin(), std::move(first));
  };
  const auto of_user = [&](const char* glob, const char* age) {
    SourceRule made = rule(glob, age);
    made.of_user = true;
    return made;
  };
  SourceRule without;
  without.glob = "*";
  without.tag_prefix = SourceText{"", {}};
  const Row rows[] = {
      {"the rule's", [](PlanRequest&) {}, "1.0.0"},
      {"a nearer rule's", [&](PlanRequest& r) { put_first(r, rule("*vpc.git", "30m")); }, "1.1.0"},
      {"a nearer rule for others", [&](PlanRequest& r) { put_first(r, rule("*other.git", "30m")); }, "1.0.0"},
      {"a nearer rule that sets none", [&](PlanRequest& r) { put_first(r, without); }, "1.0.0"},
      {"no rule", [](PlanRequest& r) { r.walk.settings.sources.clear(); }, "1.1.0"},
      {"the user's, which is longer",
       [&](PlanRequest& r) {
         put_first(r, rule("*vpc.git", "0s"));
         r.walk.settings.sources.push_back(of_user("*", "72h"));
       },
       "1.0.0"},
      {"the checkout's, which is longer",
       [&](PlanRequest& r) { r.walk.settings.sources.push_back(of_user("*", "30m")); }, "1.0.0"},
      {"the user's first one that fits",
       [&](PlanRequest& r) {
         r.walk.settings.sources.clear();
         r.walk.settings.sources.push_back(of_user("*vpc.git", "30m"));
         r.walk.settings.sources.push_back(of_user("*", "72h"));
       },
       "1.1.0"},
      {"the request's", [](PlanRequest& r) { r.walk.settings.requested_age = hours(1); }, "1.1.0"},
      {"the request's, without a rule",
       [](PlanRequest& r) {
         r.walk.settings.sources.clear();
         r.walk.settings.requested_age = hours(2);
       },
       "1.0.0"},
  };
  const PlanRequest start = request;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request = start;
      row.change(request);
      const auto planned = plan();
      BOOST_REQUIRE_MESSAGE(planned.has_value(), (planned ? "" : planned.error().message));
      BOOST_TEST(locked(*planned) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rule_for_a_package_only_lengthens_the_age_of_its_directories) {
  call(std::string(kVpc) + "//sub");
  auto& rules = request.walk.settings.sources;
  rules[0].glob = kVpc;
  BOOST_TEST(locked(lock()) == "1.0.0");
  request.lock = {};
  SourceRule longer = rules[0];
  longer.glob = "*";
  rules[0].minimum_release_age = SourceText{"30m", {".tofu-modlock.hcl", std::nullopt}};
  rules.push_back(longer);
  BOOST_TEST(locked(lock()) == "1.0.0");
}

BOOST_AUTO_TEST_CASE(exceptions_are_named_in_the_plan) {
  struct Row {
    const char* name;
    std::string source;
    const char* constraint;  // null: none
    std::optional<std::chrono::seconds> asked;
    bool is_installed;
    std::string expected;
  };
  const std::string git = kVpc;
  const Row rows[] = {
      {"named exactly",
       git,
       "1.1.0",
       {},
       false,
       "added: not locked before" + (kException + std::string("the constraint \"1.1.0\" names it"))},
      {"asked for", git, "~> 1.0", std::chrono::seconds(0), false,
       "added: not locked before" + (kException + std::string("it was requested"))},
      {"installed",
       git,
       "~> 1.0",
       {},
       true,
       "adopted: it is already installed" + (kException + std::string("it is already installed"))},
      {"a tag",
       git + "?ref=v1.1.0",
       nullptr,
       {},
       false,
       "added: not locked before" + (kException + std::string("the configuration names no version to choose"))},
      {"an old tag", git + "?ref=v1.0.0", nullptr, {}, false, "added: not locked before"},
      {"an old version, named exactly", git, "= 1.0.0", {}, false, "added: not locked before"},
  };
  const PlanRequest start = request;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request = start;
      request.walk.settings.modules.clear();
      if (row.constraint != nullptr) {
        constrain("vpc", row.constraint);
      }
      call(row.source);
      request.walk.settings.requested_age = row.asked;
      files.records.clear();
      if (row.is_installed) {
        files.records["vpc"] = {.commit = kCommitB};
      }
      const auto planned = plan();
      BOOST_REQUIRE_MESSAGE(planned.has_value(), (planned ? "" : planned.error().message));
      BOOST_TEST(summary(*planned) == "module.vpc " + row.expected + "\n");
      const bool is_exception = row.expected.find("exception") != std::string::npos;
      BOOST_REQUIRE(planned->diagnostics.size() == (is_exception ? 1U : 0U));
      if (is_exception) {
        const Error& warning = planned->diagnostics[0].what;
        BOOST_TEST(to_string(warning.code) == "SETTING_UNSERVED");
        BOOST_TEST(warning.message ==
                   "the selected version of module \"vpc\" is newer than minimum_release_age allows: first seen at "
                   "2027-01-15T07:00:00Z; the minimum release age is 3d");
        BOOST_TEST(warning.location->path == ".tofu-modlock.hcl");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(source_that_nobody_has_seen_before_has_nothing_old) {
  std::filesystem::remove_all(directory / "cache/v2/seen");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "NO_MATCHING_VERSION");
  BOOST_TEST(planned.error().message ==
             "all matching versions of \"git::https://example.com/vpc.git\" are newer than minimum_release_age (3d): "
             "1.1.0 was first seen at 2027-01-15T08:00:00Z");
  BOOST_TEST(planned.error().hint ==
             "wait until 2027-01-18T08:00:00Z, or after a review select it now with --minimum-release-age 0s or an "
             "exact version; the plan then notes the exception");
}

BOOST_AUTO_TEST_CASE(moved_tag_is_young_again) {
  source->add_tag(kVpc, "v1.0.0", kLeaf, std::string(40, 'c'));
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "NO_MATCHING_VERSION");
}

BOOST_AUTO_TEST_CASE(locked_version_is_never_too_young_to_stay) {
  request.walk.settings.requested_age = std::chrono::seconds(0);
  lock();
  request.walk.settings.requested_age.reset();
  BOOST_TEST(summary(lock()) == "");
  request.mode = PlanMode::upgrade;
  BOOST_TEST(summary(lock()) == "");
  BOOST_TEST(locked(lock()) == "1.1.0");
}

BOOST_AUTO_TEST_CASE(clock_that_was_set_back_makes_nothing_old) {
  now -= hours(24);
  BOOST_TEST(locked(lock()) == "1.0.0");
  request.lock = {};
  now += hours(24 + 70);
  BOOST_TEST(locked(lock()) == "1.0.0");
  request.lock = {};
  now += hours(1);
  BOOST_TEST(locked(lock()) == "1.1.0");
}

BOOST_AUTO_TEST_CASE(calls_that_share_a_version_wait_for_the_longest_age) {
  const std::string deeper = std::string(kVpc) + "//sub";
  source->add_tag(kNested, "v1.0.0", calling("leaf", deeper), std::string(40, 'd'));
  write("main.tf", "module \"outer\" {\n  source = \"" + std::string(kNested) +
                       "?ref=v1.0.0\"\n}\nmodule \"vpc\" {\n  source = \"" + kVpc + "\"\n}\n");
  constrain("outer.leaf", ">= 1.0");
  request.walk.settings.sources[0].glob = "*//sub";  // the deeper call alone
  const Plan planned = lock();
  BOOST_TEST(planned.modules.at("outer.leaf").version.value() == "1.0.0");
  BOOST_TEST(locked(planned) == "1.0.0");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

constexpr const char* kModule = "registry.example.com/acme/vpc/aws";

// A registry module whose versions this cache has never seen; 72 hours are required.
struct RegistryFixture : AgeFixture {
  RegistryFixture() {
    auto backend = std::make_unique<FakeBackend>(SourceKind::registry);
    registry = backend.get();
    backends.add(std::move(backend));
    request.walk.settings.modules.clear();
    request.walk.settings.sources[0].glob = "*";
    write("main.tf", "module \"vpc\" {\n  source  = \"" + std::string(kModule) + "\"\n  version = \"~> 1.0\"\n}\n");
    const std::string package = parse_source(kModule)->source.package_identity();
    registry->add_tag(package, "1.0.0", kTree);
    registry->add_tag(package, "1.1.0", kTree);
  }

  std::string result() {
    const auto planned = plan();
    return planned ? locked(*planned) : std::string(to_string(planned.error().code));
  }

  FakeBackend* registry = nullptr;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(publication_dates, RegistryFixture)

BOOST_AUTO_TEST_CASE(only_trusted_dates_make_a_version_old) {
  struct Row {
    const char* name;
    const char* trusted;
    std::optional<hours> old;    // the claimed age of 1.0.0
    std::optional<hours> newer;  // of 1.1.0
    std::optional<hours> seen;   // how long this cache has known both
    const char* expected;
  };
  const char* own = "registry.example.com";
  const Row rows[] = {
      {"no dates, an empty cache", own, {}, {}, {}, "NO_MATCHING_VERSION"},
      {"no dates, a cache with a past", own, {}, {}, hours(96), "1.1.0"},
      {"trusted", own, hours(96), hours(1), {}, "1.0.0"},
      {"trusted, both old", own, hours(96), hours(73), {}, "1.1.0"},
      {"trusted, and seen long ago under another date", own, hours(96), hours(1), hours(96), "1.0.0"},
      {"the trust is for another host", "registry.opentofu.org", hours(96), hours(96), {}, "NO_MATCHING_VERSION"},
      {"not trusted, but seen long ago", "", hours(300), hours(300), hours(96), "1.1.0"},
      {"a claim that is not trusted lengthens the wait", "", hours(96), hours(1), hours(96), "1.0.0"},
      {"a date in the future", own, hours(96), hours(-5), {}, "1.0.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::filesystem::remove_all(directory / "cache/v2/seen");
      registry->trusted_dates.clear();
      registry->published.clear();
      if (row.seen) {
        request.walk.settings.requested_age = hours(0);
        see(*row.seen);
        request.walk.settings.requested_age.reset();
      }
      registry->trusted_dates = row.trusted;
      for (const auto& [tag, age] : {std::pair("1.0.0", row.old), std::pair("1.1.0", row.newer)}) {
        if (age) {
          registry->published[tag] = now - *age;
        }
      }
      BOOST_TEST(result() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_deprecated_version_is_chosen_only_if_nothing_else_fits) {
  request.walk.settings.sources.clear();
  registry->deprecated["1.1.0"] = "use 2.0";
  BOOST_TEST(locked(lock()) == "1.0.0");
  request.lock = {};
  registry->deprecated["1.0.0"] = "";
  const Plan planned = lock();
  BOOST_TEST(locked(planned) == "1.1.0");
  BOOST_REQUIRE(planned.diagnostics.size() == 1U);
  BOOST_TEST(to_string(planned.diagnostics[0].what.code) == "REGISTRY_NOTICE");
  BOOST_TEST(planned.diagnostics[0].what.message ==
             "version 1.1.0 of module \"vpc\" is deprecated by its registry: use 2.0");
  // A version in use stays, even if an older one is not deprecated.
  registry->deprecated.erase("1.0.0");
  request.mode = PlanMode::upgrade;
  BOOST_TEST(locked(lock()) == "1.1.0");
}

BOOST_AUTO_TEST_SUITE_END()
