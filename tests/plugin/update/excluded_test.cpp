#include "plugin/update/update_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

namespace modlock::test {
namespace {

messages::LockedModule module_of(const char* key, const char* ref, std::optional<std::string> constraints = {}) {
  messages::LockedModule module;
  module.key = key;
  module.ref = ref;
  module.constraints = std::move(constraints);
  return module;
}

messages::LookedUpDependency dependency(const char* subject, std::vector<messages::AvailableUpdate> updates) {
  messages::LookedUpDependency dependency;
  dependency.subject = subject;
  dependency.current_value = "~> 1.0";
  dependency.current_version = "1.0.0";
  dependency.updates = std::move(updates);
  return dependency;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(excluded)

BOOST_AUTO_TEST_CASE(modules_with_constraints_and_providers) {
  messages::LockPlanResult plan;
  plan.modules = {module_of("a", "", "~> 1.0"), module_of("b", "v1.0.0")};
  plan.providers.resize(1);
  plan.providers[0].address = "registry.opentofu.org/hashicorp/aws";
  const std::string provider = "provider.registry.opentofu.org/hashicorp/aws";
  using Subjects = std::vector<std::string>;
  BOOST_TEST(constrained_subjects(plan, {.modules = true, .providers = true}) == Subjects({"module.a", provider}),
             boost::test_tools::per_element());
  BOOST_TEST(constrained_subjects(plan, {.modules = true, .providers = false}) == Subjects({"module.a"}),
             boost::test_tools::per_element());
  BOOST_TEST(constrained_subjects(plan, {.modules = false, .providers = true}) == Subjects({provider}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(newer_versions_that_constraints_exclude) {
  const messages::AvailableUpdate allowed{.new_version = "1.1.0", .is_lockfile_update = true};
  const messages::AvailableUpdate next{.new_version = "2.0.0"};
  const messages::AvailableUpdate last{.new_version = "3.0.0"};
  messages::UpdateLookupResult found;
  found.dependencies = {dependency("module.a", {next, last}), dependency("module.b", {allowed}),
                        dependency("module.other", {next}), dependency("module.none", {}),
                        dependency("module.c", {next, allowed})};
  messages::ConfigInspectResult inspected;
  inspected.modules.resize(1);
  inspected.modules[0].key = "a";
  inspected.modules[0].constraint_locations = {{"main.tf", {}}, {"other.tf", {}}};
  const std::vector<std::string> subjects = {"module.a", "module.b", "module.c", "module.none"};
  std::string text;
  for (const ExcludedVersion& one : excluded_versions(subjects, found, &inspected)) {
    text += fmt::format("{} {} -> {} not by {} {}\n", one.subject, one.current, one.newest, one.constraint,
                        one.location ? one.location->path : "nowhere");
  }
  BOOST_TEST(text == "module.a 1.0.0 -> 3.0.0 not by ~> 1.0 main.tf\nmodule.c 1.0.0 -> 2.0.0 not by ~> 1.0 nowhere\n");
  BOOST_TEST(!excluded_versions(subjects, found, nullptr).front().location.has_value());
}

BOOST_AUTO_TEST_CASE(calls_that_a_tag_pins) {
  const std::vector<messages::LockedModule> modules = {
      module_of("branch", "main"), module_of("net", "v1.0.0"), module_of("net.vpc", "v1.0.0"),
      module_of("network", "net/v2.0.0"), module_of("ranged", "v1.0.0", "~> 1.0")};
  struct Row {
    const char* name;
    std::vector<std::string> targets;
    const char* pinned;
  };
  for (const Row& row : {Row{"all", {}, "net network"}, Row{"a subject", {"module.net"}, "net"},
                         Row{"a bare name", {"network"}, "network"}, Row{"another", {"module.ranged"}, ""}}) {
    std::vector<std::string> keys;
    for (const messages::LockedModule& module : pinned_calls(modules, row.targets)) {
      keys.push_back(module.key);
    }
    BOOST_TEST(fmt::format("{}", fmt::join(keys, " ")) == row.pinned, row.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
