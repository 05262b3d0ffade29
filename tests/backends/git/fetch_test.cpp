#include "backends/git/fetch.h"

#include <boost/test/unit_test.hpp>

#include "backends/git/git_backend.h"
#include "tests/backends/git/git_fixture.h"

namespace modlock::test {
namespace {

// A repository whose tags and branches have names that could be mistaken for one another.
struct Names : GitFixture {
  Names() {
    tagged = repository.commit({{"main.tf", "# tagged\n"}});
    repository.tag("v1");
    repository.annotated_tag("both");
    tip = repository.commit({{"main.tf", "# tip\n"}});
    repository.branch("both", "main");
    repository.branch("feature/x", "main");
    repository.git({"update-ref", "refs/pull/7/head", "main"});
    repository.tag("blob", repository.write_blob("no commit"));
  }

  GitRepository repository{directory / "remote.git"};
  std::string tagged;
  std::string tip;
};

std::string bracketed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += "[" + name + "]";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(parse_fetch_head_names_what_was_fetched) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"nothing", "", ""},
      {"a tag", "1234\t\ttag 'v1.0.0' of https://example.com/x\n", "[refs/tags/v1.0.0]"},
      {"a branch that is not for merge", "1234\tnot-for-merge\tbranch 'main' of /srv/x\n", "[refs/heads/main]"},
      {"HEAD", "1234\t\thttps://example.com/x\n", "[HEAD]"},
      {"another reference", "1234\t\t'refs/pull/7/head' of https://example.com/x\n", "[]"},
      {"a quote in a name and in the URL", "1\t\tbranch 'a' of b' of /srv/it' of x\n",
       "[refs/heads/a' of b' of /srv/it]"},
      {"several", "1\t\ttag 'a' of /x\n2\t\tbranch 'b' of /x\n", "[refs/tags/a][refs/heads/b]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(bracketed(git::parse_fetch_head(row.text)) == row.expected);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_wish_without_id_takes_what_its_reference_gives_in_one_request, Names) {
  struct Row {
    const char* name;
    const char* ref;
    const std::string& id;
    const char* found;
    std::uint64_t requests;
  };
  const Row rows[] = {
      {"a tag", "v1", tagged, "refs/tags/v1", 1},
      {"a branch", "feature/x", tip, "refs/heads/feature/x", 1},
      {"a tag beats a branch of the same name", "both", tagged, "refs/tags/both", 1},
      {"HEAD", "", tip, "HEAD", 1},
      {"a full name", "refs/heads/main", tip, "refs/heads/main", 1},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::uint64_t before = requests();
      const auto tree = fetch_one(repository.url(), {.id = {}, .ref = row.ref});
      BOOST_REQUIRE_MESSAGE(tree.has_value(), outcome(tree));
      BOOST_TEST(tree->id == row.id);
      BOOST_TEST(tree->ref == row.found);
      BOOST_TEST(requests() - before == row.requests);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(wishes_without_id_share_one_request_and_fail_alone, Names) {
  const auto together = fetch(repository.url(), {{.id = {}, .ref = "v1"}, {.id = {}, .ref = "main"}});
  BOOST_TEST(together[0]->id == tagged);
  BOOST_TEST(together[1]->id == tip);
  BOOST_TEST(requests() == 1U);

  const auto mixed = fetch(repository.url(), {{.id = {}, .ref = "gone"}, {.id = {}, .ref = "both"}});
  BOOST_TEST(outcome(mixed[0]) == "NOT_FOUND: \"git::" + repository.url() + "\" has no branch or tag \"gone\"");
  BOOST_REQUIRE(mixed[1].has_value());
  BOOST_TEST(mixed[1]->id == tagged);
}

BOOST_FIXTURE_TEST_CASE(a_wish_without_id_refuses_what_is_no_branch_tag_or_commit, Names) {
  for (const char* ref : {"pull/7/head", "refs/pull/7/head", "blob", "--upload-pack=x"}) {
    BOOST_TEST_CONTEXT(ref) {
      const auto tree = fetch_one(repository.url(), {.id = {}, .ref = ref});
      BOOST_REQUIRE(!tree);
      BOOST_TEST(to_string(tree.error().code) == "NOT_FOUND");
    }
  }
}

}  // namespace modlock::test
