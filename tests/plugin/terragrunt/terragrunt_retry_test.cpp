#include "plugin/terragrunt/terragrunt_retry.h"

#include <boost/test/unit_test.hpp>

namespace modlock::terragrunt {
namespace {

BOOST_AUTO_TEST_CASE(no_text_looks_like_a_passing_fault) {
  struct Row {
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"module.vpc was changed", "module.vpc was changed"},
      {"provider tcp timeout, registry timeout", "provider tcp time-out, registry time-out"},
      {"net/http: TLS handshake timeout", "net/http: TLS handshake time-out"},
      {"Client.Timeout exceeded while awaiting headers", "Client time-out exceeded while awaiting headers"},
      {"registry: context deadline exceeded", "registry: deadline exceeded"},
      {"read: connection reset by peer", "read: connection reset by the other side"},
      {"app.terraform.io: 429 Too Many Requests", "app.terraform.io: 429 (too many requests)"},
      {"The requested URL returned error: 429", "The requested URL returned error 429"},
      {"ssh_exchange_identification: Connection closed by remote host",
       "ssh_exchange_identification: connection closed by the other side"},
      {"NoSuchBucket: The specified bucket does not exist", "no such bucket: The specified bucket does not exist"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(without_retry_words(row.text) == row.expected);
    }
  }
}

}  // namespace
}  // namespace modlock::terragrunt
