#include "backends/credentials/oci_credential_finder.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/credentials/user.h"
#include "tests/support/environment.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kDocker = R"({"auths": {"ghcr.io": {"auth": "ZG9ja2VyOmNhbmFyeS1k"}}})";     // docker:canary-d
constexpr const char* kDeep = R"({"auths": {"ghcr.io/team": {"auth": "ZGVlcDpjYW5hcnkteA=="}}})";  // deep:canary-x
constexpr const char* kPodman = R"({"auths": {"ghcr.io": {"auth": "cG9kbWFuOmNhbmFyeS1w"}}})";     // podman:canary-p
constexpr const char* kNoColon = R"({"auths": {"ghcr.io": {"auth": "Y2FuYXJ5LW5vLWNvbG9u"}}})";    // canary-no-colon

ClientConfiguration::OciCredentials block(std::string host, std::string repository, std::string user) {
  return {.host = std::move(host),
          .repository = std::move(repository),
          .user = SecretText(std::move(user)),
          .password = SecretText("canary-b"),
          .from = "~/.tofurc:1"};
}

struct OciQuery {
  User user;
  ClientConfiguration configuration;
  Context context = {};

  std::string find(const std::string& host = "ghcr.io", const std::string& repository = "team/app") const {
    return shown(
        make_credentials(configuration, user.environment())->find({CredentialUse::oci, host, repository}, context));
  }
  std::string places(const std::string& host = "ghcr.io", const std::string& repository = "team/app") const {
    return shown(
        make_credentials(configuration, user.environment())->places({CredentialUse::oci, host, repository}, context));
  }
};

// Programs of the user come first on PATH.
class OwnPath {
 public:
  explicit OwnPath(const User& user) : path_("PATH", user.path("bin").string() + ":" + std::getenv("PATH")) {}

 private:
  ScopedEnvironment path_;
};

constexpr const char* kAnswer =
    "read line; echo \"{\\\"ServerURL\\\":\\\"x\\\",\\\"Username\\\":\\\"$1 "
    "$line\\\",\\\"Secret\\\":\\\"canary-h\\\"}\"";

}  // namespace

BOOST_AUTO_TEST_SUITE(oci_places)

BOOST_AUTO_TEST_CASE(usual_files_in_order) {
  OciQuery asked;
  BOOST_TEST(asked.find() == "none");
  asked.user.write(".dockercfg", R"({"auths": {"ghcr.io": {"auth": "b2xkOmNhbmFyeS1v"}}})");
  BOOST_TEST(asked.find() == "basic old:canary-o");
  asked.user.write(".docker/config.json", kDocker);
  BOOST_TEST(asked.find() == "basic docker:canary-d");
  asked.user.write(".config/containers/auth.json", kPodman);
  BOOST_TEST(asked.find() == "basic podman:canary-p");
  asked.user.write("run/containers/auth.json", R"({"auths": {"ghcr.io": {"auth": "cnVuOmNhbmFyeS1y"}}})");
  asked.user.set("XDG_RUNTIME_DIR", asked.user.path("run").string());
  BOOST_TEST(asked.find() == "basic run:canary-r");
  asked.user.set("XDG_CONFIG_HOME", asked.user.path("elsewhere").string());
  asked.user.set("DOCKER_CONFIG", asked.user.path("run").string());
  BOOST_TEST(asked.places() ==
             "auths \"ghcr.io\" in ~/run/containers/auth.json: used\n"
             "auths \"ghcr.io\" in ~/.docker/config.json: hidden by auths \"ghcr.io\" in ~/run/containers/auth.json\n"
             "auths \"ghcr.io\" in ~/.dockercfg: hidden by auths \"ghcr.io\" in ~/run/containers/auth.json\n"
             "oci_credentials blocks of the CLI configuration: none\n"
             "file ~/elsewhere/containers/auth.json: not found\n");
  BOOST_TEST(asked.find("quay.io") == "none");
}

BOOST_AUTO_TEST_CASE(the_most_specific_place_decides_and_of_equals_the_first) {
  OciQuery asked;
  asked.user.write(".docker/config.json", kDocker);
  asked.configuration.oci = {block("ghcr.io", "", "host")};
  BOOST_TEST(asked.find() == "basic host:canary-b");
  asked.user.write(".dockercfg", kDeep);
  BOOST_TEST(asked.find() == "basic deep:canary-x");
  BOOST_TEST(asked.find("ghcr.io", "teams/app") == "basic host:canary-b");
  asked.configuration.oci.push_back(block("ghcr.io", "team", "team"));
  BOOST_TEST(asked.find() == "basic team:canary-b");
  asked.configuration.oci.push_back(block("ghcr.io", "team/app/deeper", "deeper"));
  BOOST_TEST(asked.places() ==
             "oci_credentials \"ghcr.io/team\" in ~/.tofurc:1: used\n"
             "auths \"ghcr.io/team\" in ~/.dockercfg: hidden by oci_credentials \"ghcr.io/team\" in ~/.tofurc:1\n"
             "oci_credentials \"ghcr.io\" in ~/.tofurc:1: hidden by oci_credentials \"ghcr.io/team\" in ~/.tofurc:1\n"
             "auths \"ghcr.io\" in ~/.docker/config.json: hidden by oci_credentials \"ghcr.io/team\" in ~/.tofurc:1\n"
             "oci_credentials \"ghcr.io/team/app/deeper\" in ~/.tofurc:1: for other repositories\n"
             "file ~/.config/containers/auth.json: not found\n");
}

BOOST_AUTO_TEST_CASE(tokens_of_a_block) {
  OciQuery asked;
  asked.configuration.oci = {{.host = "ghcr.io",
                              .access_token = SecretText("canary-a"),
                              .refresh_token = SecretText("canary-r"),
                              .from = "~/.tofurc:1"}};
  BOOST_TEST(asked.find() == "token canary-a, refresh canary-r");
}

BOOST_AUTO_TEST_CASE(a_broken_file_in_a_usual_place_stops_the_use_of_all) {
  struct Row {
    const char* name;
    const char* file;
    const char* text;
    const char* outcome;
  };
  const Row rows[] = {
      {"no JSON object", ".dockercfg", "[]",
       "file ~/.docker/config.json: not used, because ~/.dockercfg is broken\n"
       "file ~/.dockercfg: ~/.dockercfg: it is not a JSON object\n"},
      {"a directory", ".dockercfg/x", "",
       "file ~/.docker/config.json: not used, because ~/.dockercfg is broken\n"
       "file ~/.dockercfg: it cannot be read\n"},
      {"below a file", ".config/containers", "",
       "file ~/.docker/config.json: not used, because ~/.config/containers/auth.json is broken\n"
       "file ~/.dockercfg: not found\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OciQuery asked;
      asked.user.write(".docker/config.json", kDocker);
      asked.user.write(row.file, row.text);
      BOOST_TEST(asked.find() == "none");
      BOOST_TEST(asked.places().ends_with(row.outcome), asked.places());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_entry_that_holds_no_password_matters_only_beside_another) {
  OciQuery asked;
  asked.user.write(".docker/config.json", kNoColon);
  BOOST_TEST(asked.find() == "none");
  BOOST_TEST(asked.places().starts_with("auths \"ghcr.io\" in ~/.docker/config.json: contains no user and password\n"));
  asked.user.write(".dockercfg", kDocker);
  BOOST_TEST(asked.find() == "CONFIG_PARSE auths \"ghcr.io\" in ~/.docker/config.json contains no user and password");
  BOOST_TEST(!has_canary(asked.places() + asked.find()));
}

BOOST_AUTO_TEST_CASE(defaults_say_which_files_count) {
  OciQuery asked;
  asked.user.write(".docker/config.json", kDocker);
  asked.user.write("own.json", kPodman);
  auto& defaults = asked.configuration.oci_defaults.emplace(ClientConfiguration::OciDefaults{});
  defaults.from = "~/.tofurc:7";
  defaults.files = {asked.user.path("own.json").string()};
  BOOST_TEST(asked.find() == "basic podman:canary-p");
  defaults.files->push_back(asked.user.path("gone.json").string());
  BOOST_TEST(asked.find() ==
             "CONFIG_PARSE the credentials file ~/gone.json, named by docker_style_config_files in ~/.tofurc:7, is not "
             "usable: not found");
  BOOST_TEST(!has_canary(asked.find() + asked.places()));
  defaults.files->clear();
  BOOST_TEST(asked.places() ==
             "oci_credentials blocks of the CLI configuration: none\n"
             "docker and podman files: turned off by docker_style_config_files in ~/.tofurc:7\n");
  defaults.files.reset();
  defaults.discover_ambient = false;
  BOOST_TEST(asked.find() == "none");
  BOOST_TEST(asked.places() ==
             "oci_credentials blocks of the CLI configuration: none\n"
             "docker and podman files: turned off by discover_ambient_credentials in ~/.tofurc:7\n");
}

BOOST_AUTO_TEST_CASE(programs_are_asked_by_their_rank) {
  OciQuery asked;
  const OwnPath path(asked.user);
  asked.user.write_program("bin/docker-credential-one", kAnswer);
  asked.user.write_program("bin/docker-credential-two", "echo '{\"Username\": \"two\", \"Secret\": \"canary-2\"}'");
  asked.user.write(".docker/config.json", R"({"credsStore": "one"})");
  BOOST_TEST(asked.find() == "basic get https://ghcr.io:canary-h");
  auto& defaults = asked.configuration.oci_defaults.emplace(ClientConfiguration::OciDefaults{});
  defaults = {.helper = "two", .from = "~/.tofurc:7"};
  BOOST_TEST(asked.find() == "basic two:canary-2");
  BOOST_TEST(
      asked.places().starts_with("docker_credentials_helper \"two\" in ~/.tofurc:7: used\n"
                                 "credsStore \"one\" in ~/.docker/config.json: hidden by "
                                 "docker_credentials_helper \"two\" in ~/.tofurc:7\n"));
  asked.user.write(".docker/config.json", R"({"credsStore": "two", "credHelpers": {"ghcr.io": "one"}})");
  BOOST_TEST(asked.find() == "basic get https://ghcr.io:canary-h");
  BOOST_TEST(asked.find("quay.io", "x") == "basic two:canary-2");
  asked.configuration.oci = {{.host = "ghcr.io", .helper = "two", .from = "~/.tofurc:1"}};
  BOOST_TEST(asked.find() == "basic two:canary-2");
  asked.user.write(".dockercfg", kDeep);
  BOOST_TEST(asked.find() == "basic deep:canary-x");
}

BOOST_AUTO_TEST_CASE(a_program_is_asked_once_for_each_host) {
  OciQuery asked;
  const OwnPath path(asked.user);
  asked.user.write_program("bin/docker-credential-one", kAnswer);
  asked.user.write(".docker/config.json", R"({"credsStore": "one"})");
  const auto credentials = make_credentials({}, asked.user.environment());
  for (const char* repository : {"a", "b", "c/d"}) {
    BOOST_TEST(shown(credentials->find({CredentialUse::oci, "ghcr.io", repository}, asked.context)) ==
               "basic get https://ghcr.io:canary-h");
  }
  BOOST_TEST(asked.user.runs_of("bin/docker-credential-one") == 1U);
}

BOOST_AUTO_TEST_CASE(what_programs_do_wrong) {
  struct Row {
    const char* name;
    const char* script;
    const char* expected;
  };
  const Row rows[] = {
      {"nothing for that host", "echo '  credentials not found in native keychain '; exit 1", "none"},
      {"empty values", "echo '{\"Username\": \"\", \"Secret\": \"\"}'", "none"},
      {"a failure", "echo canary-1; echo canary-2 >&2; exit 1",
       "UNREACHABLE the credential helper docker-credential-one ended with exit code 1"},
      {"no JSON", "echo canary-1",
       "UNREACHABLE the credential helper docker-credential-one did not print a JSON object with Username and Secret"},
      {"an array", "echo '[\"canary-1\"]'",
       "UNREACHABLE the credential helper docker-credential-one did not print a JSON object with Username and Secret"},
      {"an identity token", "echo '{\"Username\": \"<token>\", \"Secret\": \"canary-1\"}'",
       "UNREACHABLE the credential helper docker-credential-one returned an identity token, which OpenTofu does not "
       "accept from a program"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OciQuery asked;
      const OwnPath path(asked.user);
      asked.user.write_program("bin/docker-credential-one", row.script);
      asked.user.write(".config/containers/auth.json", R"({"credHelpers": {"ghcr.io": "one"}})");
      asked.user.write(".docker/config.json", kDocker);
      BOOST_TEST(asked.find() == row.expected);
      BOOST_TEST(!has_canary(asked.find() + asked.places()));
    }
  }
  OciQuery asked;
  asked.user.write(".docker/config.json", R"({"credsStore": "no-such-program"})");
  BOOST_TEST(asked.find() ==
             "TOOL_MISSING docker-credential-no-such-program is not on PATH, but is required for the credentials of "
             "ghcr.io");
  asked.user.write(".docker/config.json", R"({"credsStore": "x/../../evil"})");
  BOOST_TEST(asked.find() == "CONFIG_PARSE credsStore \"x/../../evil\" in ~/.docker/config.json is not a program name");
}

BOOST_AUTO_TEST_SUITE_END()
