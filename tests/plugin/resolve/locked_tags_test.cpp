#include "plugin/resolve/locked_tags.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(locked_tags)

namespace {

const std::string kGit = kVpc;

// "ok", or the codes of the error or the warnings of a plan.
std::string outcome(const Result<Plan>& plan) {
  if (!plan) {
    return std::string(to_string(plan.error().code));
  }
  std::string codes;
  for (const Diagnostic& diagnostic : plan->diagnostics) {
    codes += (codes.empty() ? "" : " ") + std::string(to_string(diagnostic.what.code));
  }
  return codes.empty() ? "ok" : codes;
}

void prefix(PlanFixture& fixture, const std::string& key, const std::string& text) {
  fixture.request.walk.settings.modules[key].tag_prefix = SourceText{text, {".tofu-modlock.hcl", std::nullopt}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_tag_that_a_call_gets_is_compared_with_what_is_known) {
  using Step = std::function<void(PlanFixture&)>;
  const auto has = [](const std::string& text) { return [text](PlanFixture& it) { it.write("main.tf", text); }; };
  const auto nothing = [](PlanFixture&) {};
  const auto base = [](PlanFixture& it) {
    it.files.earlier = {{.key = "old", .source = kGit + "?ref=v1.0.0", .hashes = {"git:" + kCommitA, "h1:x"}}};
  };
  const auto upgrade = [](PlanFixture& it) {
    it.request.mode = PlanMode::upgrade;
    it.request.targets = {"module.a"};
  };
  const std::string v1 = call("a", kGit + "?ref=v1.0.0");
  const std::string v2 = call("a", kGit + "?ref=v1.1.0");
  struct Row {
    const char* name;
    std::vector<std::string> locked;  // configurations that are locked one after another, before the tag moves
    Step after;                       // the tag moved
    std::string outcome;
  };
  const auto both = [](Step one, Step two) {
    return [one = std::move(one), two = std::move(two)](PlanFixture& it) {
      one(it);
      two(it);
    };
  };
  const Row rows[] = {
      {"an undo", {v1, v2}, has(v1), "TAG_MOVED"},
      {"an undo, and the base has the old commit", {v1, v2}, both(has(v1), base), "HASH_MISMATCH"},
      {"accepted for all",
       {v1, v2},
       both(both(has(v1), base), [](PlanFixture& it) { it.request.accept_moved = true; }),
       "TAG_MOVED"},
      {"the user named the call", {v1, v2}, both(both(has(v1), base), upgrade), "TAG_MOVED"},
      {"a revision named the call",
       {v1, v2},
       both(both(both(has(v1), base), upgrade), [](PlanFixture& it) { it.request.has_named_targets = false; }),
       "HASH_MISMATCH"},
      {"a new call of a locked tag", {v1}, has(v1 + call("b", kGit + "?ref=v1.0.0")), "HASH_MISMATCH"},
      {"in another directory of the package", {v1}, has(v1 + call("b", kGit + "//sub?ref=v1.0.0")), "HASH_MISMATCH"},
      {"in another spelling", {v1}, has(v1 + call("b", kGit + "?ref=refs/tags/v1.0.0")), "HASH_MISMATCH"},
      {"a version in place of a tag",
       {v1},
       both(has(call("a", kGit)), [](PlanFixture& it) { it.constrain("a", "1.0.0"); }),
       "HASH_MISMATCH"},
      {"another entry has the new commit, too",
       {v1, v2},
       both(both(has(v1), base),
            [](PlanFixture& it) {
              it.request.lock.modules.emplace(
                  "x",
                  ModuleLock{.key = "x:host", .source = kGit + "?ref=v1.0.0", .hashes = {"git:" + kCommitC, "h1:x"}});
            }),
       "TAG_MOVED"},
      // Harmless.
      {"a branch", {call("a", kGit + "?ref=main"), v2}, has(call("a", kGit + "?ref=main")), "ok"},
      {"a partial tag", {call("a", kGit + "?ref=v1"), v2}, has(call("a", kGit + "?ref=v1")), "ok"},
      {"HEAD", {call("a", kGit), v2}, has(call("a", kGit)), "ok"},
      {"a tag that was never locked", {v2}, has(v1), "ok"},
      {"the same tag of a fork", {v1}, has(v1 + call("b", std::string(kNested) + "?ref=v1.0.0")), "ok"},
      {"the same version under another prefix",
       {v1},
       both(has(v1 + call("b", kGit)),
            [](PlanFixture& it) {
              it.constrain("b", "1.0.0");
              prefix(it, "b", "net/");
            }),
       "ok"},
      {"the commit itself",
       {v1},
       both(has(v1 + call("b", kGit)), [](PlanFixture& it) { it.constrain("b", kCommitC); }),
       "ok"},
      {"the cache was deleted",
       {v1, v2},
       both(has(v1), [](PlanFixture& it) { std::filesystem::remove_all(it.directory / "cache/v2/seen"); }),
       "ok"},
      {"nothing changes", {v1}, nothing, "ok"},
  };
  FakeBackend::Files files = kLeaf;
  files["sub/main.tf"] = "# other\n";
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      PlanFixture it;
      for (const char* tag : {"v1.0.0", "v1"}) {
        it.source->add_tag(kVpc, tag, files, kCommitA);
      }
      it.source->add_tag(kVpc, "net/v1.0.0", kLeaf, kCommitB);
      it.source->add_tag(kVpc, "v1.1.0", kLeaf, kCommitB);
      it.source->add_branch(kVpc, "main", kLeaf, kCommitA);
      it.source->add_tag(kNested, "v1.0.0", kLeaf, kCommitB);
      for (const std::string& text : row.locked) {
        it.write("main.tf", text);
        it.lock();
      }
      for (const char* tag : {"v1.0.0", "v1"}) {
        it.source->add_tag(kVpc, tag, files, kCommitC);
      }
      it.source->add_branch(kVpc, "main", files, kCommitC);
      row.after(it);
      BOOST_TEST(outcome(it.plan()) == row.outcome);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(the_error_names_both_commits_and_the_entry, PlanFixture) {
  source->add_tag(kVpc, "v1.0.0", kLeaf, kCommitA);
  write("main.tf", call("a", kGit + "?ref=v1.0.0"));
  lock();
  source->add_tag(kVpc, "v1.0.0", kLeaf, kCommitC);
  write("main.tf", call("a", kGit + "?ref=v1.0.0") + call("b", kGit + "?ref=v1.0.0"));
  const Error error = plan().error();
  BOOST_TEST(error.message == "the tag \"v1.0.0\" of \"" + kGit + "\" was moved: module.a has git:" + kCommitA +
                                  ", and git:" + kCommitC + " would be locked");
  BOOST_TEST(error.subject == "module.b");
  BOOST_TEST(error.hint == "find out why it moved; to accept it, run: tofu-modlock upgrade --target module.b");
  request.accept_moved = true;
  const auto accepted = plan();
  BOOST_REQUIRE(accepted.has_value());
  const auto is_of_b = [](const Diagnostic& one) { return one.what.subject == "module.b"; };
  const auto warning = std::ranges::find_if(accepted->diagnostics, is_of_b);
  BOOST_REQUIRE((warning != accepted->diagnostics.end()));
  BOOST_TEST((warning->what.code == Code::tag_moved));
  BOOST_TEST(warning->what.hint ==
             "review the difference before you commit the lock file: tofu-modlock diff --lock-rev HEAD");
}

BOOST_FIXTURE_TEST_CASE(only_a_named_call_accepts_its_moved_tag, PlanFixture) {
  struct Row {
    const char* name;
    std::vector<std::string> targets;
    std::string held;
    std::string changes;
  };
  const std::string branch = "module.a updated: the branch moved from aaaaaaaaaaaa to bbbbbbbbbbbb\n";
  const std::string moved = "module.a.nested moved: the tag was moved from aaaaaaaaaaaa to cccccccccccc\n";
  const Row rows[] = {
      {"all", {}, "module.a.nested", branch},
      {"the call above", {"module.a"}, "module.a.nested", branch},
      {"the call", {"module.a.nested"}, "", moved},
      {"both", {"module.a", "module.a.nested"}, "", branch + moved},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto files = calling("nested", std::string(kNested) + "?ref=v1.0.0");
      source->add_branch(kVpc, "main", files, kCommitA);
      source->add_tag(kNested, "v1.0.0", kLeaf, kCommitA);
      write("main.tf", call("a", kGit + "?ref=main"));
      request.mode = PlanMode::missing;
      request.lock = {};
      lock();
      auto other = files;
      other["new.tf"] = "# new\n";
      source->add_branch(kVpc, "main", other, kCommitB);
      source->add_tag(kNested, "v1.0.0", {{"main.tf", "# evil\n"}}, kCommitC);
      request.mode = PlanMode::upgrade;
      request.targets = row.targets;
      const Plan upgraded = lock();
      std::string held;
      for (const HeldMove& move : upgraded.moved) {
        held += move.subject;
      }
      BOOST_TEST(held == row.held);
      BOOST_TEST(summary(upgraded) == row.changes);
    }
  }
}

BOOST_AUTO_TEST_CASE(entries_with_one_tag_at_two_commits_are_named) {
  const std::string a = "git:" + kCommitA;
  const std::string b = "git:" + kCommitB;
  struct Row {
    const char* name;
    ModuleLock first;
    ModuleLock second;
    bool is_split;
  };
  const auto entry = [](const std::string& source, const std::string& hash, std::optional<std::string> version = {},
                        const std::string& h1 = "x") {
    return ModuleLock{.version = std::move(version), .source = source, .hashes = {hash, "h1:" + h1}};
  };
  const std::string registry = kRegistry;
  const Row rows[] = {
      {"one tag", entry(kGit + "?ref=v1.0.0", a), entry(kGit + "?ref=v1.0.0", b), true},
      {"two directories", entry(kGit + "//x?ref=v1.0.0", a), entry(kGit + "//y?ref=v1.0.0", b), true},
      {"a tag and a version", entry(kGit + "?ref=v1.0.0", a), entry(kGit, b, "1.0.0"), true},
      {"a version", entry(kGit, a, "1.0.0"), entry(kGit, b, "1.0.0"), true},
      {"a version of a registry", entry(registry, a, "1.0.0"), entry(registry, b, "1.0.0"), true},
      // Harmless.
      {"one commit", entry(kGit + "?ref=v1.0.0", a), entry(kGit + "?ref=v1.0.0", a), false},
      {"two tags", entry(kGit + "?ref=v1.0.0", a), entry(kGit + "?ref=v1.0.1", b), false},
      {"a branch", entry(kGit + "?ref=main", a), entry(kGit + "?ref=main", b), false},
      {"a branch with a version", entry(kGit + "?ref=release/1.0.0", a), entry(kGit + "?ref=release/1.0.0", b), false},
      {"a partial tag", entry(kGit + "?ref=v1", a), entry(kGit + "?ref=v1", b), false},
      {"HEAD", entry(kGit, a), entry(kGit, b), false},
      {"two commits", entry(kGit + "?ref=" + kCommitA, a), entry(kGit + "?ref=" + kCommitB, b), false},
      {"two repositories", entry(kGit, a, "1.0.0"), entry(kNested, b, "1.0.0"), false},
      {"two prefixes", entry(kGit, a, "1.0.0"), entry(kGit + "//net", b, "1.0.0"), false},
      {"an archive that was packed again", entry(registry, "zh:a", "1.0.0"), entry(registry, "zh:b", "1.0.0"), false},
      {"an entry without a commit", entry(kGit, "h1:x", "1.0.0"), entry(kGit, b, "1.0.0"), false},
  };
  Settings settings;
  settings.sources.push_back({.glob = kGit + "//net", .tag_prefix = SourceText{"net/", {}}});
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ModuleLocks locks = {{"a", row.first}, {"b", row.second}};
      locks["a"].key = "a";
      locks["b"].key = "b";
      const Diagnostics warnings = warn_of_split_tags(locks, settings);
      BOOST_TEST(warnings.size() == (row.is_split ? 1U : 0U));
      if (row.is_split) {
        BOOST_TEST(to_string(warnings[0].what.code) == "TAG_MOVED");
        BOOST_TEST(warnings[0].what.message.ends_with(a + " and " + b), warnings[0].what.message);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
