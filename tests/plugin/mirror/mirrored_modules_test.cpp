#include "plugin/mirror/mirrored_modules.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kNet = "registry.example.com/modules/acme/net/aws";

std::string call(const std::string& name, const std::string& version,
                 const std::string& source = "registry.example.com/acme/net/aws") {
  return "module \"" + name + "\" {\n  source  = \"" + source + "\"\n  version = \"" + version + "\"\n}\n";
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
  write("main.tf", call("a", "1.0.0") + call("b", "1.0.0", "registry.example.com/acme/net/aws//sub"));
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
  write("main.tf", call("a", "1.0.0") + call("b", "1.1.0"));
  const auto refused = modules();
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "CONSTRAINT_CONFLICT");
  BOOST_TEST(refused.error().message ==
             "module acme/net/aws of registry.example.com is locked to 1.0.0 and to 1.1.0, and a mirror can serve only "
             "one");
  BOOST_TEST(refused.error().hint == "run: tofu-modlock install, then the command without -upgrade");
}

BOOST_AUTO_TEST_CASE(other_sources_are_named_once) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  std::string text = call("net", "1.0.0");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    text += "module \"" + std::string(name) + "\" {\n  source = \"" + kVpc + "?ref=v1.0.0\"\n}\n";
  }
  write("main.tf", text);
  const auto found = modules({.writes = {}, .left = {}, .sources = {{"a", ""}}});
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->modules.size() == 1U);
  BOOST_REQUIRE(found->warnings.size() == 1U);
  BOOST_TEST(to_string(found->warnings.front().what.code) == "LOCK_UNENFORCED");
  BOOST_TEST(found->warnings.front().what.message ==
             "only registry modules can be mirrored, so the command fetches these from their sources: module.b, "
             "module.c, module.d, module.e, module.f and 1 more");
}

BOOST_AUTO_TEST_SUITE_END()
