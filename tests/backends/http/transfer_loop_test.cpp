#include "backends/http/transfer_loop.h"

#include <boost/test/unit_test.hpp>
#include <deque>
#include <semaphore>

#include "tests/backends/http/http_fixture.h"

// Which transfer comes next. What a transfer is, curl_connection_test.cpp shows.
namespace modlock::test {
namespace {

using http::TransferLoop;

class Get final : public TransferLoop::Transfer {
 public:
  Get(const FaultServer& server, std::string path)
      : Transfer("http://" + server.host(), curl_easy_init()), url_(server.url(path)) {
    using Receive = std::size_t (*)(char*, std::size_t, std::size_t, void*) noexcept;
    const Receive ignore = [](char*, std::size_t, std::size_t size, void*) noexcept { return size; };
    curl_easy_setopt(easy(), CURLOPT_URL, url_.c_str());
    curl_easy_setopt(easy(), CURLOPT_WRITEFUNCTION, ignore);
  }
  ~Get() override { curl_easy_cleanup(easy()); }

  CURLcode wait() {
    ended_.acquire();
    return result_;
  }

 private:
  void connected(TransferLoop::Clock::time_point) override {}
  void ended(CURLcode result) override {
    result_ = result;
    ended_.release();
  }

  const std::string url_;
  CURLcode result_ = CURLE_OK;
  std::binary_semaphore ended_{0};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(transfer_loop, CleanHttpEnvironment)

BOOST_AUTO_TEST_CASE(those_that_wait_are_served_in_order) {
  for (const std::size_t most : {std::size_t{1}, std::size_t{2}, std::size_t{8}}) {
    BOOST_TEST_CONTEXT(most) {
      HeldServer held;
      TransferLoop loop(most);
      std::deque<Get> transfers;
      const auto start = [&](const std::string& path) {
        BOOST_TEST(loop.start(transfers.emplace_back(held.server, path)));
      };
      for (std::size_t i = 0; i < most; ++i) {
        start("/held");
        held.arrived.acquire();
      }
      std::vector<std::string> expected = held.server.lines();
      for (int i = 0; i < 20; ++i) {
        start("/" + std::to_string(i));
        expected.push_back("GET /" + std::to_string(i));
      }
      held.released.release();  // one connection is free, and serves all that wait
      for (std::size_t i = most; i < transfers.size(); ++i) {
        BOOST_TEST(transfers[i].wait() == CURLE_OK);
      }
      BOOST_TEST(held.server.lines() == expected, boost::test_tools::per_element());
      BOOST_TEST(held.server.connections() == most);
      held.released.release(static_cast<std::ptrdiff_t>(most) - 1);
      for (std::size_t i = 0; i < most; ++i) {
        BOOST_TEST(transfers[i].wait() == CURLE_OK);
      }
    }
  }
}

// libcurl alone would leave the second one of the other host waiting for the first host.
BOOST_AUTO_TEST_CASE(waiting_for_one_host_holds_up_no_other) {
  HeldServer held;
  FaultServer other(always("ok"));
  TransferLoop loop(1);
  std::deque<Get> transfers;
  const auto start = [&](const FaultServer& server) {
    BOOST_TEST(loop.start(transfers.emplace_back(server, "/held")));
  };
  start(held.server);
  held.arrived.acquire();
  for (int i = 0; i < 5; ++i) {
    start(held.server);
  }
  for (int i = 0; i < 5; ++i) {
    start(other);
  }
  for (std::size_t i = 6; i < transfers.size(); ++i) {
    BOOST_TEST(transfers[i].wait() == CURLE_OK);
  }
  BOOST_TEST(other.connections() == 1U);
  held.released.release(6);
  for (std::size_t i = 0; i < 6; ++i) {
    BOOST_TEST(transfers[i].wait() == CURLE_OK);
  }
  BOOST_TEST(held.server.connections() == 1U);
}

BOOST_AUTO_TEST_CASE(a_transfer_that_waits_can_be_cancelled) {
  HeldServer held;
  TransferLoop loop(1);
  Get first(held.server, "/held");
  Get second(held.server, "/second");
  BOOST_TEST(loop.start(first));
  held.arrived.acquire();
  BOOST_TEST(loop.start(second));
  loop.cancel(second);
  BOOST_TEST(second.wait() == CURLE_ABORTED_BY_CALLBACK);
  loop.cancel(first);
  BOOST_TEST(first.wait() == CURLE_ABORTED_BY_CALLBACK);
  loop.cancel(first);  // of one that has ended
  held.released.release();
  Get third(held.server, "/third");
  BOOST_TEST(loop.start(third));
  BOOST_TEST(third.wait() == CURLE_OK);
  BOOST_TEST(held.server.lines().back() == "GET /third");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
