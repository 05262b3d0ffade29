// The programs of clouds, as scripts on PATH.
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/backends/credentials/user.h"
#include "tests/support/environment.h"

namespace modlock::test {
namespace {

constexpr const char* kKey = R"("AccessKeyId": "AKIA1", "SecretAccessKey": "canary-1")";

// A user who allows programs, which write their arguments and the tokens that they see into "asked".
struct Allowing : User {
  explicit Allowing(std::vector<std::string> programs = {"aws", "gcloud"})
      : path_variable("PATH", path("bin").string() + ":/usr/bin:/bin") {
    configuration.credential_programs = std::move(programs);
  }
  void program(const std::string& name, const std::string& script) const {
    write_program("bin/" + name, "echo \"$*$TF_TOKEN_example_com\" >> '" + path("asked").string() + "'\n" + script);
  }
  std::string asked() const {
    return std::filesystem::exists(path("asked")) ? read_text(path("asked")) : std::string();
  }
  // "<key id> <secret key> <session token>", "token <token>" or "none", else the code, message and hint of the error.
  static std::string text_of(const Result<FoundCredential>& found) {
    if (!found) {
      return shown(found) + ". " + found.error().hint.text();
    }
    const auto* key = std::get_if<AwsCredential>(&found->secret);
    return key == nullptr ? shown(found)
                          : key->key_id.reveal() + " " + key->secret_key.reveal() + " " + key->session_token.reveal();
  }

  ClientConfiguration configuration;
  ScopedEnvironment path_variable;
};

CredentialQuery s3(const std::string& profile = {}, bool is_users = true) {
  return {CredentialUse::s3, "S3", profile, is_users};
}
CredentialQuery gcs(bool is_users = true) {
  return {CredentialUse::gcs, "Google Cloud Storage", "", is_users};
}

std::string in_json(const std::string& members) {
  return "echo '{\"Version\": 1, " + members + "}'";
}

BOOST_AUTO_TEST_SUITE(credential_program)

BOOST_AUTO_TEST_CASE(when_a_program_is_run) {
  const std::string static_keys = "aws_access_key_id = AKIA0\naws_secret_access_key = canary-0\n";
  struct Row {
    const char* name;
    std::vector<std::string> allowed;
    CredentialQuery query;
    std::vector<std::pair<std::string, std::string>> variables;
    std::string file;
    std::string expected;
    std::string asked;
    std::string outcome;  // of the last place
  };
  const std::string process = "configure export-credentials --format process";
  for (const Row& row : {
           Row{"not allowed", {}, s3(), {}, "", "none", "", "the program aws: not allowed by credential_programs"},
           Row{"another one is allowed",
               {"gcloud"},
               s3(),
               {},
               "",
               "none",
               "",
               "the program aws: not allowed by credential_programs"},
           Row{"allowed", {"aws"}, s3(), {}, "", "AKIA1 canary-1 ", process + "\n", "the program aws: used"},
           Row{"a call of a package or a server",
               {"aws"},
               s3("", false),
               {},
               "",
               "none",
               "",
               "the program aws: run only for calls in your own configuration"},
           Row{"a key in the environment",
               {"aws"},
               s3(),
               {{"AWS_ACCESS_KEY_ID", "AKIA2"}, {"AWS_SECRET_ACCESS_KEY", "canary-2"}},
               "",
               "AKIA2 canary-2 ",
               "",
               "environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: used"},
           Row{"static keys",
               {"aws"},
               s3(),
               {},
               "[default]\n" + static_keys,
               "AKIA0 canary-0 ",
               "",
               "profile \"default\" of the shared files of AWS: used"},
           Row{"static keys of another profile",
               {"aws"},
               s3("work"),
               {},
               "[default]\n" + static_keys,
               "AKIA1 canary-1 ",
               process + " --profile=work\n",
               "the program aws: used"},
           Row{"a role",
               {"aws"},
               s3("work"),
               {},
               "[work]\nrole_arn = x\n" + static_keys,
               "AKIA1 canary-1 ",
               process + " --profile=work\n",
               "the program aws: used"},
           Row{"the profile of the environment",
               {"aws"},
               s3(),
               {{"AWS_PROFILE", "a b"}},
               "",
               "AKIA1 canary-1 ",
               process + " --profile=a b\n",
               "the program aws: used"},
           Row{"the profile of the address",
               {"aws"},
               s3("work"),
               {{"AWS_PROFILE", "home"}, {"AWS_ACCESS_KEY_ID", "AKIA2"}, {"AWS_SECRET_ACCESS_KEY", "canary-2"}},
               "",
               "AKIA1 canary-1 ",
               process + " --profile=work\n",
               "the program aws: used"},
           Row{"a profile that looks like an option",
               {"aws"},
               s3("--debug"),
               {},
               "",
               "AKIA1 canary-1 ",
               process + " --profile=--debug\n",
               "the program aws: used"},
           Row{"Google, not allowed",
               {"aws"},
               gcs(),
               {},
               "",
               "none",
               "",
               "the program gcloud: not allowed by credential_programs"},
           Row{"Google",
               {"gcloud"},
               gcs(),
               {},
               "",
               "token canary-g",
               "auth print-access-token\n",
               "the program gcloud: used"},
           Row{"Google, a call of a package",
               {"gcloud"},
               gcs(false),
               {},
               "",
               "none",
               "",
               "the program gcloud: run only for calls in your own configuration"},
           Row{"Google, a token in the environment",
               {"gcloud"},
               gcs(),
               {{"GOOGLE_OAUTH_ACCESS_TOKEN", "canary-e"}},
               "",
               "token canary-e",
               "",
               "environment variable GOOGLE_OAUTH_ACCESS_TOKEN: used"},
           Row{"a download",
               {"aws", "gcloud"},
               {CredentialUse::download, "s3.amazonaws.com", "", true},
               {},
               "",
               "none",
               "",
               "file ~/.netrc: not found"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Allowing user(row.allowed);
      const ScopedEnvironment token("TF_TOKEN_example_com", "canary-t");
      user.program("aws", in_json(kKey));
      user.program("gcloud", "echo canary-g");
      for (const auto& [name, value] : row.variables) {
        user.set(name, value);
      }
      user.write(".aws/credentials", row.file);
      const auto credentials = make_credentials(user.configuration, user.environment());
      for (int i = 0; i < 3; ++i) {  // it is asked once
        BOOST_TEST(Allowing::text_of(credentials->find(row.query, Context{})) == row.expected);
      }
      BOOST_TEST(user.asked() == row.asked);
      const std::string places = shown(credentials->places(row.query, Context{}));
      BOOST_TEST(places.ends_with(row.outcome + "\n"), places);
      BOOST_TEST(!has_canary(places));
    }
  }
}

BOOST_AUTO_TEST_CASE(each_profile_is_asked_for) {
  const Allowing user;
  user.program("aws", in_json(kKey));
  const auto credentials = make_credentials(user.configuration, user.environment());
  for (const char* profile : {"a", "b", "a", "", "b"}) {
    BOOST_TEST(credentials->find(s3(profile), Context{}).has_value());
  }
  BOOST_TEST(user.runs_of("bin/aws") == 3U);
}

BOOST_AUTO_TEST_CASE(what_a_program_prints) {
  const std::string aws =
      ". run it manually to see why: aws configure export-credentials --format process '--profile=a b'";
  const std::string gcloud = ". run it manually to see why: gcloud auth print-access-token";
  const std::string helper = "UNREACHABLE the credential helper ";
  const std::string lacks = helper + "aws did not print a JSON object with AccessKeyId and SecretAccessKey" + aws;
  const std::string expired = helper + "aws returned a key that has expired, or does so within a minute" + aws;
  const std::string no_token = helper + "gcloud did not print a token" + gcloud;
  struct Row {
    const char* name;
    std::string aws;     // a script; empty: gcloud is queried
    std::string gcloud;  // likewise
    std::string expected;
  };
  for (const Row& row : {
           Row{"a session", in_json(std::string(kKey) + R"(, "SessionToken": "canary-s")"), "",
               "AKIA1 canary-1 canary-s"},
           Row{"a session that lasts", in_json(std::string(kKey) + R"(, "Expiration": "2199-01-01T00:00:00+00:00")"),
               "", "AKIA1 canary-1 "},
           Row{"an unknown time", in_json(std::string(kKey) + R"(, "Expiration": null)"), "", "AKIA1 canary-1 "},
           Row{"an expired key", in_json(std::string(kKey) + R"(, "Expiration": "2020-01-01T00:00:00Z")"), "", expired},
           Row{"an expired key in another zone",
               in_json(std::string(kKey) + R"(, "Expiration": "2020-01-01T00:00:00.25+05:30")"), "", expired},
           Row{"a key that expires at once",
               "date -u -d '+20 seconds' '+{\"AccessKeyId\": \"AKIA1\", \"SecretAccessKey\": \"canary-1\", "
               "\"Expiration\": \"%Y-%m-%dT%H:%M:%SZ\"}'",
               "", expired},
           Row{"a failure", "echo canary-out; echo canary-err >&2; exit 255", "",
               helper + "aws ended with exit code 255" + aws},
           Row{"a key and a failure", in_json(kKey) + "; exit 1", "", helper + "aws ended with exit code 1" + aws},
           Row{"nothing", "true", "", lacks},
           Row{"another text", "echo canary", "", lacks},
           Row{"a list", "echo '[\"canary\"]'", "", lacks},
           Row{"no secret key", in_json(R"("AccessKeyId": "AKIA1")"), "", lacks},
           Row{"no text", in_json(R"("AccessKeyId": "AKIA1", "SecretAccessKey": 7)"), "", lacks},
           Row{"a control character", in_json(R"("AccessKeyId": "A\u000a", "SecretAccessKey": "canary-1")"), "",
               "CONFIG_PARSE the token of the program aws contains a line ending or another control character. remove "
               "it from the token"},
           Row{"too much", "yes canary | head -c 2000000", "", "LIMIT_EXCEEDED"},
           Row{"a token", "", "echo canary-g", "token canary-g"},
           Row{"a token without a line end", "", "printf canary-g", "token canary-g"},
           Row{"two lines", "", "echo canary; echo canary", no_token},
           Row{"two words", "", "echo your token: canary", no_token},
           Row{"no token", "", "true", no_token},
           Row{"a token and a failure", "", "echo canary; exit 1", helper + "gcloud ended with exit code 1" + gcloud},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const Allowing user;
      user.program("aws", row.aws);
      user.program("gcloud", row.gcloud);
      const auto credentials = make_credentials(user.configuration, user.environment());
      const CredentialQuery query = row.aws.empty() ? gcs() : s3("a b");
      const auto found = credentials->find(query, Context{});
      const std::string text = Allowing::text_of(found);
      BOOST_TEST((row.expected == "LIMIT_EXCEEDED" ? text.starts_with(row.expected) : text == row.expected), text);
      BOOST_TEST((found || !has_canary(text)), text);
      BOOST_TEST(!has_canary(shown(credentials->places(query, Context{}))));
      BOOST_TEST(user.runs_of(row.aws.empty() ? "bin/gcloud" : "bin/aws") == 1U);  // nor again at once
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_is_missing) {
  const Allowing user;
  const auto credentials = make_credentials(user.configuration, user.environment());
  const ScopedEnvironment nowhere("PATH", user.path("bin").string());
  BOOST_TEST(Allowing::text_of(credentials->find(s3(), Context{})) ==
             "TOOL_MISSING aws is not on PATH, but is required for the credentials of S3. install aws, or remove it "
             "from the file that names it");
  BOOST_TEST(Allowing::text_of(credentials->find(gcs(), Context{})) ==
             "TOOL_MISSING gcloud is not on PATH, but is required for the credentials of Google Cloud Storage. install "
             "gcloud, or remove it from the file that names it");
}

BOOST_AUTO_TEST_CASE(a_deadline_ends_it) {
  const Allowing user;
  user.program("aws", "exec sleep 60");
  Context hurried;
  hurried.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const auto found = make_credentials(user.configuration, user.environment())->find(s3(), hurried);
  BOOST_TEST(shown(found).starts_with("DEADLINE_EXCEEDED"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
