#include "plugin/client/credential_report.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"
#include "tests/support/environment.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// git with the configuration of the user alone.
class OwnGit {
 public:
  explicit OwnGit(const User& user)
      : global_("GIT_CONFIG_GLOBAL", user.path("gitconfig").string()),
        system_("GIT_CONFIG_SYSTEM", "/dev/null"),
        count_("GIT_CONFIG_COUNT", std::nullopt),
        parameters_("GIT_CONFIG_PARAMETERS", std::nullopt),
        directory_("GIT_DIR", user.path("no-repository").string()) {}

 private:
  ScopedEnvironment global_, system_, count_, parameters_, directory_;
};

std::string list(const CredentialSearch& search) {
  std::string text = search.use + " " + search.used.value_or("-") + "\n";
  for (const CredentialLocation& place : search.places) {
    text += "  " + place.place + ": " + place.outcome + "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(credential_report)

BOOST_AUTO_TEST_CASE(every_use_with_its_places) {
  User user;
  const OwnGit git(user);
  user.set("TF_TOKEN_ghcr_io", "canary-1");
  user.write(".docker/config.json", R"({"auths": {"ghcr.io/team": {"auth": "dTpjYW5hcnktMg=="}}})");
  user.write(".netrc", "machine ghcr.io login u password canary-3\n");
  user.set("AWS_ACCESS_KEY_ID", "AKIA0");
  user.set("AWS_SECRET_ACCESS_KEY", "canary-7");
  user.write("gitconfig",
             "[credential]\n\thelper = !echo canary-4\n\thelper = store\n"
             "[credential \"https://user:canary-5@ghcr.io\"]\n\thelper = cache\n"
             "[http \"https://ghcr.io\"]\n\textraHeader = Authorization: canary-6\n");
  const auto report = explain_credentials("GHCR.io/team/app", {}, {}, user.environment(), Context{});
  BOOST_TEST_REQUIRE(report.has_value());
  BOOST_TEST(report->host == "ghcr.io");
  BOOST_TEST(report->repository == "team/app");
  const auto& uses = report->uses;
  BOOST_TEST_REQUIRE(uses.size() == 6U);
  BOOST_TEST(list(uses[0]) ==
             "registry environment variable TF_TOKEN_ghcr_io\n"
             "  environment variable TF_TOKEN_ghcr_io: used\n"
             "  credentials blocks of the CLI configuration: no such file\n"
             "  credentials_helper of the CLI configuration: not configured\n");
  BOOST_TEST(list(uses[1]) ==
             "oci auths \"ghcr.io/team\" in ~/.docker/config.json\n"
             "  auths \"ghcr.io/team\" in ~/.docker/config.json: used\n"
             "  oci_credentials blocks of the CLI configuration: none\n"
             "  file ~/.config/containers/auth.json: not found\n"
             "  file ~/.dockercfg: not found\n");
  BOOST_TEST(list(uses[2]) ==
             "download machine ghcr.io in ~/.netrc:1\n"
             "  machine ghcr.io in ~/.netrc:1: used\n");
  // A repository is no profile.
  BOOST_TEST(list(uses[3]) ==
             "s3 environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\n"
             "  environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: used\n");
  const std::string file = "file:" + user.path("gitconfig").string();
  BOOST_TEST(list(uses[4]) ==
             "gcs -\n  environment variable GOOGLE_OAUTH_ACCESS_TOKEN: not set\n"
             "  the program gcloud: not allowed by credential_programs\n");
  BOOST_TEST(list(uses[5]) == "git -\n  machine ghcr.io in ~/.netrc:1: read by git\n  credential.helper in " + file +
                                  ": asked by git\n  credential.https://ghcr.io.helper in " + file +
                                  ": asked by git\n  http.https://ghcr.io.extraheader in " + file + ": asked by git\n");
  std::string all;
  for (const CredentialSearch& search : uses) {
    all += list(search);
  }
  BOOST_TEST(!has_canary(all));
}

BOOST_AUTO_TEST_CASE(only_what_is_wanted) {
  const User user;
  const auto report = explain_credentials("h.test", {"oci", "gcs"}, {}, user.environment(), Context{});
  BOOST_TEST_REQUIRE(report.has_value());
  BOOST_TEST_REQUIRE(report->uses.size() == 2U);
  BOOST_TEST(report->uses[0].use + report->uses[1].use == "ocigcs");
}

BOOST_AUTO_TEST_CASE(git_applies_conditions_about_the_clone) {
  User user;
  const OwnGit git(user);
  user.write("work.conf", "[credential]\n\thelper = store\n[core]\n\taskPass = /ask\n");
  user.write("gitconfig",
             "[includeIf \"gitdir:" + user.path("work").string() + "/\"]\n\tpath = " + user.path("work.conf").string());
  for (const char* root : {"work", "home"}) {
    Context context;
    context.clone_directory = user.path(root) / ".terraform/modules/m";
    const auto report = explain_credentials("h.test", {}, {}, user.environment(), context);
    BOOST_TEST_REQUIRE(report.has_value());
    BOOST_TEST(
        list(report->uses.at(5)) ==
        "git -\n  file ~/.netrc: not found\n" +
            (std::string(root) == "work"
                 ? "  credential.helper in file:" + user.path("work.conf").string() +
                       ": asked by git\n  GIT_ASKPASS, core.askPass or SSH_ASKPASS: queried by git for addresses "
                       "of your configuration\n"
                 : "  credential.helper of git's configuration: not set\n"));
  }
}

BOOST_AUTO_TEST_CASE(a_host_that_nobody_knows) {
  const User user;
  const OwnGit git(user);
  ClientConfiguration configuration;
  configuration.warnings.push_back({Severity::warning, Error{.message = "~/.tofurc:1:1: no such thing"}});
  const auto report = explain_credentials("example.com:8443", {}, configuration, user.environment(), Context{});
  BOOST_TEST_REQUIRE(report.has_value());
  BOOST_TEST(report->repository == "");
  BOOST_TEST(report->warnings.at(0) == "~/.tofurc:1:1: no such thing");
  for (const CredentialSearch& search : report->uses) {
    BOOST_TEST(!search.used);
  }
  BOOST_TEST(list(report->uses.at(5)) ==
             "git -\n  file ~/.netrc: not found\n"
             "  credential.helper of git's configuration: not set\n");
}

BOOST_AUTO_TEST_CASE(netrc_entry_that_git_reads) {
  struct Row {
    const char* name;
    const char* where;
    const char* variable;  // NETRC
    const char* netrc;
    const char* expected;
  };
  for (const Row& row : {
           Row{"host", "example.com", "", "machine example.com login u password canary-1\n",
               "machine example.com in ~/.netrc:1: read by git"},
           Row{"host with a port", "example.com:8443", "", "machine example.com login u password canary-1\n",
               "machine example.com in ~/.netrc:1: read by git"},
           Row{"IPv6 address", "[::1]", "", "machine example.com login u password canary-1\n",
               "file ~/.netrc: no entry for [::1]"},
           Row{"default", "example.com", "", "default login u password canary-1\n",
               "default in ~/.netrc:1: read by git"},
           Row{"another host", "example.com", "", "machine example.org login u password canary-1\n",
               "file ~/.netrc: no entry for example.com"},
           Row{"another file for archives", "example.com", "other", "machine example.com login u password canary-1\n",
               "machine example.com in ~/.netrc:1: read by git"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      User user;
      const OwnGit git(user);
      user.set("NETRC", row.variable);
      user.write(".netrc", row.netrc);
      const auto report = explain_credentials(row.where, {}, {}, user.environment(), Context{});
      BOOST_TEST_REQUIRE(report.has_value());
      BOOST_TEST(list(report->uses.at(5)) ==
                 std::string("git -\n  ") + row.expected + "\n  credential.helper of git's configuration: not set\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(settings_of_git_for_a_host) {
  struct Row {
    const char* name;
    const char* url;
    const char* where;
    bool is_listed;
  };
  for (const Row& row : {Row{"host", "https://example.com", "example.com", true},
                         Row{"path", "https://example.com/team/m.git", "example.com", true},
                         Row{"another letter case", "https://Example.COM", "example.com", true},
                         Row{"port", "https://example.com:8443", "example.com:8443", true},
                         Row{"port that was not asked for", "https://example.com:8443", "example.com", true},
                         Row{"wildcard", "https://*.example.com", "git.example.com", true},
                         Row{"without a scheme", "example.com", "example.com", true},
                         Row{"another port", "https://example.com:8443", "example.com:9443", false},
                         Row{"another host", "https://example.org", "example.com", false},
                         Row{"host with the same start", "https://example.com.test", "example.com", false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const User user;
      const OwnGit git(user);
      user.write("gitconfig", "[credential \"" + std::string(row.url) + "\"]\n\thelper = cache\n");
      const auto report = explain_credentials(row.where, {}, {}, user.environment(), Context{});
      BOOST_TEST_REQUIRE(report.has_value());
      BOOST_TEST((report->uses.at(5).places.at(1).outcome == "asked by git") == row.is_listed);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_host) {
  for (const char* text :
       {"", "https://user:canary@example.com", "user:canary@example.com", "/team", "a b", "a?canary"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto report = explain_credentials(text, {}, {}, ProcessEnvironment{}, Context{});
      BOOST_TEST_REQUIRE(!report.has_value());
      BOOST_TEST((report.error().code == Code::invalid_params));
      BOOST_TEST(report.error().message == "--credentials takes a host, and for OCI also a repository");
      BOOST_TEST(report.error().hint == "write it as example.com, example.com:8443 or ghcr.io/team/module");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
