#include "protocol/rpc/lifecycle.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(lifecycle_test)

BOOST_AUTO_TEST_CASE(who_is_welcome_when) {
  struct Row {
    const char* method;
    const char* fresh;
    const char* ready;
    const char* in_batch;  // while ready
  };
  const char* const batch = "INVALID_REQUEST";
  const Row rows[] = {
      {"initialize", "", "INVALID_REQUEST", batch},
      {"rpc.discover", "", "", ""},
      {"ping", "", "", ""},
      {"lock/plan", "NOT_INITIALIZED", "", ""},
      {"nonsense", "NOT_INITIALIZED", "", ""},
      {"log/setLevel", "NOT_INITIALIZED", "", ""},
      {"shutdown", "NOT_INITIALIZED", "", batch},
      {"exit", "INVALID_REQUEST", "INVALID_REQUEST", batch},
      {"initialized", "INVALID_REQUEST", "INVALID_REQUEST", batch},
      {"$/cancelRequest", "INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST"},
  };
  const auto code = [](const Result<void>& admitted) {
    return std::string(admitted ? "" : to_string(admitted.error().code));
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.method) {
      Lifecycle lifecycle;
      BOOST_TEST(code(lifecycle.admit(row.method, false)) == row.fresh);
      lifecycle.initialized();
      BOOST_TEST(code(lifecycle.admit(row.method, false)) == row.ready);
      BOOST_TEST(code(lifecycle.admit(row.method, true)) == row.in_batch);
      BOOST_TEST(!lifecycle.is_shut_down());
      lifecycle.shut_down();
      BOOST_TEST(code(lifecycle.admit(row.method, false)) == "SHUTTING_DOWN");
      BOOST_TEST(lifecycle.is_shut_down());
    }
  }
}

BOOST_AUTO_TEST_CASE(messages) {
  Lifecycle lifecycle;
  BOOST_TEST(lifecycle.admit("lock/plan", false).error().message == "lock/plan came before initialize");
  BOOST_TEST(lifecycle.admit("exit", false).error().message == "exit is a notification");
  BOOST_TEST(lifecycle.admit("initialize", true).error().message == "initialize must not be part of a batch");
  lifecycle.initialized();
  BOOST_TEST(lifecycle.admit("initialize", false).error().message == "initialize came a second time");
  lifecycle.shut_down();
  BOOST_TEST(lifecycle.admit("ping", false).error().message == "ping came after shutdown");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
