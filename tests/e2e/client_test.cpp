// A stock client obeys: after `install`, its `init` asks nobody for modules.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <optional>

#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFakeProvider = R"(terraform {
  required_providers {
    fake = {
      source  = "example.test/acme/fake"
      version = "1.0.0"
    }
  }
}
)";

struct Client : Scene {
  Client() : vpc(repository("vpc.git")), zone(repository("zone.git")) {
    release(zone, "0.1.0");
    vpc_files = {{"nested/main.tf", module_call("zone", "git::" + zone.url() + "?ref=v0.1.0")},
                 {"nested.tf", module_call("nested", "./nested")}};
    release(vpc, "1.0.0", vpc_files);
    write("main.tf", module_call("vpc", "git::" + vpc.url()) + module_call("local", "./local"));
    write("local/main.tf", module_call("zone", "git::" + zone.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + module_rule("local.zone", "~> 0.1"));
    write_text(path("client.rc"), "provider_installation {\n  filesystem_mirror {\n    path = \"" +
                                      path("mirror").string() + "\"\n  }\n}\n");
    environment["TF_CLI_CONFIG_FILE"] = path("client.rc").string();
    environment["TF_IN_AUTOMATION"] = "1";
  }
  void offer_provider() const {
    const fs::path program = path("mirror/example.test/acme/fake/1.0.0/linux_amd64/terraform-provider-fake_v1.0.0");
    write_text(program, "#!/bin/sh\nexit 1\n");
    fs::permissions(program, fs::perms::owner_all);
    fs::create_directories(program.parent_path().parent_path());
    fs::copy(program.parent_path(), program.parent_path().parent_path() / "linux_arm64");
  }
  void lock_install_and_take_the_origin_away() {
    const Ran ran = modlock({"lock", "--include", "modules", "--install"});
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.err);
    release(vpc, "1.1.0", vpc_files);
    release(zone, "0.2.0");
    fs::rename(repositories(), path("moved away"));
  }
  Ran init(const std::string& client) const { return program({client, "init", "-no-color", "-input=false"}); }
  void check_init(const std::string& client) const {
    const std::string manifest = read(".terraform/modules/modules.json");
    const Ran ran = init(client);
    BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
    BOOST_TEST(ran.out.find("Downloading") == std::string::npos, ran.out);
    BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
    BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.0.0\"") != std::string::npos);
    BOOST_TEST(read(".terraform/modules/vpc.nested.zone/main.tf").find("\"0.1.0\"") != std::string::npos);
    BOOST_TEST(read(".terraform/modules/local.zone/main.tf").find("\"0.1.0\"") != std::string::npos);
  }
  GitRepository& vpc;
  GitRepository& zone;
  GitRepository::Files vpc_files;
};

BOOST_FIXTURE_TEST_SUITE(client, Client, *needs("tofu or terraform"))

BOOST_AUTO_TEST_CASE(verify_names_line_endings_that_git_converted) {
  modlock({"lock", "--include", "modules"});
  write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n[core]\n\tautocrlf = true\n");
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      fs::remove_all(root() / ".terraform");
      const Ran got = program({name, "get", "-no-color"});
      BOOST_TEST(got.exit_code == 0, got.out << got.err);
      const Ran ran = modlock({"verify", "--include", "modules"});
      BOOST_TEST(ran.exit_code == 4);
      for (const char* text : {"3 files differ from the locked package, 3 only in line endings, which core.autocrlf of "
                               "git converts",
                               "main.tf was changed: its line endings are CRLF", "\n    tofu-modlock install\n"}) {
        BOOST_TEST(ran.err.find(text) != std::string::npos, ran.out << ran.err);
      }
      BOOST_TEST(modlock({"install"}).exit_code == 0);
      BOOST_TEST(modlock({"verify", "--include", "modules"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(init_without_providers_and_without_the_repositories) {
  lock_install_and_take_the_origin_away();
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      const std::string before = lock();
      check_init(name);
      BOOST_TEST(lock() == before);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

// The kernel ends what makes a socket.
BOOST_AUTO_TEST_CASE(init_and_plan_make_no_connection) {
  lock_install_and_take_the_origin_away();
  const std::string configuration = read("main.tf");
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      const auto run = [&](const char* command) {
        return program({"sh", "-c", "\"$@\"; exit $?", "sh", MODLOCK_WITHOUT_NETWORK, "--but-local", name, command,
                        "-no-color", "-input=false"});
      };
      for (const char* command : {"init", "plan"}) {
        const Ran ran = run(command);
        BOOST_TEST(ran.exit_code == 0, command << ran.exit_code << ran.out << ran.err);
      }
      BOOST_TEST(program({MODLOCK_WITHOUT_NETWORK, binary, "verify"}).exit_code == 0);
      // What has to ask a registry is ended: the filter works.
      write("main.tf", configuration + module_call("asks", "registry.example.test/acme/asks/any", "1.0.0"));
      BOOST_TEST(run("init").exit_code == 128 + 31);
      write("main.tf", configuration);
      BOOST_TEST(modlock({"install"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(init_with_a_provider_and_the_dropped_blocks_come_back) {
  offer_provider();
  write("versions.tf", kFakeProvider);
  lock_install_and_take_the_origin_away();
  const std::string before = lock();
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      write(".terraform.lock.hcl", before);
      check_init(name);
      const std::string rewritten = lock();
      BOOST_TEST(rewritten.find("provider \"example.test/acme/fake\"") != std::string::npos, rewritten);
      BOOST_TEST(rewritten.find("module \"") == std::string::npos, rewritten);

      const Json::Value restored = json({"lock", "--include", "modules"});
      BOOST_TEST(restored["stats"]["requests"].asInt() == 0);
      BOOST_TEST(restored["changes"].size() == 3U);
      for (const Json::Value& change : restored["changes"]) {
        BOOST_TEST(change["action"].asString() == "restored");
      }
      // Ours and theirs side by side: the next init has nothing to rewrite.
      const std::string both = lock();
      const std::size_t start = rewritten.find("\nprovider ");
      BOOST_TEST(both ==
                 rewritten.substr(0, start) + before.substr(before.find("\nmodule ")) + rewritten.substr(start));
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
      check_init(name);
      BOOST_TEST(lock() == both);
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_inside_a_package_have_the_paths_of_the_client) {
  GitRepository& forms = repository("forms.git");
  const char* const sources[] = {"../..",
                                 "../../",
                                 "../../.",
                                 "./../..",
                                 ".././..",
                                 "../../modules/..",
                                 "../other",
                                 "../other/",
                                 "../other/.",
                                 "./a/../../other",
                                 "../../modules/other",
                                 "../sub/../other",
                                 "./a",
                                 "./a/",
                                 "./a/.",
                                 "././a",
                                 ".//a",
                                 "./a/../a",
                                 "./link",
                                 "./link/",
                                 "./link/../a",
                                 "../../top",
                                 "../../top/"};
  std::string calls;
  for (const char* const source : sources) {
    calls += module_call("m" + std::to_string(calls.size()), source);
  }
  const auto file = [&](const char* name, const std::string& text) {
    return "100644 blob " + forms.write_blob(text) + "\t" + name + "\n";
  };
  const auto directory = [&](const char* name, const std::string& lines) {
    return "040000 tree " + forms.write_tree(lines) + "\t" + name + "\n";
  };
  const std::string link = "120000 blob " + forms.write_blob("../other") + "\tlink\n";
  const std::string modules =
      directory("other", file("main.tf", "# other\n")) +
      directory("sub", directory("a", file("main.tf", "# a\n")) + link + file("main.tf", calls));
  forms.branch("main", forms.commit_tree(forms.write_tree(file("main.tf", "# root\n") + directory("modules", modules) +
                                                          directory("top", file("main.tf", "# top\n")))));
  write("main.tf", module_call("m", "git::" + forms.url() + "//modules/sub"));
  fs::remove(root() / ".tofu-modlock.hcl");
  for (const std::string& name : clients()) {
    fs::remove_all(root() / ".terraform");
    BOOST_REQUIRE_EQUAL(init(name).exit_code, 0);
    const std::string manifest = read(".terraform/modules/modules.json");
    BOOST_TEST(manifest.find("\"Dir\":\".terraform/modules/m\"") != std::string::npos, manifest);
    fs::remove_all(root() / ".terraform");
    const Ran installed = modlock({"lock", "--include", "modules", "--install"});
    BOOST_REQUIRE_MESSAGE(installed.exit_code == 0, installed.err);
    BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
    BOOST_TEST(init(name).exit_code == 0);
    BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  }
}

BOOST_AUTO_TEST_CASE(init_of_a_module_behind_a_stopped_server, *needs(HttpsGitServer::kPrograms)) {
  HttpsGitServer server;
  GitRepository remote(server.repositories() / "vpc.git");
  release(remote, "1.0.0");
  environment["GIT_SSL_CAINFO"] = server.authority().string();
  write("main.tf", module_call("vpc", "git::" + server.url("open", "vpc.git")));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  const Ran locked = modlock({"lock", "--install"});
  BOOST_REQUIRE_MESSAGE(locked.exit_code == 0, locked.err);
  server.stop();
  for (const std::string& name : clients()) {
    const std::string manifest = read(".terraform/modules/modules.json");
    const Ran ran = init(name);
    BOOST_TEST(ran.exit_code == 0, name << ": " << ran.out << ran.err);
    BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
