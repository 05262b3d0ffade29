// Engine::write_remote() to a registry that does not respond.

#include <chrono>

#include "plugin/engine/bundle_reader.h"
#include "tests/plugin/engine/engine_fixture.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"

using namespace modlock;
using namespace modlock::test;

namespace {

class KeptLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override {
    if (level <= LogLevel::warning) {
      text += std::string(line) + "\n";
    }
  }
  std::string text;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(remote_write, EngineFixture)

BOOST_AUTO_TEST_CASE(a_silent_registry_costs_a_bounded_time) {
  FaultServer server([](const ReceivedRequest& /*request*/) { return ServerAnswer{}; });
  server.add({.behaviour = faults::black_hole()});
  lock();
  options.remote = "oci://" + server.host() + "/modules";
  options.plain_http = true;
  options.remote_write = true;
  options.remote_write_time = std::chrono::seconds(1);
  open();
  KeptLog log;
  Run writing({.log = &log});
  const auto begun = std::chrono::steady_clock::now();
  engine->write_remote({of_root<messages::LockPlanParams>().root}, writing);
  BOOST_TEST((std::chrono::steady_clock::now() - begun < std::chrono::seconds(5)));
  BOOST_TEST(log.text == "not pushed to oci://" + server.host() + "/modules: this took longer than 1 s\n");
  BOOST_TEST(server.log().size() == 1U);
}

BOOST_AUTO_TEST_CASE(store_that_failed_gets_no_push) {
  FaultServer server([](const ReceivedRequest& /*request*/) { return ServerAnswer{}; });
  lock();
  options.remote = "oci://" + server.host() + "/modules";
  options.plain_http = true;
  options.remote_write = true;
  open();
  KeptLog log;
  Run writing({.log = &log});
  writing.remote_is_down() = true;
  engine->write_remote({of_root<messages::LockPlanParams>().root}, writing);
  BOOST_TEST(log.text == "");
  BOOST_TEST(server.log().empty());
}

BOOST_AUTO_TEST_CASE(time_for_downloads_is_bounded) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  for (const auto& [bytes, expected] :
       {std::pair(std::uint64_t{0}, 30), std::pair(kMiB - 1, 30), std::pair(kMiB, 31), std::pair(569 * kMiB, 599),
        std::pair(570 * kMiB, 600), std::pair(571 * kMiB, 600), std::pair(~std::uint64_t{0}, 600)}) {
    BOOST_TEST(download_time(bytes, PlaceTimes{}.packages).count() == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
