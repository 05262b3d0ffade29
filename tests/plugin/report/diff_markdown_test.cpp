#include "plugin/report/diff_markdown.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

namespace {

messages::UpdateDiffResult one_module() {
  messages::UpdateDiffResult result;
  messages::ModuleDiff& diff = result.changes.emplace_back();
  diff.subject = "module.net";
  diff.from = messages::ChangeSide{.version = "1.0.0", .ref = {}, .commit = {}, .digest = {}};
  diff.to = messages::ChangeSide{.version = "1.1.0", .ref = {}, .commit = {}, .digest = {}};
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diff_markdown_text)

BOOST_AUTO_TEST_CASE(all_names_of_files_are_folded) {
  auto result = one_module();
  messages::ModuleDiff& diff = result.changes.front();
  diff.findings.push_back({.rule = "script",
                           .grade = "risky",
                           .message = "the script or binary run.sh was added",
                           .before = {},
                           .after = Location{"run.sh", {}},
                           .call = {}});
  diff.variables.push_back({.name = "size", .change = "changed", .before = "default 1", .after = "default 2"});
  diff.files = {.changed = {{.path = "run.sh", .change = "added", .is_script = true, .lines_added = 3},
                            {.path = "tool", .change = "executable", .is_script = true},
                            {.path = "README.md", .change = "changed", .is_auxiliary = true},
                            {.path = "main.tf", .change = "changed", .lines_added = 1, .lines_removed = 2}},
                .lines_added = 4,
                .lines_removed = 2,
                .changelog = {"## 1.1.0", "- See [x](y) @acme"}};
  diff.comparison = "https://github.com/acme/net/compare/a...b";
  BOOST_TEST(diff_markdown(result) ==
             "### `module.net`: `1.0.0` → `1.1.0`\n\n"
             "- **risky** `the script or binary run.sh was added` (`run.sh of the package`)\n\n"
             "<details><summary>4 files changed, 4 lines added, 2 lines removed</summary>\n\n"
             "- variable `size` changed: `default 1 -> default 2`\n"
             "- script or binary `run.sh` added (+3 -0)\n"
             "- script or binary `tool` executable\n"
             "- file `main.tf` changed (+1 -2)\n"
             "- 1 file of examples, tests and documentation\n"
             "- the module's changelog: `## 1.1.0`\n"
             "- the module's changelog: `- See [x](y) @acme`\n\n"
             "</details>\n\n"
             "[Compare](https://github.com/acme/net/compare/a...b)\n");
}

BOOST_AUTO_TEST_CASE(a_warning_names_its_module) {
  messages::UpdateDiffResult result;
  result.diagnostics.push_back(
      {Severity::warning, Error{.code = Code::unreachable, .message = "no server", .subject = "module.net.x"}});
  result.diagnostics.push_back({Severity::info, Error{.code = Code::no_matching_version, .message = "none"}});
  BOOST_TEST(diff_markdown(result) ==
             "> **UNREACHABLE** `no server` (`module.net.x`)\n\n> **NO_MATCHING_VERSION** `none`\n");
}

BOOST_AUTO_TEST_CASE(names_are_not_markup) {
  struct Row {
    const char* name;
    const char* path;
    const char* text;
  };
  const Row rows[] = {
      {"an end of the fold", "</details><img src=x>", "`</details><img src=x>`"},
      {"an image, a user and an issue", "![a](x) @acme/all #1", "`![a](x) @acme/all #1`"},
      {"a backtick", "`a` *b*", "`` `a` *b* ``"},
      {"more backticks", "a``` b ` c", "```` a``` b ` c ````"},
      {"lines and control characters", "a\n# b\r# c\x1b[31m", "`a # b # c [31m`"},
      {"text in the other direction", "a\u202eb\u200bc", "`a\\xe2\\x80\\xaeb\\xe2\\x80\\x8bc`"},
      {"a name in Chinese", "网络.tf", "`网络.tf`"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto result = one_module();
      result.changes.front().files.changed.push_back({.path = row.path, .change = "removed"});
      BOOST_TEST(diff_markdown(result) == std::string("### `module.net`: `1.0.0` → `1.1.0`\n\n<details><summary>1 file "
                                                      "changed, 0 lines added, 0 lines removed</summary>\n\n- file ") +
                                              row.text + " removed\n\n</details>\n");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
