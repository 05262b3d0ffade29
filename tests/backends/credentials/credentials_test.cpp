#include "backends/credentials/credentials.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"
#include "tests/support/fake_credentials.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(make_credentials_for_downloads)

BOOST_AUTO_TEST_CASE(the_netrc_file_of_the_user) {
  User user;
  const auto look = [&user]() {
    const auto credentials = make_credentials({}, user.environment());
    return shown(credentials->find({CredentialUse::download, "example.com"}, Context{})) + "\n" +
           shown(credentials->places({CredentialUse::download, "example.com"}, Context{}));
  };
  BOOST_TEST(look() == "none\nfile ~/.netrc: not found\n");
  user.write(".netrc", "machine other login u password canary-1\n");
  BOOST_TEST(look() == "none\nfile ~/.netrc: no entry for example.com\n");
  user.write(".netrc", "\ndefault login u password canary-1\n");
  BOOST_TEST(look() == "basic u:canary-1\ndefault in ~/.netrc:2: used\n");
  user.set("NETRC", "own");
  BOOST_TEST(look() == "none\nfile ~/own: not found\n");
  user.write("own", "machine example.com login v password canary-2");
  BOOST_TEST(look() == "basic v:canary-2\nmachine example.com in ~/own:1: used\n");
  user.write("own", "canary-3");
  BOOST_TEST(look() ==
             "CONFIG_PARSE ~/own:1: expected a keyword (machine, default, login, password, account)\n"
             "file ~/own: not usable: ~/own:1: expected a keyword (machine, default, login, password, account)\n");
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_passed_over) {
  User user;
  user.write(".netrc/inside", "machine example.com login u password canary-1");
  const auto find = [&user]() {
    return shown(make_credentials({}, user.environment())->find({CredentialUse::download, "example.com"}, Context{}));
  };
  BOOST_TEST(find() == "none");
  user.set("NETRC", user.path(".netrc/inside/deeper").string());
  BOOST_TEST(find() == "none");
}

BOOST_AUTO_TEST_CASE(without_a_home) {
  const auto credentials = make_credentials({}, ProcessEnvironment{});
  BOOST_TEST(shown(credentials->places({CredentialUse::download, "example.com"}, Context{})) ==
             "file ~/.netrc: no home directory is known\n");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

Error refusal(Code code) {
  return {.code = code, .message = "the registry refused", .notes = {"while listing"}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(refusals)

BOOST_AUTO_TEST_CASE(the_fix_for_each_use) {
  struct Row {
    const char* name;
    CredentialUse use;
    const char* host;
    const char* expected;
  };
  const Row rows[] = {
      {"a registry", CredentialUse::registry, "my-host.example",
       "set TF_TOKEN_my__host_example to a token, or write credentials \"my-host.example\" { token = \"…\" } into the "
       "client's CLI configuration"},
      {"a registry in Unicode", CredentialUse::registry, "café.fr",
       "set TF_TOKEN_xn____caf__dma_fr to a token, or write credentials \"café.fr\" { token = \"…\" } into the "
       "client's CLI configuration"},
      {"a registry with a port", CredentialUse::registry, "localhost:8443",
       "write credentials \"localhost:8443\" { token = \"…\" } into the client's CLI configuration"},
      {"OCI", CredentialUse::oci, "ghcr.io",
       "run \"docker login ghcr.io\", or write oci_credentials \"ghcr.io\" { username = \"…\", password = \"…\" } into "
       "the client's CLI configuration"},
      {"S3", CredentialUse::s3, "S3",
       "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or AWS_PROFILE, or write "
       "credential_programs = [\"aws\"] in your own settings, for calls in your own configuration"},
      {"Google", CredentialUse::gcs, "Google Cloud Storage",
       "run: export GOOGLE_OAUTH_ACCESS_TOKEN=\"$(gcloud auth print-access-token)\""},
      {"a download", CredentialUse::download, "example.com:8443",
       "add the line \"machine example.com:8443 login … password …\" to ~/.netrc"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      FakeCredentials credentials;
      const Error error = explain_refusal(refusal(Code::auth_required), {row.use, row.host}, credentials, Context{});
      BOOST_TEST((error.code == Code::auth_required));
      BOOST_TEST(error.message == "the registry refused");
      BOOST_TEST(error.hint == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_errors_are_unchanged) {
  FakeCredentials credentials;
  const Error error =
      explain_refusal(refusal(Code::not_found), {CredentialUse::download, "example.com"}, credentials, Context{});
  BOOST_TEST(error.notes == refusal(Code::not_found).notes, boost::test_tools::per_element());
  BOOST_TEST(error.hint.empty());
}

BOOST_AUTO_TEST_CASE(the_places_that_were_looked_in) {
  User user;
  user.set("TF_TOKEN_example_com", "canary-1");
  ClientConfiguration configuration{.tokens = {{"example.com", {SecretText("canary-2"), "~/.tofurc:1"}}},
                                    .files = {"~/.tofurc"}};
  const auto credentials = make_credentials(configuration, user.environment());
  const Error error =
      explain_refusal(refusal(Code::auth_required), {CredentialUse::registry, "example.com"}, *credentials, Context{});
  const std::vector<std::string> expected = {
      "while listing", "looked for credentials for example.com in environment variable TF_TOKEN_example_com: used",
      "looked for credentials for example.com in credentials \"example.com\" in ~/.tofurc:1: hidden by environment "
      "variable TF_TOKEN_example_com",
      "looked for credentials for example.com in credentials_helper of the CLI configuration: not configured"};
  BOOST_TEST(error.notes == expected, boost::test_tools::per_element());
  BOOST_TEST(error.hint ==
             "example.com rejected the credential from environment variable TF_TOKEN_example_com: renew it there");
  const Error forbidden =
      explain_refusal(refusal(Code::forbidden), {CredentialUse::registry, "example.com"}, *credentials, Context{});
  BOOST_TEST(forbidden.hint ==
             "example.com denied access with the credential from environment variable TF_TOKEN_example_com: request "
             "access, or use another credential");
}

BOOST_AUTO_TEST_CASE(places_that_cannot_be_asked) {
  FakeCredentials credentials;
  credentials.fail_with({.code = Code::request_cancelled, .message = "the run was cancelled"});
  const Error error =
      explain_refusal(refusal(Code::auth_required), {CredentialUse::oci, "ghcr.io", "x"}, credentials, Context{});
  BOOST_TEST_REQUIRE(error.notes.size() == 2U);
  BOOST_TEST(error.notes[1] == "cannot look up credentials for ghcr.io: the run was cancelled");
}

BOOST_AUTO_TEST_SUITE_END()
