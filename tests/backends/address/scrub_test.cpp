#include "backends/address/scrub.h"

#include <boost/test/unit_test.hpp>

namespace modlock::test {
namespace {

BOOST_AUTO_TEST_SUITE(scrub_test)

BOOST_AUTO_TEST_CASE(no_user_info_and_no_query_of_a_url_survives) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
  };
  for (const Row& row : {
           Row{"password", "for 'https://u:p@h.test/m'", "for 'https://…@h.test/m'"},
           Row{"token", "https://token@h.test", "https://…@h.test"},
           Row{"ssh's user", "ssh://git@h.test/m", "ssh://…@h.test/m"},
           Row{"unescaped", "https://u:p@s/s@h.test/m x", "https://…@h.test/m x"},
           Row{"two", "https://a@h.test and http://b:c@i.test", "https://…@h.test and http://…@i.test"},
           Row{"none", "https://h.test/m: error", "https://h.test/m: error"},
           Row{"query", "for 'https://h.test/m?token=T/': x", "for 'https://h.test/m…': x"},
           Row{"fragment", "<https://h.test/m#T> x", "<https://h.test/m…> x"},
           Row{"both ends", "https://u:p@h.test/m?a=b#c x?y", "https://…@h.test/m… x?y"},
           Row{"an @ in the query", "https://h.test/m?a=b@c x", "https://… x"},
           Row{"a ? in the password", "https://u:p?q@h.test/m x", "https://… x"},
           Row{"two with a query", "https://a.test?b https://c.test?d", "https://a.test… https://c.test…"},
           Row{"an address of mail", "write to a@b.test", "write to a@b.test"},
           Row{"nothing behind", "a://", "a://"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(scrub_urls(row.text) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(secrets_of_an_address) {
  struct Row {
    const char* source;
    std::vector<std::string> secrets;
  };
  const Row rows[] = {
      {"hg::https://host/x", {}},
      {"hg::https://token@host/x", {"token"}},
      {"hg::https://me:pw@host/x", {"pw"}},
      {"hg::https://user:p%40ss@host/x", {"user", "p@ss"}},
      {"hg::https://user:p%40ss@host/users/x", {"p@ss"}},
      {"hg::ssh://user@host/x", {}},
      {"git::https://user:canary@host/x?ref=stable-branch", {"user", "canary"}},
      {"hg::https://host/x?rev=stable-branch&key=secret%20key&n=12345", {"secret key"}},
      {"https://host/x.zip?checksum=md5:00112233", {}},
      {"https://host/x.zip?checksum=file:HTTPS://Sums.example/list", {}},
      {"https://host/x.zip?checksum=file:https://reader:canary@sums/list%3Ftoken=secret-key%26n=12345",
       {"reader", "canary", "secret-key"}},
      {"https://host/x.zip?checksum=secret://me@host", {"secret://me@host"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.source) {
      const auto source = parse_source(row.source);
      BOOST_REQUIRE(source.has_value());
      BOOST_TEST(secrets_of(*source) == row.secrets, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(secrets_are_taken_out_of_texts) {
  Secrets secrets;
  for (const char* secret : {"canary", "canary-long", "T/k=n+12345", "aaaa"}) {
    secrets.add(secret);
  }
  struct Row {
    const char* name;
    std::string text;
    std::string expected;
    bool is_there;
  };
  const Row rows[] = {
      {"none", "all is fine", "all is fine", false},
      {"nothing", "", "", false},
      {"whole, the longest first", "canary-long canary xcanaryx", "… … x…x", true},
      {"one is too short to be told from chance", "a canary", "a …", false},
      {"another case", "https://CANARY-Long.test/", "https://….test/", true},
      {"percent-encoded", "x/T%2Fk%3Dn%2B12345/y x/t%2fk%3dn%2b12345/y", "x/…/y x/…/y", true},
      {"as it is", "T/k=n+12345", "…", true},
      {"twice in a row", "canarycanary", "…", false},
      {"over itself", "aaaaaaaaa", "…a", false},
      {"cut off", "https://host/xcanary-lo… b…", "https://host/x… b…", false},
      {"cut off too early to matter", "can…", "can…", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(secrets.scrub(row.text) == row.expected);
      BOOST_TEST(secrets.are_in(row.text) == row.is_there);
    }
  }
  BOOST_TEST(Secrets().scrub("x… canary") == "x… canary");
}

BOOST_AUTO_TEST_CASE(what_was_sent_is_known_but_not_for_ever) {
  KnownSecrets known;
  known.add("abc");
  known.add("");
  known.add("first-of-all");
  known.add("first-of-all");
  BOOST_TEST(known.all().scrub("abc first-of-all") == "abc …");
  for (int i = 0; i < 1000; ++i) {
    known.add("secret/" + std::to_string(i));
  }
  BOOST_TEST(known.all().scrub("first-of-all secret/999") == "first-of-all …");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
