// Engine::versions(), with packages in memory.

#include <algorithm>
#include <functional>

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(engine_versions, EngineFixture)

namespace {

std::string text_of(const messages::VersionsListResult& result) {
  std::string text;
  for (const messages::OfferedVersion& version : result.versions) {
    text += version.version + " ";
  }
  for (const messages::SkippedTag& tag : result.skipped) {
    text += fmt::format("not {} ({}) ", tag.tag, tag.reason);
  }
  return text + "selected " + result.selected.value_or("-");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_constraint_selects_from_what_a_source_offers) {
  for (const char* tag : {"v1.1.0-rc1", "v2.0.0", "latest", "nested/v3.0.0"}) {
    git.add_tag(kVpc, tag, {{"main.tf", tag}});
  }
  registry.add_tag("registry.opentofu.org/modules/acme/vpc/aws", "0.1.0", {{"main.tf", ""}});
  struct Row {
    const char* name;
    messages::VersionsListParams params;
    const char* text;
  };
  const Row rows[] = {
      {"all",
       {.source = kVpc, .constraint = {}, .tag_prefix = {}},
       "2.0.0 1.0.0 not latest (not a semantic version) not nested/v3.0.0 (not a semantic version) selected 2.0.0"},
      {"a constraint",
       {.source = kVpc, .constraint = "~> 1.0", .tag_prefix = {}},
       "2.0.0 1.0.0 not latest (not a semantic version) not nested/v3.0.0 (not a semantic version) selected 1.0.0"},
      {"a constraint that nothing meets",
       {.source = kVpc, .constraint = "~> 4.0", .tag_prefix = {}},
       "2.0.0 1.0.0 not latest (not a semantic version) not nested/v3.0.0 (not a semantic version) selected -"},
      {"prereleases",
       {.source = kVpc, .constraint = {}, .include_prerelease = true, .tag_prefix = {}},
       "2.0.0 1.1.0-rc1 1.0.0 not latest (not a semantic version) not nested/v3.0.0 (not a semantic version) selected "
       "2.0.0"},
      {"a prefix of tags",
       {.source = kVpc, .constraint = {}, .tag_prefix = "nested/"},
       "3.0.0 not latest (other prefix) not v1.0.0 (other prefix) not v1.1.0-rc1 (other prefix) not v2.0.0 (other "
       "prefix) "
       "selected 3.0.0"},
      {"a registry", {.source = "acme/vpc/aws", .constraint = {}, .tag_prefix = {}}, "0.1.0 selected 0.1.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text_of(succeed(&Engine::versions, row.params)) == row.text);
    }
  }
  const auto listed = succeed(&Engine::versions, rows[0].params);
  BOOST_TEST(listed.source == kVpc);
  BOOST_TEST(listed.kind == "git");
  BOOST_TEST(listed.complete);
  BOOST_TEST(listed.versions.back().commit == vpc_1_0);
  BOOST_TEST(listed.versions.back().tag == "v1.0.0");
}

BOOST_AUTO_TEST_CASE(denied_releases_are_listed_and_not_selected) {
  const std::string newest = git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  for (const std::string& rule : {std::string("versions = \"1.1.0\""), "commits = [\"" + newest + "\"]"}) {
    BOOST_TEST_CONTEXT(rule) {
      directory.write("user.hcl", "deny \"*\" {\n  " + rule + "\n}\n");
      options.user_settings = directory / "user.hcl";
      open();
      BOOST_TEST(text_of(succeed(&Engine::versions, {.source = kVpc, .constraint = {}, .tag_prefix = {}})) ==
                 "1.1.0 1.0.0 selected 1.0.0");
    }
  }
}

BOOST_AUTO_TEST_CASE(dates_and_deprecation_of_a_registry) {
  const std::string package = "registry.opentofu.org/modules/acme/vpc/aws";
  for (const char* version : {"0.9.0", "1.0.0", "1.1.0"}) {
    registry.add_tag(package, version, {{"main.tf", ""}});
  }
  registry.published["0.9.0"] = {};  // older than the dates of the registry
  registry.published["1.0.0"] = std::chrono::system_clock::time_point(std::chrono::seconds(1789761695));
  registry.deprecated["1.1.0"] = "use 2.0";
  const auto listed = succeed(
      &Engine::versions, messages::VersionsListParams{.source = "acme/vpc/aws", .constraint = {}, .tag_prefix = {}});
  BOOST_TEST_REQUIRE(listed.versions.size() == 3U);
  BOOST_TEST(listed.selected.value() == "1.0.0");
  BOOST_TEST(listed.versions[0].deprecated.value() == "use 2.0");
  BOOST_TEST(listed.versions[1].published.value() == "2026-09-18T20:01:35Z");
  BOOST_TEST((!listed.versions[1].deprecated && !listed.versions[2].published));
}

// `selected` is what an upgrade selects, which each row compares.
BOOST_AUTO_TEST_CASE(a_call_has_the_versions_and_the_settings_of_its_root) {
  const std::string newest = git.add_tag(kVpc, "v1.2.0", {{"main.tf", "# 1.2\n"}});
  for (const char* tag : {"v1.1.0", "v1.3.0-rc1", "v2.0.0", "nested/v3.0.0"}) {
    git.add_tag(kVpc, tag, {{"main.tf", std::string("# ") + tag}});
  }
  registry.add_tag("registry.opentofu.org/modules/acme/vpc/aws", "0.1.0", {{"main.tf", ""}});
  registry.add_tag("registry.opentofu.org/modules/acme/vpc/aws", "0.2.0", {{"main.tf", ""}});
  registry.deprecated["0.2.0"] = "use 0.1";
  const std::string call = read("main.tf");
  const std::string rule = read(kSettings);
  const std::string other = fmt::format("module \"b\" {{\n  source = \"{}\"\n}}\n", kVpc);
  struct Row {
    const char* name;
    std::string configuration;
    std::string settings;
    const char* subject;
    const char* text;  // without skipped tags
  };
  const Row rows[] = {
      {"a constraint", call, rule, "module.vpc", "2.0.0 1.2.0 1.1.0 1.0.0 selected 1.2.0"},
      {"a bare name", call, rule, "vpc", "2.0.0 1.2.0 1.1.0 1.0.0 selected 1.2.0"},
      {"a prerelease that the constraint names", call, "module \"vpc\" {\n  version = \"1.3.0-rc1\"\n}\n", "module.vpc",
       "2.0.0 1.3.0-rc1 1.2.0 1.1.0 1.0.0 selected 1.3.0-rc1"},
      {"a prefix of tags", call, "module \"vpc\" {\n  version    = \">= 1.0\"\n  tag_prefix = \"nested/\"\n}\n",
       "module.vpc", "3.0.0 selected 3.0.0"},
      {"a denied version", call, rule + "deny \"*\" {\n  versions = \"1.2.0\"\n}\n", "module.vpc",
       "2.0.0 1.2.0 1.1.0 1.0.0 selected 1.1.0"},
      {"a denied commit", call, rule + "deny \"*\" {\n  commits = [\"" + newest + "\"]\n}\n", "module.vpc",
       "2.0.0 1.2.0 1.1.0 1.0.0 selected 1.1.0"},
      {"the constraint of another call", call + other, rule + "module \"b\" {\n  version = \"< 1.2\"\n}\n",
       "module.vpc", "2.0.0 1.2.0 1.1.0 1.0.0 selected 1.1.0"},
      {"each call for itself", call + other,
       rule + "module \"b\" {\n  version = \"< 1.2\"\n}\nresolution = \"per-call\"\n", "module.vpc",
       "2.0.0 1.2.0 1.1.0 1.0.0 selected 1.2.0"},
      {"a tag that the source names", fmt::format("module \"vpc\" {{\n  source = \"{}?ref=v1.0.0\"\n}}\n", kVpc), "",
       "module.vpc", "2.0.0 1.2.0 1.1.0 1.0.0 selected -"},
      {"a deprecated version", "module \"vpc\" {\n  source = \"acme/vpc/aws\"\n}\n", "", "module.vpc",
       "0.2.0 0.1.0 selected 0.1.0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", row.configuration);
      write(kSettings, row.settings);
      messages::VersionsListParams params;
      params.call = of_root<messages::CallOfRoot>();
      params.call->subject = row.subject;
      auto listed = succeed(&Engine::versions, params);
      listed.skipped.clear();
      BOOST_TEST(text_of(listed) == row.text);
      const auto planned = succeed(&Engine::plan, plan_params("upgrade"));
      const auto module = std::find_if(planned.modules.begin(), planned.modules.end(),
                                       [](const auto& one) { return one.key == "vpc"; });
      BOOST_REQUIRE((module != planned.modules.end()));
      BOOST_TEST(listed.selected.value_or("") == module->version.value_or(""));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_no_version_fits_has_a_warning) {
  messages::VersionsListParams params;
  params.call = of_root<messages::CallOfRoot>();
  params.call->subject = "module.vpc";
  write(kSettings, "source \"*\" {\n  minimum_release_age = \"3d\"\n}\n" + read(kSettings));
  auto listed = succeed(&Engine::versions, params);
  BOOST_TEST(text_of(listed) == "1.0.0 selected -");
  BOOST_TEST_REQUIRE(listed.diagnostics.size() == 1U);
  BOOST_TEST(listed.diagnostics.front().what.message ==
             outcome(call(&Engine::plan, plan_params("upgrade"))).substr(std::string("NO_MATCHING_VERSION: ").size()));
  write(kSettings, "module \"vpc\" {\n  version = \"~> 4.0\"\n}\n");
  listed = succeed(&Engine::versions, params);
  BOOST_TEST(text_of(listed) == "1.0.0 selected -");
  BOOST_TEST(lines_of(listed.diagnostics) ==
             "warning NO_MATCHING_VERSION: no version of \"git::https://example.com/vpc.git\" matches the constraint "
             "\"~> 4.0\" of module \"vpc\"; the newest are: 1.0.0\n");
}

BOOST_AUTO_TEST_CASE(subjects_without_versions) {
  write("main.tf", read("main.tf") +
                       "module \"own\" {\n  source = \"./own\"\n}\nvariable \"where\" {}\n"
                       "module \"later\" {\n  source = var.where\n}\n");
  write("own/main.tf", "");
  for (const auto& [subject, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"module.none", "INVALID_PARAMS: \"module.none\" matches no module call or provider"},
           {"git::https://example.com/dns.git",
            "INVALID_PARAMS: expected a module call, found \"git::https://example.com/dns.git\""},
           {"provider.hashicorp/aws", "INVALID_PARAMS: expected a module call, found \"provider.hashicorp/aws\""},
           {"module.own", "SOURCE_UNSUPPORTED: module.own has no source with versions"},
           {"module.later", "SOURCE_UNSUPPORTED: module.later has no source with versions"},
       }) {
    BOOST_TEST_CONTEXT(subject) {
      messages::VersionsListParams params;
      params.call = of_root<messages::CallOfRoot>();
      params.call->subject = subject;
      BOOST_TEST(outcome(call(&Engine::versions, params)) == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_listed) {
  struct Row {
    const char* name;
    messages::VersionsListParams params;
    const char* settings;  // of the user
    bool offline;
    const char* outcome;
  };
  const Row rows[] = {
      {"a kind of source that is not supported",
       {.source = "hg::https://h.example/a", .constraint = {}, .tag_prefix = {}},
       "",
       false,
       "SOURCE_UNSUPPORTED: hg sources are not supported (\"hg::https://h.example/a\")"},
      {"a local source",
       {.source = "./local", .constraint = {}, .tag_prefix = {}},
       "",
       false,
       "SOURCE_UNSUPPORTED: local sources are not supported (\"./local\")"},
      {"no address",
       {.source = "", .constraint = {}, .tag_prefix = {}},
       "",
       false,
       "SOURCE_INVALID: the module source \"\" is empty"},
      {"a constraint that is none",
       {.source = kVpc, .constraint = "~~ 1", .tag_prefix = {}},
       "",
       false,
       "CONSTRAINT_SYNTAX: \"~~ 1\" is not a version constraint: item \"~~ 1\" must be an optional operator (=, !=, >, "
       ">=, <, <=, "
       "~>) and a version"},
      {"denied by the user",
       {.source = kVpc, .constraint = {}, .tag_prefix = {}},
       "deny_sources = [\"git::https://example.com/**\"]\n",
       false,
       "SOURCE_DENIED: the source \"git::https://example.com/vpc.git\" is denied by \"git::https://example.com/**\" in "
       "<directory>/user.hcl:1"},
      {"no repository",
       {.source = "git::https://example.com/dns.git", .constraint = {}, .tag_prefix = {}},
       "",
       false,
       "NOT_FOUND: no such repository: git::https://example.com/dns.git"},
      {"offline",
       {.source = kVpc, .constraint = {}, .tag_prefix = {}},
       "",
       true,
       "OFFLINE_MISS: offline: git::https://example.com/vpc.git is not cached"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write("user.hcl", row.settings);
      options.user_settings = directory / "user.hcl";
      options.offline = row.offline;
      open();
      std::string found = outcome(call(&Engine::versions, row.params));
      if (const std::size_t at = found.find(directory.path().string()); at != std::string::npos) {
        found.replace(at, directory.path().string().size(), "<directory>");
      }
      BOOST_TEST(found == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
