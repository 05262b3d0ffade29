#include "backends/git/checked_out.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>

#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

const std::string kId(40, '1');
const std::string kOther(40, '2');

}  // namespace

BOOST_AUTO_TEST_SUITE(checked_out)

BOOST_AUTO_TEST_CASE(commit_of_a_work_tree) {
  struct Row {
    const char* name;
    std::map<std::string, std::string> files;
    std::string expected;  // empty: none
  };
  const std::string main = "ref: refs/heads/main\n";
  const Row rows[] = {
      {"detached", {{".git/HEAD", kId + "\n"}}, kId},
      {"a branch", {{".git/HEAD", main}, {".git/refs/heads/main", kId + "\n"}}, kId},
      {"a branch of two parts", {{".git/HEAD", "ref: refs/heads/a/b\n"}, {".git/refs/heads/a/b", kId}}, kId},
      {"a packed branch",
       {{".git/HEAD", main},
        {".git/packed-refs",
         "# pack-refs with: peeled\n" + kOther + " refs/heads/maintenance\n" + kId + " refs/heads/main\n^" + kOther}},
       kId},
      {"loose beats packed",
       {{".git/HEAD", main}, {".git/refs/heads/main", kId}, {".git/packed-refs", kOther + " refs/heads/main\n"}},
       kId},
      {"no repository", {{"main.tf", ""}}, ""},
      {"a file that leads elsewhere", {{".git", "gitdir: elsewhere/.git\n"}, {"elsewhere/.git/HEAD", kId}}, ""},
      {"an unborn branch", {{".git/HEAD", main}}, ""},
      {"a short id", {{".git/HEAD", kId.substr(1)}}, ""},
      {"an id as git does not write it", {{".git/HEAD", std::string(40, 'A')}}, ""},
      {"a branch that leads to a branch",
       {{".git/HEAD", main}, {".git/refs/heads/main", "ref: refs/heads/x"}, {".git/refs/heads/x", kId}},
       ""},
      {"a name that climbs", {{".git/HEAD", "ref: refs/heads/../../../id"}, {"id", kId}}, ""},
      {"no branch", {{".git/HEAD", "ref: refs/tags/x"}, {".git/refs/tags/x", kId}}, ""},
      {"too long", {{".git/HEAD", kId + std::string(5000, '\n')}}, ""},
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
  directory.write("elsewhere/HEAD", kId);
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
