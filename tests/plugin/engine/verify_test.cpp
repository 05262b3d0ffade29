// Engine::verify(), with packages in memory.

#include <functional>

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_verify, EngineFixture)

namespace {

std::string lines_of(const std::vector<messages::Verdict>& verdicts) {
  std::string text;
  for (const messages::Verdict& verdict : verdicts) {
    text += fmt::format("{} {}: {}\n", verdict.subject, to_string(verdict.kind), verdict.detail);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(verdicts_about_what_is_installed) {
  struct Row {
    const char* name;
    std::function<void()> change;
    bool ok;
    const char* verdicts;
  };
  const Row rows[] = {
      {"as locked", [] {}, true, "module.vpc held: \n"},
      {"not installed", [&] { fs::remove_all(directory / "root/.terraform/modules"); }, false,
       "module.vpc missing: it is locked, but not installed\n"},
      {"edited", [&] { write(".terraform/modules/vpc/main.tf", "# other\n"); }, false,
       "module.vpc tampered: 1 file differs from the locked package\n"},
      {"another version is locked",
       [&] {
         git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
         lock("upgrade");
       },
       false, "module.vpc stale: 1.0.0 is installed, 1.1.0 is locked\n"},
      {"not locked", [&] { fs::remove(directory / "root/.terraform.lock.hcl"); }, false,
       "module.vpc not-locked: the lock file has no entry for this call; lock restores it\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(directory / "root");
      make_root("root");
      lock();
      install();
      row.change();
      const auto verified = succeed(&Engine::verify, of_root<messages::LockVerifyParams>());
      BOOST_TEST(lines_of(verified.verdicts) == row.verdicts);
      BOOST_TEST(verified.ok == row.ok);
    }
  }
}

BOOST_AUTO_TEST_CASE(verdicts_about_the_source) {
  lock();
  install();
  auto params = of_root<messages::LockVerifyParams>();
  params.online = true;
  BOOST_TEST(lines_of(succeed(&Engine::verify, params).verdicts) == "module.vpc held: \n");
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  const auto outdated = succeed(&Engine::verify, params);
  BOOST_TEST(outdated.ok);
  BOOST_TEST(lines_of(outdated.verdicts) == "module.vpc update-available: version 1.1.0 is available\n");
  const std::string moved_to = git.add_tag(kVpc, "v1.0.0", {{"main.tf", "# moved\n"}});
  git.distances[{vpc_1_0, moved_to}] = {.descends = true, .commits = 3};
  const auto moved = succeed(&Engine::verify, params);
  BOOST_TEST(!moved.ok);
  BOOST_TEST(lines_of(moved.verdicts) ==
             "module.vpc moved: the tag \"v1.0.0\" was moved from 5a206fc2a7b5 to b9dcc42b8498, 3 commits ahead\n");
  BOOST_TEST(moved.verdicts.at(0).descends.value());
  BOOST_TEST(moved.verdicts.at(0).commits_behind.value() == 3U);
  git.remove_package(kVpc);
  const auto gone = succeed(&Engine::verify, params);
  BOOST_TEST(!gone.ok);
  BOOST_TEST(lines_of(gone.verdicts) == "module.vpc vanished: no such repository: git::https://example.com/vpc.git\n");
}

BOOST_AUTO_TEST_CASE(what_a_verification_refuses) {
  auto params = of_root<messages::LockVerifyParams>();
  params.online = true;
  options.offline = true;
  open();
  BOOST_TEST(outcome(call(&Engine::verify, params)) == "INVALID_PARAMS: lock/verify: online and age exclude offline");
  params.online = false;
  write(kLock, "module \"vpc\" {\n");
  BOOST_TEST(outcome(call(&Engine::verify, params)) ==
             "LOCK_PARSE: the \"{\" of block \"module\" is never closed: expected \"}\" before the end of the file");
  fs::remove(directory / "root/.terraform.lock.hcl");
  write("main.tf", "module\n");
  BOOST_TEST(outcome(call(&Engine::verify, params)) ==
             "CONFIG_PARSE: expected \"=\" or a block after \"module\", found the end of the line");
}

BOOST_AUTO_TEST_SUITE_END()
