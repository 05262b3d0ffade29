// A system that starts no thread, the N-th or any from then on: the work is done without it, or there is an error that
// names the limit. Nothing waits for a thread that never came.

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <functional>

#include "tests/support/archive_writer.h"
#include "tests/support/certificates.h"
#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

constexpr const char* kLimit = "the limit of processes and threads is reached";

// Sends two plans to `serve`, one after the other, and prints a line for each answer.
constexpr const char* kTwoPlans = R"py(
import json, subprocess, sys
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def call(id, method, params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in iter(server.stdout.readline, ""):
        answer = json.loads(line)
        if answer.get("id") == id:
            return answer
    sys.exit(server.wait())
call(1, "initialize", {"protocolVersions": ["1.0"], "clientInfo": {"name": "t", "version": "1"}})
for id in (2, 3):
    answer = call(id, "lock/plan", {"root": sys.argv[1], "include": ["modules"]})
    print(id, answer["error"]["message"] if "error" in answer else "planned", flush=True)
server.stdin.close()
sys.exit(server.wait())
)py";

// A root with an archive that is unpacked while it arrives, one that several threads unpack, and a registry.
struct Threads : SurvivalScene {
  Threads() {
    publish("1.0.0");
    std::string noise;
    for (unsigned i = 0, x = 1; i < 3'000'000; ++i) {
      x = x * 1664525U + 1013904223U;
      noise += static_cast<char>(x >> 24U);
    }
    const std::vector<ArchiveEntry> entries = {{.name = "main.tf", .content = "# \n"}, {.name = "a", .content = noise}};
    server.serve("/a.tar.gz", {.body = compress("gzip", make_tar(entries)), .type = "application/gzip"});
    server.serve("/b.zip", {.body = make_zip(entries), .type = "application/zip"});
    write("main.tf", module_call("a", server.url() + "/a.tar.gz") + module_call("b", server.url() + "/b.zip") +
                         module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws", "~> 1.0"));
    environment["SSL_CERT_FILE"] = authority.certificate().string();
    write_text(path("two_plans.py"), kTwoPlans);
    save();
  }

  // Runs it with each of its starts of a thread refused, alone or with all later ones. Returns how many runs failed.
  int refuse(bool lasting, const std::vector<std::string>& program_and_arguments,
             const std::function<void(const Ran&)>& check) const {
    int failures = 0;
    for (Fault fault{.calls = "thread", .lasting = lasting, .error = EAGAIN}; fault.at < kMostCalls; ++fault.at) {
      restore();
      const Faulted ran = with(fault, program_and_arguments);
      if (ran.met.empty()) {
        return failures;
      }
      BOOST_TEST_CONTEXT("thread " << fault.at) {
        check(ran);
        failures += ran.exit_code == 0 ? 0 : 1;
      }
    }
    BOOST_ERROR("there is no end of the threads");
    return failures;
  }

  static void check_named(const Ran& ran) {
    if (ran.exit_code != 0) {
      BOOST_TEST(ran.exit_code == 1, ran.exit_code << ran.err);
      BOOST_TEST(ran.err.find(kLimit) != std::string::npos, ran.err);
      BOOST_TEST(ran.err.find("hint: raise it (ulimit -u)") != std::string::npos, ran.err);
    }
  }

  CertificateAuthority authority{path("")};
  ModuleRegistry server{authority.issue("127.0.0.1")};
};

BOOST_FIXTURE_TEST_SUITE(threads, Threads, *boost::unit_test::precondition(may_trace))

BOOST_AUTO_TEST_CASE(packages_are_fetched_or_the_limit_is_named) {
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  const std::string locked = lock();
  for (const bool lasting : {false, true}) {
    const auto check = [&](const Ran& ran) {
      check_named(ran);
      BOOST_TEST((ran.exit_code != 0 || lock() == locked));
    };
    BOOST_TEST(refuse(lasting, {binary, "lock", "--install"}, check) > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_mirror_starts_with_all_its_threads_or_not) {
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  save();
  for (const bool lasting : {false, true}) {
    BOOST_TEST(refuse(lasting, {binary, "mirror", "--", "true"}, check_named) > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_session_recovers) {
  int recovered = 0;
  refuse(false, {"python3", path("two_plans.py").string(), root().string(), binary, "serve"}, [&](const Ran& ran) {
    if (ran.exit_code == 0) {
      const std::size_t failures = occurrences(ran.out, kLimit);
      BOOST_TEST((failures <= 1U && occurrences(ran.out, " planned\n") == 2U - failures), ran.out);
      recovered += failures == 1U && ran.out.ends_with("3 planned\n") ? 1 : 0;
    } else {
      check_named(ran);  // not even one thread for requests
    }
  });
  BOOST_TEST(recovered > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
