#include "plugin/resolve/provider_plan.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/provider_plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(provider_plan)

namespace {

// aws 1.0.0, 1.1.0 and 2.0.0, null 3.0.0, each for two platforms.
struct Registry {
  FakeProviderSource source;
  Registry() {
    for (const char* version : {"1.0.0", "1.1.0", "2.0.0"}) {
      source.add("aws", version, kPlatforms);
    }
    source.add("null", "3.0.0", kPlatforms);
  }
};

std::string zh(const std::string& name) {
  return fmt::format(" zh:{0}-darwin_arm64 zh:{0}-linux_amd64", name);
}

std::string linux_set(const std::string& name) {
  return fmt::format(" h1:{}-linux_amd64{}", name, zh(name));
}

ProviderPlan plan(const ProviderPlanRequest& request, ProviderSource& source, const Context& context = {}) {
  auto result = plan_providers(request, source, context);
  BOOST_TEST_REQUIRE(result.has_value(), (result ? "" : result.error().message));
  return std::move(*result);
}

}  // namespace

BOOST_AUTO_TEST_CASE(lifecycle) {
  const std::string aws = "provider.registry.opentofu.org/hashicorp/aws";
  struct Row {
    const char* name;
    std::string locked;
    std::vector<ProviderNeed> needs;
    PlanMode mode;
    std::vector<std::string> targets;
    std::string after;
    std::string changes;
  };
  const Row rows[] = {
      {"a first lock",
       "",
       {need_of("aws", {"~> 1.0"}), need_of("null")},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.1.0 [~> 1.0]" + linux_set("aws-1.1.0") + "\nhashicorp/null 3.0.0" + linux_set("null-3.0.0") +
           "\n",
       aws + " added ->1.1.0 [~> 1.0] the root module needs it\n"
             "provider.registry.opentofu.org/hashicorp/null added ->3.0.0 [] the root module needs it\n"},
      {"what is locked stays",
       "aws 1.0.0 [~> 1.0]" + linux_set("aws-1.0.0"),
       {need_of("aws", {"~> 1.0"})},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0 [~> 1.0]" + linux_set("aws-1.0.0") + "\n",
       ""},
      {"other constraints alone are not written",
       "aws 1.0.0 [~> 1.0]" + linux_set("aws-1.0.0"),
       {need_of("aws", {">= 1.0"})},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0 [~> 1.0]" + linux_set("aws-1.0.0") + "\n",
       ""},
      {"with something else they are",
       "aws 1.0.0 [~> 1.0]" + linux_set("aws-1.0.0"),
       {need_of("aws", {">= 1.0"}), need_of("null")},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0 [>= 1.0.0]" + linux_set("aws-1.0.0") + "\nhashicorp/null 3.0.0" + linux_set("null-3.0.0") +
           "\n",
       aws + " constraints-changed 1.0.0->1.0.0 [>= 1.0.0] the constraints were ~> 1.0\n"
             "provider.registry.opentofu.org/hashicorp/null added ->3.0.0 [] the root module needs it\n"},
      {"hashes are extended",
       "aws 1.0.0 zh:aws-1.0.0-linux_amd64",
       {need_of("aws")},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0" + linux_set("aws-1.0.0") + "\n",
       aws + " hashes-added 1.0.0->1.0.0 [] 2 hashes more\n"},
      {"hashes in disorder are sorted",
       "aws 1.0.0 zh:aws-1.0.0-linux_amd64 zh:aws-1.0.0-darwin_arm64 h1:aws-1.0.0-linux_amd64",
       {need_of("aws")},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0" + linux_set("aws-1.0.0") + "\n",
       aws + " hashes-added 1.0.0->1.0.0 [] the hashes were sorted\n"},
      {"hashes of other platforms stay, of unknown schemes go, as the client has it",
       "aws 1.0.0 h1:aws-1.0.0-windows_amd64 h2:x" + zh("aws-1.0.0"),
       {need_of("aws")},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0 h1:aws-1.0.0-linux_amd64 h1:aws-1.0.0-windows_amd64" + zh("aws-1.0.0") + "\n",
       aws + " hashes-added 1.0.0->1.0.0 [] 1 hash more, 1 of unknown schemes removed\n"},
      {"an upgrade replaces version and hashes",
       "aws 1.0.0 h1:other" + linux_set("aws-1.0.0"),
       {need_of("aws", {"~> 1.0"})},
       PlanMode::upgrade,
       {},
       "hashicorp/aws 1.1.0 [~> 1.0]" + linux_set("aws-1.1.0") + "\n",
       aws + " updated 1.0.0->1.1.0 [~> 1.0] a newer version\n"},
      {"an upgrade may go down",
       "aws 2.0.0" + linux_set("aws-2.0.0"),
       {need_of("aws", {"~> 1.0"})},
       PlanMode::upgrade,
       {},
       "hashicorp/aws 1.1.0 [~> 1.0]" + linux_set("aws-1.1.0") + "\n",
       aws + " updated 2.0.0->1.1.0 [~> 1.0] the newest version that the constraints allow is older\n"},
      {"an upgrade to the same version keeps hashes",
       "aws 2.0.0 h1:aws-2.0.0-windows_amd64" + zh("aws-2.0.0"),
       {need_of("aws")},
       PlanMode::upgrade,
       {},
       "hashicorp/aws 2.0.0 h1:aws-2.0.0-linux_amd64 h1:aws-2.0.0-windows_amd64" + zh("aws-2.0.0") + "\n",
       aws + " hashes-added 2.0.0->2.0.0 [] 1 hash more\n"},
      {"only a target is upgraded",
       "aws 1.0.0" + linux_set("aws-1.0.0") + "\nnull 3.0.0" + linux_set("null-3.0.0"),
       {need_of("aws"), need_of("null")},
       PlanMode::upgrade,
       {"null"},
       "hashicorp/aws 1.0.0" + linux_set("aws-1.0.0") + "\nhashicorp/null 3.0.0" + linux_set("null-3.0.0") + "\n",
       ""},
      {"what nobody needs goes",
       "aws 1.0.0" + linux_set("aws-1.0.0"),
       {},
       PlanMode::missing,
       {},
       "",
       aws + " removed 1.0.0-> [] it is no longer needed\n"},
      {"a predecessor gives its version, not its hashes",
       "registry.terraform.io/hashicorp/aws 1.0.0 [~> 1.0] h1:theirs zh:theirs",
       {need_of("aws", {"~> 1.0"})},
       PlanMode::missing,
       {},
       "hashicorp/aws 1.0.0 [~> 1.0]" + linux_set("aws-1.0.0") + "\n",
       aws + " added ->1.0.0 [~> 1.0] in the place of registry.terraform.io/hashicorp/aws\n"
             "provider.registry.terraform.io/hashicorp/aws removed 1.0.0-> [] it is no longer needed\n"},
      {"no predecessor in another namespace",
       "registry.terraform.io/acme/aws 1.0.0",
       {need_of("acme/aws")},
       PlanMode::missing,
       {},
       "acme/aws 4.0.0" + linux_set("aws-4.0.0") + "\n",
       "provider.registry.opentofu.org/acme/aws added ->4.0.0 [] the root module needs it\n"
       "provider.registry.terraform.io/acme/aws removed 1.0.0-> [] it is no longer needed\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Registry registry;
      registry.source.add("acme/aws", "4.0.0", kPlatforms);
      ProviderPlanRequest request = request_of(row.locked, row.needs);
      request.mode = row.mode;
      if (!row.targets.empty()) {
        request.targets.emplace();
        std::transform(row.targets.begin(), row.targets.end(), std::inserter(*request.targets, request.targets->end()),
                       address_of);
      }
      const ProviderPlan result = plan(request, registry.source);
      BOOST_TEST(text_of(result.providers) == row.after);
      BOOST_TEST(text_of(result.changes) == row.changes);
      BOOST_TEST(result.is_written == !row.changes.empty());
      BOOST_TEST(text_of(result.diagnostics) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(hash_sets) {
  struct Row {
    const char* name;
    HashSet set;
    std::vector<std::string> platforms;
    std::string locked;
    std::string hashes;  // of aws 1.0.0
    bool is_written;
  };
  const std::string all = "h1:aws-1.0.0-darwin_arm64 h1:aws-1.0.0-linux_amd64" + zh("aws-1.0.0");
  const std::string published = " h1:published zh:aws-1.0.0-darwin_arm64 zh:aws-1.0.0-linux_amd64 zh:manifest";
  const Row rows[] = {
      {"superset of one platform",
       HashSet::superset,
       {"linux_amd64"},
       "",
       "h1:aws-1.0.0-linux_amd64" + published,
       true},
      {"superset of two", HashSet::superset, kPlatforms, "",
       "h1:aws-1.0.0-darwin_arm64 h1:aws-1.0.0-linux_amd64" + published, true},
      {"init drops unknown schemes",
       HashSet::init,
       {"linux_amd64"},
       "aws 1.0.0 h1:other h2:x zh:aws-1.0.0-linux_amd64",
       "h1:aws-1.0.0-linux_amd64 h1:other" + published,
       true},
      {"init writes nothing that is there",
       HashSet::init,
       {"linux_amd64"},
       "aws 1.0.0 h1:aws-1.0.0-linux_amd64" + published,
       "h1:aws-1.0.0-linux_amd64" + published,
       false},
      {"providers lock keeps what is wrong",
       HashSet::providers_lock,
       {"linux_amd64"},
       "aws 1.0.0 h1:wrong h2:x",
       "h1:aws-1.0.0-linux_amd64 h1:published h1:wrong h2:x zh:aws-1.0.0-darwin_arm64 zh:aws-1.0.0-linux_amd64 "
       "zh:manifest",
       true},
      {"providers lock always writes",
       HashSet::providers_lock,
       {"linux_amd64"},
       "aws 1.0.0 h1:aws-1.0.0-linux_amd64" + published,
       "h1:aws-1.0.0-linux_amd64" + published,
       true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeProviderSource source;
      source.add("aws", "1.0.0", kPlatforms);
      source.publish("aws", "1.0.0", {"h1:published", "zh:manifest"});
      ProviderPlanRequest request = request_of(row.locked, {need_of("aws")});
      request.hashes = row.set;
      request.platforms = platforms_of(row.platforms);
      const ProviderPlan result = plan(request, source);
      BOOST_TEST(text_of(result.providers) == "hashicorp/aws 1.0.0 " + row.hashes + "\n");
      BOOST_TEST(result.is_written == row.is_written);
    }
  }
}

BOOST_AUTO_TEST_CASE(providers_lock_removes_nothing) {
  Registry registry;
  ProviderPlanRequest request = request_of(
      "registry.terraform.io/hashicorp/aws 1.0.0 [~> 1.0] h1:theirs\nnull 2.0.0 h1:n", {need_of("aws", {">= 1.0"})});
  request.hashes = HashSet::providers_lock;
  const ProviderPlan result = plan(request, registry.source);
  BOOST_TEST(text_of(result.providers) == "hashicorp/aws 1.0.0 [>= 1.0.0]" + linux_set("aws-1.0.0") +
                                              "\nhashicorp/null 2.0.0 h1:n\n"
                                              "registry.terraform.io/hashicorp/aws 1.0.0 [~> 1.0] h1:theirs\n");
}

BOOST_AUTO_TEST_CASE(terraform_knows_no_predecessor) {
  FakeProviderSource source;
  source.add("registry.terraform.io/hashicorp/aws", "1.0.0", kPlatforms);
  ProviderPlanRequest request = request_of("registry.terraform.io/hashicorp/aws 1.0.0" + linux_set("aws-1.0.0"),
                                           {need_of("registry.terraform.io/hashicorp/aws")});
  request.tool = ClientKind::terraform;
  BOOST_TEST(!plan(request, source).is_written);
  request.tool = ClientKind::opentofu;
  // OpenTofu compares with what it has added in thought, and writes the file again.
  BOOST_TEST(plan(request, source).is_written);
}

BOOST_AUTO_TEST_CASE(terraform_has_no_predecessor_under_frozen) {
  Registry registry;
  ProviderPlanRequest request =
      request_of("registry.terraform.io/hashicorp/aws 1.0.0", {need_of("registry.terraform.io/hashicorp/aws")});
  request.tool = ClientKind::terraform;
  request.mode = PlanMode::frozen;
  BOOST_TEST(text_of(plan(request, registry.source).changes) == "");
  request.tool = ClientKind::opentofu;
  const auto changes = plan(request, registry.source).changes;
  BOOST_TEST_REQUIRE(changes.size() == 1U);
  BOOST_TEST(!changes.front().is_made_by_lock);
}

BOOST_AUTO_TEST_CASE(what_the_state_needs_is_not_known) {
  Registry registry;
  ProviderPlanRequest request =
      request_of("aws 1.0.0" + linux_set("aws-1.0.0") + "\nnull 3.0.0" + linux_set("null-3.0.0"), {need_of("null")});
  request.unknown_needs = "the state is kept by the backend \"s3\"";
  const ProviderPlan result = plan(request, registry.source);
  BOOST_TEST(!result.is_written);
  BOOST_TEST(text_of(result.diagnostics) ==
             "STATE_UNREAD provider registry.opentofu.org/hashicorp/aws stays locked although it appears to be unused: "
             "the state is kept by the backend \"s3\"\n");
}

BOOST_AUTO_TEST_CASE(frozen_makes_no_requests) {
  Registry registry;
  const std::string aws = "provider.registry.opentofu.org/hashicorp/aws";
  struct Row {
    const char* name;
    std::string locked;
    std::vector<ProviderNeed> needs;
    std::string unknown_needs;
    std::string changes;
  };
  const Row rows[] = {
      {"all is locked", "aws 1.0.0", {need_of("aws", {"~> 1.0"})}, "", ""},
      {"one is missing",
       "",
       {need_of("aws", {"~> 1.0"})},
       "",
       aws + " added -> [~> 1.0] the root module needs it and it is not locked\n"},
      {"one too many", "aws 1.0.0", {}, "", aws + " removed 1.0.0-> [] it is no longer needed\n"},
      {"one too many, for all that is known", "aws 1.0.0", {}, "it is encrypted", ""},
      {"an excluded version",
       "aws 1.0.0",
       {need_of("aws", {"~> 2.0"})},
       "",
       aws + " updated 1.0.0-> [~> 2.0] the constraint ~> 2.0 excludes the locked version 1.0.0\n"},
      {"a predecessor does not count",
       "registry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("aws")},
       "",
       aws + " added -> [] the root module needs it and it is locked under its old address\n"
             "provider.registry.terraform.io/hashicorp/aws removed 1.0.0-> [] it is no longer needed\n"},
      {"a predecessor whose version is excluded",
       "registry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("aws", {"~> 2.0"})},
       "",
       aws + " updated 1.0.0-> [~> 2.0] the constraint ~> 2.0 excludes the locked version 1.0.0\n"
             "provider.registry.terraform.io/hashicorp/aws removed 1.0.0-> [] it is no longer needed\n"},
      {"a predecessor stands for both",
       "registry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("aws"), need_of("registry.terraform.io/hashicorp/aws")},
       "",
       ""},
      {"a predecessor alone is needed",
       "registry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("registry.terraform.io/hashicorp/aws")},
       "",
       aws +
           " removed 1.0.0-> [] OpenTofu also uses the entry of registry.terraform.io/hashicorp/aws for this provider, "
           "which is not needed, and its init -lockfile=readonly rejects that; the source hashicorp/aws avoids it\n"},
      {"a predecessor that nobody needs",
       "registry.terraform.io/hashicorp/aws 1.0.0",
       {},
       "",
       "provider.registry.terraform.io/hashicorp/aws removed 1.0.0-> [] it is no longer needed\n"},
      {"both are locked, the old one is needed",
       "aws 1.0.0\nregistry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("registry.terraform.io/hashicorp/aws")},
       "",
       aws + " removed 1.0.0-> [] it is no longer needed\n"},
      {"both are locked and needed",
       "aws 1.0.0\nregistry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("aws"), need_of("registry.terraform.io/hashicorp/aws")},
       "",
       ""},
      {"a predecessor alone is needed, for all that is known",
       "registry.terraform.io/hashicorp/aws 1.0.0",
       {need_of("registry.terraform.io/hashicorp/aws")},
       "it is encrypted",
       ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProviderPlanRequest request = request_of(row.locked, row.needs);
      request.mode = PlanMode::frozen;
      request.unknown_needs = row.unknown_needs;
      const ProviderPlan result = plan(request, registry.source);
      BOOST_TEST(text_of(result.changes) == row.changes);
      BOOST_TEST(!result.is_written);
    }
  }
  BOOST_TEST(registry.source.listings + registry.source.releases == 0);
}

BOOST_AUTO_TEST_SUITE_END()
