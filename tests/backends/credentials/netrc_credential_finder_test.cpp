#include "backends/credentials/netrc_credential_finder.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(netrc)

BOOST_AUTO_TEST_CASE(machines_are_found_as_go_netrc_finds_them) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;  // "login/password" for example.com:8443, or "none"
  };
  const Row rows[] = {
      {"one line", "machine example.com:8443 login u password p\n", "u/p"},
      {"several lines", "machine example.com:8443\nlogin u\r\n\tpassword p", "u/p"},
      {"another port", "machine example.com login u password p\n", "none"},
      {"the default", "machine other login o password o\ndefault login u password p\n", "u/p"},
      {"the first counts", "machine example.com:8443 login u password p machine example.com:8443 login x password y",
       "u/p"},
      {"comments", "# machine example.com:8443\nmachine example.com:8443 # c\nlogin u\n#password x\npassword p", "u/p"},
      {"a comment as a value is the rest of its line", "machine example.com:8443 login u password #p q  \n", "u/#p q"},
      {"a sign inside a word", "machine example.com:8443 login u password p#q\n", "u/p#q"},
      {"quotes are part of the word", "machine example.com:8443 login u password \"p\"\n", "u/\"p\""},
      {"an account counts for nothing", "machine example.com:8443 login u account a password p\n", "u/p"},
      {"a keyword as a value", "machine example.com:8443 login login password machine\n", "login/machine"},
      {"a macro", "macdef init\ncd /x\nmkdir y\n\nmachine example.com:8443 login u password p\n", "u/p"},
      {"no secret at all", "machine example.com:8443\n", "/"},
      {"a value at the end", "machine example.com:8443 password p login", "/p"},
      {"nothing", "", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto machines = parse_netrc(row.text, "~/.netrc");
      BOOST_TEST_REQUIRE(machines.has_value());
      const NetrcMachine* machine = find_machine(*machines, "example.com:8443");
      BOOST_TEST((machine == nullptr ? "none" : machine->login.reveal() + "/" + machine->password.reveal()) ==
                 row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(faults_name_the_line_and_no_word) {
  struct Row {
    const char* name;
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"a word too many", "machine h login u password canary-1 canary-2\n",
       "~/.netrc:1: expected a keyword (machine, default, login, password, account)"},
      {"an unknown keyword", "machine h\nlogin u\ncanary-1 p\n",
       "~/.netrc:3: expected a keyword (machine, default, login, password, account)"},
      {"two logins", "machine h login u\nlogin canary-1\n", "~/.netrc:2: a second login for one machine"},
      {"two accounts", "machine h account a account canary-1", "~/.netrc:1: a second account for one machine"},
      {"nothing to belong to", "\npassword canary-1\n", "~/.netrc:2: a password before any machine"},
      {"a machine after the default", "default login u password canary-1\nmachine h\n",
       "~/.netrc:2: a machine after the default entry, which must be the last"},
      {"two defaults", "default login u password canary-1\ndefault\n", "~/.netrc:2: a second default entry"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto machines = parse_netrc(row.text, "~/.netrc");
      BOOST_TEST_REQUIRE(!machines.has_value());
      BOOST_TEST((machines.error().code == Code::config_parse));
      BOOST_TEST(machines.error().message == row.expected);
      BOOST_TEST(machines.error().hint == "write entries as: machine example.com login NAME password SECRET");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_long_file_takes_time_by_its_length) {
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += "machine h" + std::to_string(i) + " login u password p\n";
  }
  const auto machines = parse_netrc(text, "~/.netrc");
  BOOST_TEST_REQUIRE(machines.has_value());
  BOOST_TEST(machines->size() == 200000U);
  BOOST_TEST(machines->back().line == 200000U);
}

BOOST_AUTO_TEST_SUITE_END()
