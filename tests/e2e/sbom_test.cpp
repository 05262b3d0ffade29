#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kOneModule = "module \"a\" {\n  source = \"https://example.com/a.zip\"\n}\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sbom_command, Scene)

BOOST_AUTO_TEST_CASE(the_lock_alone_is_read) {
  write("main.tf", "this is no configuration");
  write(".terraform.lock.hcl", kOneModule);
  const Ran first = modlock({"sbom", "--name", "shop"});
  BOOST_TEST(first.err == "");
  BOOST_TEST(first.exit_code == 0);
  const Json::Value bill = parse_json(first.out).value();
  BOOST_TEST(bill["metadata"]["component"]["name"].asString() == "shop");
  BOOST_TEST(bill["components"][0]["bom-ref"].asString() == "module.a");
  BOOST_TEST(modlock({"sbom", "--name", "shop"}).out == first.out);
}

BOOST_AUTO_TEST_CASE(the_sidecar_has_the_modules_where_there_is_one) {
  write(".terraform.lock.hcl", std::string("provider \"a/b/c\" {\n  version = \"1.0.0\"\n}\n") + kOneModule);
  write(".terraform.modules.lock.hcl", "module \"b\" {\n  source = \"https://example.com/b.zip\"\n}\n");
  const Json::Value bill = parse_json(modlock({"sbom"}).out).value();
  BOOST_TEST_REQUIRE(bill["components"].size() == 2U);
  BOOST_TEST(bill["components"][0]["bom-ref"].asString() == "module.b");
  BOOST_TEST(bill["components"][1]["bom-ref"].asString() == "provider.a/b/c");
}

BOOST_AUTO_TEST_CASE(without_a_lock_there_is_no_bill) {
  const Ran ran = modlock({"sbom"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err.find("there is no lock file (.terraform.lock.hcl) in ") != std::string::npos);
  BOOST_TEST(ran.err.find("run `tofu-modlock lock` first") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
