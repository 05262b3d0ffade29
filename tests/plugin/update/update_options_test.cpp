#include "plugin/update/update_options.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(update_options_of_a_version)

BOOST_AUTO_TEST_CASE(one_way_below_the_next_major_number_and_one_beyond) {
  struct Row {
    const char* name;
    std::vector<const char*> offered;
    const char* current;
    const char* options;
  };
  const Row rows[] = {
      {"nothing newer", {"1.0.0", "0.9.0"}, "1.0.0", ""},
      {"a patch", {"1.0.2", "1.0.1"}, "1.0.0", "1.0.2 patch;"},
      {"a minor one hides a patch", {"1.1.0", "1.0.1"}, "1.0.0", "1.1.0 minor;"},
      {"the highest of several major ones", {"3.1.0", "2.0.0", "1.1.0"}, "1.0.0", "1.1.0 minor;3.1.0 major;"},
      {"in any order", {"1.1.0", "3.1.0", "2.0.0"}, "1.0.0", "1.1.0 minor;3.1.0 major;"},
      {"no prereleases", {"2.0.0-rc1"}, "1.0.0", ""},
      {"but from one to the next", {"2.0.0-rc2", "2.0.0-rc1"}, "2.0.0-rc1", "2.0.0-rc2 patch;"},
      {"and from a stage to the next", {"2.0.0-rc.1", "2.0.0-beta.2"}, "2.0.0-beta.1", "2.0.0-rc.1 patch;"},
      {"or to the release", {"2.0.0", "2.0.0-rc.1"}, "2.0.0-rc.1", "2.0.0 patch;"},
      {"or to a number", {"2.0.0-2"}, "2.0.0-1", "2.0.0-2 patch;"},
      {"of one component", {"0.3.0-workspaces", "0.2.0-network"}, "0.1.0-network", "0.2.0-network minor;"},
      {"not of another one", {"0.1.0-workspaces", "2.0.0-rc.1"}, "0.1.0-network", ""},
      {"of one component with a number",
       {"0.2.0-network.2", "0.2.0-net.3"},
       "0.1.0-network.1",
       "0.2.0-network.2 minor;"},
      {"what cannot be written is no way", {"1.2.0", "1.1.0"}, "1.0.0", "1.1.0 minor;"},
      {"what is written already changes the lock alone", {"1.4.0"}, "1.0.0", "1.4.0 minor lock;"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::vector<OfferedVersion> offered;
      for (const char* text : row.offered) {
        offered.push_back({*Version::parse(text)});
      }
      std::string shown;
      const auto value_of = [](const OfferedVersion& offer) -> std::optional<std::string> {
        const std::string text = offer.version.to_string();
        return text == "1.2.0" ? std::nullopt : std::optional(text == "1.4.0" ? std::string("now") : text);
      };
      for (const auto& option : update_options(offered, *Version::parse(row.current), "now", value_of)) {
        shown += option.new_version + " " + option.update_type + (option.is_lockfile_update ? " lock;" : ";");
      }
      BOOST_TEST(shown == row.options);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
