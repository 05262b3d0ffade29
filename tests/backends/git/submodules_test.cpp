#include "backends/git/submodules.h"

#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "backends/package/tree_hash.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/run.h"

namespace modlock::git {

BOOST_AUTO_TEST_CASE(relative_urls_start_at_the_superproject) {
  struct Row {
    const char* name;
    const char* superproject;
    const char* url;
    const char* expected;
  };
  for (const Row& row : {
           Row{"a sibling", "https://h.test/a/b.git", "../c.git", "https://h.test/a/c.git"},
           Row{"with user-info", "https://u:p@h.test/a/b.git", "../c.git", "https://u:p@h.test/a/c.git"},
           Row{"below", "https://h.test/a/b.git", "./c.git", "https://h.test/a/b.git/c.git"},
           Row{"a slash at the end", "https://h.test/a/b/", "../c/", "https://h.test/a/c"},
           Row{"two up", "ssh://git@h.test/a/b.git", "../../x/c.git", "ssh://git@h.test/x/c.git"},
           Row{"up from scp", "git@h.test:a/b.git", "../c.git", "git@h.test:a/c.git"},
           Row{"up to the colon of scp", "git@h.test:b.git", "../c.git", "git@h.test:c.git"},
           Row{"past the host", "https://h.test/b.git", "../../evil.test/c.git", "https://evil.test/c.git"},
           Row{"absolute", "https://h.test/b.git", "https://other.test/c.git", "https://other.test/c.git"},
           Row{"a name alone", "https://h.test/b.git", "c.git", "c.git"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(resolve_submodule_url(row.superproject, row.url) == row.expected);
    }
  }
}

}  // namespace modlock::git

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// "top" holds "middle" at vendor/middle, which holds "inner" at deep/inner by a relative URL.
struct Nested : GitFixture {
  Nested() {
    inner_commit = inner.commit({{"inner.tf", "# inner 1\n"}});
    inner.commit({{"inner.tf", "# inner 2\n"}});
    middle_commit = add(middle, {{"middle.tf", "# middle\n"}}, "deep/inner", "../inner.git", inner_commit);
    allow_files();
  }

  // A commit with a submodule on main; `more` are lines of .gitmodules.
  static std::string add(GitRepository& repository, const GitRepository::Files& files, const std::string& path,
                         const std::string& url, const std::string& commit, const std::string& more = {}) {
    GitRepository::Files all = files;
    all[".gitmodules"] =
        "[submodule \"" + path + "\"]\n\tpath = " + path + "\n\turl = " + url + "\n\tbranch = x\n" + more;
    repository.commit(all);
    const std::string index = (repository.path() / "with-submodule").string();
    const std::map<std::string, std::string> environment = {{"GIT_INDEX_FILE", index}};
    repository.git({"read-tree", "main"}, {}, environment);
    repository.git({"update-index", "--add", "--cacheinfo", "160000," + commit + "," + path}, {}, environment);
    const std::string tree = repository.git({"write-tree"}, {}, environment);
    const std::string made = repository.commit_tree(tree, repository.id("main"));
    repository.branch("main", made);
    return made;
  }
  void allow_files() const { write_text(directory / "home" / ".gitconfig", "[protocol \"file\"]\n\tallow = always\n"); }
  // Fetches main of top, whose one submodule is at "vendor/middle".
  Result<FetchedTree> fetch_top(const std::string& url, const std::string& commit, const std::string& more = {}) {
    const std::string made = add(top, {{"main.tf", "# top\n"}}, "vendor/middle", url, commit, more);
    return fetch_one(top.url(), {made, "refs/heads/main", false});
  }
  std::string display() const { return "git::" + top.url(); }

  GitRepository inner{directory / "inner.git"};
  GitRepository middle{directory / "middle.git"};
  GitRepository top{directory / "top.git"};
  std::string inner_commit;
  std::string middle_commit;
};

std::string notes_of(const Result<FetchedTree>& tree) {
  std::string text;
  for (const std::string& note : tree ? std::vector<std::string>{} : tree.error().notes) {
    text += note + "\n";
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(git_submodules, Nested)

BOOST_AUTO_TEST_CASE(a_package_is_what_a_recursive_clone_has) {
  const auto tree = fetch_top("../middle.git", middle_commit);
  BOOST_REQUIRE_MESSAGE(tree.has_value(), outcome(tree) + "\n" + notes_of(tree));
  BOOST_TEST(read_text(tree->directory / "vendor/middle/middle.tf") == "# middle\n");
  BOOST_TEST(read_text(tree->directory / "vendor/middle/deep/inner/inner.tf") == "# inner 1\n");
  BOOST_TEST(std::distance(fs::directory_iterator(directory / "parent"), fs::directory_iterator()) == 1);

  run({"git", "clone", "--quiet", "--recursive", top.url(), (directory / "clone").string()}, {},
      {{"HOME", (directory / "home").string()}});
  const auto ours = hash_tree(tree->directory, context);
  const auto theirs = hash_tree(directory / "clone", context);
  BOOST_REQUIRE_EQUAL(outcome(ours), "ok");
  BOOST_TEST(*ours == *theirs);
  BOOST_TEST(requests() == 3U);

  // Each is there now, and nobody is asked.
  fs::remove_all(inner.path());
  fs::remove_all(middle.path());
  context.offline = true;
  const auto again = fetch_one(top.url(), {top.id("main"), "refs/heads/main", false});
  BOOST_REQUIRE_MESSAGE(again.has_value(), outcome(again) + "\n" + notes_of(again));
  BOOST_TEST(*hash_tree(again->directory, context) == *ours);
  BOOST_TEST(requests() == 3U);
}

BOOST_AUTO_TEST_CASE(a_submodules_commit_need_not_lie_on_a_branch_and_is_not_accepted_for_that) {
  const std::string fork = inner.commit_tree(inner.id("main^{tree}"), inner_commit);
  const auto tree = fetch_top(inner.url(), fork);
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(outcome(fetch_one(inner.url(), {fork, "", true})).substr(0, 14) == "HASH_MISMATCH:");
  BOOST_TEST(outcome(backend->pin(source(inner.url() + "?ref=" + fork), context)).substr(0, 14) == "HASH_MISMATCH:");
}

BOOST_AUTO_TEST_CASE(update_settings_mean_what_they_mean_to_git) {
  struct Row {
    const char* name;
    const char* update;
    bool is_filled;
    std::string expected;
  };
  const std::string refused = "BAD_RESPONSE: the .gitmodules of \"" + display() + "\" has the update \"";
  for (const Row& row : {
           Row{"none", "none", false, "ok"},
           Row{"checkout", "checkout", true, "ok"},
           Row{"rebase", "rebase", true, "ok"},
           Row{"merge", "merge", true, "ok"},
           Row{"a command", "!touch ran", false,
               refused + "!touch ran\" for \"vendor/middle\", which git refuses there"},
           Row{"nonsense", "x", false, refused + "x\" for \"vendor/middle\", which git refuses there"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto tree = fetch_top(middle.url(), middle_commit, std::string("\tupdate = ") + row.update + "\n");
      BOOST_TEST(outcome(tree) == row.expected);
      BOOST_TEST((tree && fs::exists(tree->directory / "vendor/middle/middle.tf")) == row.is_filled);
      // The same of a real git.
      fs::remove_all(directory / "clone");
      run({"sh", "-c", "git clone --quiet --recursive " + top.url() + " clone 2>/dev/null || echo failed > failed"},
          directory.path(), {{"HOME", (directory / "home").string()}});
      BOOST_TEST(fs::exists(directory / "clone/vendor/middle/middle.tf") == row.is_filled);
      BOOST_TEST(fs::exists(directory / "failed") == !tree.has_value());
      fs::remove(directory / "failed");
    }
  }
}

BOOST_AUTO_TEST_CASE(hostile_descriptions_are_refused) {
  struct Row {
    const char* name;
    std::string gitmodules;
    std::string expected;
  };
  const std::string path = "\tpath = vendor/middle\n";
  const std::string url = "\turl = " + middle.url() + "\n";
  const std::string outside = "\", which could mean something outside of the package";
  const std::string witness = (directory / "ran").string();
  const std::string of_top = " the .gitmodules of \"" + display() + "\" ";
  for (const Row& row : {
           Row{"a name above", "[submodule \"../../x\"]\n" + path + url,
               "ARCHIVE_UNSAFE:" + of_top + "has the submodule name \"../../x" + outside},
           Row{"a name with a part above", "[submodule \"a/..\"]\n" + path + url,
               "ARCHIVE_UNSAFE:" + of_top + "has the submodule name \"a/.." + outside},
           Row{"an absolute name", "[submodule \"/etc\"]\n" + path + url,
               "ARCHIVE_UNSAFE:" + of_top + "has the submodule name \"/etc" + outside},
           Row{"a name like an option", "[submodule \"-x\"]\n" + path + url,
               "ARCHIVE_UNSAFE:" + of_top + "has the submodule name \"-x" + outside},
           Row{"a URL like an option", "[submodule \"m\"]\n" + path + "\turl = --upload-pack=touch\n",
               "SOURCE_DENIED:" + of_top + "has the URL \"--upload-pack=touch\", which would be taken for an option"},
           Row{"a transport helper", "[submodule \"m\"]\n" + path + "\turl = ext::touch " + witness + "\n",
               "SOURCE_DENIED: the submodule's URL \"ext::touch " + witness +
                   "\" names a transport helper, a program "
                   "that git would run"},
           Row{"a helper without a path", "[submodule \"m\"]\n" + path + "\turl = ext::touch\n",
               "SOURCE_DENIED: the submodule's URL \"ext::touch\" names a transport helper, a program that git would "
               "run"},
           Row{"a helper before a URL", "[submodule \"m\"]\n" + path + "\turl = git-x::https://example.test/x\n",
               "SOURCE_DENIED: the submodule's URL \"git-x::https://example.test/x\" names a transport helper"},
           Row{"another transport", "[submodule \"m\"]\n" + path + "\turl = ftp://example.test/x\n", "SOURCE_DENIED:"},
           Row{"a host like an option", "[submodule \"m\"]\n" + path + "\turl = ssh://-oProxyCommand=x/y\n",
               "SOURCE_DENIED:"},
           Row{"an scp host like an option", "[submodule \"m\"]\n" + path + "\turl = -oProxyCommand=x:y\n",
               "SOURCE_DENIED:"},
           Row{"a bare name", "[submodule \"m\"]\n" + path + "\turl = middle\n",
               "SOURCE_UNSUPPORTED: the submodule's URL \"middle\" names no host"},
           Row{"no URL", "[submodule \"m\"]\n" + path,
               "BAD_RESPONSE:" + of_top + "names no URL for the submodule \"vendor/middle\""},
           Row{"no entry", "[submodule \"m\"]\n\tpath = other\n" + url,
               "BAD_RESPONSE:" + of_top + "names no URL for the submodule \"vendor/middle\""},
           Row{"no configuration", "[submodule",
               "BAD_RESPONSE:" + of_top + "is not in the syntax of git's configuration"},
           Row{"an include",
               "[include]\n\tpath = " + (directory / "home/more").string() + "\n[submodule \"m\"]\n" + path,
               "BAD_RESPONSE:" + of_top + "names no URL for the submodule \"vendor/middle\""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(directory / "home/more", "[submodule \"m\"]\n" + url);
      add(top, {}, "vendor/middle", "x", middle_commit);
      const std::string tree =
          top.write_tree("100644 blob " + top.write_blob(row.gitmodules) + "\t.gitmodules\n040000 tree " +
                         top.write_tree("160000 commit " + middle_commit + "\tmiddle\n") + "\tvendor\n");
      top.branch("main", top.commit_tree(tree));
      const auto fetched = fetch_one(top.url(), {top.id("main"), "refs/heads/main", false});
      BOOST_TEST(outcome(fetched).substr(0, row.expected.size()) == row.expected);
      BOOST_TEST(!fs::exists(witness));
      BOOST_TEST(fs::is_empty(directory / "parent"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_local_submodule_needs_what_git_needs) {
  fs::remove(directory / "home" / ".gitconfig");
  const auto tree = fetch_top(middle.url(), middle_commit);
  BOOST_TEST(outcome(tree) == "SOURCE_DENIED: the submodule \"git::" + middle.url() +
                                  "\" is on this machine, which git does not allow to submodules");
  BOOST_TEST(notes_of(tree) ==
             "for the submodule \"vendor/middle\" of commit " + top.id("main") + " of \"" + display() + "\"\n");
  const ScopedEnvironment allowed("GIT_ALLOW_PROTOCOL", "file");
  BOOST_TEST(outcome(fetch_one(top.url(), {top.id("main"), "refs/heads/main", false})) == "ok");
}

BOOST_AUTO_TEST_CASE(aliases_of_ssh_have_the_policy_of_submodules) {
  const fs::path program = directory / "ssh";
  write_text(program, "#!/bin/sh\nfor last; do command=$last; done\nexec sh -c \"$command\"\n");
  fs::permissions(program, fs::perms::owner_all);
  const ScopedEnvironment ssh("GIT_SSH_COMMAND", program.string());
  const std::string here = directory.path().string();
  const std::string rule = "[url \"ssh://h.test" + here + "/\"]\n\tinsteadOf = gh:\n";
  struct Row {
    const char* name;
    std::string url;
    const char* allow;
    std::string identity;
    std::string expected;
  };
  for (const Row& row : {
           Row{"always", "gh:" + here + "/inner.git", "always", "git::ssh://gh" + here + "/inner.git", "ok"},
           Row{"only addresses of the user", "gh:" + here + "/inner.git", "user", "git::ssh://gh" + here + "/inner.git",
               "SOURCE_DENIED: git could not fetch from \"git::ssh://gh" + here +
                   "/inner.git\": its transport is not allowed"},
           Row{"a rule of the user", "gh:inner.git", "always", "git::ssh://gh/~/inner.git", "ok"},
           Row{"with a user", "git@gh:" + here + "/inner.git", "always", "git::ssh://git@gh" + here + "/inner.git",
               "ok"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(directory / "home/.gitconfig", rule + "[protocol \"ssh\"]\n\tallow = " + row.allow + "\n");
      std::string judged;
      context.check_source = [&](const Source& source, const ServerHop&) -> Result<void> {
        judged = source.package_identity();
        return {};
      };
      BOOST_TEST(outcome(fetch_top(row.url, inner_commit)) == row.expected);
      BOOST_TEST(judged == row.identity);
      fs::remove_all(directory / "cache");
    }
  }
}

BOOST_AUTO_TEST_CASE(policy_judges_each_before_it_is_asked) {
  context.check_source = [&](const Source& judged, const ServerHop&) -> Result<void> {
    return judged.package_identity() == "git::" + inner.url() ? fail(Code::source_denied, "not that one")
                                                              : Result<void>();
  };
  const auto tree = fetch_top(middle.url(), middle_commit);
  BOOST_TEST(outcome(tree) == "SOURCE_DENIED: not that one");
  BOOST_TEST(requests() == 2U);
  BOOST_TEST(fs::is_empty(directory / "parent"));
}

BOOST_AUTO_TEST_CASE(a_submodule_counts_with_its_package) {
  const auto named = [](GitRepository& repository, std::size_t times, const std::string& entry) {
    std::string lines;
    for (std::size_t i = 0; i < times; ++i) {
      lines += entry + "\tf" + std::to_string(i) + "\n";
    }
    return repository.write_tree(lines);
  };
  const std::string thousand = "040000 tree " + named(inner, 1000, "100644 blob " + inner.write_blob("x"));
  const std::string commit = inner.commit_tree(named(inner, 199, thousand));
  inner.branch("main", commit);
  const std::string tree =
      top.write_tree("100644 blob " + top.write_blob("[submodule \"m\"]\n\tpath = m\n\turl = " + inner.url() + "\n") +
                     "\t.gitmodules\n040000 tree " + named(top, 900, "100644 blob " + top.write_blob("x")) +
                     "\tfiles\n160000 commit " + commit + "\tm\n");
  top.branch("main", top.commit_tree(tree));
  const auto fetched = fetch_one(top.url(), {top.id("main"), "refs/heads/main", false});
  BOOST_TEST(outcome(fetched) == "LIMIT_EXCEEDED: commit " + commit + " of \"git::" + inner.url() +
                                     "\" takes the package over the 200000 files and directories allowed");
  BOOST_TEST(notes_of(fetched) ==
             "for the submodule \"m\" of commit " + top.id("main") + " of \"" + display() + "\"\n");
  BOOST_TEST(fs::is_empty(directory / "parent"));
}

BOOST_AUTO_TEST_CASE(a_missing_commit_and_depth_without_end_are_named) {
  BOOST_TEST(outcome(fetch_top(middle.url(), std::string(40, '1'))) ==
             "NOT_FOUND: \"git::" + middle.url() + "\" has no commit " + std::string(40, '1'));
  std::string below = middle_commit;
  for (int level = 0; level < 17; ++level) {
    below = add(top, {}, "vendor/middle", level == 0 ? middle.url() : top.url(), below);
  }
  const auto tree = fetch_one(top.url(), {below, "refs/heads/main", false});
  BOOST_TEST(outcome(tree).substr(0, 15) == "LIMIT_EXCEEDED:");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
