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

// The files of the root are read once for all its calls.
BOOST_AUTO_TEST_CASE(the_use_of_each_call_is_told_apart) {
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "output \"x\" {\n  value = 1\n}\noutput \"y\" {\n  value = 1\n}\n"}});
  std::string text;
  for (const char* const name : {"one", "many", "whole", "unused"}) {
    const bool is_many = std::string_view(name) == "many";
    text += fmt::format("module \"{}\" {{\n  source = \"{}\"\n{}}}\n", name, kVpc, is_many ? "  count = 2\n" : "");
  }
  write("main.tf", text + "output \"a\" {\n  value = [module.one.x, module.many[0].y, module.whole]\n}\n");
  write(kSettings, "source \"*\" {\n  version = \"~> 1.0\"\n}\n");
  lock();
  git.add_tag(kVpc, "v1.2.0", {{"main.tf", ""}});
  BOOST_TEST(lines_of(succeed(&Engine::diff, of_root<messages::UpdateDiffParams>())) ==
             "module.many 1.1.0 -> 1.2.0\n  breaking output-removed main.tf:15:26\n  notable output-removed \n"
             "module.one 1.1.0 -> 1.2.0\n  breaking output-removed main.tf:15:12\n  notable output-removed \n"
             "module.unused 1.1.0 -> 1.2.0\n  notable output-removed \n  notable output-removed \n"
             "module.whole 1.1.0 -> 1.2.0\n  breaking output-removed \n  breaking output-removed \n");
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
