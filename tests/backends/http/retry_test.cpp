#include "backends/http/retrying_http_client.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(retry)

namespace {

using std::chrono::milliseconds;

std::string text(const std::optional<milliseconds>& delay) {
  return delay ? std::to_string(delay->count()) : "none";
}

// 2026-11-21 12:00:00 UTC
const std::chrono::system_clock::time_point kNow{std::chrono::seconds(1'795'262'400)};

}  // namespace

BOOST_AUTO_TEST_CASE(retried_and_not) {
  struct Row {
    const char* name;
    Attempt attempt;
    const char* expected;
  };
  const Row rows[] = {
      {"unreachable", {.failure = Code::unreachable}, "250"},
      {"timeout", {.failure = Code::timeout}, "250"},
      {"what may not be tried again", {.failure = Code::bad_response}, "none"},
      {"too large", {.failure = Code::limit_exceeded}, "none"},
      {"cancelled", {.failure = Code::request_cancelled}, "none"},
      {"deadline", {.failure = Code::deadline_exceeded}, "none"},
      {"200", {.status = 200}, "none"},
      {"302", {.status = 302}, "none"},
      {"400", {.status = 400}, "none"},
      {"401", {.status = 401}, "none"},
      {"403", {.status = 403}, "none"},
      {"404", {.status = 404}, "none"},
      {"408", {.status = 408}, "250"},
      {"429", {.status = 429}, "250"},
      {"500", {.status = 500}, "250"},
      {"501", {.status = 501}, "none"},
      {"502", {.status = 502}, "250"},
      {"503", {.status = 503}, "250"},
      {"504", {.status = 504}, "250"},
      {"505", {.status = 505}, "none"},
      {"200 with Retry-After", {.status = 200, .retry_after = milliseconds(1)}, "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text(retry_delay(row.attempt, 2, 0.0)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(delays) {
  struct Row {
    const char* name;
    int number;
    int retries;
    double jitter;
    std::optional<milliseconds> retry_after;
    const char* expected;
  };
  const Row rows[] = {
      {"first, no jitter", 0, 9, 0.0, {}, "250"},
      {"first, half the jitter", 0, 9, 0.5, {}, "375"},
      {"first, almost all jitter", 0, 9, 0.999, {}, "499"},
      {"second", 1, 9, 0.0, {}, "500"},
      {"third", 2, 9, 0.0, {}, "1000"},
      {"fourth", 3, 9, 0.0, {}, "2000"},
      {"fifth is capped", 4, 9, 0.0, {}, "4000"},
      {"sixth is capped", 5, 9, 0.0, {}, "4000"},
      {"cap with jitter", 8, 9, 0.5, {}, "6000"},
      {"no attempt left", 2, 2, 0.0, {}, "none"},
      {"none wanted", 0, 0, 0.0, {}, "none"},
      {"a huge number does not overflow", 2'000'000'000, 2'000'000'001, 0.0, {}, "4000"},
      {"Retry-After is a floor", 0, 2, 0.0, milliseconds(3000), "3000"},
      {"a short Retry-After does not shorten", 0, 2, 0.0, milliseconds(100), "250"},
      {"Retry-After: 0", 0, 2, 0.0, milliseconds(0), "250"},
      {"the longest floor that is waited for", 0, 2, 0.0, milliseconds(60'000), "60000"},
      {"a longer one is nobody's wait", 0, 2, 0.0, milliseconds(60'001), "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Attempt attempt{.number = row.number, .status = 503, .retry_after = row.retry_after};
      BOOST_TEST(text(retry_delay(attempt, row.retries, row.jitter)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(retry_after_values) {
  struct Row {
    const char* name;
    const char* value;
    const char* expected;
  };
  const Row rows[] = {
      {"seconds", "120", "120000"},
      {"none", "0", "0"},
      {"a day at most", "86401", "86400000"},
      {"more than any number", "99999999999999999999999999", "86400000"},
      {"IMF date", "Sat, 21 Nov 2026 12:00:30 GMT", "30000"},
      {"IMF date in the past", "Sun, 06 Nov 1994 08:49:37 GMT", "0"},
      {"IMF date far away", "Fri, 31 Dec 9999 23:59:59 GMT", "86400000"},
      {"RFC 850 date", "Saturday, 21-Nov-26 12:01:00 GMT", "60000"},
      {"RFC 850 date of the last century", "Sunday, 06-Nov-94 08:49:37 GMT", "0"},
      {"RFC 850 date whose century is not known", "Saturday, 21-Nov-76 12:00:00 GMT", "0"},
      {"asctime date", "Sat Nov 21 12:00:05 2026", "5000"},
      {"asctime date with one digit", "Sun Nov  6 08:49:37 1994", "0"},
      {"leap second", "Sat, 21 Nov 2026 12:00:60 GMT", "60000"},
      {"empty", "", "none"},
      {"negative", "-5", "none"},
      {"signed", "+5", "none"},
      {"fraction", "1.5", "none"},
      {"with a unit", "5s", "none"},
      {"blank", " ", "none"},
      {"words", "soon", "none"},
      {"another zone", "Sat, 21 Nov 2026 14:00:30 CET", "3630000"},
      {"no such day", "Mon, 32 Jan 2026 12:00:30 GMT", "none"},
      {"no such month", "Mon, 21 Nix 2026 12:00:30 GMT", "none"},
      {"no such hour", "Sat, 21 Nov 2026 24:00:30 GMT", "none"},
      {"no such minute", "Sat, 21 Nov 2026 12:60:30 GMT", "none"},
      {"words for numbers", "Sat, xx Nov yyyy aa:bb:cc GMT", "none"},
      {"without a time", "Sun, 22 Nov 2026", "43200000"},
      {"ISO date", "2026-11-21T12:00:30Z", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text(parse_retry_after(row.value, kNow)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
