#include "plugin/mirror/mirrored_modules.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kCommit = "8b8bac45c4d089f8c640024f2c4f1c546b62f98a";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(locked_repositories)

BOOST_AUTO_TEST_CASE(references_by_which_a_clone_has_a_commit) {
  struct Row {
    const char* name;
    const char* ref;
    const char* expected;
  };
  for (const Row& row : {
           Row{"no reference", "", kMirrorHead},
           Row{"HEAD", "HEAD", kMirrorHead},
           Row{"HEAD in short", "@", kMirrorHead},
           Row{"a branch or tag", "main", "refs/tags/main"},
           Row{"with a slash", "release/1", "refs/tags/release/1"},
           Row{"an abbreviated commit", "8b8bac45", "refs/tags/8b8bac45"},
           Row{"a commit", kCommit, "refs/heads/modlock-8b8bac45c4d089f8c640024f2c4f1c546b62f98a"},
           Row{"the commit of a tag", "v1^{}", "refs/tags/v1"},
           Row{"the commit of a tag by its kind", "v1^{commit}", "refs/tags/v1"},
           Row{"the full name of a branch", "refs/heads/main", "refs/heads/main"},
           Row{"the full name of a tag", "refs/tags/v1", "refs/tags/v1"},
           Row{"a branch by its kind", "heads/main", "refs/heads/main"},
           Row{"a tag by its kind", "tags/v1", "refs/tags/v1"},
           Row{"a branch of the remote", "origin/main", "refs/heads/main"},
           Row{"the full name of a branch of the remote", "refs/remotes/origin/main", "refs/heads/main"},
           Row{"an ancestor", "main~1", ""},
           Row{"an ancestor of HEAD", "HEAD^", ""},
           Row{"no name", "heads/a..b", ""},
       }) {
    BOOST_TEST(mirrored_reference(row.ref, kCommit) == row.expected, row.name);
  }
}

BOOST_AUTO_TEST_CASE(git_rewrites_exactly_these_urls) {
  const TemporaryDirectory directory;
  write_text(directory / "users", "[url \"ssh://git@h.test/\"]\n\tinsteadOf = https://h.test/\n");
  const ScopedEnvironment system("GIT_CONFIG_NOSYSTEM", "1");
  const ScopedEnvironment global("GIT_CONFIG_GLOBAL", (directory / "users").string());
  LockedRepositories repositories;
  repositories["https://h.test/a"] = {.source = *parse_source("git::https://h.test/a")};
  repositories["https://h.test/a\"b"] = {.source = *parse_source("git::https://h.test/a%22b")};
  const auto text = write_locked_repositories(repositories, directory / "with space", {});
  BOOST_REQUIRE(text.has_value());
  const std::string base = "file://" + (directory / "with%20space").string();
  BOOST_TEST(text->starts_with("[core]\n\tautocrlf = false\n[url \"" + base +
                               "/0\"]\n\tinsteadOf = \"https://h.test/a\"\n[url \"" + base +
                               "/1\"]\n\tinsteadOf = \"https://h.test/a\\\"b\"\n"),
             *text);
  BOOST_TEST(count(*text, "[url \"ssh://git@h.test/a-\"]\n\tinsteadOf = \"https://h.test/a-\"\n") == 1U);
  BOOST_TEST(count(*text, "insteadOf") == 2U + 2U * 94U);
}

BOOST_AUTO_TEST_CASE(a_rule_of_the_user_for_the_whole_url_is_refused) {
  const TemporaryDirectory directory;
  const std::string rule = "[url \"ssh://git@h.test/a\"]\n\tinsteadOf = https://h.test/a\n";
  const std::string at_root = "[includeIf \"gitdir:" + (directory / "root").string() + "/\"]\n\tpath = work\n";
  write_text(directory / "work", rule);
  const ScopedEnvironment system("GIT_CONFIG_NOSYSTEM", "1");
  const ScopedEnvironment global("GIT_CONFIG_GLOBAL", (directory / "users").string());
  LockedRepositories repositories;
  repositories["https://h.test/a"] = {.source = *parse_source("git::https://h.test/a")};
  struct Row {
    const char* name;
    std::string configuration;
    const char* root;
    std::string expected;
  };
  const std::string rewrites =
      "SOURCE_UNSUPPORTED: git's configuration rewrites the URL of \"git::https://h.test/a\" (url.*.insteadOf), so the "
      "mirror cannot";
  for (const Row& row : {
           Row{"always", rule, "", rewrites},
           Row{"by a condition", at_root, "root", rewrites},
           Row{"by the condition of another root", at_root, "other", "ok"},
           Row{"unreadable", "[url", "",
               "IO_ERROR: git could not read its configuration for \"git::https://h.test/a\": git failed with exit "
               "code "
               "128"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(directory / "users", row.configuration);
      Context context;
      context.clone_directory = directory / row.root / ".terraform/modules/m";
      const auto written = write_locked_repositories(repositories, directory / row.name, context);
      BOOST_TEST((written ? "ok" : std::string(to_string(written.error().code)) + ": " + written.error().message) ==
                 row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
