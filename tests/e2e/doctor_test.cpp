// What `doctor` says of a machine.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/module_registry.h"

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
  void call_registry(const std::string& host) const { write("main.tf", module_call("a", host + "/a/b/c")); }

  CertificateAuthority authority;
};

boost::test_tools::assertion_result has_openssl(boost::unit_test::test_unit_id) {
  return CertificateAuthority::available("doctor");
}

BOOST_FIXTURE_TEST_SUITE(doctor, Machine, *boost::unit_test::precondition(has_openssl))

BOOST_AUTO_TEST_CASE(a_machine_on_which_all_is_well) {
  write("main.tf",
        module_call("a", "registry.example.test/a/b/c") + module_call("b", "git::https://git.example.test/b.git"));
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\nplatforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
  write_text(path("home/.config/tofu-modlock/config.hcl"),
             "git_engine = \"git\"\nconnections = 4\nresolution = \"unified\"\n");
  environment["TOFU_MODLOCK_CONNECTIONS"] = "5";
  environment["TF_TOKEN_registry_example_test"] = "canary";
  environment["HTTPS_PROXY"] = "http://user:canary@proxy.example.test:3128";
  environment["NO_PROXY"] = ".example.test";
  const Ran ran = modlock({"doctor"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "");
  BOOST_TEST(
      ran.out ==
      "git                         ok       2.50.1 (<dir>/tools/git)\n"
      "client                      ok       OpenTofu 1.11.2, specified by PATH (<dir>/tools/tofu)\n"
      "certificates                ok       1 CA certificate in <dir>/authorities.pem (SSL_CERT_FILE)\n"
      "proxies                     ok       not for .example.test\n"
      "                                     https through http://***@proxy.example.test:3128\n"
      "settings                    ok       effective settings and their sources\n"
      "                                     platforms = linux_amd64, darwin_arm64  (<dir>/root/.tofu-modlock.hcl)\n"
      "                                     resolution = per-call  (<dir>/root/.tofu-modlock.hcl)\n"
      "                                     git_engine = git  (<dir>/home/.config/tofu-modlock/config.hcl)\n"
      "                                     connections = 4  (<dir>/home/.config/tofu-modlock/config.hcl)\n"
      "                                     TOFU_MODLOCK_CACHE_DIR = <dir>/cache  (the environment overrides every "
      "file)\n"
      "                                     TOFU_MODLOCK_CONNECTIONS = 5  (the environment overrides every file)\n"
      "store                       ok       <dir>/cache (TOFU_MODLOCK_CACHE_DIR): 0 packages, 0 git "
      "repositories, 0.0 MiB\n"
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
       "                       to do: install git: repositories over ssh, credential helpers and submodules need it\n"},
      {"a broken git", [](Machine& machine) { machine.add_tool("git", "exit 1"); }, 2,
       "git           error    <dir>/tools/git does not run\n"
       "                       to do: reinstall git\n"},
      {"no client", [](Machine& machine) { fs::remove(machine.path("tools/tofu")); }, 0,
       "client        warning  OpenTofu 1.12.6, specified by default, not on PATH; its version is not known\n"
       "                       to do: install tofu or terraform, or name the client with --implementation and "
       "--implementation-version\n"},
      {"no authorities", [](Machine& machine) { fs::remove(machine.path("authorities.pem")); }, 7,
       "certificates  error    "},
      {"settings that are none", [](Machine& machine) { machine.write(".tofu-modlock.hcl", "resolution = 1\n"); }, 8,
       "settings      error    "},
      {"no place for the store",
       [](Machine& machine) {
         fs::create_directories(machine.cache() / "v2");
         write_text(machine.cache() / "v2/tmp", "");
       },
       1, "store         error    "},
      {"a store that a group may write to",
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

BOOST_AUTO_TEST_CASE(hosts_are_asked) {
  const ModuleRegistry registry(authority.issue("server"));
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
  BOOST_TEST(
      ran.out.find("OpenSSL of depth=0 CN = server: unable to get local issuer certificate\n") != std::string::npos,
      ran.out);
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
