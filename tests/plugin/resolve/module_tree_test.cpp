#include "plugin/resolve/module_tree.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(module_tree, PlanFixture)

BOOST_AUTO_TEST_CASE(plan_names_rules_that_cannot_apply) {
  struct Row {
    const char* name;
    const char* source;
    const char* key;
    const char* message;
  };
  const Row rows[] = {
      {"no such call", "git::https://example.com/vpc.git?ref=v1.0.0", "other",
       "the block module \"other\" matches no module call"},
      {"pinned by ref", "git::https://example.com/vpc.git?ref=v1.0.0", "vpc",
       "module \"vpc\" is given a version or a tag prefix, but its source is pinned already: "
       "\"git::https://example.com/vpc.git?ref=v1.0.0\""},
      {"local", "./vpc", "vpc",
       "module \"vpc\" is given a version or a tag prefix, but its source \"./vpc\" has no versions"},
  };
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("vpc/main.tf", "");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request.walk.settings.modules.clear();
      constrain(row.key, "~> 1.0");
      write("main.tf", std::string("module \"vpc\" {\n  source = \"") + row.source + "\"\n}\n");
      const auto planned = plan();
      BOOST_REQUIRE(!planned);
      BOOST_TEST(to_string(planned.error().code) == "CONFIG_PARSE");
      BOOST_TEST(planned.error().message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(plan_ignores_a_rule_of_a_file_above_that_matches_no_call_with_a_note) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
  constrain("vpc", "~> 1.0");
  constrain("other", "~> 2.0");
  for (const char* key : {"vpc", "other"}) {
    request.walk.settings.modules.at(key).is_inherited = true;
  }
  const Plan plan = lock();
  BOOST_TEST(plan.modules.at("vpc").constraints.value() == "~> 1.0");
  BOOST_REQUIRE(plan.diagnostics.size() == 1U);
  BOOST_TEST(to_string(plan.diagnostics[0].severity) == "info");
  BOOST_TEST(plan.diagnostics[0].what.message == "the block module \"other\" matches no module call and is ignored");
}

BOOST_AUTO_TEST_CASE(rule_without_a_call_names_the_nearest_call_unless_it_may_be_for_another_root) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  constrain("vcp", "~> 1.0");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(planned.error().hint == "did you mean \"vpc\"?");
  request.walk.settings.modules.at("vcp").is_inherited = true;
  BOOST_TEST(lock().diagnostics.at(0).what.hint == "");
}

// tofu-modlock finds these references, and unmodified clients reject them.
BOOST_AUTO_TEST_CASE(references_that_clients_reject) {
  struct Row {
    const char* name;
    const char* query;
    std::string_view warning;
  };
  constexpr std::string_view kBranch = "unmodified clients find it only if it is the default branch";
  constexpr std::string_view kDepth = "unmodified clients cannot clone a commit with depth";
  const Row rows[] = {
      {"a full branch name", "?ref=refs/heads/main", kBranch},
      {"a branch", "?ref=main", ""},
      {"a full tag name", "?ref=refs/tags/v1", ""},
      {"a commit with depth", "?depth=1&ref=8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807", kDepth},
      {"a commit", "?ref=8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807", ""},
      {"a part of a commit id with depth", "?depth=1&ref=8f2c0d0b", kDepth},
      {"a step to an ancestor with depth", "?depth=1&ref=main~1", kDepth},
      {"a commit with depth 0", "?depth=0&ref=8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807", ""},
      {"a tag with depth", "?depth=1&ref=v1", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf",
            fmt::format("module \"vpc\" {{\n  source = \"git::https://example.com/vpc.git{}\"\n}}\n", row.query));
      const auto tree = walk_modules(request.walk, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
      BOOST_TEST_REQUIRE(tree.has_value());
      BOOST_TEST_REQUIRE(tree->diagnostics.size() == (row.warning.empty() ? 0U : 1U));
      if (!row.warning.empty()) {
        const Diagnostic& found = tree->diagnostics.front();
        BOOST_TEST((found.severity == Severity::warning));
        BOOST_TEST((found.what.code == Code::lock_unenforced));
        BOOST_TEST(found.what.message.ends_with(row.warning), found.what.message);
      }
    }
  }
}

// With a version, the clients read the source as the address of a registry module.
BOOST_AUTO_TEST_CASE(a_registry_host_without_a_dot_is_an_error) {
  struct Row {
    const char* name;
    const char* source;
    const char* version;
    std::string_view error;
  };
  const Row rows[] = {
      {"a name", "registry/foo/bar/aws", "1.0.0",
       "the module source \"registry/foo/bar/aws\" has a registry host without a dot"},
      {"with a port", "localhost:8080/foo/bar/aws", "1.0.0",
       "the module source \"localhost:8080/foo/bar/aws\" has a registry host without a dot"},
      {"with a directory", "localhost:8080/foo/bar/aws//net", "1.0.0",
       "the module source \"localhost:8080/foo/bar/aws//net\" has a registry host without a dot"},
      {"no version", "registry/foo/bar/aws", "",
       "the module source \"registry/foo/bar/aws\" is not a known kind of source"},
      {"no version, with a port", "localhost:8080/foo/bar/aws", "", ""},
      {"no host", "foo/bar/aws", "1.0.0", ""},
      {"a host", "example.com/foo/bar/aws", "1.0.0", ""},
      {"another scheme", "hg::https://hg.example.com/b/x", "1.0.0", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", fmt::format("module \"vpc\" {{\n  source = \"{}\"\n{}}}\n", row.source,
                                   *row.version == 0 ? "" : fmt::format("  version = \"{}\"\n", row.version)));
      const auto tree = walk_modules(request.walk, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
      BOOST_TEST_REQUIRE(tree.has_value());
      BOOST_TEST_REQUIRE(tree->diagnostics.size() == (row.error.empty() ? 0U : 1U));
      if (!row.error.empty()) {
        BOOST_TEST((tree->diagnostics.front().what.code == Code::source_invalid));
        BOOST_TEST(tree->diagnostics.front().what.message == row.error);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(plan_expands_a_subdirectory_pattern_that_fits_once) {
  source->add_tag(kVpc, "v1.0.0", {{"modules/net-a/main.tf", ""}, {"modules/db/main.tf", ""}});
  struct Row {
    const char* name;
    const char* subdir;
    const char* outcome;
  };
  const Row rows[] = {
      {"fits once", "modules/net-*", ".terraform/modules/vpc/modules/net-a"},
      {"two patterns", "m*s/d*", ".terraform/modules/vpc/modules/db"},
      {"fits twice", "modules/*",
       "\"modules/*\" matches more than one directory of the package: \"modules/db\" and \"modules/net-a\""},
      {"fits nowhere", "modules/x*", "no directory of the package matches \"modules/x*\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", std::string("module \"vpc\" {\n  source = \"git::https://example.com/vpc.git//") + row.subdir +
                           "?ref=v1.0.0\"\n}\n");
      const auto planned = plan();
      const std::string found = planned                         ? planned->tree.nodes.at("vpc").manifest_directory
                                : planned.error().notes.empty() ? planned.error().message
                                                                : planned.error().notes.front();
      BOOST_TEST(found == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(plan_records_local_modules_where_links_lead) {
  write("real/main.tf", "");
  std::filesystem::create_directory_symlink("real", request.walk.root / "link");
  write("main.tf", "module \"own\" {\n  source = \"./link\"\n}\n");
  BOOST_TEST(lock().tree.nodes.at("own").manifest_directory == "real");
}

BOOST_AUTO_TEST_CASE(plan_says_why_a_link_cannot_be_followed) {
  std::filesystem::create_directory_symlink("link", request.walk.root / "link");
  write("main.tf", "module \"own\" {\n  source = \"./link\"\n}\n");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "IO_ERROR");
  BOOST_TEST(planned.error().message == "the local source \"./link\" of module \"own\" cannot be followed");
}

BOOST_AUTO_TEST_CASE(plan_walks_packages_and_their_local_modules) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(
      kVpc, "v1.0.0",
      {{"main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n"},
       {"inner/main.tf", "module \"leaf\" {\n  source = \"git::https://example.com/nested.git?ref=v1.0.0\"\n}\n"}});
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  const Plan plan = lock();
  std::string keys;
  for (const auto& [key, node] : plan.tree.nodes) {
    keys += key + "=" + node.manifest_directory + " ";
  }
  BOOST_TEST(keys ==
             "vpc=.terraform/modules/vpc vpc.inner=.terraform/modules/vpc/inner "
             "vpc.inner.leaf=.terraform/modules/vpc.inner.leaf ");
  BOOST_TEST(plan.modules.size() == 2U);
}

BOOST_AUTO_TEST_CASE(plan_stops_at_packages_that_call_themselves_twice) {
  source->add_tag(kVpc, "v1.0.0",
                  {{"main.tf",
                    "module \"x\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n"
                    "module \"y\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n"}});
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "LIMIT_EXCEEDED");
  BOOST_TEST(planned.error().message == "module \"vpc.x\" calls itself: its files are those of module \"vpc\"");
}

BOOST_AUTO_TEST_CASE(a_module_that_calls_itself_hides_no_other_call) {
  write("main.tf",
        "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n  source = \"./b\"\n}\n"
        "module \"self\" {\n  source = \"./\"\n}\n");
  write("a/main.tf", "module \"again\" {\n  source = \"../a\"\n}\nmodule \"c\" {\n  source = \"../b\"\n}\n");
  write("b/main.tf", "");
  const auto tree = walk_modules(request.walk, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
  BOOST_TEST_REQUIRE(tree.has_value());
  std::string found;
  for (const auto& [key, node] : tree->nodes) {
    found += key + " ";
  }
  BOOST_TEST(found == "a a.again a.c b self ");
  for (const Diagnostic& diagnostic : tree->diagnostics) {
    found += diagnostic.what.message + "; ";
  }
  BOOST_TEST(found ==
             "a a.again a.c b self module \"a.again\" calls itself: its files are those of module \"a\"; module "
             "\"self\" calls itself: its files are those of the root module; ");
  BOOST_TEST(!tree->complete);
}

// The run block is in a test file, not in the root module.
BOOST_AUTO_TEST_CASE(a_module_of_a_test_may_call_the_root_module) {
  write("main.tf", "module \"a\" {\n  source = \"./a\"\n}\n");
  write("a/main.tf", "");
  write("tests/x.tftest.hcl", "run \"r\" {\n  module {\n    source = \"./harness\"\n  }\n}\n");
  write("harness/main.tf", "module \"root\" {\n  source = \"../\"\n}\n");
  const auto tree = walk_modules(request.walk, [](std::span<ModuleNode* const>) { return Result<void>(); }, {});
  BOOST_TEST_REQUIRE(tree.has_value());
  std::string found;
  for (const auto& [key, node] : tree->nodes) {
    found += key + " ";
  }
  BOOST_TEST(found == "a test.tests.x.r test.tests.x.r.root test.tests.x.r.root.a ");
  BOOST_TEST(tree->diagnostics.empty());
  BOOST_TEST(tree->complete);
}

BOOST_AUTO_TEST_CASE(plan_stops_at_too_many_calls) {
  for (int level = 0; level < 20; ++level) {
    const std::string next = "\" {\n  source = \"../d" + std::to_string(level + 1) + "\"\n}\n";
    write("d" + std::to_string(level) + "/main.tf", "module \"x" + next + "module \"y" + next);
  }
  write("d20/main.tf", "");
  write("main.tf", "module \"d\" {\n  source = \"./d0\"\n}\n");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(planned.error().message == "the configuration has more than 200000 module calls");
}

BOOST_AUTO_TEST_CASE(plan_stops_at_modules_that_call_themselves) {
  write("main.tf", "module \"self\" {\n  source = \"./\"\n}\n");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "LIMIT_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(plan_leaves_sources_that_nobody_serves) {
  write("main.tf", "module \"vpc\" {\n  source = \"terraform-aws-modules/vpc/aws\"\n}\n");
  request.lock.modules["vpc"] = {.key = "vpc", .version = "1.0.0", .source = "x", .hashes = {"h1:y"}};
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "");
  BOOST_TEST(plan.modules.count("vpc") == 1U);
  BOOST_REQUIRE(plan.diagnostics.size() == 1U);
  BOOST_TEST(to_string(plan.diagnostics[0].what.code) == "SOURCE_UNSUPPORTED");
}

BOOST_AUTO_TEST_CASE(plan_reports_all_calls_that_fail) {
  write("main.tf",
        "module \"a\" {\n  source = \"git::https://example.com/a.git?ref=v1\"\n}\n"
        "module \"b\" {\n  source = \"git::https://example.com/b.git?ref=v1\"\n}\n");
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(planned.error().subject == "module.a");
  BOOST_REQUIRE(planned.error().related.size() == 1U);
  BOOST_TEST(planned.error().related[0].location.path == "main.tf");
}

BOOST_AUTO_TEST_SUITE_END()
