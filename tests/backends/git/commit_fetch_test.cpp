#include "backends/git/commit_fetch.h"

#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "tests/backends/git/git_fixture.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// main: first <- second <- third; v1 at second; side: first <- other.
struct Commits : GitFixture {
  Commits() {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.branch("side", first);
    other = repository.commit({{"main.tf", "# other\n"}}, "side");
    second = repository.commit({{"main.tf", "# 2\n"}});
    repository.annotated_tag("v1");
    third = repository.commit({{"main.tf", "# 3\n"}});
  }
  Result<Pin> pin(const std::string& ref) const {
    return backend->pin(source(repository.url() + "?ref=" + ref), context);
  }
  // What go-getter 1.8 checks out in a clone, twice (resolveCheckoutRef in clone() and in Get()); empty if it fails.
  std::string in_clone(const std::string& ref) const {
    const std::string script =
        "git checkout -q main; for i in 1 2; do for c in \"$0\" \"refs/remotes/origin/$0\" \"refs/tags/$0\" fail; do "
        "id=$(git rev-parse --verify --quiet --end-of-options \"$c^{commit}\") && break; done; "
        "[ \"$id\" ] || exit 0; git checkout -q $id; done; echo $id";
    std::string found = run({"sh", "-c", script, ref}, directory / "clone");
    return found.substr(0, found.find('\n'));
  }
  std::string display() const { return "git::" + repository.url(); }

  GitRepository repository{directory / "remote.git"};
  std::string first;
  std::string second;
  std::string third;
  std::string other;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(git_history, Commits)

BOOST_AUTO_TEST_CASE(revisions_give_what_they_give_in_a_clone) {
  run({"git", "clone", "--quiet", repository.url(), (directory / "clone").string()});
  struct Row {
    const char* name;
    std::string ref;
    std::string expected;
  };
  std::string capitals = first.substr(0, 12);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c; });
  for (const Row& row : {
           Row{"seven digits", first.substr(0, 7), first},
           Row{"39 digits", second.substr(0, 39), second},
           Row{"capitals", capitals, first},
           Row{"on another branch", other.substr(0, 8), other},
           Row{"of the tag object", repository.id("refs/tags/v1").substr(0, 10), second},
           Row{"before a tag", "v1~1", first},
           Row{"the parent of the default branch", "main^", second},
           Row{"before HEAD, twice", "HEAD~1", first},
           Row{"before HEAD, twice, short", "@^", first},
           Row{"before HEAD, too far the second time", "HEAD~2", first},
           Row{"before HEAD, too far the second time, short", "@~2", ""},
           Row{"before HEAD, too far the first time", "HEAD~3", ""},
           Row{"before the commit of a tag", "v1^{}~1", first},
           Row{"before the commit of a branch", "main^{commit}~1^{}", second},
           Row{"the id of a tag object", repository.id("refs/tags/v1"), second},
           Row{"before the id of a tag object", repository.id("refs/tags/v1") + "~1", first},
           Row{"before another branch", "side~1", first},
           Row{"further than there is", "v1~9", ""},
           Row{"no second parent", "v1^2", ""},
           Row{"of an abbreviation", third.substr(0, 9) + "~2", first},
           Row{"git describe", "v1-1-g" + third.substr(0, 7), third},
           Row{"nothing that begins so", "00000000", ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pinned = pin(row.ref);
      BOOST_TEST((pinned ? pinned->id : "") == row.expected);
      BOOST_TEST(in_clone(row.ref) == row.expected);
      if (pinned) {
        BOOST_TEST(pinned->ref == "");
        if (row.ref.size() != 40) {  // a full id is resolved first
          const auto tree = fetch_one(repository.url(), {"", row.ref, false});
          BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
          BOOST_TEST(tree->id == row.expected);
        }
        BOOST_TEST(outcome(fetch_one(repository.url(), {row.expected, row.ref, true})) == "ok");
      } else {
        BOOST_TEST(outcome(pinned) == "NOT_FOUND: \"" + display() + "\" has no branch or tag \"" + row.ref +
                                          "\", and no reachable commit of that name");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_id_of_a_tag_object_names_only_the_commit_of_its_tag) {
  const std::string tag = repository.id("refs/tags/v1");
  BOOST_TEST(outcome(fetch_one(repository.url(), {second, tag, true})) == "ok");
  BOOST_TEST(outcome(fetch_one(repository.url(), {third, tag, true})) ==
             "HASH_MISMATCH: commit " + tag + " of \"" + display() + "\" is asked for, and " + third + " is expected");
  BOOST_TEST(outcome(fetch_one(repository.url(), {tag, tag, true})) ==
             "NOT_FOUND: \"" + tag + "\" of \"" + display() + "\" points to a tag object, not to a commit");
}

BOOST_AUTO_TEST_CASE(a_part_that_more_than_one_commit_has_is_an_error) {
  // Until four digits are shared.
  std::map<std::string, std::string> seen;
  const std::string tree = repository.id("main^{tree}");
  std::string parent = third;
  std::string shared;
  while (shared.empty()) {
    parent = repository.commit_tree(tree, parent);
    const auto [at, is_new] = seen.try_emplace(parent.substr(0, 4), parent);
    shared = is_new ? "" : at->first;
  }
  repository.branch("main", parent);
  const auto pinned = pin(shared);
  BOOST_TEST(outcome(pinned) == "NOT_FOUND: \"" + display() + "\" has more than one commit that begins with \"" +
                                    shared + "\": " + std::min(parent, seen[shared]) + " and " +
                                    std::max(parent, seen[shared]));
  BOOST_TEST(pinned.error().hint == "write all 40 digits of the commit");
}

BOOST_AUTO_TEST_CASE(a_commit_of_no_branch_is_not_found_by_a_part_of_its_id) {
  const std::string fork = repository.commit_tree(repository.id("main^{tree}"), third);
  BOOST_TEST(outcome(pin(fork.substr(0, 12))).substr(0, 10) == "NOT_FOUND:");
}

BOOST_AUTO_TEST_CASE(a_revision_leaves_nothing_behind_and_offline_asks_nobody) {
  BOOST_TEST(outcome(pin(first.substr(0, 7))) == "ok");
  const fs::path cached = fs::directory_iterator(directory / "cache")->path();
  for (const fs::directory_entry& entry : fs::directory_iterator(cached)) {
    BOOST_TEST(!entry.path().filename().string().starts_with("history-"));
  }
  fs::create_directories(cached / "history-of-a-killed-run");
  BOOST_TEST(outcome(fetch_one(repository.url(), {first, "v1~1", true})) == "ok");
  BOOST_TEST(!fs::exists(cached / "history-of-a-killed-run"));
  context.offline = true;
  BOOST_TEST(outcome(pin(first.substr(0, 7))).substr(0, 13) == "OFFLINE_MISS:");
}

BOOST_AUTO_TEST_CASE(with_depth_a_branch_takes_precedence_over_a_tag) {
  repository.branch("both", other);
  repository.tag("both", second);
  for (const auto& [query, expected] : {std::pair("both", second), std::pair("both&depth=1", other),
                                        std::pair("both&depth=0", second), std::pair("tags/both&depth=1", second)}) {
    BOOST_TEST_CONTEXT(query) {
      const auto pinned = pin(query);
      BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
      BOOST_TEST(pinned->id == expected);
      const std::string address = repository.url() + "?ref=" + query;
      const std::string ref = std::string(query).substr(0, std::string(query).find('&'));
      for (const FetchRequest& request : {FetchRequest{"", ref, false}, FetchRequest{expected, ref, true}}) {
        const auto tree = fetch_one(address, request);
        BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
        BOOST_TEST(tree->id == expected);
        BOOST_TEST(tree->warnings.empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(depth_has_no_influence_on_other_references) {
  for (const std::string& ref : {std::string("v1"), second, second.substr(0, 7)}) {
    const auto pinned = pin(ref + "&depth=1");
    BOOST_REQUIRE_EQUAL(outcome(pinned), "ok");
    BOOST_TEST(pinned->id == second);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test

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
    const auto descent = backend->git()->commit_distance(source(repository.url()), older, newer, context);
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
