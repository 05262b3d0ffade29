// Random concurrent changes of a configuration and its lock file, merged by git and settled by Engine::plan().
#include <fmt/format.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <random>
#include <set>

#include "backends/base/process.h"
#include "plugin/engine/engine.h"
#include "plugin/lock/lock_file.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr int kNewest = 4;  // every source has the versions 1.0.0 to 1.4.0
constexpr std::array<const char*, 6> kCalls = {"a", "b", "c", "d", "e", "f"};

struct Constraint {
  std::string text;
  int lowest;
  int highest;

  bool allows(int version) const { return lowest <= version && version <= highest; }
};

const std::vector<Constraint>& constraints() {
  static const std::vector<Constraint> all = {{"~> 1.0", 0, 4},  {">= 1.1.0", 1, 4}, {"<= 1.3.0", 0, 3},
                                              {"< 1.2.0", 0, 1}, {"1.2.0", 2, 2},    {">= 1.3.0", 3, 4}};
  return all;
}

// A call and what is locked for it.
struct Call {
  std::size_t constraint = 0;  // of constraints()
  int version = 0;             // 1.<version>.0

  const Constraint& rule() const { return constraints()[constraint]; }
  bool operator==(const Call&) const = default;
};
using Calls = std::map<std::string, Call>;

std::optional<Call> find_call(const Calls& calls, const std::string& name) {
  const auto found = calls.find(name);
  return found == calls.end() ? std::nullopt : std::optional(found->second);
}

// What a three-way merge makes of a value; nullopt: a conflict.
template <typename Value>
std::optional<Value> three_way(const Value& base, const Value& ours, const Value& theirs) {
  if (ours == theirs || theirs == base) {
    return ours;
  }
  return ours == base ? std::optional<Value>(theirs) : std::nullopt;
}

struct Team {
  Team() {
    for (const char* name : kCalls) {
      GitRepository& repository = repositories.emplace_back(directory / (std::string(name) + ".git"));
      for (int version = 0; version <= kNewest; ++version) {
        repository.commit({{"main.tf", fmt::format("# {} {}\n", name, version)}});
        repository.tag(fmt::format("v1.{}.0", version));
      }
    }
    for (const char* root : {"root", "indexed"}) {
      std::filesystem::create_directories(directory / root);
    }
    git({"init", "--quiet", "--template="});
    BOOST_TEST_REQUIRE(engine.open().has_value());
    learn_entries();
  }

  std::string git(std::vector<std::string> arguments, std::string input = {}) const {
    arguments.insert(arguments.begin(), "git");
    return run(std::move(arguments), directory / "indexed", {{"GIT_CONFIG_NOSYSTEM", "1"}}, std::move(input));
  }

  // Locks each version once: its entry is known then, and its package is in the cache.
  void learn_entries() {
    for (int version = 0; version <= kNewest; ++version) {
      Calls calls;
      for (const char* name : kCalls) {
        calls[name] = {0, version};
      }
      std::map<std::string, std::string> exact;
      for (const char* name : kCalls) {
        exact[name] = fmt::format("1.{}.0", version);
      }
      for (const messages::LockedModule& module : plan("root", calls, exact, "", "missing").modules) {
        entries[{module.key, version}] = {
            .key = module.key, .version = module.version, .source = module.source, .hashes = module.hashes};
      }
    }
    BOOST_TEST_REQUIRE(entries.size() == kCalls.size() * (kNewest + 1U));
  }

  messages::LockPlanResult plan(const std::string& root, const Calls& calls,
                                const std::map<std::string, std::string>& exact, const std::string& text,
                                const std::string& mode) {
    auto result = try_plan(root, calls, exact, text, mode);
    BOOST_TEST_REQUIRE(result.has_value(), (result ? "" : result.error().message));
    return std::move(*result);
  }

  // `text` empty: what is on disk.
  Result<messages::LockPlanResult> try_plan(const std::string& root, const Calls& calls,
                                            const std::map<std::string, std::string>& exact, const std::string& text,
                                            const std::string& mode) {
    std::string configuration;
    std::string settings;
    for (const auto& [name, call] : calls) {
      configuration += fmt::format("module \"{0}\" {{\n  source = \"git::file://{1}/{0}.git\"\n}}\n", name,
                                   directory.path().string());
      const auto version = exact.find(name);
      settings += fmt::format("module \"{}\" {{\n  version = \"{}\"\n}}\n", name,
                              version == exact.end() ? call.rule().text : version->second);
    }
    messages::LockPlanParams params;
    params.root.root = (directory / root).string();
    params.root.documents = {{"main.tf", configuration}, {".tofu-modlock.hcl", settings}};
    params.mode = *messages::named<messages::PlanMode>(mode);
    params.include.providers = false;
    if (!text.empty()) {
      params.lock.text = text;
    }
    Run run;
    return engine.plan(params, run);
  }

  std::string lock_text(const Calls& calls) const {
    ModuleLocks modules;
    for (const auto& [name, call] : calls) {
      ModuleLock entry = entries.at({name, call.version});
      entry.constraints = call.rule().text;
      modules.emplace(name, std::move(entry));
    }
    return write_lock({}, modules);
  }

  // As git merges text: with conflict markers where both changed neighbouring lines.
  std::string merge_text(const Calls& base, const Calls& ours, const Calls& theirs, const char* style) const {
    write_text(directory / "base", lock_text(base));
    write_text(directory / "ours", lock_text(ours));
    write_text(directory / "theirs", lock_text(theirs));
    Command command{.argv = {"git", "merge-file", "-p", "ours", "base", "theirs"}};
    if (*style != '\0') {
      command.argv.insert(command.argv.begin() + 2, style);
    }
    command.directory = directory.path();
    const auto finished = run_command(command, Context{});
    BOOST_TEST_REQUIRE((finished && finished->exit_code < 128));
    return finished->output;
  }

  // Leaves the three versions in the index, as a merge does, and the merged text in the work tree.
  void leave_in_index(const Calls& base, const Calls& ours, const Calls& theirs) const {
    std::string stages = "0 0000000000000000000000000000000000000000\t.terraform.lock.hcl\n";
    int stage = 0;
    for (const Calls* calls : {&base, &ours, &theirs}) {
      const std::string id = git({"hash-object", "-w", "--stdin"}, lock_text(*calls));
      stages += fmt::format("100644 {} {}\t.terraform.lock.hcl\n", id.substr(0, id.find('\n')), ++stage);
    }
    git({"update-index", "--index-info"}, stages);
    write_text(directory / "indexed/.git/CHERRY_PICK_HEAD", "0000000000000000000000000000000000000000\n");
    write_text(directory / "indexed/.terraform.lock.hcl", merge_text(base, ours, theirs, ""));
  }

  TemporaryDirectory directory;
  ScopedEnvironment home{"HOME", (directory / "home").string()};
  ScopedEnvironment config{"XDG_CONFIG_HOME", (directory / "home").string()};
  std::deque<GitRepository> repositories;
  Engine engine{{.cache_directory = directory / "cache", .user_settings = {}, .implementation = "opentofu"}};
  std::map<std::pair<std::string, int>, ModuleLock> entries;
};

// Changes as people make them: each side is consistent.
class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}

  bool percent(unsigned of_a_hundred) { return random_() % 100 < of_a_hundred; }
  std::size_t below(std::size_t end) { return random_() % end; }

  Call call() {
    Call made{below(constraints().size()), 0};
    made.version = made.rule().lowest +
                   static_cast<int>(below(static_cast<std::size_t>(made.rule().highest - made.rule().lowest + 1)));
    return made;
  }

  Calls change(Calls calls, unsigned rate) {
    for (const char* name : kCalls) {
      if (!percent(rate)) {
        continue;
      }
      const auto found = calls.find(name);
      if (found == calls.end() || percent(20)) {
        calls[name] = call();
      } else if (percent(20)) {
        calls.erase(found);
      } else if (percent(60)) {  // another version that is allowed
        const Constraint& rule = found->second.rule();
        found->second.version =
            rule.lowest + static_cast<int>(below(static_cast<std::size_t>(rule.highest - rule.lowest + 1)));
      } else {  // another constraint that allows the version
        do {
          found->second.constraint = below(constraints().size());
        } while (!found->second.rule().allows(found->second.version));
      }
    }
    return calls;
  }

 private:
  std::mt19937 random_;
};

// The configuration after the merge; of a call that both sides changed differently a person takes one side's.
Calls merge_configuration(const Calls& base, const Calls& ours, const Calls& theirs, Chance& chance) {
  Calls merged;
  for (const char* name : kCalls) {
    const auto rule = [&](const Calls& calls) {
      const auto call = find_call(calls, name);
      return call ? std::optional(call->constraint) : std::nullopt;
    };
    const auto result = three_way(rule(base), rule(ours), rule(theirs));
    if (const auto constraint = result ? *result : chance.percent(50) ? rule(ours) : rule(theirs)) {
      merged[name].constraint = *constraint;
    }
  }
  return merged;
}

struct Expected {
  Calls calls;
  std::set<std::string> contested;  // subjects
  bool asks = false;                // a version has to be found
};

// The three-way union of each entry; of a contested one the higher version that the constraint allows.
Expected expect(const Calls& base, const Calls& ours, const Calls& theirs, Calls merged) {
  Expected expected;
  for (auto& [name, call] : merged) {
    const auto version = [&, &key = name](const Calls& calls) {
      const auto found = find_call(calls, key);
      return found ? std::optional(found->version) : std::nullopt;
    };
    std::vector<int> candidates;
    if (const auto settled = three_way(version(base), version(ours), version(theirs))) {
      // A call that one side removed and a person kept has what the other side had locked for it.
      const auto kept = *settled ? *settled : version(ours) ? version(ours) : version(theirs);
      candidates.push_back(kept.value());
    } else {
      for (const Calls* side : {&ours, &theirs}) {
        if (const auto found = version(*side)) {
          candidates.push_back(*found);
        }
      }
      expected.contested.insert("module." + name);
    }
    int chosen = -1;
    for (const int candidate : candidates) {
      chosen = call.rule().allows(candidate) ? std::max(chosen, candidate) : chosen;
    }
    expected.asks = expected.asks || chosen < 0;
    call.version = chosen < 0 ? call.rule().highest : chosen;
  }
  expected.calls = std::move(merged);
  return expected;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(merged_lock)

BOOST_AUTO_TEST_CASE(concurrent_changes) {
  Team team;
  Chance chance(20);
  int conflicts = 0;
  int contested = 0;
  for (int round = 0; round < 200; ++round) {
    BOOST_TEST_CONTEXT("round " << round) {
      const Calls base = chance.change({}, 70);
      const Calls ours = chance.change(base, 40);
      const Calls theirs = chance.change(base, 40);
      const Calls merged = merge_configuration(base, ours, theirs, chance);
      const Expected expected = expect(base, ours, theirs, merged);
      team.leave_in_index(base, ours, theirs);
      const messages::LockPlanResult result = team.plan("indexed", merged, {}, "", "missing");
      if (!expected.asks) {
        BOOST_TEST(result.stats.requests == 0U);
      }
      const auto& documents = result.edits.documents;
      BOOST_TEST_REQUIRE(documents.size() <= 1U);
      const std::string on_disk = read_text(team.directory / "indexed/.terraform.lock.hcl");
      const std::string after = documents.empty() ? on_disk : documents[0].new_text.value();
      const std::string wanted = team.lock_text(expected.calls);
      BOOST_TEST(after == wanted);
      if (on_disk.find("<<<<<<<") != std::string::npos) {
        ++conflicts;
        std::set<std::string> named;
        for (const messages::Change& change : result.changes) {
          if (change.reason.starts_with("both sides changed it") || change.reason.starts_with("one side removed it")) {
            named.insert(change.subject);
          }
        }
        contested += static_cast<int>(named.size());
        BOOST_TEST(named == expected.contested, boost::test_tools::per_element());
      }
      const messages::LockPlanResult frozen = team.plan("root", merged, {}, wanted, "frozen");
      BOOST_TEST(frozen.changes.empty());
      BOOST_TEST(frozen.stats.requests == 0U);
    }
  }
  BOOST_TEST(conflicts > 80);
  BOOST_TEST(contested > 40);
}

// Git merges lines, so that what it takes over without a conflict may mix two entries. Content that was mixed is
// refused; a version may then be that of the other side.
BOOST_AUTO_TEST_CASE(concurrent_changes_from_markers_only) {
  Team team;
  Chance chance(20);
  int refused = 0;
  int different = 0;
  for (int round = 0; round < 300; ++round) {
    BOOST_TEST_CONTEXT("round " << round) {
      const Calls base = chance.change({}, 70);
      const Calls ours = chance.change(base, 40);
      const Calls theirs = chance.change(base, 40);
      const Calls merged = merge_configuration(base, ours, theirs, chance);
      const std::string text = team.merge_text(base, ours, theirs, "--diff3");
      if (text.find("<<<<<<<") == std::string::npos) {
        continue;
      }
      auto result = team.try_plan("root", merged, {}, text, "missing");
      if (!result) {
        ++refused;
        const Code code = result.error().code;
        BOOST_TEST((code == Code::hash_mismatch || code == Code::lock_parse), result.error().message);
        continue;
      }
      const auto& documents = result->edits.documents;
      BOOST_TEST_REQUIRE(documents.size() == 1U);
      const std::string after = documents[0].new_text.value();
      BOOST_TEST(team.plan("root", merged, {}, after, "frozen").changes.empty());
      different += after == team.lock_text(expect(base, ours, theirs, merged).calls) ? 0 : 1;
    }
  }
  BOOST_TEST(refused + different < 15);
}

BOOST_AUTO_TEST_SUITE_END()
