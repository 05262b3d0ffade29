// Engine::diff(), with packages in memory.

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(engine_diff, EngineFixture)

namespace {

std::string lines_of(const messages::UpdateDiffResult& result) {
  std::string text;
  for (const messages::ModuleDiff& change : result.changes) {
    text += fmt::format("{} {} -> {}\n", change.subject, change.from ? change.from->version.value_or("") : "none",
                        change.to ? change.to->version.value_or("") : "none");
    for (const messages::DiffFinding& finding : change.findings) {
      text += fmt::format("  {} {} {}\n", finding.grade, finding.rule, finding.call ? to_string(*finding.call) : "");
    }
  }
  return text + modlock::test::lines_of(result.diagnostics);
}

}  // namespace

BOOST_AUTO_TEST_CASE(versions_that_are_compared) {
  struct Row {
    const char* name;
    std::vector<messages::DiffSubject> subjects;
    const char* changes;
  };
  const char* const newest = "module.vpc 1.0.0 -> 1.1.0\n  breaking variable-required main.tf:1:1\n";
  const Row rows[] = {
      {"every update", {}, newest},
      {"the newest allowed", {{"module.vpc", {}, {}}}, newest},
      {"a bare name", {{"vpc", {}, {}}}, newest},
      {"a requested version",
       {{"module.vpc", "2.0.0", {}}},
       "module.vpc 1.0.0 -> 2.0.0\n  risky provider-added \n  risky provisioner \n"},
      {"two versions",
       {{"module.vpc", "2.0.0", "1.1.0"}},
       "module.vpc 1.1.0 -> 2.0.0\n  risky provider-added \n  risky provisioner \n  notable variable-removed \n"},
      {"the locked version", {{"module.vpc", "1.0.0", {}}}, ""},
  };
  lock();
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "variable \"size\" {}\n"}});
  git.add_tag(kVpc, "v2.0.0",
              {{"main.tf", "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {}\n}\n"}});
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto params = of_root<messages::UpdateDiffParams>();
      params.subjects = row.subjects;
      BOOST_TEST(lines_of(succeed(&Engine::diff, params)) == row.changes);
    }
  }
}

BOOST_AUTO_TEST_CASE(another_directory_of_a_package_is_compared) {
  git.add_tag(kVpc, "v1.1.0", {{"a/main.tf", ""}, {"b/main.tf", "variable \"size\" {}\n"}});
  const auto call = [](const std::string& below) {
    return fmt::format("module \"vpc\" {{\n  source = \"{}//{}\"\n}}\n", kVpc, below);
  };
  write("main.tf", call("a"));
  lock();
  auto params = of_root<messages::UpdateDiffParams>();
  params.base = messages::DiffBase{.documents = {{"main.tf", call("a")}}, .lock = read(std::string(kLockFileName))};
  write("main.tf", call("b"));
  lock();
  BOOST_TEST(lines_of(succeed(&Engine::diff, params)) ==
             "module.vpc 1.1.0 -> 1.1.0\n  breaking variable-required main.tf:1:1\n");
}

BOOST_AUTO_TEST_CASE(a_denied_release_is_compared_with_the_next_one) {
  lock();
  auto params = of_root<messages::UpdateDiffParams>();
  params.base = messages::DiffBase{.documents = {}, .lock = read(std::string(kLockFileName))};
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "variable \"size\" {}\n"}});
  lock("upgrade");
  options.cache_directory = directory / "cold";
  open();
  write(kSettings,
        read(kSettings) + "deny \"example.com/vpc\" {\n  versions = \"1.0.0\"\n  reason = \"stolen keys\"\n}\n");
  BOOST_TEST(lines_of(succeed(&Engine::diff, params)) ==
             "module.vpc 1.0.0 -> 1.1.0\n  breaking variable-required main.tf:1:1\n");
}

BOOST_AUTO_TEST_SUITE_END()
