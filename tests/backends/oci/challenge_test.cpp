#include "backends/oci/authorizer.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace modlock::oci {

BOOST_AUTO_TEST_SUITE(challenge)

namespace {

// "scheme(name=value, …)" of each.
std::string shown(std::string_view header) {
  std::string text;
  for (const Challenge& challenge : parse_challenges(header)) {
    text += (text.empty() ? "" : " ") + challenge.scheme + "(";
    for (const auto& [name, value] : challenge.parameters) {
      text += (text.back() == '(' ? "" : ", ") + name + "=" + value;
    }
    text += ")";
  }
  return text;
}

HttpResponse refusal(std::vector<HttpHeader> headers) {
  return {.status = 401, .headers = std::move(headers)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(headers_are_read_as_challenges) {
  struct Row {
    const char* name;
    const char* header;
    const char* expected;
  };
  for (const Row& row : {
           Row{"empty", "", ""},
           Row{"scheme alone", "Negotiate", "negotiate()"},
           Row{"basic", "Basic realm=\"my registry\"", "basic(realm=my registry)"},
           Row{"bearer",
               "Bearer realm=\"https://auth.example.com/token\",service=\"reg\",scope=\"repository:a/b:pull,push\"",
               "bearer(realm=https://auth.example.com/token, service=reg, scope=repository:a/b:pull,push)"},
           Row{"tokens, blanks and case", "BEARER  Realm = https-x , SERVICE\t=\treg",
               "bearer(realm=https-x, service=reg)"},
           Row{"two in one header", "Negotiate, Basic realm=\"a\", Bearer realm=\"b\",service=\"c\"",
               "negotiate() basic(realm=a) bearer(realm=b, service=c)"},
           Row{"token68", "Negotiate YWJj+/-._~0==, Basic realm=\"a\"", "negotiate() basic(realm=a)"},
           Row{"escaped characters", R"(Basic realm="a\"b\\c\d")", "basic(realm=a\"b\\cd)"},
           Row{"commas and equals signs inside quotes", "Basic realm=\"a, Bearer realm=b\"",
               "basic(realm=a, Bearer realm=b)"},
           Row{"empty elements", ",, Basic realm=\"a\",,, service=b, ,", "basic(realm=a, service=b)"},
           Row{"a parameter twice", "Basic realm=a, realm=b", "basic(realm=a, realm=b)"},
           Row{"empty quoted string", "Basic realm=\"\"", "basic(realm=)"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shown(row.header) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(nonsense_ends_the_reading) {
  struct Row {
    const char* name;
    std::string header;
    const char* expected;
  };
  for (const Row& row : {
           Row{"unterminated quote", "Bearer realm=\"https://x", "bearer()"},
           Row{"quote behind an escape", "Bearer realm=\"x\\\"", "bearer()"},
           Row{"backslash at the end", "Bearer realm=\"x\\", "bearer()"},
           Row{"no value", "Bearer realm=", "bearer()"},
           Row{"no value before another", "Bearer realm=,service=x", "bearer(service=x)"},
           Row{"parameter without a scheme", "realm=x, Basic realm=y", ""},
           Row{"text behind a value", "Basic realm=\"a\" b", "basic(realm=a)"},
           Row{"no token", "\"Basic\" realm=x", ""},
           Row{"control characters", "Basic realm=\"a\"\x01", "basic(realm=a)"},
           Row{"bytes beyond ASCII", "B\xc3\xa4sic realm=x", "b()"},
           Row{"only commas", std::string(100'000, ','), ""},
           Row{"only quotes", std::string(100'000, '"'), ""},
           Row{"only equals signs", std::string(100'000, '='), ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shown(row.header) == row.expected);
    }
  }
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    many += "Basic a=b, ";
  }
  BOOST_TEST(parse_challenges(many).size() == 20'000U);
}

BOOST_AUTO_TEST_CASE(the_first_that_can_be_answered_counts) {
  const auto scheme_of = [](std::vector<HttpHeader> headers) {
    const auto challenge = answerable_challenge(refusal(std::move(headers)));
    return challenge ? challenge->scheme + " " + challenge->parameter("realm") : std::string("none");
  };
  BOOST_TEST(scheme_of({}) == "none");
  BOOST_TEST(scheme_of({{"WWW-Authenticate", "Negotiate"}}) == "none");
  BOOST_TEST(scheme_of({{"Content-Type", "Basic realm=x"}}) == "none");
  BOOST_TEST(scheme_of({{"WWW-Authenticate", "Negotiate, Basic realm=a"}}) == "basic a");
  BOOST_TEST(scheme_of({{"www-authenticate", "Negotiate"}, {"Www-Authenticate", "Bearer realm=b"}}) == "bearer b");
  BOOST_TEST(scheme_of({{"WWW-Authenticate", "Bearer realm=b, Basic realm=a"}}) == "bearer b");
  BOOST_TEST(scheme_of({{"WWW-Authenticate", "Basic realm=a, realm=c"}}) == "basic c");
}

BOOST_AUTO_TEST_CASE(a_realm_is_where_credentials_may_go) {
  struct Row {
    const char* name;
    const char* authority;
    std::string realm;
    const char* expected;
  };
  const char* const address = "with a realm on \"127.0.0.1\", an address that is not the registry's own";
  for (const Row& row : {
           Row{"another host", "ghcr.io", "https://auth.example.com/token?x=y", "ok"},
           Row{"the registry's own address", "127.0.0.1:5000", "https://127.0.0.1:5001/token", "ok"},
           Row{"the registry's own IPv6 address", "[::1]:5000", "https://[::1]:5001/token", "ok"},
           Row{"none", "ghcr.io", "", "that names no realm to get a token from"},
           Row{"http", "ghcr.io", "http://ghcr.io/token",
               "with a realm of the scheme \"http\", but only https may receive credentials"},
           Row{"another scheme", "ghcr.io", "file://host/etc/passwd",
               "with a realm of the scheme \"file\", but only https may receive credentials"},
           Row{"relative", "ghcr.io", "/token", "with a realm that is not a URL"},
           Row{"no host", "ghcr.io", "https:///token", "with a realm that is not a URL"},
           Row{"control character", "ghcr.io", "https://a\nb/token", "with a realm that is not a URL"},
           Row{"user-info", "ghcr.io", "https://me:secret@auth.example.com/", "with a realm that contains user-info"},
           Row{"address", "ghcr.io", "https://127.0.0.1/token", address},
           Row{"address with port", "127.0.0.2:5000", "https://127.0.0.1:5000/token", address},
           Row{"address as a number", "ghcr.io", "https://2130706433/",
               "with a realm on \"2130706433\", an address that is not the registry's own"},
           Row{"address in hexadecimal", "ghcr.io", "https://0X7f000001/",
               "with a realm on \"0x7f000001\", an address that is not the registry's own"},
           Row{"short address", "ghcr.io", "https://169.254/",
               "with a realm on \"169.254\", an address that is not the registry's own"},
           Row{"address with a final dot", "ghcr.io", "https://127.0.0.1./",
               "with a realm on \"127.0.0.1.\", an address that is not the registry's own"},
           Row{"IPv6", "ghcr.io", "https://[fd00::1]/",
               "with a realm on \"[fd00::1]\", an address that is not the registry's own"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto realm = token_realm({"bearer", {{"realm", row.realm}}}, row.authority, "oci://h/r");
      if (std::string(row.expected) == "ok") {
        BOOST_TEST(realm.value() == row.realm);
        continue;
      }
      BOOST_TEST_REQUIRE(!realm);
      BOOST_TEST(to_string(realm.error().code) == "BAD_RESPONSE");
      BOOST_TEST(realm.error().message ==
                 "the registry of \"oci://h/r\" sent a challenge " + std::string(row.expected));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::oci
