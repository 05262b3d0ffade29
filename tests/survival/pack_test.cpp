// A pack that arrives over https: on disk before anybody sees it, or not there at all.

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"
#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Packed : SurvivalScene {
  Packed() {
    GitRepository repository(server.repositories() / "net.git");
    repository.commit({{"main.tf", "# 1\n"}});
    repository.commit({{"main.tf", "# 2\n"}, {"sub/x.tf", "# x\n"}});
    repository.tag("v1.0.0");
    environment["SSL_CERT_FILE"] = environment["GIT_SSL_CAINFO"] = server.authority().string();
    write("main.tf", module_call("net", "git::" + server.url("open", "net.git") + "?ref=v1.0.0"));
  }
  fs::path repositories_of_cache() const { return cache() / "v2" / "git"; }
  std::size_t packs() const {
    std::size_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(repositories_of_cache())) {
      found += entry.path().extension() == ".pack" ? 1U : 0U;
      BOOST_TEST(!entry.path().filename().string().starts_with("arriving-"), entry.path());
    }
    return found;
  }

  HttpsGitServer server;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(packed, *boost::unit_test::precondition(may_trace) * needs(HttpsGitServer::kPrograms))

BOOST_FIXTURE_TEST_CASE(a_pack_that_cannot_be_flushed_or_moved, Packed) {
  for (const char* calls : {"sync", "rename"}) {
    Fault fault{.calls = calls, .below = repositories_of_cache(), .error = EIO};
    int failures = 0;
    for (; fault.at < kMostCalls; ++fault.at) {
      fs::remove_all(cache());
      fs::remove(root() / ".terraform.lock.hcl");
      const Faulted ran = modlock_with(fault, {"lock"});
      if (ran.met.empty()) {
        break;
      }
      BOOST_TEST_CONTEXT(ran.met) {
        if (ran.exit_code != 0) {
          ++failures;
          BOOST_TEST(ran.exit_code == 1, ran.err);
          BOOST_TEST(ran.err.find("[IO_ERROR]") != std::string::npos, ran.err);
          BOOST_TEST(!has(".terraform.lock.hcl"));
        }
        const Ran again = modlock({"lock"});
        BOOST_TEST(again.exit_code == 0, again.err);
        BOOST_TEST(packs() == 1U);
      }
    }
    // The pack and its index.
    BOOST_TEST(failures >= 2);
  }
}

BOOST_FIXTURE_TEST_CASE(a_pack_that_was_killed_on_its_way, Packed) {
  Fault fault{.calls = "sync,rename", .below = repositories_of_cache(), .kill = "before"};
  for (; fault.at < kMostCalls; ++fault.at) {
    fs::remove_all(cache());
    fs::remove(root() / ".terraform.lock.hcl");
    const Faulted ran = modlock_with(fault, {"lock"});
    if (ran.met.empty()) {
      break;
    }
    BOOST_TEST_CONTEXT(ran.met) {
      BOOST_TEST(!has(".terraform.lock.hcl"));
      const Ran again = modlock({"lock"});
      BOOST_TEST(again.exit_code == 0, again.err);
      BOOST_TEST(packs() == 1U);
    }
  }
  BOOST_TEST(fault.at > 4U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
