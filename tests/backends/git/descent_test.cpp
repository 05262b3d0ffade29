#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/backends/git/git_fixture.h"

namespace modlock::test {
namespace {

struct Line : GitFixture {
  Line() {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1", first);
    second = repository.commit({{"main.tf", "# 2\n"}});
    third = repository.commit({{"main.tf", "# 3\n"}});
  }
  std::string told(const std::string& older, const std::string& newer) {
    const auto descent = backend->commit_distance(source(repository.url()), older, newer, context);
    return !descent ? "unknown" : descent->descends ? std::to_string(descent->commits) + " ahead" : "does not descend";
  }

  GitRepository repository{directory / "remote.git"};
  std::string first;
  std::string second;
  std::string third;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(git_descent, Line)

BOOST_AUTO_TEST_CASE(descent_is_read_from_the_history_of_the_remote) {
  const std::string unrelated = repository.commit_tree(repository.id("main^{tree}"));
  repository.branch("other", unrelated);
  struct Row {
    const char* name;
    std::string older;
    std::string newer;
    const char* expected;
  };
  const Row rows[] = {
      {"a child", first, second, "1 ahead"},
      {"a grandchild", first, third, "2 ahead"},
      {"itself", first, first, "0 ahead"},
      {"a parent", third, first, "does not descend"},
      {"another history", first, unrelated, "does not descend"},
      {"what no branch leads to any more", std::string(40, '1'), third, "does not descend"},
      {"a new one that is not there", first, std::string(40, '1'), "unknown"},
      {"no commit", "v1", third, "unknown"},
  };
  for (const bool is_known : {false, true}) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(row.name << (is_known ? ", in the cache" : "")) {
        BOOST_TEST(told(row.older, row.newer) == row.expected);
      }
    }
    // What was fetched once tells by its date how much of the history is needed.
    const std::vector<FetchRequest> requests = {{.id = first, .ref = "refs/tags/v1"}};
    BOOST_TEST(backend->fetch(source(repository.url()), requests, directory.path(), context)[0].has_value());
  }
}

BOOST_AUTO_TEST_CASE(descent_is_unknown_where_nobody_can_be_asked) {
  std::filesystem::remove_all(repository.path());
  BOOST_TEST(told(first, second) == "unknown");
}

BOOST_AUTO_TEST_CASE(descent_is_not_asked_for_offline) {
  context.offline = true;
  BOOST_TEST(told(first, second) == "unknown");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
