// A call that is renamed, or moved into or out of a local module, keeps its entry.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "plugin/resolve/plan.h"
#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// Every call has a constraint of its own, so that no version is shared.
struct RenameFixture : PlanFixture {
  RenameFixture() {
    request.resolution = Resolution::per_call;
    source->add_tag(kVpc, "v1.0.0", calling("leaf", kNested));
    source->add_tag(kNested, "v1.0.0", kLeaf);
  }

  void configure(const std::string& main, const std::map<std::string, std::string>& constraints = {}) {
    write("main.tf", main);
    request.walk.settings.modules.clear();
    for (const auto& [key, version] : constraints) {
      constrain(key, version);
    }
  }

  // From now on everything has a newer version, which only a new call takes.
  void publish() const {
    source->add_tag(kVpc, "v1.1.0", calling("leaf", kNested));
    source->add_tag(kNested, "v1.1.0", kLeaf);
  }

  // "a=1.0.0 b=1.1.0"
  static std::string versions(const Plan& plan) {
    std::string text;
    for (const auto& [key, entry] : plan.modules) {
      text += (text.empty() ? "" : " ") + key + "=" + entry.version.value_or("none");
    }
    return text;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(plan_rename, RenameFixture)

BOOST_AUTO_TEST_CASE(a_renamed_call_keeps_its_entry_and_those_below) {
  configure(call("vpc", kVpc), {{"vpc", "~> 1.0"}, {"vpc.leaf", "~> 1.0"}});
  const Plan before = lock();
  publish();
  configure(call("network", kVpc), {{"network", "~> 1.0"}, {"network.leaf", "~> 1.0"}});
  const Plan after = lock();
  BOOST_TEST(summary(after) ==
             "module.network renamed: it was module.vpc\n"
             "module.network.leaf renamed: it was module.vpc.leaf\n");
  BOOST_TEST(after.changes[0].previous_subject == "module.vpc");
  BOOST_TEST(after.changes[0].from->version.value() == "1.0.0");
  BOOST_TEST(after.changes[0].to->version.value() == "1.0.0");
  BOOST_TEST((after.modules.at("network").hashes == before.modules.at("vpc").hashes));
  BOOST_TEST((after.modules.at("network.leaf").hashes == before.modules.at("vpc.leaf").hashes));
  BOOST_TEST(stats.requests == 0U);
  BOOST_TEST(summary(lock()) == "");
}

BOOST_AUTO_TEST_CASE(a_call_keeps_its_entry_on_its_way_between_modules) {
  struct Row {
    const char* name;
    std::string main;
    std::string local;
    std::map<std::string, std::string> constraints;
    const char* changes;
  };
  const std::string app = call("app", "./app");
  const Row rows[] = {
      {"into a local module",
       app,
       call("a", kVpc),
       {{"app.a", "~> 1.0"}, {"app.a.leaf", "~> 1.0"}},
       "module.app.a renamed: it was module.a\nmodule.app.a.leaf renamed: it was module.a.leaf\n"},
      {"into a local module, under another name",
       app,
       call("vpc", kVpc),
       {{"app.vpc", "~> 1.0"}, {"app.vpc.leaf", "~> 1.0"}},
       "module.app.vpc renamed: it was module.a\nmodule.app.vpc.leaf renamed: it was module.a.leaf\n"},
      {"into a local module that is two deep",
       call("outer", "./outer"),
       call("a", kVpc),
       {{"outer.app.a", "~> 1.0"}, {"outer.app.a.leaf", "~> 1.0"}},
       "module.outer.app.a renamed: it was module.a\nmodule.outer.app.a.leaf renamed: it was module.a.leaf\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      source->add_tag(kVpc, "v1.0.0", calling("leaf", kNested));
      request.lock = {};
      write("outer/main.tf", call("app", "../app"));
      write("app/main.tf", "");
      configure(call("a", kVpc), {{"a", "= 1.0.0"}, {"a.leaf", "= 1.0.0"}});
      lock();
      for (const char* key : {"a", "a.leaf"}) {
        request.lock.modules.at(key).constraints = "~> 1.0";
      }
      publish();
      const LockFile outside = request.lock;
      write("app/main.tf", row.local);
      configure(row.main, row.constraints);
      BOOST_TEST(summary(lock()) == row.changes);
      BOOST_TEST(stats.requests == 0U);

      configure(call("a", kVpc), {{"a", "~> 1.0"}, {"a.leaf", "~> 1.0"}});
      const Plan back = lock();
      BOOST_TEST((back.modules == outside.modules));
      BOOST_TEST(back.changes.size() == 2U);
      BOOST_TEST((back.changes[0].action == Action::renamed));
    }
  }
}

BOOST_AUTO_TEST_CASE(only_an_entry_that_matches_and_is_not_used_is_kept) {
  struct Row {
    const char* name;
    std::string main;
    std::map<std::string, std::string> constraints;
    const char* versions;
    const char* changes;
  };
  const Row rows[] = {
      {"another constraint",
       call("b", kNested),
       {{"b", ">= 1.0"}},
       "b=1.1.0",
       "module.a removed: no module call has this key\nmodule.b added: not locked before\n"},
      {"no constraint",
       call("b", kNested),
       {},
       "b=none",
       "module.a removed: no module call has this key\nmodule.b added: not locked before\n"},
      {"another source",
       call("b", std::string(kNested) + "//sub"),
       {{"b", "~> 1.0"}},
       "b=1.1.0",
       "module.a removed: no module call has this key\nmodule.b added: not locked before\n"},
      {"the old call is still there",
       call("a", kNested) + call("b", kNested),
       {{"a", "~> 1.0"}, {"b", "~> 1.0"}},
       "a=1.0.0 b=1.1.0",
       "module.b added: not locked before\n"},
      {"the old name has another source now",
       call("a", kVpc + std::string("?ref=v1.0.0")) + call("b", kNested),
       {{"b", "~> 1.0"}},
       "a=none a.leaf=none b=1.0.0",
       "module.a source-changed: the source was git::https://example.com/nested.git\n"
       "module.a.leaf added: not locked before\n"
       "module.b renamed: it was module.a\n"},
      {"two calls in place of one",
       call("b", kNested) + call("c", kNested),
       {{"b", "~> 1.0"}, {"c", "~> 1.0"}},
       "b=1.0.0 c=1.0.0",
       "module.b renamed: it was module.a\nmodule.c renamed: it was module.a\n"},
  };
  source->add_branch(kNested, "main", kLeaf, std::string(40, 'a'));
  source->add_tag(kNested, "v1.0.0", {{"main.tf", ""}, {"sub/main.tf", ""}});
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      configure(call("a", kNested), {{"a", "= 1.0.0"}});
      lock();
      request.lock.modules.at("a").constraints = "~> 1.0";
      source->add_tag(kNested, "v1.1.0", {{"main.tf", ""}, {"sub/main.tf", ""}});
      configure(row.main, row.constraints);
      const Plan plan = lock();
      BOOST_TEST(versions(plan) == row.versions);
      BOOST_TEST(summary(plan) == row.changes);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_several_entries_the_one_with_the_most_names_in_common_is_kept) {
  struct Row {
    const char* name;
    std::map<std::string, std::string> locked;  // by key: version
    const char* key;                            // of the new call
    const char* kept;
  };
  const Row rows[] = {
      {"the same last name", {{"app.a", "1.0.0"}, {"app.b", "1.1.0"}}, "svc.b", "renamed: it was module.app.b"},
      {"two names", {{"x.app.a", "1.0.0"}, {"y.a", "1.1.0"}}, "svc.app.a", "renamed: it was module.x.app.a"},
      {"none has a name in common, and they agree", {{"a", "1.1.0"}, {"b", "1.1.0"}}, "c", "renamed: it was module.a"},
      {"none has a name in common, and they differ",
       {{"a", "1.0.0"}, {"b", "1.1.0"}},
       "c",
       "added: not locked before; several entries of deleted calls match it, and they are locked to different content"},
      {"the same last name twice, and they differ",
       {{"app1.a", "1.0.0"}, {"app2.a", "1.1.0"}, {"b", "1.1.0"}},
       "svc.a",
       "added: not locked before; several entries of deleted calls match it, and they are locked to different content"},
      {"one name is the end of another", {{"my-a", "1.0.0"}, {"a", "1.1.0"}}, "svc.a", "renamed: it was module.a"},
  };
  publish();
  source->add_tag(kNested, "v1.2.0", kLeaf);
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      for (const auto& [key, version] : row.locked) {
        request.lock.modules[key] = {.key = key,
                                     .version = version,
                                     .source = kNested,
                                     .constraints = "~> 1.0",
                                     .hashes = {"git:" + std::string(40, version == "1.0.0" ? 'a' : 'b')}};
      }
      source->add_tag(kNested, "v1.0.0", kLeaf, std::string(40, 'a'));
      source->add_tag(kNested, "v1.1.0", kLeaf, std::string(40, 'b'));
      const std::string key = row.key;
      std::string name = key;
      configure(call(key.substr(0, key.find('.')), key.find('.') == std::string::npos ? kNested : "./one"),
                {{key, "~> 1.0"}});
      const std::string rest = key.find('.') == std::string::npos ? "" : key.substr(key.find('.') + 1);
      const bool is_deep = rest.find('.') != std::string::npos;
      write("one/main.tf", call(rest.substr(0, rest.find('.')), is_deep ? "../two" : kNested));
      write("two/main.tf", call(rest.substr(rest.rfind('.') + 1), kNested));
      const auto planned = plan();
      BOOST_REQUIRE_MESSAGE(planned, (planned ? "" : planned.error().message));
      const std::string text = summary(*planned);
      const std::string expected = "module." + key + " " + row.kept + "\n";
      BOOST_TEST(text.find(expected) != std::string::npos, text);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_below_a_call_that_is_still_there_is_no_candidate) {
  configure(call("vpc", kVpc), {{"vpc", "~> 1.0"}, {"vpc.leaf", "~> 1.0"}});
  lock();
  publish();
  configure(call("vpc", kVpc) + call("leaf", kNested), {{"vpc", "~> 1.0"}, {"vpc.leaf", "~> 1.0"}, {"leaf", "~> 1.0"}});
  const Plan plan = lock();
  BOOST_TEST(versions(plan) == "leaf=1.1.0 vpc=1.0.0 vpc.leaf=1.0.0");
  BOOST_TEST(summary(plan) == "module.leaf added: not locked before\n");
}

BOOST_AUTO_TEST_CASE(a_call_that_a_newer_package_renames_keeps_its_entry) {
  configure(call("vpc", kVpc), {{"vpc", "~> 1.0"}, {"vpc.leaf", "~> 1.0"}});
  lock();
  source->add_tag(kVpc, "v2.0.0", calling("inner", kNested));
  source->add_tag(kNested, "v1.1.0", kLeaf);
  configure(call("vpc", kVpc), {{"vpc", "~> 2.0"}, {"vpc.inner", "~> 1.0"}});
  const Plan plan = lock();
  BOOST_TEST(versions(plan) == "vpc=2.0.0 vpc.inner=1.0.0");
  BOOST_TEST(summary(plan) ==
             "module.vpc updated: constraints-changed: ~> 2.0\n"
             "module.vpc.inner renamed: it was module.vpc.leaf\n");
}

BOOST_AUTO_TEST_CASE(below_a_renamed_call_a_changed_constraint_that_allows_the_version_keeps_it) {
  configure(call("vpc", kVpc), {{"vpc", "~> 1.0"}, {"vpc.leaf", "~> 1.0"}});
  lock();
  publish();
  configure(call("network", kVpc), {{"network", "~> 1.0"}, {"network.leaf", ">= 1.0"}});
  const Plan plan = lock();
  BOOST_TEST(versions(plan) == "network=1.0.0 network.leaf=1.0.0");
  BOOST_TEST(plan.modules.at("network.leaf").constraints.value() == ">= 1.0");
}

BOOST_AUTO_TEST_CASE(under_frozen_a_renamed_call_is_a_change_and_has_no_entry) {
  configure(call("vpc", kVpc), {{"vpc", "~> 1.0"}, {"vpc.leaf", "~> 1.0"}});
  lock();
  request.mode = PlanMode::frozen;
  configure(call("network", kVpc), {{"network", "~> 1.0"}, {"network.leaf", "~> 1.0"}});
  const auto frozen = plan();
  BOOST_REQUIRE(frozen.has_value());
  BOOST_TEST(summary(*frozen) == "module.network renamed: it was module.vpc\n");
  BOOST_TEST(frozen->changes[0].previous_subject == "module.vpc");
  BOOST_TEST(frozen->modules.empty());
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(an_upgrade_names_the_former_call_too) {
  configure(call("vpc", kNested), {{"vpc", "~> 1.0"}});
  lock();
  publish();
  request.mode = PlanMode::upgrade;
  configure(call("network", kNested), {{"network", "~> 1.0"}});
  const Plan plan = lock();
  BOOST_TEST(summary(plan) == "module.network updated: another version was chosen; it was module.vpc\n");
  BOOST_TEST(plan.changes[0].from->version.value() == "1.0.0");
}

BOOST_AUTO_TEST_CASE(dropped_blocks_come_back_under_the_new_name) {
  configure(call("vpc", kNested), {{"vpc", "~> 1.0"}});
  files.lost.modules = lock().modules;
  publish();
  configure(call("network", kNested), {{"network", "~> 1.0"}});
  struct Row {
    const char* name;
    std::function<void()> change;
    const char* changes;
  };
  const ModuleLock other = {.key = "other", .source = kVpc};
  const Row rows[] = {
      {"all blocks are gone", [] {}, "module.network renamed: it was module.vpc\n"},
      {"the lock has others, so this one was removed",
       [&] {
         request.lock.modules = {{"other", other}};
       },
       "module.network added: not locked before\nmodule.other removed: no module call has this key\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      row.change();
      const auto planned = plan();
      BOOST_REQUIRE(planned.has_value());
      BOOST_TEST(summary(*planned) == row.changes);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
