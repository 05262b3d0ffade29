// Engine::diagnose() on a machine without programs, and the cache that it measures.

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_diagnose, EngineFixture)

namespace {

constexpr const char* kVerdicts[] = {"fine", "warning", "error"};

// Without certificates and proxies, which depend on the machine.
std::string text_of(const std::vector<Finding>& findings, const fs::path& directory) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.check != "certificates" && finding.check != "proxies") {
      text += fmt::format("{} {}: {}\n", finding.check, kVerdicts[static_cast<int>(finding.verdict)], finding.found);
      for (const std::string& detail : finding.details) {
        text += "  " + detail + "\n";
      }
    }
  }
  for (std::size_t at = 0; (at = text.find(directory.string())) != std::string::npos;) {
    text.replace(at, directory.string().size(), "<directory>");
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_machine_without_programs) {
  DiagnoseOptions asked{.root = of_root<messages::LockPlanParams>().root};
  Run diagnosing;
  BOOST_TEST(text_of(engine->diagnose(asked, diagnosing), directory.path()) ==
             "git warning: not on PATH\n"
             "client warning: OpenTofu 1.12.6, specified by options, not on PATH\n"
             "settings fine: effective settings and their sources\n"
             "  module = vpc  (<directory>/root/.tofu-modlock.hcl)\n"
             "cache fine: <directory>/cache (default): 0 packages, 0 git repositories, 0 KiB\n"
             "  writable\n"
             "  on the file system of the root\n"
             "host example.com fine: git: its own credential helpers are queried\n");
  BOOST_TEST(diagnosing.stats().requests == 0U);
  BOOST_TEST(git.listings == 0);
}

BOOST_AUTO_TEST_CASE(settings_that_do_not_parse_are_a_finding) {
  write(kSettings, "surprise = 1\n");
  DiagnoseOptions asked{.root = of_root<messages::LockPlanParams>().root};
  Run diagnosing;
  const auto findings = engine->diagnose(asked, diagnosing);
  const auto settings = std::find_if(findings.begin(), findings.end(),
                                     [](const Finding& finding) { return finding.check == "settings"; });
  BOOST_TEST_REQUIRE((settings != findings.end()));
  BOOST_TEST((settings->verdict == Finding::Verdict::error));
  BOOST_TEST(settings->found == "unknown setting \"surprise\" in .tofu-modlock.hcl:1");
  BOOST_TEST(settings->exit_code == 8);
}

BOOST_AUTO_TEST_CASE(the_cache_keeps_what_was_just_locked) {
  lock();
  const auto info = engine->cache_info();
  BOOST_TEST_REQUIRE(info.has_value());
  BOOST_TEST(info->directory == (directory / "cache").string());
  BOOST_TEST(info->sizes.packages == 1U);
  BOOST_TEST(info->sizes.repositories == 0U);
  messages::CachePruneParams params;
  params.max_bytes = 0;
  const auto pruned = succeed(&Engine::prune_cache, params);
  BOOST_TEST(pruned.removed.packages == 0U);  // used within the last hour
  BOOST_TEST(pruned.sizes.packages == 1U);
}

BOOST_AUTO_TEST_CASE(the_age_of_a_package_is_a_duration) {
  struct Row {
    const char* age;
    const char* outcome;
  };
  const Row rows[] = {
      {"720h", "ok"},
      {"30d", "ok"},
      {"soon", "INVALID_PARAMS: the maximum age must be a duration, found \"soon\""},
      {"", "INVALID_PARAMS: the maximum age must be a duration, found \"\""},
      {"-1h", "INVALID_PARAMS: the maximum age must be a duration, found \"-1h\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.age) {
      messages::CachePruneParams params;
      params.max_age = row.age;
      BOOST_TEST(outcome(call(&Engine::prune_cache, params)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
