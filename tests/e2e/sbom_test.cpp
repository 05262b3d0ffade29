#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

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

BOOST_AUTO_TEST_CASE(a_data_directory_stays_in_the_root_unless_it_is_named) {
  write(".terraform.lock.hcl", kOneModule);
  const std::string elsewhere = path("elsewhere").string();
  std::filesystem::create_directories(elsewhere);
  BOOST_TEST(modlock({"sbom"}).exit_code == 0);  // nothing is installed
  std::filesystem::create_directory_symlink(elsewhere, root() / ".terraform");
  const Ran refused = modlock({"sbom"});
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, refused.err);
  BOOST_TEST(modlock({"sbom", "--data-dir", elsewhere}).exit_code == 0);
  BOOST_TEST(program({"/usr/bin/env", "TF_DATA_DIR=" + elsewhere, binary, "sbom"}).exit_code == 0);
}

// The recipe of docs/sbom.md: another job checks that the SBOM was signed, and that it is of this lock file.
BOOST_AUTO_TEST_CASE(a_signed_sbom_is_checked_in_another_job, *needs("ssh-keygen, cmp, sha256sum")) {
  write(".terraform.lock.hcl", kOneModule);
  const auto run = [this](const std::string& script) { return program({"/bin/sh", "-c", script}); };
  const std::string sbom = "'" + binary + "' sbom --name shop";
  const Ran made = run("ssh-keygen -q -t ed25519 -N '' -C '' -f key && " + sbom +
                       " > bom.cdx.json && ssh-keygen -Y sign -f key -n sbom bom.cdx.json && "
                       "echo \"sbom@example.com namespaces=\\\"sbom\\\" $(cat key.pub)\" > signers");
  BOOST_TEST(made.exit_code == 0, made.out << made.err);
  const std::string verify =
      "ssh-keygen -Y verify -f signers -I sbom@example.com -n sbom -s bom.cdx.json.sig < bom.cdx.json";
  const std::string compare = sbom + " | cmp - bom.cdx.json";
  BOOST_TEST(run(verify).exit_code == 0, run(verify).err);
  BOOST_TEST(run(compare).exit_code == 0);
  const Json::Value lock = parse_json(read("bom.cdx.json")).value()["metadata"]["component"]["externalReferences"][0];
  BOOST_TEST(lock["url"].asString() == ".terraform.lock.hcl");
  BOOST_TEST(lock["hashes"][0]["alg"].asString() == "SHA-256");
  BOOST_TEST(run("sha256sum .terraform.lock.hcl").out.starts_with(lock["hashes"][0]["content"].asString() + " "));
  write(".terraform.lock.hcl", std::string(kOneModule) + "# changed\n");
  BOOST_TEST(run(compare).exit_code == 1);
  write("bom.cdx.json", read("bom.cdx.json") + " ");
  BOOST_TEST(run(verify).exit_code != 0);
}

BOOST_AUTO_TEST_CASE(the_module_blocks_that_apply_are_listed) {
  const std::string provider = "provider \"a/b/c\" {\n  version = \"1.0.0\"\n}\n";
  const std::string sidecar = "module \"b\" {\n  source = \"https://example.com/b.zip\"\n}\n";
  struct Row {
    const char* name;
    const char* settings;
    std::string lock;
    std::string sidecar;
    const char* module;
  };
  for (const Row& row : {
           Row{"only the lock file", "", provider + kOneModule, "", "module.a"},
           Row{"only the sidecar", "", provider, sidecar, "module.b"},
           Row{"both", "", provider + kOneModule, sidecar, "module.b"},
           Row{"a left-over sidecar", "module_lock_file = \"inline\"\n", provider + kOneModule, sidecar, "module.a"},
           Row{"the sidecar by the settings", "module_lock_file = \"sidecar\"\n", provider + kOneModule, sidecar,
               "module.b"},
           Row{"no sidecar yet", "module_lock_file = \"sidecar\"\n", provider + kOneModule, "", "module.a"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write(".tofu-modlock.hcl", row.settings);
      write(".terraform.lock.hcl", row.lock);
      std::filesystem::remove(root() / ".terraform.modules.lock.hcl");
      if (!row.sidecar.empty()) {
        write(".terraform.modules.lock.hcl", row.sidecar);
      }
      const Json::Value bill = parse_json(modlock({"sbom"}).out).value();
      BOOST_TEST_REQUIRE(bill["components"].size() == 2U);
      BOOST_TEST(bill["components"][0]["bom-ref"].asString() == row.module);
      BOOST_TEST(bill["components"][1]["bom-ref"].asString() == "provider.a/b/c");
    }
  }
}

BOOST_AUTO_TEST_CASE(without_a_lock_there_is_no_bill) {
  const Ran ran = modlock({"sbom"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err.find("there is no lock file (.terraform.lock.hcl) in ") != std::string::npos);
  BOOST_TEST(ran.err.find("run `tofu-modlock lock` first") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
