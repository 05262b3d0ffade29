// The limits of the programs that a run starts.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <optional>

#include "plugin/engine/engine.h"

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(program_limits)

BOOST_AUTO_TEST_CASE(limits_of_programs_are_those_of_the_settings) {
  using std::chrono::seconds;
  struct Row {
    const char* name;
    std::optional<seconds> setting;
    std::optional<std::uint64_t> memory;
    seconds expected;
    std::uint64_t expected_memory;
  };
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  for (const Row& row : {
           Row{"nothing is set", {}, {}, seconds{30}, 512 * kMiB},
           Row{"settings", seconds{5}, 100 * kMiB, seconds{5}, 100 * kMiB},
           Row{"one of them", seconds{7}, {}, seconds{7}, 512 * kMiB},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Settings settings;
      settings.fetch_timeout = row.setting;
      settings.child_memory = row.memory;
      const ChildLimits limits = Engine(EngineOptions()).context_for(Run(), settings).children;
      BOOST_TEST((limits.idle == row.expected));
      BOOST_TEST(limits.memory == row.expected_memory);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
