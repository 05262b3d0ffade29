#include "backends/git/checkout.h"

#include <filesystem>
#include <map>

#include <boost/test/unit_test.hpp>

#include "tests/backends/git/git_fixture.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Fetches what v1.0.0 of one repository names.
struct Checkout : GitFixture {
  Result<FetchedTree> check_out(const GitRepository::Files& files) {
    repository.commit(files);
    return check_out_tag();
  }
  Result<FetchedTree> check_out_tag(const std::string& target = "main") {
    repository.tag("v1.0.0", target);
    return fetch_one(repository.url(), {repository.id(target), "refs/tags/v1.0.0", false});
  }
  // A tree with one file of any name.
  std::string tree_of_one(const std::string& name) {
    const std::string id = repository.write_blob("x\n");
    std::string entry = "100644 " + name + std::string(1, '\0');
    for (std::size_t i = 0; i < id.size(); i += 2) {
      entry += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
    }
    return repository.git({"hash-object", "-t", "tree", "-w", "--stdin", "--literally"}, entry);
  }
  std::string refused() const { return "commit " + repository.id("v1.0.0") + " of \"git::" + repository.url() + "\" "; }

  GitRepository repository{directory / "remote.git"};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(git_checkout, Checkout)

BOOST_AUTO_TEST_CASE(the_trees_own_attributes_apply) {
  const auto tree = check_out({{".gitattributes",
                                "crlf.tf text eol=crlf\nident.tf ident\nutf16.tf working-tree-encoding=UTF-16LE\n"
                                "secret.tf export-ignore\nversion.tf export-subst\n"},
                               {"!first.tf", "a\n"},
                               {"crlf.tf", "a\nb\n"},
                               {"ident.tf", "# $Id$\n"},
                               {"secret.tf", "s\n"},
                               {"utf16.tf", "ab"},
                               {"version.tf", "$Format:%H$\n"}});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "crlf.tf") == "a\r\nb\r\n");
  BOOST_TEST(read_text(tree->directory / "ident.tf") == "# $Id: " + repository.id("main:ident.tf") + " $\n");
  BOOST_TEST(read_text(tree->directory / "utf16.tf") == std::string("a\0b\0", 4));
  BOOST_TEST(read_text(tree->directory / "secret.tf") == "s\n");
  BOOST_TEST(read_text(tree->directory / "version.tf") == "$Format:%H$\n");
  BOOST_TEST(!fs::exists(tree->directory.string() + ".index"));
}

BOOST_AUTO_TEST_CASE(the_users_configuration_filters_and_hooks_have_no_say) {
  const std::string witness = (directory / "ran").string();
  const std::string hook = "#!/bin/sh\ntouch " + witness + "\n";
  for (const char* name : {"reference-transaction", "post-checkout", "post-index-change", "post-merge"}) {
    for (const char* where : {"hooks", "template/hooks"}) {
      write_text(directory / where / name, hook);
      fs::permissions(directory / where / name, fs::perms::owner_all);
    }
  }
  write_text(directory / "home" / ".gitconfig",
             "[core]\n\tautocrlf = true\n\teol = crlf\n\thooksPath = " + (directory / "hooks").string() +
                 "\n\tattributesFile = " + (directory / "attributes").string() +
                 "\n[init]\n\ttemplateDir = " + (directory / "template").string() +
                 "\n[filter \"mine\"]\n\trequired = true\n\tsmudge = touch " + witness + "\n");
  write_text(directory / "attributes", "* text eol=crlf\n");
  write_text(directory / "home" / ".config/git/attributes", "* text eol=crlf\n");
  const auto tree = check_out({{".gitattributes", "*.bin filter=mine\n"}, {"a.bin", "a\n"}, {"main.tf", "# 1\n"}});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "# 1\n");
  BOOST_TEST(read_text(tree->directory / "a.bin") == "a\n");
  BOOST_TEST(!fs::exists(witness));
}

BOOST_AUTO_TEST_CASE(an_lfs_pointer_stays_one_with_a_warning) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 12345\n";
  const auto tree = check_out({{".gitattributes", "*.zip filter=lfs diff=lfs merge=lfs -text\n"},
                               {"lambda/f.zip", pointer},
                               {"real.zip", "content"}});
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "lambda/f.zip") == pointer);
  BOOST_REQUIRE_EQUAL(tree->warnings.size(), 1U);
  BOOST_TEST(to_string(tree->warnings[0].what.code) == "LFS_POINTER");
  BOOST_TEST((tree->warnings[0].severity == Severity::warning));
  BOOST_TEST(tree->warnings[0].what.message ==
             refused() + "keeps \"lambda/f.zip\" in Git LFS: the pointer is installed and locked, not the content");
}

BOOST_AUTO_TEST_CASE(links_and_modes_are_as_in_the_tree) {
  const std::string blob = repository.write_blob("main.tf");
  const std::string script = repository.write_blob("#!/bin/sh\n");
  const std::string tree_id =
      repository.write_tree("120000 blob " + blob + "\tlink.tf\n100755 blob " + script + "\trun.sh\n");
  const auto tree = check_out_tag(repository.commit_tree(tree_id));
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(fs::read_symlink(tree->directory / "link.tf") == "main.tf");
  BOOST_TEST(((fs::status(tree->directory / "run.sh").permissions() & fs::perms::owner_exec) != fs::perms::none));
}

BOOST_AUTO_TEST_CASE(what_no_package_may_hold_is_refused) {
  const std::string blob = repository.write_blob("x\n");
  const std::string inner = repository.write_tree("100644 blob " + blob + "\tconfig\n");
  const std::string hidden = repository.write_tree("100644 blob " + blob + "\tgit~1\n");
  std::string deep = inner;
  for (int i = 0; i < 20; ++i) {
    deep = repository.write_tree("040000 tree " + deep + "\t" + std::string(250, 'd') + "\n");
  }
  struct Row {
    const char* name;
    std::string lines;
    std::string expected_code;
    std::string expected_rest;
  };
  for (const Row& row : {
           Row{"git directory", "040000 tree " + inner + "\t.GIT\n", "ARCHIVE_UNSAFE",
               "holds \".GIT\", which no checkout may write"},
           Row{"parent", "040000 tree " + inner + "\t..\n", "ARCHIVE_UNSAFE",
               "holds \"..\", which no checkout may write"},
           Row{"git directory below", "040000 tree " + hidden + "\tsub\n", "ARCHIVE_UNSAFE",
               "holds \"sub/git~1\", which no checkout may write"},
           Row{"long name", "100644 blob " + blob + "\t" + std::string(256, 'n') + "\n", "ARCHIVE_UNSAFE",
               "holds \"…" + std::string(100, 'n') + "\", whose name is longer than 255 bytes"},
           Row{"long path", "040000 tree " + deep + "\td\n", "ARCHIVE_UNSAFE",
               "holds \"…" + std::string(100, 'd') + "\", whose path is longer than 4000 bytes"},
           Row{"one name twice", "100644 blob " + blob + "\ta\n100644 blob " + blob + "\ta\n", "ARCHIVE_UNSAFE",
               "holds \"a\", which its tree names twice"},
           Row{"link for .gitmodules", "120000 blob " + blob + "\t.gitmodules\n", "ARCHIVE_UNSAFE",
               "holds \".gitmodules\", which no checkout may write"},
           Row{"control characters", "040000 tree " + hidden + "\tv\x1b[1m\xff\n", "ARCHIVE_UNSAFE",
               "holds \"v\\x1b[1m\xef\xbf\xbd/git~1\", which no checkout may write"},
           Row{"our override", "100644 blob " + blob + "\tmodlock_override.tf\n", "ARCHIVE_UNSAFE",
               "holds \"modlock_override.tf\", a name that is kept for overrides written by tofu-modlock"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string commit = repository.commit_tree(repository.write_tree(row.lines));
      const auto tree = check_out_tag(commit);
      BOOST_TEST(outcome(tree) == row.expected_code + ": " + refused() + row.expected_rest);
      BOOST_TEST(fs::is_empty(directory / "parent"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_name_with_a_slash_is_refused) {
  const auto tree = check_out_tag(repository.commit_tree(tree_of_one("a\x01/../../b")));
  BOOST_TEST(outcome(tree) == "ARCHIVE_UNSAFE: " + refused() + "holds \"a\\x01/../../b\", which no checkout may write");
}

// Servers of git itself do not send such a tree.
BOOST_AUTO_TEST_CASE(a_malformed_tree_is_no_broken_cache) {
  const std::string commit = repository.commit_tree(tree_of_one(""));
  const auto reader = git::ObjectReader::open(repository.path());
  BOOST_REQUIRE_EQUAL(outcome(reader), "ok");
  const auto facts = reader->tree_facts(commit);
  BOOST_REQUIRE_EQUAL(outcome(facts), "ok");
  BOOST_REQUIRE(facts->hostile.has_value());
  BOOST_TEST(facts->hostile->path == "");
  BOOST_TEST(facts->hostile->why == "an entry that cannot be read");
}

BOOST_AUTO_TEST_CASE(what_only_the_checkout_finds_is_no_matter_of_the_disk) {
  const std::string target = repository.write_blob(std::string(5000, 't'));
  const std::string link = repository.write_tree("120000 blob " + target + "\tlink\n");
  const auto tree = check_out_tag(repository.commit_tree(link));
  BOOST_TEST(outcome(tree) == "ARCHIVE_UNSAFE: " + refused() + "holds an entry that git does not write");
  BOOST_TEST(fs::is_empty(directory / "parent"));
}

BOOST_AUTO_TEST_CASE(a_tree_has_the_limits_of_archives_before_it_is_written) {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  const auto named = [&](std::size_t times, const std::string& entry) {
    std::string lines;
    for (std::size_t i = 0; i < times; ++i) {
      lines += entry + "\tf" + std::to_string(i) + "\n";
    }
    return repository.write_tree(lines);
  };
  const auto blob = [&](std::size_t size) { return "100644 blob " + repository.write_blob(std::string(size, 'x')); };
  struct Row {
    const char* name;
    std::string tree;
    std::string why;  // empty: there is nothing wrong
  };
  const std::string ratio = "has over 200 times as many bytes as its different files";
  const Row rows[] = {
      {"20 MiB named 500 times", named(500, blob(20 * kMiB)), "takes the package over the 4294967296 bytes allowed"},
      {"1 MiB named 202 times", named(202, blob(kMiB)), ratio},
      {"64 KiB named 256 times", named(256, blob(kMiB / 16)), ""},
      {"20 MiB named once", named(1, blob(20 * kMiB)), ""},
      {"201,000 files", named(201, "040000 tree " + named(1000, blob(1))),
       "holds \"f98/f819\", which is one more than the 200000 allowed"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      repository.branch("main", repository.commit_tree(row.tree));
      const auto tree = check_out_tag();
      BOOST_TEST(outcome(tree) == (row.why.empty() ? "ok" : "LIMIT_EXCEEDED: " + refused() + row.why));
      BOOST_TEST((tree.has_value() || fs::is_empty(directory / "parent")));
      fs::remove_all(directory / "parent");
      fs::create_directories(directory / "parent");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test

namespace modlock::git {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

const std::string kCommitId(40, '1');
const std::string kOther(40, '2');

}  // namespace

BOOST_AUTO_TEST_SUITE(package_size)

BOOST_AUTO_TEST_CASE(trees_of_a_package_are_counted_together) {
  struct Row {
    const char* name;
    std::uint64_t bytes;
    std::uint64_t entries;
    const char* why;  // of the second tree; empty: there is nothing wrong
  };
  for (const Row& row : {
           Row{"both at their limits", 50, 5, ""},
           Row{"bytes", 51, 5, "takes the package over the 100 bytes allowed"},
           Row{"entries", 50, 6, "takes the package over the 10 files and directories allowed"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      PackageSize size({.total_bytes = 100, .entries = 10});
      TreeFacts facts;
      facts.bytes = 50;
      facts.entries = 5;
      BOOST_TEST(size.add(facts, kCommitId, "m").has_value());
      facts.bytes = row.bytes;
      facts.entries = row.entries;
      const auto added = size.add(facts, kOther, "n");
      const std::string why = added ? "" : added.error().message;
      BOOST_TEST(why == (*row.why == '\0' ? "" : "commit " + kOther + " of \"n\" " + row.why));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(checked_out)

BOOST_AUTO_TEST_CASE(commit_of_a_work_tree) {
  struct Row {
    const char* name;
    std::map<std::string, std::string> files;
    std::string expected;  // empty: none
  };
  const std::string main = "ref: refs/heads/main\n";
  const Row rows[] = {
      {"detached", {{".git/HEAD", kCommitId + "\n"}}, kCommitId},
      {"a branch", {{".git/HEAD", main}, {".git/refs/heads/main", kCommitId + "\n"}}, kCommitId},
      {"a branch of two parts",
       {{".git/HEAD", "ref: refs/heads/a/b\n"}, {".git/refs/heads/a/b", kCommitId}},
       kCommitId},
      {"a packed branch",
       {{".git/HEAD", main},
        {".git/packed-refs", "# pack-refs with: peeled\n" + kOther + " refs/heads/maintenance\n" + kCommitId +
                                 " refs/heads/main\n^" + kOther}},
       kCommitId},
      {"loose beats packed",
       {{".git/HEAD", main}, {".git/refs/heads/main", kCommitId}, {".git/packed-refs", kOther + " refs/heads/main\n"}},
       kCommitId},
      {"no repository", {{"main.tf", ""}}, ""},
      {"a file that leads elsewhere", {{".git", "gitdir: elsewhere/.git\n"}, {"elsewhere/.git/HEAD", kCommitId}}, ""},
      {"an unborn branch", {{".git/HEAD", main}}, ""},
      {"a short id", {{".git/HEAD", kCommitId.substr(1)}}, ""},
      {"an id as git does not write it", {{".git/HEAD", std::string(40, 'A')}}, ""},
      {"a branch that leads to a branch",
       {{".git/HEAD", main}, {".git/refs/heads/main", "ref: refs/heads/x"}, {".git/refs/heads/x", kCommitId}},
       ""},
      {"a name that climbs", {{".git/HEAD", "ref: refs/heads/../../../id"}, {"id", kCommitId}}, ""},
      {"no branch", {{".git/HEAD", "ref: refs/tags/x"}, {".git/refs/tags/x", kCommitId}}, ""},
      {"too long", {{".git/HEAD", kCommitId + std::string(5000, '\n')}}, ""},
      {"another storage of references", {{".git/HEAD", "ref: refs/heads/.invalid\n"}, {".git/reftable/x", ""}}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      for (const auto& [name, text] : row.files) {
        directory.write(name, text);
      }
      BOOST_TEST(checked_out_commit(directory.path()).value_or("") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(links_are_not_followed) {
  const TemporaryDirectory directory;
  directory.write("elsewhere/HEAD", kCommitId);
  fs::create_directories(directory / "tree");
  fs::create_directory_symlink("../elsewhere", directory / "tree/.git");
  BOOST_TEST(!checked_out_commit(directory / "tree"));
  directory.write("linked/.git/config", "");
  fs::create_symlink("../../elsewhere/HEAD", directory / "linked/.git/HEAD");
  BOOST_TEST(!checked_out_commit(directory / "linked"));
}

BOOST_AUTO_TEST_CASE(clone_as_git_makes_it) {
  const TemporaryDirectory directory;
  test::GitRepository repository(directory / "origin.git");
  const std::string first = repository.commit({{"main.tf", "1"}});
  const std::string second = repository.commit({{"main.tf", "2"}});
  const fs::path clone = directory / "clone";
  const std::map<std::string, std::string> inside = {{"GIT_DIR", clone / ".git"}, {"GIT_WORK_TREE", clone}};
  repository.git({"clone", "-q", "--", repository.url(), clone.string()});
  BOOST_TEST(checked_out_commit(clone).value_or("") == second);
  repository.git({"pack-refs", "--all"}, {}, inside);
  BOOST_TEST(checked_out_commit(clone).value_or("") == second);
  repository.git({"checkout", "-q", "--detach", first}, {}, inside);
  BOOST_TEST(checked_out_commit(clone).value_or("") == first);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
