#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

#include "plugin/resolve/provider_plan.h"
#include "tests/plugin/resolve/provider_plan_fixture.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {}  // namespace

BOOST_AUTO_TEST_SUITE(provider_plan_errors)

BOOST_AUTO_TEST_CASE(prior_hashes_are_checked) {
  const std::string name =
      "package for registry.opentofu.org/hashicorp/aws 1.0.0 doesn't match any of the checksums "
      "previously recorded in the dependency lock file";
  const std::string current = "the current " + name;
  const std::string local = "the local " + name +
                            " (this might be because the available checksums are for packages targeting different "
                            "platforms)";
  struct Row {
    const char* name;
    HashSet set;
    std::string locked;
    std::vector<std::string> platforms;
    bool is_mirror;
    std::string message;
  };
  const std::string own = "h1:aws-1.0.0-linux_amd64";
  const Row rows[] = {
      {"h1 matches", HashSet::init, own, {"linux_amd64"}, false, ""},
      {"zh matches beside a wrong h1", HashSet::init, "h1:x zh:aws-1.0.0-linux_amd64", {"linux_amd64"}, false, ""},
      {"nothing matches", HashSet::init, "h1:x zh:y", {"linux_amd64"}, false, current},
      {"nothing matches a superset", HashSet::superset, "h1:x zh:y", {"linux_amd64"}, false, current},
      {"providers lock checks nothing", HashSet::providers_lock, "h1:x zh:y", {"linux_amd64"}, false, ""},
      {"unknown schemes are no hashes", HashSet::init, "h2:x", {"linux_amd64"}, false, ""},
      {"init knows only its platform", HashSet::init, own, {"darwin_arm64"}, false, current},
      {"a superset takes one more platform", HashSet::superset, own, kPlatforms, false, ""},
      {"also where that alone is asked for",
       HashSet::superset,
       "zh:aws-1.0.0-linux_amd64",
       {"darwin_arm64"},
       false,
       ""},
      {"unless an archive that was locked is gone", HashSet::superset, own + " zh:old-darwin", kPlatforms, false,
       current},
      {"a directory that matches", HashSet::init, own, {"linux_amd64"}, true, ""},
      {"a directory beside archives", HashSet::init, "zh:x", {"linux_amd64"}, true, ""},
      {"another directory", HashSet::init, "h1:x zh:y", {"linux_amd64"}, true, local},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeProviderSource source;
      source.add("aws", "1.0.0", kPlatforms);
      if (row.is_mirror) {
        source.make_mirror("aws", "1.0.0");
      }
      ProviderPlanRequest request = request_of("aws 1.0.0 " + row.locked, {need_of("aws")}, row.platforms);
      request.hashes = row.set;
      const auto result = plan_providers(request, source, {});
      BOOST_TEST((result ? "" : result.error().message) == row.message);
      if (!result) {
        BOOST_TEST((result.error().code == Code::hash_mismatch));
        BOOST_TEST(!result.error().hint.empty());
        BOOST_TEST(result.error().notes.size() == 1U);
      }
    }
  }
}

// Before it reads a package there, a client has its digest alone.
BOOST_AUTO_TEST_CASE(an_oci_registry_has_digests) {
  struct Row {
    const char* name;
    HashSet set;
    std::vector<std::string> locked;
    bool is_accepted;
  };
  const Row rows[] = {
      {"the digest", HashSet::init, {"h1:x", "zh:own"}, true},
      {"nothing that a client knows", HashSet::init, {"h2:x"}, true},
      {"the directory alone", HashSet::init, {"h1:own"}, false},
      {"another digest beside the directory", HashSet::init, {"h1:own", "zh:x"}, false},
      {"a superset gets the digest", HashSet::superset, {"h1:own"}, true},
      {"unless another is locked", HashSet::superset, {"h1:own", "zh:x"}, false},
  };
  const ProviderRelease release{
      .packages = {{*Platform::parse("linux_amd64"),
                    {.h1 = "h1:own", .archive_h1 = "h1:own", .zh = "zh:own", .is_compared_by_zh = true}}}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderLock prior{.version = *ProviderVersion::parse("1.0.0"), .hashes = row.locked};
      const auto checked = check_prior_hashes(row.set, need_of("aws"), prior, release);
      BOOST_TEST(checked.has_value() == row.is_accepted);
      if (!checked) {
        BOOST_TEST(checked.error().notes.front() == "the package for linux_amd64 has zh:own");
      }
    }
  }
}

// Clients compare the entries of an archive and record the directory: one that a mirror has, they refuse the next time.
BOOST_AUTO_TEST_CASE(archives_that_are_not_plain) {
  struct Row {
    const char* name;
    HashSet set;
    std::vector<std::string> recorded;
    std::string hashes;
  };
  const Row rows[] = {
      {"of a mirror", HashSet::superset, {"h1:directory"}, "h1:directory h1:entries"},
      {"as init has it", HashSet::init, {"h1:directory"}, "h1:directory"},
      {"as providers lock has it", HashSet::providers_lock, {"h1:directory"}, "h1:directory"},
      {"of a registry", HashSet::superset, {"h1:directory", "zh:own"}, "h1:directory zh:own"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRelease release{
          .packages = {{*Platform::parse("linux_amd64"),
                        {.h1 = "h1:directory", .archive_h1 = "h1:entries", .zh = "zh:own", .recorded = row.recorded}}}};
      BOOST_TEST(fmt::format("{}", fmt::join(complete_hashes(row.set, nullptr, release), " ")) == row.hashes);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_replaced_package_is_told) {
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  const std::string locked =
      "aws 1.0.0 h1:aws-1.0.0-darwin_arm64 h1:aws-1.0.0-linux_amd64 zh:aws-1.0.0-darwin_arm64 "
      "zh:aws-1.0.0-linux_amd64";
  const ProviderPlanRequest request = request_of(locked, {need_of("aws")}, kPlatforms);
  BOOST_TEST(!plan_providers(request, source, {})->is_written);
  source.replace("aws", "1.0.0", "darwin_arm64");
  const auto result = plan_providers(request, source, {});
  BOOST_TEST_REQUIRE(!result.has_value());
  BOOST_TEST((result.error().code == Code::hash_mismatch));
  BOOST_TEST(result.error().notes.front() ==
             "the package for darwin_arm64 has h1:aws-1.0.0-darwin_arm64-replaced and "
             "zh:aws-1.0.0-darwin_arm64-replaced");
}

BOOST_AUTO_TEST_CASE(what_goes_wrong) {
  const std::string aws = "registry.opentofu.org/hashicorp/aws";
  struct Row {
    const char* name;
    HashSet set;
    std::string locked;
    std::vector<ProviderNeed> needs;
    std::vector<std::string> platforms;
    Code code;
    std::string message;
  };
  const Row rows[] = {
      {"no such provider",
       HashSet::superset,
       "",
       {need_of("nobody")},
       {"linux_amd64"},
       Code::not_found,
       "provider registry registry.opentofu.org does not have a provider named "
       "registry.opentofu.org/hashicorp/nobody"},
      {"no such platform",
       HashSet::superset,
       "",
       {need_of("aws")},
       {"linux_amd64", "plan9_arm"},
       Code::not_found,
       "provider " + aws + " 2.0.0 is not available for plan9_arm"},
      {"a locked version that its constraint excludes",
       HashSet::superset,
       "aws 1.0.0",
       {need_of("aws", {"~> 2.0"})},
       {"linux_amd64"},
       Code::constraint_conflict,
       "locked provider " + aws +
           " 1.0.0 does not match configured version constraint ~> 2.0; must use tofu init -upgrade to allow selection "
           "of new versions"},
      {"a locked version is gone",
       HashSet::superset,
       "aws 1.5.0 h1:x",
       {need_of("aws")},
       {"linux_amd64"},
       Code::not_found,
       "provider " + aws + ": the previously-selected version 1.5.0 is no longer available"},
      {"gone for init",
       HashSet::init,
       "aws 1.5.0 h1:x",
       {need_of("aws")},
       {"linux_amd64"},
       Code::not_found,
       "provider " + aws + ": the previously-selected version 1.5.0 is no longer available"},
      {"a locked version lacks a platform",
       HashSet::superset,
       "aws 1.0.0",
       {need_of("aws")},
       {"plan9_arm"},
       Code::not_found,
       "provider " + aws + " 1.0.0 is not available for plan9_arm"},
      {"no version fits",
       HashSet::superset,
       "",
       {need_of("aws", {"> 2.0"})},
       {"linux_amd64"},
       Code::no_matching_version,
       "provider " + aws + ": no available releases match the given constraints > 2.0.0; the newest are: 2.0.0, 1.0.0"},
      {"the worst of several",
       HashSet::superset,
       "aws 1.0.0 h1:wrong",
       {need_of("aws"), need_of("nobody")},
       {"linux_amd64"},
       Code::hash_mismatch,
       "the current package for " + aws +
           " 1.0.0 doesn't match any of the checksums previously recorded in the dependency lock file"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeProviderSource source;
      source.add("aws", "1.0.0", kPlatforms);
      source.add("aws", "2.0.0", kPlatforms);
      ProviderPlanRequest request = request_of(row.locked, row.needs, row.platforms);
      request.hashes = row.set;
      const auto result = plan_providers(request, source, {});
      BOOST_TEST_REQUIRE(!result.has_value());
      BOOST_TEST((result.error().code == row.code));
      BOOST_TEST(result.error().message == row.message);
      BOOST_TEST(result.error().subject == row.needs.front().subject());
      BOOST_TEST(result.error().location.has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(hashes_of_new_releases_are_checked) {
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  source.add("aws", "2.0.0", kPlatforms);
  ProviderPlanRequest request = request_of("", {need_of("aws")});
  const auto planned = plan_providers(request, source, {});
  BOOST_TEST_REQUIRE(planned.has_value());
  for (const std::string& hash : planned->providers.at(address_of("aws")).hashes) {
    BOOST_TEST_CONTEXT(hash) {
      ReleasePattern releases = ReleasePattern::parse("hashicorp/aws").value();
      releases.ids = {hash};
      for (const char* locked : {"", "aws 1.0.0"}) {
        request = request_of(locked, {need_of("aws")});
        request.mode = PlanMode::upgrade;
        request.settings.deny_rules = {{releases, "stolen keys", Location{.path = "user.hcl", .range = {}}}};
        const auto result = plan_providers(request, source, {});
        BOOST_TEST_REQUIRE(!result.has_value());
        BOOST_TEST((result.error().code == Code::release_denied));
        BOOST_TEST(result.error().message ==
                   "2.0.0 of \"registry.opentofu.org/hashicorp/aws\" is denied by \"hashicorp/aws\" in user.hcl: "
                   "stolen keys");
        BOOST_TEST(result.error().hint ==
                   "to select another version, deny this version too, or change the constraints");
        BOOST_TEST(result.error().location.has_value());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_mirror_leaves_the_lock_incomplete) {
  const std::string warning =
      "LOCK_INCOMPLETE Incomplete lock file information for providers: for registry.opentofu.org/hashicorp/aws the "
      "lock file has checksums only for linux_amd64, because no registry was queried\n";
  struct Row {
    const char* name;
    HashSet set;
    std::string locked;
    std::string warnings;
  };
  const Row rows[] = {
      {"at first", HashSet::init, "", warning},
      {"in a superset too", HashSet::superset, "", warning},
      {"not from providers lock", HashSet::providers_lock, "", ""},
      {"not where nothing is written", HashSet::init, "aws 1.0.0 h1:aws-1.0.0-linux_amd64", ""},
      {"not where somebody knew of others", HashSet::init, "aws 1.0.0 zh:x", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeProviderSource source;
      source.add("aws", "1.0.0", kPlatforms);
      source.make_mirror("aws", "1.0.0");
      ProviderPlanRequest request = request_of(row.locked, {need_of("aws")});
      request.hashes = row.set;
      const auto result = plan_providers(request, source, {});
      BOOST_TEST_REQUIRE(result.has_value());
      BOOST_TEST(text_of(result->diagnostics) == row.warnings);
    }
  }
}

BOOST_AUTO_TEST_CASE(providers_of_one_type_from_several_places) {
  struct Row {
    const char* name;
    std::vector<std::string> needs;
    HashSet set = HashSet::superset;
    ClientKind tool = ClientKind::opentofu;
    bool is_warned = false;
  };
  const Row rows[] = {
      {"another registry",
       {"aws", "registry.terraform.io/hashicorp/aws"},
       HashSet::superset,
       ClientKind::opentofu,
       true},
      {"another namespace", {"aws", "opentofu/aws"}, HashSet::init, ClientKind::opentofu, true},
      {"a namespace of somebody else's", {"aws", "acme/aws"}},
      {"another type", {"aws", "opentofu/null"}},
      {"not from providers lock", {"aws", "opentofu/aws"}, HashSet::providers_lock},
      {"not for Terraform", {"aws", "opentofu/aws"}, HashSet::init, ClientKind::terraform},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeProviderSource source;
      std::vector<ProviderNeed> needs;
      for (const std::string& need : row.needs) {
        source.add(need, "1.0.0", kPlatforms);
        needs.push_back(need_of(need));
      }
      ProviderPlanRequest request = request_of("", needs);
      request.hashes = row.set;
      request.tool = row.tool;
      const auto result = plan_providers(request, source, {});
      BOOST_TEST_REQUIRE(result.has_value());
      BOOST_TEST(text_of(result->diagnostics) ==
                 (row.is_warned
                      ? "PROVIDER_AMBIGUOUS Potential provider misconfiguration: there are multiple providers "
                        "of type aws (" +
                            address_of(row.needs[0]).to_string() + ", " + address_of(row.needs[1]).to_string() + ")\n"
                      : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_registry_says_of_a_provider) {
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  source.warn("aws", "It has \x1b[1mmoved\x1b[0m.");
  const auto result = plan_providers(request_of("", {need_of("aws")}), source, {});
  BOOST_TEST_REQUIRE(result.has_value());
  BOOST_TEST(text_of(result->diagnostics) ==
             "REGISTRY_NOTICE registry notice for provider registry.opentofu.org/hashicorp/aws: It has "
             "\\x1b[1mmoved\\x1b[0m.\n");
  BOOST_TEST(plan_providers(request_of("aws 1.0.0", {need_of("aws")}), source, {})->diagnostics.empty());
}

BOOST_AUTO_TEST_CASE(offline_what_is_locked_stays) {
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  const Context offline{.offline = true};
  const auto kept = plan_providers(request_of("aws 1.0.0 h1:x", {need_of("aws")}), source, offline);
  BOOST_TEST_REQUIRE(kept.has_value());
  BOOST_TEST(!kept->is_written);
  ProviderPlanRequest exact = request_of("aws 1.0.0 h1:x", {need_of("aws")});
  exact.hashes = HashSet::init;
  BOOST_TEST((plan_providers(exact, source, offline).error().code == Code::offline_miss));
}

BOOST_AUTO_TEST_CASE(requests_are_counted) {
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  BOOST_TEST(plan_providers(request_of("aws 1.0.0", {need_of("aws")}), source, {}).has_value());
  BOOST_TEST(source.listings == 0);
  BOOST_TEST(source.releases == 1);
  ProviderPlanRequest exact = request_of("aws 1.0.0", {need_of("aws")});
  exact.hashes = HashSet::init;
  BOOST_TEST(plan_providers(exact, source, {}).has_value());
  BOOST_TEST(source.listings == 1);
  BOOST_TEST(source.releases == 2);
}

BOOST_AUTO_TEST_CASE(what_is_known_to_be_complete_costs_no_request) {
  const TemporaryDirectory directory;
  const auto store = Store::open(directory / "cache");
  const ReleaseHashes known(*store, "rules");
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  const auto run = [&](const std::string& locked, HashSet set = HashSet::superset) {
    ProviderPlanRequest request = request_of(locked, {need_of("aws")});
    request.hashes = set;
    request.known = &known;
    source.releases = source.listings = 0;
    const auto result = plan_providers(request, source, {});
    BOOST_TEST_REQUIRE(result.has_value());
    return text_of(result->providers);
  };
  const std::string all = run("");
  BOOST_TEST(source.releases == 1);
  BOOST_TEST(run(all) == all);
  BOOST_TEST(source.releases + source.listings == 0);
  BOOST_TEST(run("aws 1.0.0 h1:more" + all.substr(all.find(" h1:"))) != "");
  BOOST_TEST(source.releases == 1);
  std::string with_unknown_scheme = all;  // which goes
  with_unknown_scheme.insert(all.find(" zh:"), " h2:x");
  BOOST_TEST(run(with_unknown_scheme) == all);
  BOOST_TEST(source.releases == 1);
  BOOST_TEST(run("aws 1.0.0 zh:aws-1.0.0-linux_amd64") == all);
  BOOST_TEST(source.releases == 1);
  BOOST_TEST(run(all, HashSet::init) == all);
  BOOST_TEST(source.releases == 1);
}

BOOST_AUTO_TEST_CASE(signatures_are_told) {
  FakeProviderSource source;
  source.add("aws", "1.0.0", kPlatforms);
  source.sign("aws", "1.0.0", "0123456789ABCDEF");
  const auto result = plan_providers(request_of("", {need_of("aws")}), source, {});
  BOOST_TEST_REQUIRE(result.has_value());
  const ProviderSignature& signature = result->signatures.at(address_of("aws"));
  BOOST_TEST((signature.status == ProviderSignature::Status::signed_by_key));
  BOOST_TEST(signature.key_id == "0123456789ABCDEF");
}

BOOST_AUTO_TEST_CASE(a_cancelled_run_ends) {
  FakeProviderSource source;
  std::stop_source stop;
  stop.request_stop();
  const auto result = plan_providers(request_of("", {need_of("aws")}), source, Context{.stop = stop.get_token()});
  BOOST_TEST_REQUIRE(!result.has_value());
  BOOST_TEST((result.error().code == Code::request_cancelled));
  BOOST_TEST(source.listings == 0);
}

BOOST_AUTO_TEST_SUITE_END()
