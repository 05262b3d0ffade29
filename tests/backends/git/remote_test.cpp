#include "backends/git/remote.h"

#include <boost/test/unit_test.hpp>

#include "backends/git/git_command.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/run.h"

namespace modlock::test {

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(git_remote, GitFixture)

BOOST_AUTO_TEST_CASE(the_query_of_an_address_is_used_and_not_kept) {
  // Of a file URL git takes the query for a part of the path.
  GitRepository repository{directory / "remote.git"};
  repository.commit({{"main.tf", "# 1\n"}});
  repository.tag("v1.0.0");
  const std::string second = repository.commit({{"main.tf", "# 2\n"}});
  repository.tag("v1.1.0");
  fs::rename(repository.path(), directory / "remote.git?token=T0KEN");
  const std::string url = repository.url() + "?token=T0KEN";
  BOOST_TEST(outcome(fetch_one(url, {"", "v1.0.0", false})) == "ok");
  BOOST_TEST(outcome(fetch_one(url, {second, "refs/tags/v1.1.0", false})) == "ok");
  BOOST_TEST(outcome(fetch_one(url, {"", "nope", false})).substr(0, 10) == "NOT_FOUND:");
  std::string kept;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory / "cache")) {
    kept += entry.path().string() + "\n" + (entry.is_regular_file() ? read_text(entry.path()) : "");
  }
  BOOST_TEST(kept.find("HEAD") != std::string::npos);
  BOOST_TEST(kept.find("T0KEN") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_request_is_sent_if_the_policy_of_the_user_is_unknown) {
  GitRepository repository{directory / "m.git"};
  repository.commit({{"main.tf", "# 1\n"}});
  const std::string url = repository.url();
  const fs::path file = directory / "home/.gitconfig";
  const std::string path = git::lookup_environment("PATH").value_or("");
  const std::string real = run({"sh", "-c", "command -v git"});
  fs::create_directories(directory / "bin");
  write_text(directory / "bin/git", "#!/bin/sh\nif [ \"$1 $2\" = 'config --list' ]; then kill -9 $$; fi\nexec " +
                                        real.substr(0, real.find('\n')) + " \"$@\"\n");
  fs::permissions(directory / "bin/git", fs::perms::owner_all);
  const std::string could_not =
      "IO_ERROR: git could not read its configuration for \"git::" + url + "\": git failed with exit code ";
  const std::string doing = "while git was to find the HEAD of \"git::" + url + "\"";
  struct Row {
    const char* name;
    std::string text;
    std::string path;
    std::string expected;
    std::vector<std::string> notes;
  };
  for (const Row& row : {
           Row{"no syntax",
               "[protocol",
               path,
               could_not + "128",
               {"git: fatal: bad config line 2 in file " + file.string(), doing}},
           Row{"git was killed",
               "[include]\n\tpath = ~/more\n",
               (directory / "bin").string() + ":" + path,
               could_not + "137",
               {doing}},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(file, row.text);
      const ScopedEnvironment programs("PATH", row.path);
      const auto pinned = backend->pin(source(url), context);
      BOOST_TEST(outcome(pinned) == row.expected);
      BOOST_REQUIRE(!pinned);
      BOOST_TEST(pinned.error().hint == "run `git config --list --show-origin`, and repair what it reports");
      BOOST_TEST(pinned.error().notes == row.notes, boost::test_tools::per_element());
      BOOST_TEST(requests() == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_of_the_sha256_object_format_is_refused) {
  const fs::path path = directory / "sha256.git";
  run({"git", "init", "--quiet", "--bare", "--template=", "--object-format=sha256", "--initial-branch=main",
       path.string()});
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "--git-dir=" + path.string(), "-c", "user.name=Test", "-c",
                                         "user.email=test@example.test"});
    const std::string output = run(std::move(arguments));
    return output.substr(0, output.find('\n'));
  };
  const std::string id = git({"commit-tree", "-m", "1", git({"hash-object", "-w", "-t", "tree", "/dev/null"})});
  git({"update-ref", "refs/heads/main", id});
  git({"update-ref", "refs/tags/v1.0.0", id});
  const std::string url = "file://" + path.string();
  const auto expected = [&](const std::string& doing) {
    return "SOURCE_UNSUPPORTED: git could not " + doing + " \"git::" + url +
           "\": it is a repository of the SHA-256 object format, and only SHA-1 is understood";
  };
  BOOST_TEST(id.size() == 64U);
  BOOST_TEST(outcome(backend->list_versions(source(url), "", context)) == expected("list the tags of"));
  BOOST_TEST(outcome(backend->pin(source(url + "?ref=v1.0.0"), context)) == expected("list the branches and tags of"));
  BOOST_TEST(outcome(fetch_one(url, {"", "v1.0.0", false})) == expected("fetch from"));
  BOOST_TEST(outcome(fetch_one(url, {id, "refs/tags/v1.0.0", true})) == expected("fetch from"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
