#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"

namespace modlock::test {
namespace {

// "<key id> <secret> <session token>", then the places.
std::string shown_key(const User& user, const std::string& profile) {
  const auto credentials = make_credentials({}, user.environment());
  const auto found = credentials->find(CredentialUse::s3, "S3", profile, Context{});
  const auto places = credentials->places(CredentialUse::s3, "S3", profile, Context{});
  BOOST_REQUIRE(found.has_value());
  const auto* key = std::get_if<AwsCredential>(&found->secret);
  std::string text =
      key == nullptr ? "none\n"
                     : key->key_id.reveal() + " " + key->secret_key.reveal() + " " + key->session_token.reveal() + "\n";
  BOOST_TEST(!has_canary(shown(places)));
  return text + shown(places);
}

const std::string kVariables = "environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: ";
const std::string kFiles = " of the shared files of AWS: ";

BOOST_AUTO_TEST_SUITE(aws_credential_finder)

BOOST_AUTO_TEST_CASE(variables_and_files) {
  const std::string id = "aws_access_key_id = ";
  const std::string secret = "\naws_secret_access_key = ";
  const std::string keys = id + "AKIA1" + secret + "canary-1\n";
  const std::string other = id + "AKIA2" + secret + "canary-2\n";
  struct Row {
    const char* name;
    std::vector<std::pair<std::string, std::string>> variables;
    std::string credentials;
    std::string config;
    std::string profile;
    std::string expected;
  };
  const std::pair<std::string, std::string> key_id{"AWS_ACCESS_KEY_ID", "AKIA0"};
  const std::pair<std::string, std::string> key{"AWS_SECRET_ACCESS_KEY", "canary-0"};
  const std::string not_set = kVariables + "not set\n";
  for (const Row& row : {
           Row{"nothing", {}, "", "", "", "none\n" + not_set + "profile \"default\"" + kFiles + "no static keys\n"},
           Row{"variables", {key_id, key}, "[default]\n" + keys, "", "", "AKIA0 canary-0 \n" + kVariables + "used\n"},
           Row{"with a session",
               {key_id, key, {"AWS_SESSION_TOKEN", "canary-t"}},
               "",
               "",
               "",
               "AKIA0 canary-0 canary-t\n" + kVariables + "used\n"},
           Row{"only a half",
               {key_id},
               "[default]\n" + keys,
               "",
               "",
               "AKIA1 canary-1 \n" + not_set + "profile \"default\"" + kFiles + "used\n"},
           Row{"a profile",
               {{"AWS_PROFILE", "work"}},
               "[default]\n" + keys + "[work]\n" + other,
               "",
               "",
               "AKIA2 canary-2 \n" + not_set + "profile \"work\"" + kFiles + "used\n"},
           Row{"a profile of the address",
               {key_id, key},
               "[ work ]\n" + other + "aws_session_token=canary-s\n",
               "",
               "work",
               "AKIA2 canary-2 canary-s\nprofile \"work\"" + kFiles + "used\n"},
           Row{"the configuration",
               {},
               "",
               "[work]\n" + keys + "[profile work]\nregion = x\n" + other,
               "work",
               "AKIA2 canary-2 \nprofile \"work\"" + kFiles + "used\n"},
           Row{"both files",
               {},
               "[work]\n" + other,
               "[profile work]\n" + keys,
               "work",
               "AKIA2 canary-2 \nprofile \"work\"" + kFiles + "used\n"},
           Row{"a role",
               {},
               "[work]\n" + keys,
               "[profile work]\nrole_arn = x\n",
               "work",
               "none\nprofile \"work\"" + kFiles + "no static keys\n"},
           Row{"single sign-on",
               {},
               "",
               "[profile work]\nsso_session = x\n",
               "work",
               "none\nprofile \"work\"" + kFiles + "no static keys\n"},
           Row{"nested and commented",
               {},
               "[work]\n# " + keys + "s3 =\n  aws_secret_access_key = x\n" + other,
               "",
               "work",
               "AKIA2 canary-2 \nprofile \"work\"" + kFiles + "used\n"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      for (const auto& [name, value] : row.variables) {
        user.set(name, value);
      }
      user.write(".aws/credentials", row.credentials);
      user.write(".aws/config", row.config);
      BOOST_TEST(shown_key(user, row.profile) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_not_an_empty_one) {
  User user;
  user.write(".aws/credentials/x", "");
  const auto credentials = make_credentials({}, user.environment());
  const auto found = credentials->find(CredentialUse::s3, "S3", "", Context{});
  BOOST_REQUIRE(!found.has_value());
  BOOST_TEST((found.error().code == Code::io_error));
  const std::string places = shown(credentials->places(CredentialUse::s3, "S3", "", Context{}));
  BOOST_TEST(places.find("of the shared files of AWS: not usable: ") != std::string::npos, places);
}

BOOST_AUTO_TEST_CASE(a_token_that_could_add_a_header) {
  User user;
  user.set("AWS_ACCESS_KEY_ID", "AKIA0");
  user.set("AWS_SECRET_ACCESS_KEY", "canary-0");
  user.set("AWS_SESSION_TOKEN", "canary\r\nX: y");
  const auto found = make_credentials({}, user.environment())->find(CredentialUse::s3, "S3", "", Context{});
  BOOST_TEST(shown(found) ==
             "CONFIG_PARSE the token of environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY contains a "
             "line ending or another control character");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
