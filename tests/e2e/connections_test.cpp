// How many connections to one server the binary uses.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/fault_server.h"

namespace modlock::test {
namespace {

constexpr int kArchiveModules = 8;

struct Archives : Scene {
  Archives() {
    std::string text;
    for (int i = 0; i < kArchiveModules; ++i) {
      text += module_call(fmt::format("m{}", i), server.url(fmt::format("/{}.zip", i)));
    }
    write("main.tf", text);
  }

  FaultServer server{
      [](const ReceivedRequest&) { return ServerAnswer{.body = make_zip({{.name = "main.tf", .content = "# m\n"}})}; }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connections, Archives)

BOOST_AUTO_TEST_CASE(no_more_than_the_flag_allows) {
  BOOST_TEST(modlock({"lock", "--connections", "1"}).exit_code == 0);
  BOOST_TEST(server.log().size() >= static_cast<std::size_t>(kArchiveModules));
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(no_more_than_the_environment_allows) {
  environment["TOFU_MODLOCK_CONNECTIONS"] = "1";
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(no_more_than_the_settings_of_the_user_allow) {
  write_text(path("home/.config/tofu-modlock/config.hcl"), "connections = 1\n");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(the_flag_wins) {
  environment["TOFU_MODLOCK_CONNECTIONS"] = "60";
  write_text(path("home/.config/tofu-modlock/config.hcl"), "connections = 50\n");
  BOOST_TEST(modlock({"lock", "--connections", "1"}).exit_code == 0);
  BOOST_TEST(server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_refused) {
  for (const char* number : {"0", "65", "many"}) {
    BOOST_TEST(modlock({"lock", "--connections", number}).exit_code == 2);
  }
  BOOST_TEST(server.connections() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
