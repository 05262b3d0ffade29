#include "plugin/install/origin_check.h"

#include <boost/test/unit_test.hpp>

#include "backends/package/tree_hash.h"
#include "tests/plugin/install/origin_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(origin_check)

BOOST_AUTO_TEST_CASE(origin_tells_what_became_of_a_git_reference) {
  struct Row {
    const char* name;
    const char* ref;  // as the source has it
    const char* tag;  // what is there: a tag, or else a branch
    const char* branch;
    const char* now;
    const char* expected;
  };
  constexpr const char* kUnknown = "; whether the new commit descends from the old one is unknown\n";
  const Row rows[] = {
      {"a tag that stayed", "?ref=v1.2.0", "v1.2.0", nullptr, kOld, ""},
      {"a full version", "?ref=v1.2.0", "v1.2.0", nullptr, kNew,
       "moved: the tag \"v1.2.0\" was moved from 111111111111 to 222222222222"},
      {"any other tag that the call names", "?ref=stable", "stable", nullptr, kNew,
       "moved: the tag \"stable\" was moved from 111111111111 to 222222222222"},
      {"a partial version", "?ref=v1", "v1", nullptr, kNew,
       "update-available: the tag \"v1\" moved on from 111111111111 to 222222222222"},
      {"two numbers, with a prefix", "?ref=net/1.2", "net/1.2", nullptr, kNew,
       "update-available: the tag \"net/1.2\" moved on from 111111111111 to 222222222222"},
      {"latest", "?ref=latest", "latest", nullptr, kNew,
       "update-available: the tag \"latest\" moved on from 111111111111 to 222222222222"},
      {"a branch", "?ref=main", nullptr, "main", kNew,
       "update-available: the branch \"main\" moved on from 111111111111 to 222222222222"},
      {"the default branch", "", nullptr, "main", kNew,
       "update-available: the branch \"main\" moved on from 111111111111 to 222222222222"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OriginFixture origin;
      if (row.tag != nullptr) {
        origin.fake.add_tag(kVpc, row.tag, kLeaf, row.now);
      } else {
        origin.fake.add_branch(kVpc, row.branch, kLeaf, row.now);
      }
      const OriginFindings findings =
          origin.ask(std::string(kVpc) + row.ref, "", std::nullopt, {std::string("git:") + kOld, kLockedH1});
      const std::string expected = row.expected;
      BOOST_TEST(text(findings) == (expected.empty() ? "" : expected + kUnknown));
      for (const auto& [key, verdict] : findings.verdicts) {
        BOOST_TEST(verdict.expected == std::string("git:") + kOld);
        BOOST_TEST(verdict.actual == std::string("git:") + kNew);
        BOOST_TEST(!verdict.descends.has_value());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(origin_tells_whether_the_new_descends_from_the_old) {
  struct Row {
    const char* name;
    CommitDistance descent;
    const char* expected;
  };
  const Row rows[] = {
      {"one ahead",
       {true, 1},
       "moved: the tag \"v1.0.0\" was moved from 111111111111 to 222222222222, 1 commit ahead\n"},
      {"some ahead",
       {true, 3},
       "moved: the tag \"v1.0.0\" was moved from 111111111111 to 222222222222, 3 commits ahead\n"},
      {"not at all",
       {false, 0},
       "moved: the tag \"v1.0.0\" was moved from 111111111111 to 222222222222, which does not descend from the old "
       "one\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OriginFixture origin;
      origin.fake.add_tag(kVpc, "v1.0.0", kLeaf, kNew);
      origin.origins->known_descent = row.descent;
      const OriginFindings findings =
          origin.ask(std::string(kVpc) + "?ref=v1.0.0", "", std::nullopt, {std::string("git:") + kOld});
      BOOST_TEST(text(findings) == row.expected);
      const Verdict& verdict = findings.verdicts.at("m");
      BOOST_TEST((verdict.descends == row.descent.descends));
      BOOST_TEST(verdict.commits_behind.value_or(0) == row.descent.commits);
    }
  }
}

BOOST_AUTO_TEST_CASE(origin_tells_what_became_of_a_version) {
  struct Row {
    const char* name;
    std::map<std::string, const char*> tags;
    const char* constraint;
    const char* expected;
  };
  const Row rows[] = {
      {"nothing new", {{"v1.2.0", kOld}}, "~> 1.2", ""},
      {"newer, and allowed",
       {{"v1.2.0", kOld}, {"v1.3.0", kNew}},
       "~> 1.2",
       "update-available: version 1.3.0 is available\n"},
      {"newer, and not allowed", {{"v1.2.0", kOld}, {"v2.0.0", kNew}}, "~> 1.2", ""},
      {"moved, and a newer one",
       {{"v1.2.0", kNew}, {"v1.3.0", kNew}},
       "~> 1.2",
       "moved: the tag \"v1.2.0\" was moved from 111111111111 to 222222222222; whether the new commit descends from "
       "the "
       "old one is unknown\n"},
      {"gone",
       {{"v1.1.0", kOld}},
       "~> 1.0",
       "vanished: version 1.2.0 is no longer among the versions of \"git::https://example.com/vpc.git\"\n"},
      {"the tag has other letters now", {{"1.2.0", kOld}}, "~> 1.2", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OriginFixture origin;
      for (const auto& [tag, id] : row.tags) {
        origin.fake.add_tag(kVpc, tag, kLeaf, id);
      }
      BOOST_TEST(text(origin.ask(kVpc, row.constraint, "1.2.0", {std::string("git:") + kOld, kLockedH1})) ==
                 row.expected);
      BOOST_TEST(origin.fake.pins == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(origin_finds_repositories_and_references_gone) {
  struct Row {
    const char* name;
    const char* source;
    const char* constraint;
    const char* expected;
  };
  const Row rows[] = {
      {"repository of a version", "git::https://example.com/gone.git", "~> 1.0",
       "vanished: no such repository: git::https://example.com/gone.git\n"},
      {"repository of a commit", "git::https://example.com/gone.git?ref=1111111111111111111111111111111111111111", "",
       "vanished: no such repository: git::https://example.com/gone.git\n"},
      {"commit in a repository", "git::https://example.com/vpc.git?ref=1111111111111111111111111111111111111111", "",
       ""},
      {"its first digits", "git::https://example.com/vpc.git?ref=11111111", "", ""},
      {"tag", "git::https://example.com/vpc.git?ref=v0.1.0", "", "vanished: no such reference: v0.1.0\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OriginFixture origin;
      origin.fake.add_tag(kVpc, "v1.0.0", kLeaf, kNew);
      const OriginFindings findings =
          origin.ask(row.source, row.constraint, "1.0.0", {std::string("git:") + kOld, kLockedH1});
      BOOST_TEST(text(findings) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(origin_is_asked_once_for_all_calls_of_a_package) {
  OriginFixture origin;
  origin.fake.add_tag(kVpc, "v1.0.0", kLeaf, kOld);
  const std::map<std::string, std::string> sources = {
      {"a", kVpc}, {"b", std::string(kVpc) + "//sub"}, {"c", std::string(kVpc) + "//other"}};
  BOOST_TEST(text(origin.ask(sources, "~> 1.0", "1.0.0", {std::string("git:") + kOld})) == "");
  BOOST_TEST(origin.fake.listings == 1);
  origin.origins->out_of_reach = true;
  const OriginFindings findings = origin.ask(sources, "~> 1.0", "1.0.0", {std::string("git:") + kOld});
  BOOST_TEST(text(findings) == "error: the host cannot be reached\n");
  BOOST_TEST(findings.diagnostics[0].what.subject == "module.a");
  BOOST_TEST(findings.diagnostics[0].what.related.size() == 2U);
}

BOOST_AUTO_TEST_CASE(origin_tells_what_became_of_oci_tags) {
  const std::string old_digest = "sha256:" + std::string(64, '1');
  const std::string new_digest = "sha256:" + std::string(64, '2');
  OriginFixture origin(SourceKind::oci);
  origin.fake.add_tag("oci://example.com/vpc", "1.0.0", kLeaf);
  origin.fake.add_tag("oci://example.com/vpc", "1.1.0", kLeaf);
  origin.origins->digests = {{"1.0.0", old_digest}};
  const auto ask = [&] {
    return origin.ask("oci://example.com/vpc", "~> 1.0", "1.0.0", {"oci:" + old_digest, kLockedH1});
  };
  BOOST_TEST(text(ask()) == "update-available: version 1.1.0 is available\n");
  origin.origins->digests = {{"1.0.0", new_digest}};
  const OriginFindings findings = ask();
  BOOST_TEST(text(findings) == "moved: the tag \"1.0.0\" was moved from 111111111111 to 222222222222\n");
  BOOST_TEST(findings.verdicts.at("m").actual == "oci:" + new_digest);
  const std::string pinned = "oci://example.com/vpc?digest=" + old_digest;
  BOOST_TEST(text(origin.ask(pinned, "", std::nullopt, {"oci:" + old_digest, kLockedH1})) ==
             "vanished: no such repository: " + pinned + "\n");
  origin.fake.add_tag(pinned, "1.0.0", kLeaf, new_digest);
  BOOST_TEST(text(origin.ask(pinned, "", std::nullopt, {"oci:" + old_digest, kLockedH1})) == "");
}

BOOST_AUTO_TEST_CASE(origin_compares_the_content_of_registries_and_archives) {
  struct Row {
    const char* name;
    SourceKind kind;
    const char* source;
    const char* package;
    const char* tag;
    std::optional<std::string> version;
    const char* now;     // id
    const char* locked;  // id
    bool same_content;
    const char* expected;
  };
  const Row rows[] = {
      {"registry, the same", SourceKind::registry, "a/b/c", "registry.opentofu.org/modules/a/b/c", "1.0.0", "1.0.0",
       "git:1", "git:1", true, ""},
      {"registry, another commit", SourceKind::registry, "a/b/c", "registry.opentofu.org/modules/a/b/c", "1.0.0",
       "1.0.0", "git:2", "git:1", true, "moved: version 1.0.0 has other content than when it was locked\n"},
      {"registry, version gone", SourceKind::registry, "a/b/c", "registry.opentofu.org/modules/a/b/c", "1.1.0", "1.0.0",
       "git:2", "git:1", true,
       "vanished: version 1.0.0 is no longer among the versions of \"registry.opentofu.org/modules/a/b/c\"\n"},
      {"archive, the same", SourceKind::archive, "https://example.com/a.zip", "https://example.com/a.zip", "",
       std::nullopt, "zh:1", "zh:1", true, ""},
      {"archive, packed again", SourceKind::archive, "https://example.com/a.zip", "https://example.com/a.zip", "",
       std::nullopt, "zh:2", "zh:1", true,
       "warning: the archive of \"https://example.com/a.zip\" was zh:1 and is zh:2 now; its content is the same\n"},
      {"archive, other content", SourceKind::archive, "https://example.com/a.zip", "https://example.com/a.zip", "",
       std::nullopt, "zh:2", "zh:1", false, "moved: the archive has other content than when it was locked\n"},
      {"archive gone", SourceKind::archive, "https://example.com/gone.zip", "https://example.com/a.zip", "",
       std::nullopt, "zh:1", "zh:1", true, "vanished: no such repository\n"},
  };
  TemporaryDirectory leaf;
  write_text(leaf / "main.tf", kLeaf.at("main.tf"));
  const std::string h1 = hash_tree(leaf.path(), Context{}).value();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OriginFixture origin(row.kind);
      origin.fake.add_tag(row.package, row.tag, kLeaf, row.now);
      BOOST_TEST(text(origin.ask(row.source, "", row.version, {row.locked, row.same_content ? h1 : "h1:other"})) ==
                 row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
