#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "plugin/settings/settings.h"

using namespace modlock;

BOOST_AUTO_TEST_SUITE(duration)

BOOST_AUTO_TEST_CASE(hours_minutes_and_seconds) {
  struct Row {
    std::string_view text;
    std::optional<std::int64_t> seconds;
  };
  const Row rows[] = {
      {"72h", 259200},   {"30m", 1800}, {"45s", 45},    {"1h30m", 5400}, {"1.5h", 5400}, {".5m", 30},
      {"1.h", 3600},     {"0", 0},      {"0s", 0},      {"1.9s", 1},     {"1h1h", 7200}, {"2562047h", 9223369200},
      {"", {}},          {"h", {}},     {"72", {}},     {"7d", {}},      {"-1h", {}},    {"+1h", {}},
      {"1 h", {}},       {"1h ", {}},   {"1.2.3h", {}}, {".h", {}},      {"500ms", {}},  {"1e3s", {}},
      {"99999999h", {}}, {"1H", {}},    {"0x10s", {}},  {"1m30", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto duration = parse_duration(row.text);
      BOOST_TEST_REQUIRE(duration.has_value() == row.seconds.has_value());
      if (duration) {
        BOOST_TEST(duration->count() == *row.seconds);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
