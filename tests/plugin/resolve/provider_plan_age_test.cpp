// minimum_release_age of providers: what is chosen must have been known for a while.

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/provider_plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

using std::chrono::hours;
using Time = std::chrono::system_clock::time_point;

const Time kNow{std::chrono::seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

// 1.0.0 is known for four days, 1.1.0 for an hour; 72 hours are asked for.
struct ProviderAgeFixture {
  ProviderAgeFixture() {
    for (const char* version : {"1.0.0", "1.1.0"}) {
      source.add("aws", version, kPlatforms);
    }
    source.know_since("aws", "1.0.0", kNow - hours(96));
    source.know_since("aws", "1.1.0", kNow - hours(1));
    limit("*", "72h");
    ask({"~> 1.0"});
  }

  void limit(const char* glob, const char* age, bool of_user = false) {
    settings.providers.push_back(
        {*SourcePattern::parse(glob), SourceText{age, {".tofu-modlock.hcl", std::nullopt}}, of_user});
  }
  void ask(const std::vector<std::string>& constraints, const std::string& locked = {},
           PlanMode mode = PlanMode::missing) {
    request = request_of(locked, {need_of("aws", constraints)});
    request.mode = mode;
    request.now = kNow;
  }
  // "1.0.0: reason of the change | diagnostics", or the error.
  std::string planned() {
    request.settings = settings;
    const auto plan = plan_providers(request, source, Context{});
    if (!plan) {
      return fmt::format("{} {}", to_string(plan.error().code), plan.error().message);
    }
    std::string text = plan->providers.begin()->second.version.to_string() + ":";
    for (const Change& change : plan->changes) {
      text += " " + change.reason;
    }
    return text + (plan->diagnostics.empty() ? "" : " | " + text_of(plan->diagnostics));
  }

  FakeProviderSource source;
  Settings settings;
  ProviderPlanRequest request;
};

constexpr const char* kSeen = "first seen at 2027-01-15T07:00:00Z; the minimum release age is 3d";

std::string exception(const std::string& why, const std::string& seen = kSeen) {
  return fmt::format(
      "1.1.0: the root module needs it; an exception from minimum_release_age: {0}, but {1} | SETTING_UNSERVED the "
      "selected version of provider registry.opentofu.org/hashicorp/aws is newer than minimum_release_age allows: "
      "{0}\n",
      seen, why);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(provider_plan_age, ProviderAgeFixture)

BOOST_AUTO_TEST_CASE(which_version_is_chosen) {
  const std::string old = "1.0.0: the root module needs it";
  const std::string none =
      "NO_MATCHING_VERSION all matching versions of provider registry.opentofu.org/hashicorp/aws are newer than "
      "minimum_release_age (3d): 1.1.0 was first seen at 2027-01-15T07:00:00Z";
  struct Row {
    const char* name;
    std::function<void()> change;
    std::string expected;
  };
  const Row rows[] = {
      {"newest that is old enough", [] {}, old},
      {"no rule", [&] { settings.providers.clear(); }, "1.1.0: the root module needs it"},
      {"rule for others", [&] { settings.providers.clear(), limit("hashicorp/google", "72h"); },
       "1.1.0: the root module needs it"},
      {"rule without a host", [&] { settings.providers.clear(), limit("hashicorp/aws", "72h"); }, old},
      {"longer age of the user", [&] { settings.providers.clear(), limit("*", "0s"), limit("*", "72h", true); }, old},
      {"longer age of the checkout", [&] { limit("*", "30m", true); }, old},
      {"only versions that are too new", [&] { ask({"~> 1.1"}); }, none},
      {"exact version", [&] { ask({"1.1.0"}); }, exception("the constraint \"1.1.0\" names it")},
      {"exact version of a module",
       [&] {
         ask({"~> 1.0", "vpc: 1.1.0"});
       },
       exception("the constraint \"1.1.0\" names it")},
      {"requested version", [&] { request.wanted.emplace(address_of("aws"), *ProviderVersion::parse("1.1.0")); },
       exception("it was requested")},
      {"age of the request", [&] { settings.requested_age = hours(1); }, exception("it was requested")},
      {"longer age of the request", [&] { settings.providers.clear(), settings.requested_age = hours(2); }, old},
      {"date of the signature", [&] { source.sign("aws", "1.0.0", "K", kNow - hours(71)); },
       "NO_MATCHING_VERSION all matching versions of provider registry.opentofu.org/hashicorp/aws are newer than "
       "minimum_release_age (3d): 1.0.0 was first seen at 2027-01-12T09:00:00Z"},
      {"date of the signature in the future", [&] { source.sign("aws", "1.0.0", "K", kNow + hours(1)); }, none},
      {"earlier date of the signature", [&] { source.sign("aws", "1.1.0", "K", kNow - hours(96)); }, old},
      {"date of the signature of an exact version",
       [&] { ask({"1.1.0"}), source.sign("aws", "1.1.0", "K", kNow - hours(0)); },
       exception("the constraint \"1.1.0\" names it",
                 "its publisher dates it to 2027-01-15T08:00:00Z; the minimum release age is 3d")},
      {"locked version stays", [&] { ask({"~> 1.0"}, "aws 1.1.0 h1:aws-1.1.0-linux_amd64"); }, "1.1.0: 2 hashes more"},
      {"locked version stays in an upgrade",
       [&] { ask({"~> 1.0"}, "aws 1.1.0 h1:aws-1.1.0-linux_amd64", PlanMode::upgrade); }, "1.1.0: 2 hashes more"},
      {"entry of the predecessor", [&] { ask({"~> 1.0"}, "registry.terraform.io/hashicorp/aws 1.0.0 h1:theirs"); },
       "1.0.0: in the place of registry.terraform.io/hashicorp/aws it is no longer needed"},
      {"entry of the predecessor that is too new",
       [&] { ask({"~> 1.0"}, "registry.terraform.io/hashicorp/aws 1.1.0 h1:theirs"); },
       "1.0.0: the root module needs it it is no longer needed"},
      {"entry of the predecessor below a newer version",
       [&] {
         ask({"~> 1.0"}, "registry.terraform.io/hashicorp/aws 1.0.0 h1:theirs");
         source.know_since("aws", "1.1.0", kNow - hours(96));
       },
       "1.0.0: in the place of registry.terraform.io/hashicorp/aws it is no longer needed"},
      {"upgrade", [&] { ask({"~> 1.0"}, "aws 1.0.0 h1:aws-1.0.0-linux_amd64", PlanMode::upgrade); },
       "1.0.0: 2 hashes more"},
      {"denied version",
       [&] {
         settings.deny_rules.push_back({.releases = *ReleasePattern::parse("hashicorp/aws@1.0.0"), .location = {}});
       },
       none},
  };
  const Settings start = settings;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      settings = start;
      source.know_since("aws", "1.1.0", kNow - hours(1));
      source.sign("aws", "1.0.0", "", std::nullopt);
      source.sign("aws", "1.1.0", "", std::nullopt);
      ask({"~> 1.0"});
      row.change();
      BOOST_TEST(planned() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(first_day_and_exception_are_named) {
  ask({"~> 1.1"});
  request.settings = settings;
  const auto plan = plan_providers(request, source, Context{});
  BOOST_TEST_REQUIRE(!plan.has_value());
  BOOST_TEST(plan.error().subject == "provider.registry.opentofu.org/hashicorp/aws");
  BOOST_TEST(to_string(plan.error().location.value()) == "main.tf:2:1");
  BOOST_TEST(plan.error().hint ==
             "wait until 2027-01-18T07:00:00Z, or after a review select it now with --minimum-release-age 0s or an "
             "exact version; the plan then notes the exception");
}

BOOST_AUTO_TEST_SUITE_END()
