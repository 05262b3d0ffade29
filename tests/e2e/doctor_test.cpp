// What `doctor` says of a machine.
#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <regex>
#include <tuple>

#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A machine with a git, a tofu and a file of authorities of its own.
struct Machine : Scene {
  Machine() : authority(directory("authority")) {
    add_tool("git", "echo git version 2.50.1");
    add_tool("tofu", "echo '{\"terraform_version\": \"1.11.2\"}'");
    write_text(path("authorities.pem"), read_text(authority.certificate()));
    environment["PATH"] = path("tools").string();
    environment["SSL_CERT_FILE"] = path("authorities.pem").string();
    environment["SSL_CERT_DIR"] = path("none").string();
    environment["NO_PROXY"] = "";
    environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
    environment.erase("TOFU_MODLOCK_IMPLEMENTATION_VERSION");
  }
  fs::path directory(const std::string& name) const {
    fs::create_directories(path(name));
    return path(name);
  }
  void add_tool(const std::string& name, const std::string& does) const {
    write_text(path("tools/" + name), "#!/bin/sh\n" + does + "\n");
    fs::permissions(path("tools/" + name), fs::perms::owner_all);
  }
  // The hosts that `doctor --online` reports.
  Ran online() const {
    Ran ran = modlock({"doctor", "--online"});
    ran.out.erase(0, ran.out.find("host "));
    return ran;
  }
  void call_registry(const std::string& host) const { write("main.tf", module_call("a", host + "/a/b/c")); }

  CertificateAuthority authority;
};

BOOST_FIXTURE_TEST_SUITE(doctor, Machine, *needs("openssl"))

BOOST_AUTO_TEST_CASE(a_machine_on_which_all_is_well) {
  write("main.tf",
        module_call("a", "registry.example.test/a/b/c") + module_call("b", "git::https://git.example.test/b.git"));
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\nplatforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
  write_text(path("home/.config/tofu-modlock/config.hcl"),
             "git_engine = \"git\"\nconnections = 4\nresolution = \"unified\"\n");
  environment["TOFU_MODLOCK_CONNECTIONS"] = "5";
  environment["TOFU_MODLOCK_FETCH_TIMEOUT"] = "1m";
  environment["TF_TOKEN_registry_example_test"] = "canary";
  environment["HTTPS_PROXY"] = "http://user:canary@proxy.example.test:3128/?token=canary";
  environment["NO_PROXY"] = ".example.test";
  const Ran ran = modlock({"doctor"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "No host was queried. To query them, run: tofu-modlock doctor --online\n");
  BOOST_TEST(
      ran.out ==
      "git                         ok       2.50.1 (<dir>/tools/git)\n"
      "client                      ok       OpenTofu 1.11.2, specified by PATH (<dir>/tools/tofu)\n"
      "certificates                ok       1 CA certificate in <dir>/authorities.pem (SSL_CERT_FILE)\n"
      "proxies                     ok       not for .example.test\n"
      "                                     https through http://***@proxy.example.test:3128/\n"
      "settings                    ok       effective settings and their sources\n"
      "                                     resolution = per-call  (<dir>/root/.tofu-modlock.hcl)\n"
      "                                     platforms = linux_amd64, darwin_arm64  (<dir>/root/.tofu-modlock.hcl)\n"
      "                                     connections = 4  (<dir>/home/.config/tofu-modlock/config.hcl)\n"
      "                                     git_engine = git  (<dir>/home/.config/tofu-modlock/config.hcl)\n"
      "                                     TOFU_MODLOCK_CACHE_DIR = <dir>/cache  (the environment overrides every "
      "file)\n"
      "                                     TOFU_MODLOCK_CONNECTIONS = 5  (the environment overrides every file)\n"
      "                                     TOFU_MODLOCK_FETCH_TIMEOUT = 1m  (the environment overrides every file)\n"
      "cache                       ok       <dir>/cache (TOFU_MODLOCK_CACHE_DIR): 0 packages, 0 git "
      "repositories, 0 KiB\n"
      "                                     writable\n"
      "                                     on the file system of the root\n"
      "host git.example.test       ok       git: its own credential helpers are queried\n"
      "host registry.example.test  ok       registry: a credential in environment variable "
      "TF_TOKEN_registry_example_test\n");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_has_a_hint_and_an_exit_code) {
  struct Row {
    const char* name;
    std::function<void(Machine&)> spoil;
    int exit_code;
    const char* expected;
  };
  const Row rows[] = {
      {"no git", [](Machine& machine) { fs::remove(machine.path("tools/git")); }, 0,
       "git           warning  not on PATH\n"
       "                       hint: install git: repositories over ssh, credential helpers and submodules need it\n"},
      {"a broken git", [](Machine& machine) { machine.add_tool("git", "exit 1"); }, 2,
       "git           error    <dir>/tools/git does not run\n"
       "                       hint: reinstall git\n"},
      {"no client", [](Machine& machine) { fs::remove(machine.path("tools/tofu")); }, 0,
       "client        warning  OpenTofu 1.13.0, specified by default, not on PATH; its version is not known\n"
       "                       hint: install tofu or terraform, or name the client with --implementation and "
       "--implementation-version\n"},
      {"the client of the settings",
       [](Machine& machine) { machine.write(".tofu-modlock.hcl", "implementation = \"terraform\"\n"); }, 0,
       "client        warning  Terraform 1.16.0, specified by .tofu-modlock.hcl, not on PATH; "},
      {"no authorities", [](Machine& machine) { fs::remove(machine.path("authorities.pem")); }, 7,
       "certificates  error    "},
      {"settings that are none", [](Machine& machine) { machine.write(".tofu-modlock.hcl", "resolution = 1\n"); }, 8,
       "settings      error    "},
      {"no place for the cache",
       [](Machine& machine) {
         fs::create_directories(machine.cache() / "v2");
         write_text(machine.cache() / "v2/tmp", "");
       },
       1, "cache         error    "},
      {"a cache that everybody may write to",
       [](Machine& machine) {
         fs::create_directories(machine.cache());
         fs::permissions(machine.cache(), fs::perms{0777});
       },
       1,
       "cache         error    every user may write to the cache \"<dir>/cache\"\n"
       "                       hint: chmod o-w <dir>/cache\n"},
      {"a cache of a later release", [](Machine& machine) { write_text(machine.cache() / "layout", "3\n"); }, 8,
       "cache         error    the cache \"<dir>/cache\" has layout 3; this release reads layout 2\n"},
      {"settings of the user that are none",
       [](Machine& machine) { write_text(machine.path("home/.config/tofu-modlock/config.hcl"), "resolution = 1\n"); },
       8, "settings      error    "},
      {"a cache that a group may write to",
       [](Machine& machine) {
         fs::create_directories(machine.cache());
         fs::permissions(machine.cache(), fs::perms{0770});
       },
       0, "                       other users may write to it\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Machine machine;
      row.spoil(machine);
      const Ran ran = machine.modlock({"doctor"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.out.find(row.expected) != std::string::npos, ran.out << ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(local_repositories_are_listed) {
  GitRepository& net = repository("net.git");
  release(net, "1.0.0");
  write("main.tf", module_call("a", "git::" + net.url()));
  environment.erase("PATH");
  Ran ran = modlock({"doctor", "--online"});
  BOOST_TEST(ran.out.find("local repositories  ok       1 configured\n"
                          "                             git::file://<dir>/repositories/net.git: 1 version\n") !=
                 std::string::npos,
             ran.out << ran.err);
  write("main.tf", module_call("a", "git::file://" + path("gone.git").string()));
  ran = modlock({"doctor", "--online"});
  BOOST_TEST(ran.exit_code == 7, ran.err);
  BOOST_TEST(ran.out.find("local repositories  error") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("gone.git") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(hosts_are_asked) {
  ModuleRegistry registry(authority.issue("server"));
  registry.add_version("a/b/c", "1.0.0", {});
  name_text(registry.authority(), "<registry>");
  call_registry(registry.authority());
  BOOST_TEST(modlock({"doctor"}).exit_code == 0);
  BOOST_TEST(registry.lines().empty());

  Ran ran = modlock({"doctor", "--online"});
  BOOST_TEST(ran.exit_code == 0, ran.out);
  BOOST_TEST(ran.out.find("serves the registry protocols: modules.v1\n") != std::string::npos, ran.out);

  write("main.tf", "");
  ran = modlock({"doctor", "--host", registry.authority()});
  BOOST_TEST(ran.out.find("serves the registry protocols: modules.v1\n") != std::string::npos, ran.out);

  const CertificateAuthority other(directory("other"));
  write_text(path("authorities.pem"), read_text(other.certificate()));
  fs::create_symlink(*find_program("openssl"), path("tools/openssl"));
  ran = modlock({"doctor", "--host", registry.authority()});
  BOOST_TEST(ran.exit_code == 7);
  const std::string said = std::regex_replace(ran.out, std::regex("CN = "), "CN=");  // as OpenSSL 3.2 prints it
  BOOST_TEST(said.find("OpenSSL of depth=0 CN=server: unable to get local issuer certificate\n") != std::string::npos,
             said);
}

// One request for each package and provider.
BOOST_AUTO_TEST_CASE(online_lists_what_lock_needs) {
  ModuleRegistry registry(authority.issue("server"));
  registry.add_version("a/b/c", "1.0.0", {});
  registry.add_version("a/b/c", "1.1.0", {});
  name_text(registry.authority(), "<registry>");
  write("main.tf", module_call("one", registry.authority() + "/a/b/c") +
                       module_call("two", registry.authority() + "/a/b/c//sub") +
                       module_call("gone", registry.authority() + "/a/b/gone"));
  const Ran ran = online();
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.out ==
             "host <registry>  error    registry: no credential in 3 places\n"
             "                               serves the registry protocols: modules.v1\n"
             "                               <registry>/modules/a/b/c: 2 versions\n"
             "                               could not list the versions of \"<registry>/modules/a/b/gone\": "
             "https://<registry>/v1/modules/a/b/gone/versions: not found (status 404)\n"
             "                               hint: check the address and the version; a registry may also hide private "
             "modules from anonymous requests: tofu-modlock explain --credentials <registry>\n");
  // The first request is the check of the host itself.
  BOOST_TEST(fmt::format("{}", fmt::join(registry.lines(), "\n")) ==
             "GET /.well-known/terraform.json\n"
             "GET /.well-known/terraform.json\n"
             "GET /v1/modules/a/b/c/versions\n"
             "GET /v1/modules/a/b/gone/versions");
}

BOOST_AUTO_TEST_CASE(online_finds_a_token_that_a_registry_refuses) {
  ModuleRegistry registry(authority.issue("server"));
  registry.add_version("a/b/c", "1.0.0", {});
  registry.require_token("/v1/modules/", "right");
  name_text(registry.authority(), "<registry>");
  call_registry(registry.authority());
  environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
  const auto use_token = [&](const std::string& token) {
    write_text(path("tofurc"), "credentials \"" + registry.authority() + "\" {\n  token = \"" + token + "\"\n}\n");
  };
  use_token("right");
  const std::string credential =
      "registry: a credential in credentials \"<registry>\" in <dir>/tofurc:2\n"
      "                               serves the registry protocols: modules.v1\n"
      "                               ";
  Ran ran = online();
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out == "host <registry>  ok       " + credential + "<registry>/modules/a/b/c: 1 version\n");
  use_token("canary");
  ran = online();
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.out == "host <registry>  error    " + credential +
                            "could not list the versions of \"<registry>/modules/a/b/c\": "
                            "https://<registry>/v1/modules/a/b/c/versions: authentication is required, or the "
                            "credentials were rejected (status 401)\n"
                            "                               hint: <registry> rejected the credential from credentials "
                            "\"<registry>\" in <dir>/tofurc:2: renew it there\n");
  write(".tofu-modlock.hcl", "deny_sources = [\"*/a/b/c\"]\n");
  registry.forget_requests();
  online();
  BOOST_TEST(registry.lines().empty());
}

BOOST_AUTO_TEST_CASE(online_lists_providers) {
  ProviderRegistry providers(authority.issue("providers"));
  providers.publish({.name = "acme/cloud", .version = "1.0.0"});
  name_text(providers.authority(), "<providers>");
  write("main.tf", "terraform {\n  required_providers {\n    cloud = {\n      source = \"" + providers.authority() +
                       "/acme/cloud\"\n    }\n  }\n}\n");
  const Ran ran = online();
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out ==
             "host <providers>  ok       registry: no credential in 3 places\n"
             "                               serves the registry protocols: modules.v1, providers.v1\n"
             "                               provider <providers>/acme/cloud: 1 version\n");
}

BOOST_AUTO_TEST_CASE(online_lists_the_tags_of_oci_repositories) {
  OciRegistry oci(authority.issue("oci"));
  oci.push("team/net", "1.0.0", {{"main.tf", ""}});
  name_text(oci.host(), "<oci>");
  write("main.tf", module_call("net", oci.source("team/net")));
  Ran ran = online();
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out ==
             "host <oci>  ok       oci: no credential in 4 places\n"
             "                               oci://<oci>/team/net: 1 version\n");
  oci.require_token("user", "password");
  ran = online();
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.out ==
             "host <oci>  error    oci: no credential in 4 places\n"
             "                               could not get a token for \"oci://<oci>/team/net\": https://<oci>/token: "
             "authentication is required, or the credentials were rejected (status 401)\n"
             "                               hint: run \"docker login <oci>\", or write oci_credentials \"<oci>\" { "
             "username = \"…\", password = \"…\" } into the client's CLI configuration\n");
}

BOOST_AUTO_TEST_CASE(online_lists_git_repositories, *needs(HttpsGitServer::kPrograms)) {
  HttpsGitServer server;
  GitRepository vpc(server.repositories() / "vpc.git");
  release(vpc, "1.0.0");
  name_text(server.host(), "<git>");
  environment["SSL_CERT_FILE"] = server.authority().string();
  for (const auto& [prefix, exit_code, expected] :
       {std::tuple{"open", 0,
                   "host <git>  ok       git: its own credential helpers are queried\n"
                   "                               git::https://<git>/open/vpc.git: 1 version\n"},
        std::tuple{
            "private", 7,
            "host <git>  error    git: its own credential helpers are queried\n"
            "                               git could not list the tags of \"git::https://<git>/private/vpc.git\": "
            "<git> requires authentication (looked in: the address, git's credential helpers, ~/.netrc)\n"
            "                               hint: configure a git credential helper for https://<git>, or add "
            "\"machine localhost login … password …\" to ~/.netrc; then `git ls-remote "
            "https://<git>/private/vpc.git` works without a prompt\n"}}) {
    BOOST_TEST_CONTEXT(prefix) {
      write("main.tf", module_call("a", "git::" + server.url(prefix, "vpc.git") + "?ref=v1.0.0") +
                           module_call("b", "git::" + server.url(prefix, "vpc.git//sub")));
      const Ran ran = online();
      BOOST_TEST(ran.exit_code == exit_code);
      BOOST_TEST(ran.out == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_of_the_configuration) {
  struct Row {
    const char* name;
    std::string text;
    int exit_code;
    std::string out;
  };
  const std::string invalid = module_call("a", "localhost:8443/team/vpc/aws", "1.0.0");
  for (const Row& row :
       {Row{"conflict markers", "<<<<<<< HEAD\n=======\n>>>>>>> other\n", 8,
            "configuration  error    main.tf:1:1: the file has conflict markers of a merge\n"
            "                        hint: resolve the conflict in this file, then run the command again\n"},
        Row{"an invalid source", invalid, 8, "configuration  error    main.tf:2:12: "},
        Row{"two errors", invalid + "}\n", 8,
            "configuration  error    main.tf:5:1: expected the name of an argument or of a block, found \"}\"\n"
            "                        main.tf:2:12: the module source "},
        Row{"none", module_call("a", "./a"), 0, ""}}) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", row.text);
      write("a/main.tf", "");
      const Ran ran = modlock({"doctor"});
      BOOST_TEST(ran.exit_code == row.exit_code);
      BOOST_TEST(ran.out.find(row.out) != std::string::npos, ran.out);
      BOOST_TEST((ran.out.find("configuration ") == std::string::npos) == (row.exit_code == 0), ran.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(for_programs) {
  const Json::Value result = json({"doctor"});
  BOOST_TEST(result["ok"].asBool());
  BOOST_TEST(result["checks"][0]["check"].asString() == "git");
  BOOST_TEST(result["checks"][0]["verdict"].asString() == "ok");
  BOOST_TEST(result["checks"][0]["details"].isArray());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
