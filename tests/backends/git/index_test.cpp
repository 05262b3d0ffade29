#include "backends/git/library.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/support/git_repository.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

BOOST_AUTO_TEST_SUITE(index)

BOOST_AUTO_TEST_CASE(a_conflict_is_found_without_git) {
  TemporaryDirectory directory;
  GitRepository repository(directory.path() / "r.git");
  const std::string base = repository.commit({{"a", "base\n"}});
  const std::string ours = repository.commit({{"a", "ours\n"}});
  const std::string theirs = repository.commit({{"a", "theirs\n"}});
  struct Row {
    const char* name;
    std::vector<std::string> trees;  // empty: no index
    bool expected;
  };
  const Row rows[] = {
      {"no index", {}, false},
      {"one tree", {base}, false},
      {"changed by one side", {"-m", base, base, theirs}, false},
      {"changed by both sides", {"-m", base, ours, theirs}, true},
  };
  const std::filesystem::path file = repository.path() / "index";
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::filesystem::remove(file);
      if (!row.trees.empty()) {
        std::vector<std::string> arguments = row.trees;
        arguments.insert(arguments.begin(), "read-tree");
        repository.git(arguments, {}, {{"GIT_WORK_TREE", directory.path().string()}});
      }
      BOOST_TEST(git::may_have_conflicts(file) == row.expected);
    }
  }
  write_text(file, "not an index");
  BOOST_TEST(git::may_have_conflicts(file));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
