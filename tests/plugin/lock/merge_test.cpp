#include "plugin/lock/merge.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <utility>

#include "plugin/lock/side_alignment.h"
#include "tests/plugin/lock/samples.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(merge)

namespace {

ModuleLock module_at(const std::string& key, const std::string& version, const std::string& constraints = {}) {
  ModuleLock module{.key = key, .version = version, .source = "git::https://example.com/" + key + ".git"};
  if (!constraints.empty()) {
    module.constraints = constraints;
  }
  module.hashes = {"git:" + version, "h1:" + key + version};
  return module;
}

std::string block(const std::string& key, const std::string& version, const std::string& constraints = {}) {
  return write_module_block(module_at(key, version, constraints));
}

std::string provider(const std::string& type, const std::string& version, const std::vector<std::string>& hashes,
                     const std::string& constraints = {}) {
  std::string text = "provider \"registry.opentofu.org/hashicorp/" + type + "\" {\n";
  text += constraints.empty() ? "  version = \"" + version + "\"\n"
                              : "  version     = \"" + version + "\"\n  constraints = \"" + constraints + "\"\n";
  if (!hashes.empty()) {
    text += "  hashes = [\n";
    for (const std::string& hash : hashes) {
      text += "    \"" + hash + "\",\n";
    }
    text += "  ]\n";
  }
  return text + "}\n";
}

// A lock file of these blocks, as the writer lays it out.
std::string file(std::initializer_list<std::string> blocks) {
  std::string text = kHeader;
  for (const std::string& one : blocks) {
    text += "\n" + one;
  }
  return text;
}

LockFile parsed(const std::string& text) {
  auto lock = parse_lock(text, "l");
  BOOST_TEST_REQUIRE(lock.has_value(), (lock ? "" : lock.error().message));
  return std::move(*lock);
}

std::string conflict(const std::string& ours, const std::string& theirs) {
  return "<<<<<<< ours\n" + ours + "=======\n" + theirs + ">>>>>>> theirs\n";
}

struct Row {
  const char* name;
  std::string base;
  std::string ours;
  std::string theirs;
  std::string merged;
  std::vector<std::string> conflicts = {};
};

void check(const Row& row) {
  BOOST_TEST_CONTEXT(row.name) {
    const LockFile base = parsed(row.base);
    const MergedLock merged = merge_locks(base, parsed(row.ours), parsed(row.theirs), 7);
    BOOST_TEST(merged.text == row.merged);
    BOOST_TEST(merged.conflicts == row.conflicts, boost::test_tools::per_element());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(module_entries) {
  const std::string a1 = block("a", "1.0.0");
  const std::string a2 = block("a", "2.0.0");
  const std::string a3 = block("a", "3.0.0");
  const std::string b1 = block("b", "1.0.0");
  const std::string b2 = block("b", "2.0.0");
  const std::string c1 = block("c", "1.0.0");
  const Row rows[] = {
      {"nothing changed", file({a1}), file({a1}), file({a1}), file({a1})},
      {"ours changed", file({a1}), file({a2}), file({a1}), file({a2})},
      {"theirs changed", file({a1}), file({a1}), file({a2}), file({a2})},
      {"both the same", file({a1, b1}), file({a2, b2}), file({a2, b1}), file({a2, b2})},
      {"neighbours", file({a1, b1}), file({a2, b1}), file({a1, b2}), file({a2, b2})},
      {"both added others", file({b1}), file({a1, b1}), file({b1, c1}), file({a1, b1, c1})},
      {"both added at one place", file({}), file({a1}), file({b1}), file({a1, b1})},
      {"both added the same", file({c1}), file({a1, c1}), file({a1, b1, c1}), file({a1, b1, c1})},
      {"ours removed, theirs changed another", file({a1, b1}), file({b1}), file({a1, b2}), file({b2})},
      {"both removed", file({a1, b1}), file({b1}), file({b2}), file({b2})},
      {"both changed", file({a1, b1}), file({a2, b1}), file({a3, b2}), file({conflict(a2, a3), b2}), {"module.a"}},
      {"both added differently", file({}), file({a2}), file({a3}), file({conflict(a2, a3)}), {"module.a"}},
      {"ours removed, theirs changed",
       file({a1, b1}),
       file({b1}),
       file({a2, b1}),
       file({conflict("", a2), b1}),
       {"module.a"}},
      {"ours changed, theirs removed",
       file({a1, b1}),
       file({a2, b1}),
       file({b1}),
       file({conflict(a2, ""), b1}),
       {"module.a"}},
      {"constraints and version",
       file({a1}),
       file({a2}),
       file({block("a", "1.0.0", "~> 1.0")}),
       file({conflict(a2, block("a", "1.0.0", "~> 1.0"))}),
       {"module.a"}},
      {"empty ancestor", "", file({a1}), file({b1}), file({a1, b1})},
      {"everything removed by a client", file({a1, b1}), file({}), file({a1, b2}), file({a1, b2})},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(provider_entries) {
  const std::string a1 = block("a", "1.0.0");
  const std::string n1 = provider("null", "3.2.1", {"h1:a", "zh:1"});
  const std::string n2 = provider("null", "3.2.2", {"h1:b"});
  const std::string n3 = provider("null", "3.2.3", {"h1:c"});
  const std::string r1 = provider("random", "3.6.0", {});
  const Row rows[] = {
      {"ours a module, theirs a provider", file({n1}), file({a1, n1}), file({n2}), file({a1, n2})},
      {"both added others", file({}), file({n1}), file({r1}), file({n1, r1})},
      {"modules come first", file({}), file({n1}), file({a1}), file({a1, n1})},
      {"both changed the version",
       file({n1}),
       file({n2}),
       file({n3}),
       file({conflict(n2, n3)}),
       {"provider.registry.opentofu.org/hashicorp/null"}},
      {"hashes of both sides", file({n1}), file({provider("null", "3.2.1", {"h1:a", "h1:x", "zh:1"})}),
       file({provider("null", "3.2.1", {"h1:a", "h1:b", "zh:1"})}),
       file({provider("null", "3.2.1", {"h1:a", "h1:b", "h1:x", "zh:1"})})},
      {"a removed hash", file({n1}), file({provider("null", "3.2.1", {"h1:a", "h1:x"})}),
       file({provider("null", "3.2.1", {"h1:a", "h1:b", "zh:1"})}),
       file({provider("null", "3.2.1", {"h1:a", "h1:b", "h1:x"})})},
      {"both to one version", file({n1}), file({provider("null", "3.2.2", {"h1:b"})}),
       file({provider("null", "3.2.2", {"h1:c"})}), file({provider("null", "3.2.2", {"h1:b", "h1:c"})})},
      {"hashes and constraints", file({n1}), file({provider("null", "3.2.1", {"h1:a", "h1:x", "zh:1"})}),
       file({provider("null", "3.2.1", {"h1:a", "zh:1"}, "~> 3.2")}),
       file({provider("null", "3.2.1", {"h1:a", "h1:x", "zh:1"}, "~> 3.2")})},
      {"two constraints",
       file({n1}),
       file({provider("null", "3.2.1", {"h1:a", "zh:1"}, "~> 3.1")}),
       file({provider("null", "3.2.1", {"h1:a", "zh:1"}, "~> 3.2")}),
       file({conflict(provider("null", "3.2.1", {"h1:a", "zh:1"}, "~> 3.1"),
                      provider("null", "3.2.1", {"h1:a", "zh:1"}, "~> 3.2"))}),
       {"provider.registry.opentofu.org/hashicorp/null"}},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(text_outside_of_blocks) {
  const std::string a1 = block("a", "1.0.0");
  const std::string a2 = block("a", "2.0.0");
  const std::string b1 = block("b", "1.0.0");
  const std::string b2 = block("b", "2.0.0");
  const std::string tofu(kOpenTofuLockHeader);
  const std::string terraform(kTerraformLockHeader);
  const Row rows[] = {
      {"theirs changed the header", tofu + "\n" + a1, tofu + "\n" + a2, terraform + "\n" + a1, terraform + "\n" + a2},
      {"both changed the header",
       tofu + "\n" + a1,
       "# one\n\n" + a2,
       "# two\n\n" + a1,
       conflict("# one\n", "# two\n") + "\n" + a2,
       {"comments"}},
      {"a comment moves with its block", tofu + "\n" + a1 + "\n" + b1, tofu + "\n" + a2 + "\n" + b1,
       tofu + "\n" + a1 + "\n# about b\n" + b2, tofu + "\n" + a2 + "\n# about b\n" + b2},
      {"a comment stays with a block that the other side leaves", tofu + "\n" + a1 + "\n# about b\n" + b1,
       tofu + "\n" + a1 + "\n# about b\n" + b1 + "\n# end\n", tofu + "\n" + a2 + "\n# about b\n" + b1,
       tofu + "\n" + a2 + "\n# about b\n" + b1 + "\n# end\n"},
      {"no header", a1 + "\n" + b1, a2 + "\n" + b1, a1 + "\n" + b2, a2 + "\n" + b2},
      {"a comment that reaches over two blocks is lost", tofu + "\n" + a1 + "\n" + b1,
       tofu + "\n" + a2.substr(0, a2.size() - 1) + " /* c\n */\n" + b1, tofu + "\n" + a1 + "\n" + b2,
       tofu + "\n" + a2 + "\n" + b2},
  };
  for (const Row& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(bytes_of_ours_frame_the_result) {
  const auto with_crlf = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
      text.insert(at, "\r");
    }
    return "\xEF\xBB\xBF" + text;
  };
  const std::string a1 = block("a", "1.0.0");
  const std::string a2 = block("a", "2.0.0");
  const std::string b1 = block("b", "1.0.0");
  const LockFile base = parsed(with_crlf(file({a1})));
  const LockFile ours = parsed(with_crlf(file({a2})));
  const LockFile theirs = parsed(file({a1, b1}));
  BOOST_TEST(merge_locks(base, ours, theirs, 7).text == with_crlf(file({a2, b1})));
  BOOST_TEST(merge_locks(base, theirs, ours, 7).text == file({a2, b1}));
}

BOOST_AUTO_TEST_CASE(markers_are_as_long_as_git_asks) {
  const std::string a1 = block("a", "1.0.0");
  const std::string a2 = block("a", "2.0.0");
  const LockFile base = parsed("");
  BOOST_TEST(merge_locks(base, parsed(file({a1})), parsed(file({a2})), 9).text ==
             file({"<<<<<<<<< ours\n" + a1 + "=========\n" + a2 + ">>>>>>>>> theirs\n"}));
}

BOOST_AUTO_TEST_CASE(an_unknown_ancestor_decides_nothing) {
  const std::string a1 = block("a", "1.0.0");
  const std::string a2 = block("a", "2.0.0");
  const std::string b1 = block("b", "1.0.0");
  const MergedLock merged = merge_locks(std::nullopt, parsed(file({a1, b1})), parsed(file({a2, b1})), 7);
  BOOST_TEST(merged.text == file({conflict(a1, a2), b1}));
}

BOOST_AUTO_TEST_CASE(content_that_one_side_changed_beside_constraints_of_the_other) {
  const LockFile base = parsed(file({block("a", "1.2.0", "~> 1.0"), block("b", "1.2.0"), block("c", "1.0.0")}));
  const LockFile sides[] = {
      parsed(file({block("a", "1.2.0", ">= 1.0"), block("b", "1.3.0"), block("c", "1.1.0")})),
      parsed(file({block("a", "1.1.0", "~> 1.0"), block("b", "1.3.0", "~> 1.3"), block("c", "1.2.0")}))};
  EntryMerge merge = merge_entries(&base, sides);
  BOOST_TEST(merge.contested_modules.size() == 3U);
  resolve_same_content(&base, merge);
  BOOST_TEST(merge.contested_modules.size() == 1U);
  BOOST_TEST(merge.contested_modules.count("c") == 1U);
  BOOST_TEST(merge.modules.at("a").version.value() == "1.1.0");
  BOOST_TEST(merge.modules.at("b").version.value() == "1.3.0");
}

// What a third side (the file as it was resolved by hand) has counts like the other two.
BOOST_AUTO_TEST_CASE(three_sides) {
  const LockFile base = parsed(file({block("a", "1.0.0"), block("b", "1.0.0")}));
  const LockFile sides[] = {parsed(file({block("a", "2.0.0"), block("b", "1.0.0")})),
                            parsed(file({block("a", "2.0.0"), block("b", "1.0.0")})),
                            parsed(file({block("a", "1.0.0"), block("b", "3.0.0")}))};
  const EntryMerge merge = merge_entries(&base, sides);
  BOOST_TEST(merge.contested_modules.empty());
  BOOST_TEST(write_merged_lock(&base, sides, merge) == file({block("a", "2.0.0"), block("b", "3.0.0")}));
}

// Oracle: the three-way union of each entry.
BOOST_AUTO_TEST_CASE(a_thousand_random_changes) {
  std::mt19937 random(20);
  const auto change = [&](const ModuleLocks& before) {
    ModuleLocks locks = before;
    const ModuleLocks others = random_locks(random);
    for (const auto& [key, entry] : others) {
      locks.insert_or_assign(key, entry);
    }
    for (auto entry = locks.begin(); entry != locks.end();) {
      entry = random() % 6 == 0 ? locks.erase(entry) : std::next(entry);
    }
    return locks.empty() ? before : locks;  // a side without blocks removes none
  };
  std::size_t clean = 0;
  for (int round = 0; round < 1000; ++round) {
    BOOST_TEST_CONTEXT("round " << round) {
      const ModuleLocks before = random_locks(random);
      const LockFile empty = parsed(kHeader + (round % 2 == 0 ? kProviders : ""));
      const LockFile base = parsed(write_lock(empty, before));
      const LockFile ours = parsed(write_lock(empty, change(base.modules)));
      const LockFile theirs = parsed(write_lock(empty, change(base.modules)));
      ModuleLocks expected;
      std::vector<std::string> conflicts;
      std::map<std::string, int> keys;
      for (const LockFile* lock : {&base, &ours, &theirs}) {
        for (const auto& [key, entry] : lock->modules) {
          ++keys[key];
        }
      }
      const auto value = [](const LockFile& lock, const std::string& key) {
        const auto found = lock.modules.find(key);
        return found == lock.modules.end() ? std::optional<ModuleLock>() : std::optional(found->second);
      };
      for (const auto& [key, count] : keys) {
        const auto old = value(base, key);
        const auto mine = value(ours, key);
        const auto other = value(theirs, key);
        if (mine != old && other != old && mine != other) {
          conflicts.push_back("module." + key);
        } else if (const auto& result = mine != old ? mine : other) {
          expected.emplace(key, *result);
        }
      }
      const MergedLock merged = merge_locks(base, ours, theirs, 7);
      BOOST_TEST(merged.conflicts == conflicts, boost::test_tools::per_element());
      if (conflicts.empty()) {
        ++clean;
        const LockFile result = parsed(merged.text);
        BOOST_TEST((result.modules == expected));
        BOOST_TEST((result.providers == empty.providers));
        continue;
      }
      const auto sides = split_conflict(merged.text);
      BOOST_TEST_REQUIRE(sides.has_value());
      for (const auto& [text, side] : {std::pair{&sides->ours, &ours}, std::pair{&sides->theirs, &theirs}}) {
        ModuleLocks with = expected;
        for (const std::string& subject : conflicts) {
          if (const auto entry = value(*side, subject.substr(7))) {
            with.emplace(entry->key, *entry);
          }
        }
        BOOST_TEST((parsed(*text).modules == with));
      }
    }
  }
  BOOST_TEST(clean > 100U);
}

BOOST_AUTO_TEST_CASE(contradictions) {
  const auto entry = [](const std::string& key, const std::string& version, std::vector<std::string> hashes) {
    ModuleLock lock{.key = key, .source = "git::https://git.example.test/x.git", .hashes = std::move(hashes)};
    if (!version.empty()) {
      lock.version = version;
    }
    return "\n" + write_module_block(lock);
  };
  struct Row {
    const char* name;
    std::string base, ours, theirs;
    const char* found;
  };
  const Row rows[] = {
      {"one key", "", entry("a", "1.0.0", {"h1:a"}), entry("a", "1.0.0", {"h1:b"}), "a a"},
      {"two keys", "", entry("a", "1.0.0", {"h1:a"}), entry("b", "1.0.0", {"h1:b"}), "a b"},
      {"one commit", "", entry("a", "", {"git:1", "h1:a"}), entry("b", "", {"git:1", "h1:b"}), "a b"},
      {"a moved tag", "", entry("a", "1.0.0", {"git:1", "h1:a"}), entry("b", "1.0.0", {"git:2", "h1:a"}), "a b"},
      {"other commits", "", entry("a", "", {"git:1", "h1:a"}), entry("b", "", {"git:2", "h1:b"}), ""},
      {"other versions", "", entry("a", "1.0.0", {"h1:a"}), entry("b", "1.1.0", {"h1:b"}), ""},
      {"nothing to compare", "", entry("a", "1.0.0", {"git:1"}), entry("b", "1.0.0", {"h1:b"}), ""},
      {"one side had it before", entry("a", "1.0.0", {"h1:a"}), entry("a", "1.0.0", {"h1:a"}),
       entry("a", "1.0.0", {"h1:a"}) + entry("b", "1.0.0", {"h1:b"}), ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const LockFile base = parsed(kHeader + row.base);
      const LockFile sides[] = {parsed(kHeader + row.ours), parsed(kHeader + row.theirs)};
      std::string found;
      for (const Contradiction& one : find_contradictions(&base, sides)) {
        found += (found.empty() ? "" : ", ") + one.left->key + " " + one.right->key;
      }
      BOOST_TEST(found == row.found);
      const MergedLock merged = merge_locks(base, sides[0], sides[1], 7);
      BOOST_TEST(merged.conflicts.empty() == found.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rename_meets_a_change) {
  const std::string a2 = block("a", "2.0.0");
  const auto renamed = [](std::string text) { return text.replace(text.find("\"a\""), 3, "\"b\""); };
  const LockFile base = parsed(file({block("a", "1.0.0")}));
  const LockFile ours = parsed(file({renamed(block("a", "1.0.0"))}));
  const LockFile theirs = parsed(file({a2}));
  for (const auto& [left, right] : {std::pair(&ours, &theirs), std::pair(&theirs, &ours)}) {
    const MergedLock merged = merge_locks(base, *left, *right, 7);
    BOOST_TEST(merged.text == file({renamed(a2)}));
    BOOST_TEST(merged.conflicts.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_side_without_blocks_removes_none) {
  const LockFile base = parsed(file({block("a", "1.0.0"), block("d", "1.0.0")}));
  const LockFile ours = parsed(file({block("a", "2.0.0"), block("d", "1.0.0")}));
  const MergedLock merged = merge_locks(base, ours, parsed(file({provider("null", "1.0.0", {"h1:x"})})), 7);
  BOOST_TEST(merged.text == file({block("a", "2.0.0"), block("d", "1.0.0"), provider("null", "1.0.0", {"h1:x"})}));
  BOOST_TEST(merged.conflicts.empty());
}

BOOST_AUTO_TEST_SUITE_END()
