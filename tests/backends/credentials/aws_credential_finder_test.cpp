#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"

namespace modlock::test {
namespace {

// "<key id> <secret> <session token>", then the places.
std::string shown_key(const User& user, const std::string& profile) {
  const auto credentials = make_credentials({}, user.environment());
  const auto found = credentials->find({CredentialUse::s3, "S3", profile}, Context{});
  const auto places = credentials->places({CredentialUse::s3, "S3", profile}, Context{});
  BOOST_REQUIRE(found.has_value());
  const auto* key = std::get_if<AwsCredential>(&found->secret);
  std::string text =
      key == nullptr ? "none\n"
                     : key->key_id.reveal() + " " + key->secret_key.reveal() + " " + key->session_token.reveal() + "\n";
  BOOST_TEST(!has_canary(shown(places)));
  return text + shown(places);
}

const std::string kVariables = "environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: ";
const std::string kProgram = "the program aws: not allowed by credential_programs\n";
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
           Row{"nothing",
               {},
               "",
               "",
               "",
               "none\n" + not_set + "profile \"default\"" + kFiles + "no static keys\n" + kProgram},
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
               "none\nprofile \"work\"" + kFiles + "no static keys\n" + kProgram},
           Row{"single sign-on",
               {},
               "",
               "[profile work]\nsso_session = x\n",
               "work",
               "none\nprofile \"work\"" + kFiles + "no static keys\n" + kProgram},
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

// The key of each row is the one that tofu 1.12.6 (aws-sdk-go-v2, internal/ini 1.8.6) signed with; "none": it failed.
BOOST_AUTO_TEST_CASE(reads_files_and_variables_as_the_client_does) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const std::string one = "aws_access_key_id = AKIA1\naws_secret_access_key = s1\n";
  const std::string two = "aws_access_key_id = AKIA2\naws_secret_access_key = s2\n";
  const std::string id = "aws_access_key_id = AKIA1\n";
  const std::string secret = "aws_secret_access_key = s1\n";
  const Variables work = {{"AWS_PROFILE", "work"}};
  struct Row {
    const char* name;
    std::string credentials;
    std::string config = {};
    Variables variables = {};
    std::string expected = "AKIA1 s1 ";
  };
  for (const Row& row : {
           Row{"comments", "[default] ; x\naws_access_key_id = AKIA1 # x\naws_secret_access_key = s1\t; x\n"},
           Row{"no comment", "[default]\naws_access_key_id = AKIA1#x\n" + secret, "", {}, "AKIA1#x s1 "},
           Row{"quotes", "[default]\naws_access_key_id = \"AKIA1\"\naws_secret_access_key = 's1'\n"},
           Row{"one quote", "[default]\n" + id + "aws_secret_access_key = 's1\n", "", {}, "AKIA1 's1 "},
           Row{"upper case", "[default]\nAWS_ACCESS_KEY_ID = AKIA1\nAws_Secret_Access_Key = s1\n"},
           Row{"colons", "[default]\naws_access_key_id: AKIA1\naws_secret_access_key : s1\n"},
           Row{"signs in a value", "[default]\n" + one + "aws_session_token=a=b:c\n", "", {}, "AKIA1 s1 a=b:c"},
           Row{"line ends of Windows", "[default]\r\naws_access_key_id = AKIA1\r\naws_secret_access_key = s1\r\n"},
           Row{"an indented section", "[work]\n" + two + " [default]\n" + one},
           Row{"another indented section", "[default]\n" + one + "\t[work]\n" + two},
           Row{"a section twice", "[default]\n" + id + "[work]\n" + two + "[default]\n" + secret},
           Row{"a section without its end", "[default]\n" + one + "[work\n" + two, "", {}, "AKIA2 s2 "},
           Row{"blanks in a section", "[ my \t work ] # x\n" + one, "", {{"AWS_PROFILE", "my work"}}},
           Row{"indented settings", "[default]\n  aws_access_key_id = AKIA1 # x\n  " + secret},
           Row{"indented settings after a value", "[default]\nregion = x\n  " + id + "  " + secret},
           Row{"nested settings", "[default]\ns3 =\n  aws_access_key_id = AKIA3\n" + one},
           Row{"nested settings at the end", "[default]\n" + one + "s3 =\n  aws_access_key_id = AKIA3\n"},
           Row{"indented comments", "[default]\n  # aws_access_key_id = AKIA3\n" + one + "  ; " + two.substr(0, 26)},
           Row{"before all sections", one + "[work]\n" + two, "", {}, "none"},
           Row{"the default profile", "", "[default]\n" + one},
           Row{"the default profile with a prefix", "", "[profile default]\n" + one},
           Row{"both", "", "[profile default]\n" + one + "[default]\n" + two},
           Row{"both, the key in the other", "", "[profile default]\nregion = x\n[default]\n" + one, {}, "none"},
           Row{"the default profile in upper case", "", "[DEFAULT]\n" + one, {{"AWS_PROFILE", "DEFAULT"}}},
           Row{"a prefix with a tab", "", "[profile \t work]\n" + one, work},
           Row{"no prefix", "", "[work]\n" + one + "[profile work]\nregion = x\n", work, "none"},
           Row{"a prefix in the credentials", "[profile work]\n" + two + "[work]\n" + one, "", work},
           Row{"a token of the other file",
               "[default]\n" + one,
               "[default]\n" + two + "aws_session_token = t\n",
               {},
               "AKIA1 s1 t"},
           Row{"half a key", "[default]\n" + id, "[default]\n" + two, {}, "none"},
           Row{"half a key in the configuration", "[default]\n" + one, "[default]\naws_access_key_id = AKIA2\n"},
           Row{"two halves", "[default]\n" + id, "[default]\naws_secret_access_key = s2\n", {}, "none"},
           Row{"an empty key",
               "[default]\naws_access_key_id =\naws_secret_access_key =\n",
               "[default]\n" + two,
               {},
               "none"},
           Row{"AWS_DEFAULT_PROFILE", "[default]\n" + two + "[work]\n" + one, "", {{"AWS_DEFAULT_PROFILE", "work"}}},
           Row{"AWS_PROFILE before it",
               "[default]\n" + two + "[work]\n" + one,
               "",
               {{"AWS_PROFILE", "work"}, {"AWS_DEFAULT_PROFILE", "default"}}},
           Row{"AWS_ACCESS_KEY", "[default]\n" + two, "", {{"AWS_ACCESS_KEY", "AKIA1"}, {"AWS_SECRET_KEY", "s1"}}},
           Row{"a new and an old name",
               "[default]\n" + two,
               "",
               {{"AWS_ACCESS_KEY", "AKIA1"}, {"AWS_SECRET_ACCESS_KEY", "s1"}}},
           Row{"half a key in old variables", "[default]\n" + one, "", {{"AWS_ACCESS_KEY", "AKIA3"}}},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      for (const auto& [name, value] : row.variables) {
        user.set(name, value);
      }
      user.write(".aws/credentials", row.credentials);
      user.write(".aws/config", row.config);
      const std::string key = shown_key(user, "");
      BOOST_TEST(key.substr(0, key.find('\n')) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_not_an_empty_one) {
  User user;
  user.write(".aws/credentials/x", "");
  const auto credentials = make_credentials({}, user.environment());
  const auto found = credentials->find({CredentialUse::s3, "S3"}, Context{});
  BOOST_REQUIRE(!found.has_value());
  BOOST_TEST((found.error().code == Code::io_error));
  const std::string places = shown(credentials->places({CredentialUse::s3, "S3"}, Context{}));
  BOOST_TEST(places.find("of the shared files of AWS: not usable: ") != std::string::npos, places);
}

BOOST_AUTO_TEST_CASE(a_token_that_could_add_a_header) {
  User user;
  user.set("AWS_ACCESS_KEY_ID", "AKIA0");
  user.set("AWS_SECRET_ACCESS_KEY", "canary-0");
  user.set("AWS_SESSION_TOKEN", "canary\r\nX: y");
  const auto found = make_credentials({}, user.environment())->find({CredentialUse::s3, "S3"}, Context{});
  BOOST_TEST(shown(found) ==
             "CONFIG_PARSE the token of environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY contains a "
             "line ending or another control character");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
