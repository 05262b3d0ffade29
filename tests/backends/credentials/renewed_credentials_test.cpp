#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/backends/credentials/user.h"
#include "tests/support/environment.h"

using namespace modlock;
using namespace modlock::test;

namespace {

// One object that lives as long as the process does, while files and programs change.
struct LongLived {
  explicit LongLived(const User& user, ClientConfiguration configuration = {})
      : credentials(make_credentials(std::move(configuration), user.environment())) {}

  std::string find(CredentialUse use, std::string_view host = "example.com") const {
    return shown(credentials->find({use, std::string(host), use == CredentialUse::oci ? "team/app" : ""}, Context{}));
  }
  std::unique_ptr<Credentials> credentials;
};

// As `docker login` does it: a new file in the place of the old one.
void replace(const User& user, const std::string& name, std::string_view text) {
  user.write(name + ".new", text);
  std::filesystem::rename(user.path(name + ".new"), user.path(name));
}

constexpr const char* kDockerOld = R"({"auths": {"example.com": {"auth": "dXNlcjpjYW5hcnktMQ=="}}})";  // user:canary-1
constexpr const char* kDockerNew = R"({"auths": {"example.com": {"auth": "dXNlcjpjYW5hcnktMg=="}}})";  // user:canary-2

}  // namespace

BOOST_AUTO_TEST_SUITE(renewed_credentials)

BOOST_AUTO_TEST_CASE(a_docker_file) {
  const User user;
  const LongLived lived(user);
  BOOST_TEST(lived.find(CredentialUse::oci) == "none");
  user.write(".docker/config.json", kDockerOld);
  BOOST_TEST(lived.find(CredentialUse::oci) == "basic user:canary-1");
  user.write(".docker/config.json", kDockerNew);
  BOOST_TEST(lived.find(CredentialUse::oci) == "basic user:canary-2");
  replace(user, ".docker/config.json", kDockerOld);
  BOOST_TEST(lived.find(CredentialUse::oci) == "basic user:canary-1");
  user.write(".docker/config.json", "{");
  BOOST_TEST(lived.find(CredentialUse::oci) == "none");
  user.write(".docker/config.json", kDockerNew);
  BOOST_TEST(shown(lived.credentials->places({CredentialUse::oci, "example.com", "team/app"}, Context{}))
                 .starts_with("auths \"example.com\" in ~/.docker/config.json: used\n"));
}

BOOST_AUTO_TEST_CASE(a_file_that_the_configuration_names) {
  const User user;
  ClientConfiguration configuration;
  configuration.oci_defaults = ClientConfiguration::OciDefaults{
      .files = std::vector<std::string>{user.path("own.json").string()}, .from = "~/.tofurc:7"};
  const LongLived lived(user, configuration);
  BOOST_TEST(lived.find(CredentialUse::oci) ==
             "CONFIG_PARSE the credentials file ~/own.json, named by docker_style_config_files in ~/.tofurc:7, is not "
             "usable: not found");
  user.write("own.json", kDockerNew);
  BOOST_TEST(lived.find(CredentialUse::oci) == "basic user:canary-2");
}

BOOST_AUTO_TEST_CASE(a_netrc_file) {
  const User user;
  const LongLived lived(user);
  BOOST_TEST(lived.find(CredentialUse::download) == "none");
  user.write(".netrc", "machine example.com login u password canary-1\n");
  BOOST_TEST(lived.find(CredentialUse::download) == "basic u:canary-1");
  user.write(".netrc", "machine example.com login u password canary-2\n");
  BOOST_TEST(lived.find(CredentialUse::download) == "basic u:canary-2");
  replace(user, ".netrc", "machine example.com login u password canary-3\n");
  BOOST_TEST(lived.find(CredentialUse::download) == "basic u:canary-3");
  std::filesystem::remove(user.path(".netrc"));
  BOOST_TEST(lived.find(CredentialUse::download) == "none");
}

BOOST_AUTO_TEST_CASE(a_docker_program_that_failed_once) {
  const User user;
  const ScopedEnvironment path("PATH", user.path("bin").string() + ":" + std::getenv("PATH"));
  user.write_program("bin/docker-credential-one", "exit 1");
  user.write(".docker/config.json", R"({"credsStore": "one"})");
  const LongLived lived(user);
  BOOST_TEST(lived.find(CredentialUse::oci) ==
             "UNREACHABLE the credential helper docker-credential-one ended with exit code 1");
  user.write_program("bin/docker-credential-one", "echo '{\"Username\": \"u\", \"Secret\": \"canary-1\"}'");
  BOOST_TEST(lived.find(CredentialUse::oci) == "basic u:canary-1");
  BOOST_TEST(lived.find(CredentialUse::oci) == "basic u:canary-1");
  BOOST_TEST(user.runs_of("bin/docker-credential-one") == 2U);
}

BOOST_AUTO_TEST_CASE(a_registry_program_that_failed_once) {
  const User user;
  user.write_program("plugins/terraform-credentials-vault", "exit 3");
  ClientConfiguration configuration;
  configuration.helper = ClientConfiguration::Helper{
      .name = "vault", .arguments = {}, .directories = {user.path("plugins").string()}, .from = "~/.tofurc:3"};
  const LongLived lived(user, configuration);
  BOOST_TEST(lived.find(CredentialUse::registry) == "none");
  user.write_program("plugins/terraform-credentials-vault", "echo '{\"token\": \"canary-1\"}'");
  BOOST_TEST(lived.find(CredentialUse::registry) == "token canary-1");
  BOOST_TEST(lived.find(CredentialUse::registry) == "token canary-1");
  BOOST_TEST(user.runs_of("plugins/terraform-credentials-vault") == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
