#include "plugin/mirror/mirrored_modules.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kNet = "registry.example.com/modules/acme/net/aws";

std::string versioned_call(const std::string& name, const std::string& version,
                           const std::string& source = "registry.example.com/acme/net/aws") {
  return "module \"" + name + "\" {\n  source  = \"" + source + "\"\n  version = \"" + version + "\"\n}\n";
}

std::string git_call(const std::string& name, const std::string& more) {
  return "module \"" + name + "\" {\n  source = \"" + kVpc + more + "\"\n}\n";
}

struct MirrorFixture : PlanFixture {
  MirrorFixture() {
    auto backend = std::make_unique<FakeBackend>(SourceKind::registry);
    registry = backend.get();
    backends.add(std::move(backend));
    for (const char* version : {"1.0.0", "1.1.0"}) {
      registry->add_tag(kNet, version, {{"main.tf", "# " + std::string(version) + "\n"}, {"sub/main.tf", ""}});
    }
  }
  Result<MirroredModules> modules(const OverridePlan& overrides = {}) { return mirrored_modules(lock(), overrides); }

  FakeBackend* registry = nullptr;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mirrored, MirrorFixture)

BOOST_AUTO_TEST_CASE(registry_modules_have_their_locked_version) {
  write("main.tf",
        versioned_call("a", "1.0.0") + versioned_call("b", "1.0.0", "registry.example.com/acme/net/aws//sub"));
  const auto found = modules();
  BOOST_REQUIRE(found.has_value());
  BOOST_REQUIRE(found->modules.size() == 1U);
  const MirroredModule& module = found->modules.front();
  BOOST_TEST(module.host == "registry.example.com");
  BOOST_TEST(module.name == "acme/net/aws");
  BOOST_TEST(module.version == "1.0.0");
  BOOST_TEST(module.h1.starts_with("h1:"));
  BOOST_TEST(std::filesystem::exists(module.directory / "main.tf"));
  BOOST_TEST(found->warnings.empty());
}

BOOST_AUTO_TEST_CASE(two_versions_of_one_module_are_refused) {
  write("main.tf", versioned_call("a", "1.0.0") + versioned_call("b", "1.1.0"));
  const auto refused = modules();
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "CONSTRAINT_CONFLICT");
  BOOST_TEST(refused.error().message ==
             "module acme/net/aws of registry.example.com is locked to 1.0.0 and to 1.1.0, and a mirror can serve only "
             "one");
  BOOST_TEST(refused.error().hint == "run: tofu-modlock install, then the command without -upgrade");
}

BOOST_AUTO_TEST_CASE(git_sources_have_their_locked_commits) {
  const std::string one = source->add_tag(kVpc, "v1.0.0", kLeaf);
  const std::string two = source->add_branch(kVpc, "main", calling("inner", std::string(kNested) + "?ref=v1"));
  const std::string nested = source->add_tag(kNested, "v1", kLeaf);
  write("main.tf", git_call("a", "?ref=v1.0.0") + git_call("b", "?ref=main") + git_call("c", "?depth=1&ref=main"));
  const auto found = modules();
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->warnings.empty());
  BOOST_REQUIRE(found->repositories.size() == 2U);
  const LockedRepository& vpc = found->repositories.at("https://example.com/vpc.git");
  BOOST_TEST(
      (vpc.references == std::map<std::string, std::string>{{"refs/tags/main", two}, {"refs/tags/v1.0.0", one}}));
  BOOST_TEST(vpc.requests.size() == 2U);
  BOOST_TEST(vpc.requests.at(one).locked);
  BOOST_TEST((found->repositories.at("https://example.com/nested.git").references ==
              std::map<std::string, std::string>{{"refs/tags/v1", nested}}));
}

BOOST_AUTO_TEST_CASE(two_commits_of_one_reference_are_refused) {
  const std::string one = source->add_branch(kVpc, "main", kLeaf);
  write("main.tf", git_call("a", "?ref=main"));
  lock();
  const std::string two = source->add_branch(kVpc, "main", {{"main.tf", "# later\n"}});
  write("main.tf", git_call("a", "?ref=main") + git_call("b", "?ref=main&depth=1"));
  const auto refused = modules();
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "CONSTRAINT_CONFLICT");
  BOOST_TEST(refused.error().message == "main of \"git::https://example.com/vpc.git\" is locked to " + one +
                                            " and to " + two + ", and a mirror can serve only one");
  BOOST_TEST(refused.error().subject == "module.b");
}

BOOST_AUTO_TEST_CASE(other_sources_are_named_once) {
  auto backend = std::make_unique<FakeBackend>(SourceKind::oci);
  backend->add_tag("oci://example.com/vpc?tag=v1.0.0", "v1.0.0", kLeaf);
  backends.add(std::move(backend));
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0~1", kLeaf);
  std::string text = versioned_call("net", "1.0.0") + git_call("x", "?ref=v1.0.0~1") + git_call("y", "?ref=v1.0.0");
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    text += "module \"" + std::string(name) + "\" {\n  source = \"oci://example.com/vpc?tag=v1.0.0\"\n}\n";
  }
  write("main.tf", text);
  const auto found = modules({.writes = {}, .left = {}, .sources = {{"a", ""}}});
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->modules.size() == 1U);
  BOOST_TEST(found->repositories.empty());
  BOOST_REQUIRE(found->warnings.size() == 1U);
  BOOST_TEST(to_string(found->warnings.front().what.code) == "LOCK_UNENFORCED");
  BOOST_TEST(found->warnings.front().what.message ==
             "a mirror cannot serve these, so the command fetches them from their sources: module.b, module.c, "
             "module.d, module.e, module.x and 1 more");
}

BOOST_AUTO_TEST_SUITE_END()
