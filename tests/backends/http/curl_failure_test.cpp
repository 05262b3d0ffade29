#include "backends/http/curl_transfer.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>

// What no server of the other tests does. Those show the rest.
namespace modlock::test {

BOOST_AUTO_TEST_SUITE(curl_failure)

BOOST_AUTO_TEST_CASE(words_and_whether_to_try_again) {
  struct Row {
    http::CurlVerdict verdict;
    Code code;
    const char* reason;
    bool is_final;
  };
  const Row rows[] = {
      {{.code = CURLE_HTTP2_STREAM, .text = "HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)"},
       Code::unreachable,
       "the connection was interrupted",
       false},
      {{.code = CURLE_HTTP2, .text = "Send failure"}, Code::unreachable, "the connection was interrupted", false},
      {{.code = CURLE_COULDNT_CONNECT, .system_error = EHOSTUNREACH, .server = "h.test"},
       Code::unreachable,
       "no connection to h.test: No route to host",
       false},
      {{.code = CURLE_COULDNT_CONNECT, .system_error = ECONNREFUSED, .server = "h.test", .proxy = "http://p.test:1"},
       Code::unreachable,
       "the proxy http://p.test:1 refused the connection",
       false},
      {{.code = CURLE_RECV_ERROR, .connect_status = 502, .server = "h.test", .proxy = "http://p.test:1"},
       Code::unreachable,
       "the proxy http://p.test:1 refused the connection (status 502)",
       false},
      {{.code = CURLE_PEER_FAILED_VERIFICATION, .verify_result = 9, .server = "h.test"},
       Code::unreachable,
       "the TLS certificate of h.test is not valid yet",
       true},
      {{.code = CURLE_SSL_CONNECT_ERROR, .text = "error:0A000410:SSL routines::alert\n", .server = "h.test"},
       Code::unreachable,
       "no TLS connection to h.test: alert\\x0a",
       true},
      {{.code = CURLE_FAILED_INIT}, Code::unreachable, "Failed initialization", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.reason) {
      const ExchangeFailure failure = http::failure_of(row.verdict);
      BOOST_TEST((failure.code == row.code));
      BOOST_TEST(failure.reason == row.reason);
      BOOST_TEST(failure.is_final == row.is_final);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
