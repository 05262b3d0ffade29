#include "backends/git/references.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/git/git_fixture.h"

namespace modlock::git {
namespace {

using test::outcome;

std::string id(char digit) {
  return std::string(40, digit);
}

// As git 2.39 prints it.
References recorded() {
  const std::string output = id('a') + "\tHEAD\n" + id('a') + "\trefs/heads/main\n" + id('b') +
                             "\trefs/heads/v1.0.0\n" + id('c') + "\trefs/heads/origin/main\n" + id('1') +
                             "\trefs/tags/v1.0.0\n" + id('2') + "\trefs/tags/v1.0.0^{}\n" + id('3') +
                             "\trefs/tags/v1.10.0\n" + id('4') + "\trefs/tags/deadbee\n";
  return parse_references(output).value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(references)

BOOST_AUTO_TEST_CASE(a_peeled_line_wins_over_the_tag_object) {
  const References references = recorded();
  BOOST_TEST(references.size() == 7U);
  BOOST_TEST(references[4].name == "refs/tags/v1.0.0");
  BOOST_TEST(references[4].id == id('1'));
  BOOST_TEST(references[4].commit() == id('2'));
  BOOST_TEST(references[5].commit() == id('3'));
}

BOOST_AUTO_TEST_CASE(an_empty_repository_lists_nothing) {
  BOOST_TEST(parse_references("")->empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_reference_line_is_quoted) {
  struct Row {
    const char* name;
    std::string output;
    std::string line;
  };
  for (const Row& row :
       {Row{"no tab", id('a') + " HEAD\n", id('a') + " HEAD"}, Row{"short id", "abc\tHEAD\n", "abc\\x09HEAD"},
        Row{"no name", id('a') + "\t\n", id('a') + "\\x09"}, Row{"words", "hello\n", "hello"},
        Row{"control characters", "a\x1b[1m\n", "a\\x1b[1m"},
        Row{"not hexadecimal", id('g') + "\tHEAD", id('g') + "\\x09HEAD"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(parse_references(row.output)) ==
                 "BAD_RESPONSE: git listed a reference as \"" + row.line + "\" where \"<id> TAB <name>\" was expected");
    }
  }
}

BOOST_AUTO_TEST_CASE(references_are_found_as_a_fresh_clone_finds_them) {
  struct Row {
    const char* name;
    const char* ref;
    std::string expected_ref;
    std::string expected_id;
  };
  for (const Row& row : {
           Row{"nothing", "", "HEAD", id('a')},
           Row{"HEAD", "HEAD", "HEAD", id('a')},
           Row{"HEAD, short", "@", "HEAD", id('a')},
           Row{"HEAD of the clone", "origin/HEAD", "HEAD", id('a')},
           Row{"HEAD of the clone, longer", "remotes/origin/HEAD", "HEAD", id('a')},
           Row{"HEAD of the clone in full", "refs/remotes/origin/HEAD", "HEAD", id('a')},
           Row{"the commit of a tag", "v1.0.0^{}", "refs/tags/v1.0.0", id('2')},
           Row{"the commit of a branch", "main^{commit}^{}", "refs/heads/main", id('a')},
           Row{"branch", "main", "refs/heads/main", id('a')},
           Row{"a tag beats a branch of its name", "v1.0.0", "refs/tags/v1.0.0", id('2')},
           Row{"full tag name", "refs/tags/v1.10.0", "refs/tags/v1.10.0", id('3')},
           Row{"full branch name", "refs/heads/v1.0.0", "refs/heads/v1.0.0", id('b')},
           Row{"tags/", "tags/v1.0.0", "refs/tags/v1.0.0", id('2')},
           Row{"heads/", "heads/v1.0.0", "refs/heads/v1.0.0", id('b')},
           Row{"remote branch beats a branch of that name", "origin/main", "refs/heads/main", id('a')},
           Row{"remote branch in full", "refs/remotes/origin/v1.0.0", "refs/heads/v1.0.0", id('b')},
           Row{"a branch below origin/", "origin/origin/main", "refs/heads/origin/main", id('c')},
           Row{"a tag that looks like a commit", "deadbee", "refs/tags/deadbee", id('4')},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pin = find_reference(recorded(), row.ref, "git::https://example.test/m.git");
      BOOST_TEST(outcome(pin) == "ok");
      BOOST_TEST(pin->ref == row.expected_ref);
      BOOST_TEST(pin->id == row.expected_id);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_named) {
  struct Row {
    const char* name;
    const char* ref;
    const char* expected;
    std::string hint;
  };
  for (const Row& row : {
           Row{"unknown", "v2", "NOT_FOUND: \"repo\" has no branch or tag \"v2\"",
               "check the spelling of ?ref=, or whether the branch or tag was deleted"},
           Row{"a revision, for the history to look up", "v1.0.0~2",
               "NOT_FOUND: \"repo\" has no branch or tag \"v1.0.0~2\"",
               "check the spelling of ?ref=, or whether the branch or tag was deleted"},
           Row{"expression", "v1.0.0^{tree}",
               "SOURCE_UNSUPPORTED: \"v1.0.0^{tree}\" is no branch or tag of \"repo\", and of revision expressions "
               "only "
               "steps to ancestors are understood (\"~\", \"^\")",
               "write a branch, a tag or a full commit"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pin = find_reference(recorded(), row.ref, "repo");
      BOOST_TEST(outcome(pin) == row.expected);
      BOOST_TEST(pin.error().hint == row.hint);
    }
  }
  BOOST_TEST(outcome(find_reference({}, "", "repo")) ==
             "NOT_FOUND: \"repo\" has no HEAD: it is empty, or its default branch does not exist");
}

BOOST_AUTO_TEST_CASE(names_are_those_that_git_allows) {
  for (const char* good : {"v1.0.0", "refs/tags/nested/v1.0.0", "HEAD", "a@b", "1+meta", "\xc3\xa4"}) {
    BOOST_TEST(is_reference_name(good), good);
  }
  for (const char* bad : {"",    "-x", "+x", "/x", "x/",   "x.",  "@",  "a..b", "a@{1}", "a//b", "a/.b",
                          "a:b", "a*", "a?", "a[", "a\\b", "a~1", "a^", "a b",  "a\nb",  "a\x7f"}) {
    BOOST_TEST(!is_reference_name(bad), bad);
  }
}

BOOST_AUTO_TEST_CASE(versions_come_newest_first_and_ambiguities_are_marked) {
  const References references =
      parse_references(id('1') + "\trefs/tags/1.2.0\n" + id('2') + "\trefs/tags/latest\n" + id('3') +
                       "\trefs/tags/v1.10.0\n" + id('4') + "\trefs/tags/v1.2.0\n" + id('5') + "\trefs/tags/1.3.0\n" +
                       id('5') + "\trefs/tags/v1.3.0\n" + id('6') + "\trefs/tags/v1.10.0-rc.1\n" + id('7') +
                       "\trefs/heads/v9.0.0\n")
          .value();
  const Listing listing = make_listing(references, "", {});
  std::string versions;
  for (const ListedVersion& version : listing.versions) {
    versions += version.version.to_string() + " " + version.tag + " " + version.id.substr(0, 1) +
                (version.ambiguous_with.empty() ? "" : " or " + version.ambiguous_with) + "\n";
  }
  BOOST_TEST(versions == "1.10.0 v1.10.0 3\n1.10.0-rc.1 v1.10.0-rc.1 6\n1.3.0 1.3.0 5\n1.2.0 1.2.0 1 or v1.2.0\n");
  std::string skipped;
  for (const SkippedTag& tag : listing.skipped) {
    skipped += tag.tag + ": " + tag.reason + "\n";
  }
  BOOST_TEST(skipped == "latest: not a semantic version\nv1.3.0: the same version and commit as \"1.3.0\"\n");
}

BOOST_AUTO_TEST_CASE(a_prefix_selects_tags) {
  const References references =
      parse_references(id('1') + "\trefs/tags/nested/v1.0.0\n" + id('2') + "\trefs/tags/v2.0.0\n").value();
  const Listing listing = make_listing(references, "nested/", {});
  BOOST_TEST(listing.versions.size() == 1U);
  BOOST_TEST(listing.versions[0].tag == "nested/v1.0.0");
  BOOST_TEST(listing.skipped.size() == 1U);
  BOOST_TEST(listing.skipped[0].reason == "other prefix");
}

BOOST_AUTO_TEST_CASE(revisions_are_told_from_names) {
  struct Row {
    const char* name;
    const char* ref;
    bool expected;
  };
  for (const Row& row : {
           Row{"four digits", "8f2c", true},
           Row{"three digits", "8f2", false},
           Row{"all digits", "8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807", false},
           Row{"capitals", "8F2C0D0", true},
           Row{"a word", "beef5g", false},
           Row{"an ancestor", "v1~2", true},
           Row{"a parent of an ancestor", "feature/x~2^2", true},
           Row{"an ancestor of an abbreviation", "8f2c0d0^", true},
           Row{"of HEAD", "HEAD~1", true},
           Row{"of HEAD, short", "@~1", true},
           Row{"HEAD, short", "@", true},
           Row{"the commit of a tag", "v1^{}", true},
           Row{"before the commit of a tag", "v1^{}~1", true},
           Row{"the commit of a tag in full", "v1~1^{commit}", true},
           Row{"HEAD", "HEAD", false},
           Row{"the commit of nothing", "^{}", false},
           Row{"of nothing", "~1", false},
           Row{"of an option", "-x~1", false},
           Row{"a tree", "v1^{tree}", false},
           Row{"a message", "v1^{/fix}", false},
           Row{"a path", "v1:main.tf", false},
           Row{"git describe", "v1.2.0-3-g8f2c0d0", true},
           Row{"git describe with an option before", "-x-g8f2c0d0", false},
           Row{"a full name that ends so", "refs/tags/v1-g8f2c0d0", false},
           Row{"a version", "v1.0.0", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(is_revision(row.ref) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
