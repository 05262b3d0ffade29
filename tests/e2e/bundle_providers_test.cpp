// Providers of bundles, from outside: downloaded and checked with the lock file, uploaded, and read by stock clients.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "backends/base/process.h"
#include "backends/remote/layout.h"
#include "tests/e2e/scene.h"
#include "tests/support/docker_registry.h"
#include "tests/support/needs.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A root that calls a module and requires a provider.
struct ProviderScene : Scene {
  ProviderScene() {
    registry.publish({.name = "acme/cloud", .version = "1.0.0", .platforms = {"darwin_arm64", "linux_amd64"}});
    GitRepository& vpc = repository("vpc.git");
    release(vpc, "1.0.0");
    write("main.tf", fmt::format("terraform {{\n  required_providers {{\n    cloud = {{\n      source = "
                                 "\"{}/acme/cloud\"\n    }}\n  }}\n}}\n",
                                 kRegistryHost) +
                         module_call("vpc", "git::file://" + vpc.path().string() + "?ref=v1.0.0"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    write_text(path("tofurc"), registry.host_block(kRegistryHost));
    const Ran locked = modlock({"lock", "--platform", "darwin_arm64", "--platform", "linux_amd64"});
    BOOST_TEST(locked.exit_code == 0, locked.err);
  }
  const PublishedArchive& archive(const std::string& platform = "linux_amd64") const {
    return registry.archive("acme/cloud", "1.0.0", platform);
  }
  std::string zh(const std::string& platform = "linux_amd64") const { return archive(platform).zh; }
  Ran create(const std::string& name, const std::vector<std::string>& platforms = {"linux_amd64"}) const {
    std::vector<std::string> arguments = {"bundle", "create", "--output", path(name).string(), "--providers"};
    for (const std::string& platform : platforms) {
      arguments.insert(arguments.end(), {"--platform", platform});
    }
    return modlock(arguments);
  }
  fs::path blob(const std::string& bundle, const std::string& hash) const {
    return path(bundle) / "blobs/sha256" / hash.substr(3);
  }
  // From now on only the root and the bundle exist.
  void leave() const {
    fs::remove_all(cache());
    fs::rename(repositories(), path("elsewhere"));
    write_text(path("tofurc"), "");
  }

  ProviderRegistry registry;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bundle_providers, ProviderScene)

BOOST_AUTO_TEST_CASE(providers_are_created_listed_and_verified) {
  const Ran created = create("all", {"linux_amd64", "darwin_arm64"});
  BOOST_TEST(created.exit_code == 0, created.err);
  BOOST_TEST(created.out ==
             "<dir>/all: 1 package and 1 provider for 1 lock file, 1 KiB.\n"
             "Next: on the other machine, run tofu-modlock install --from <dir>/all.\n");
  const Ran listed = modlock({"bundle", "list", path("all").string()});
  for (const char* platform : {"darwin_arm64", "linux_amd64"}) {
    const std::string line = "  " + zh(platform) + "      registry.example.test/acme/cloud 1.0.0 " + platform + "\n";
    BOOST_TEST(listed.out.find(line) != std::string::npos, listed.out);
  }
  const Json::Value provider = json({"bundle", "list", path("all").string()})["closures"][0]["providers"][0];
  BOOST_TEST(provider["address"].asString() == "registry.example.test/acme/cloud");
  BOOST_TEST(provider["version"].asString() == "1.0.0");
  BOOST_TEST(provider["archives"][1]["h1"].asString() == archive().h1);
  BOOST_TEST(provider["archives"][1]["bytes"].asUInt64() == archive().bytes.size());
  BOOST_TEST((read_text(blob("all", zh())) == archive().bytes));
  BOOST_TEST(modlock({"bundle", "verify", path("all").string()}).out ==
             "All digests and hashes match: 1 package and 1 provider for 1 lock file, 1 KiB.\n");
  leave();
  const Ran installed = modlock({"install", "--from", path("all").string()});
  BOOST_TEST(installed.out.find("1 installed.\n") != std::string::npos, installed.out << installed.err);
}

BOOST_AUTO_TEST_CASE(the_same_locks_have_the_same_bytes) {
  BOOST_TEST(create("a.tar").exit_code == 0);
  fs::remove_all(cache());
  BOOST_TEST(create("b.tar").exit_code == 0);
  BOOST_TEST((read_text(path("a.tar")) == read_text(path("b.tar"))));
}

BOOST_AUTO_TEST_CASE(wrong_archives) {
  struct Row {
    const char* name;
    std::function<void(ProviderScene&)> spoil;
    std::vector<std::string> platforms;
    int exit_code;
    const char* err;
  };
  const auto replaced = [](ProviderScene& scene) {
    scene.registry.publish({.name = "acme/cloud", .version = "1.0.0", .entries = {{.name = "x", .content = "evil"}}});
  };
  const auto unlocked = [](ProviderScene& scene) {
    std::string lock = scene.lock();
    lock.replace(lock.find(scene.archive("darwin_arm64").zh), 67, scene.zh());
    lock.replace(lock.find(scene.archive("darwin_arm64").h1), 47, scene.archive().h1);
    scene.write(".terraform.lock.hcl", lock);
  };
  const Row rows[] = {
      {"other content", replaced, {"linux_amd64"}, 4, "but .terraform.lock.hcl has neither this hash nor h1:"},
      {"a platform that is not locked", unlocked, {"darwin_arm64"}, 4, "run tofu-modlock lock --platform darwin_arm64"},
      {"a platform that does not exist", [](ProviderScene&) {}, {"plan9_amd64"}, 7, "[NOT_FOUND]"},
      {"not a platform", [](ProviderScene&) {}, {"linux"}, 2, "[INVALID_PARAMS]"},
      {"offline",
       [](ProviderScene& scene) { scene.environment["TOFU_MODLOCK_OFFLINE"] = "1"; },
       {"linux_amd64"},
       7,
       "[OFFLINE_MISS]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProviderScene scene;
      row.spoil(scene);
      const Ran refused = scene.create("all.tar", row.platforms);
      BOOST_TEST(refused.exit_code == row.exit_code, refused.err);
      BOOST_TEST(refused.err.find(row.err) != std::string::npos, refused.err);
      BOOST_TEST(!fs::exists(scene.path("all.tar")));
    }
  }
}

BOOST_AUTO_TEST_CASE(damaged_archive_is_found) {
  BOOST_TEST(create("all").exit_code == 0);
  write_text(blob("all", zh()), "PK swapped");
  const Ran verified = modlock({"bundle", "verify", path("all").string()});
  BOOST_TEST(verified.exit_code == 4, verified.err);
  BOOST_TEST(verified.err.find("the blob sha256:" + zh().substr(3)) != std::string::npos, verified.err);
}

// The digests of the bundle are right, but not what it says of the archive.
BOOST_AUTO_TEST_CASE(archive_with_another_h1_is_found) {
  remote::LayoutWriter writer(path("work"));
  remote::Closure closure;
  for (const std::string& bytes : {archive().bytes, std::string("not a zip")}) {
    const remote::Blob layer = writer.add(bytes).value();
    closure.providers = {{.address = "registry.example.test/acme/cloud",
                          .version = "1.0.0",
                          .archives = {{"linux_amd64", {layer, "h1:other="}}}}};
    const std::string output = path("evil" + std::to_string(bytes.size())).string();
    BOOST_REQUIRE(writer.add_closure({closure.tag(), closure}).has_value());
    BOOST_REQUIRE(writer.finish(output, Context{}).has_value());
    const Ran verified = modlock({"bundle", "verify", output});
    BOOST_TEST(verified.exit_code != 0);
    const std::string err = bytes == archive().bytes
                                ? "for linux_amd64 has other content: expected h1:other=, got " + archive().h1
                                : "registry.example.test/acme/cloud 1.0.0 for linux_amd64";
    BOOST_TEST(verified.err.find(err) != std::string::npos, verified.err);
  }
}

BOOST_AUTO_TEST_CASE(stock_clients_use_the_unpacked_mirror_without_network, *needs("tofu or terraform")) {
  const std::string bundle = path("all.tar").string();
  BOOST_TEST(create("all.tar").exit_code == 0);
  leave();
  const std::vector<std::string> unpack = {"bundle",
                                           "unpack",
                                           bundle,
                                           "--provider-mirror",
                                           path("mirror").string(),
                                           "--cli-config",
                                           path("offline.tofurc").string()};
  for (int i = 0; i < 2; ++i) {  // again: nothing changes
    const Ran unpacked = modlock(unpack);
    BOOST_TEST(unpacked.exit_code == 0, unpacked.err);
    BOOST_TEST(unpacked.out ==
               "<dir>/mirror: 1 provider for 1 lock file, 1 KiB.\n"
               "Next: run tofu-modlock install --from <dir>/all.tar, then TF_CLI_CONFIG_FILE=<dir>/offline.tofurc tofu "
               "init.\n");
  }
  BOOST_TEST(
      (read_text(path("mirror/registry.example.test/acme/cloud/terraform-provider-cloud_1.0.0_linux_amd64.zip")) ==
       archive().bytes));
  BOOST_TEST(shown(read_text(path("offline.tofurc"))) ==
             "# Written by tofu-modlock bundle unpack.\nprovider_installation {\n  filesystem_mirror {\n"
             "    path = \"<dir>/mirror\"\n  }\n}\n");
  environment["TF_CLI_CONFIG_FILE"] = path("offline.tofurc").string();
  const bool can_isolate = program({"unshare", "--net", "true"}).exit_code == 0;
  const std::string lock_before = lock();
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      fs::remove_all(root() / ".terraform");
      environment["TOFU_MODLOCK_IMPLEMENTATION"] = client == "tofu" ? "opentofu" : "terraform";
      const Ran installed = modlock({"install", "--offline", "--from", bundle});
      BOOST_TEST(installed.exit_code == 0, installed.err);
      std::vector<std::string> init = {client, "init", "-no-color", "-input=false"};
      if (can_isolate) {
        init.insert(init.begin(), {"unshare", "--net"});
      }
      const Ran ran = program(init);
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(has(".terraform/providers/registry.example.test/acme/cloud/1.0.0/linux_amd64"));
      BOOST_TEST(lock().find(archive().h1) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(unpacking_replaces_nothing) {
  const std::string archive_path =
      "mirror/registry.example.test/acme/cloud/terraform-provider-cloud_1.0.0_linux_amd64.zip";
  struct Row {
    const char* name;
    std::function<void(const ProviderScene&)> prepare;
    const char* err;
  };
  const Row rows[] = {
      {"another archive", [&](const ProviderScene& scene) { write_text(scene.path(archive_path), "mine"); },
       "terraform-provider-cloud_1.0.0_linux_amd64.zip\" has other content [INVALID_PARAMS]"},
      {"a directory of the mirror is a link",
       [](const ProviderScene& scene) {
         fs::create_directories(scene.path("elsewhere"));
         fs::create_directories(scene.path("mirror"));
         fs::create_symlink(scene.path("elsewhere"), scene.path("mirror/registry.example.test"));
       },
       "<dir>/mirror/registry.example.test\" is a link [INVALID_PARAMS]"},
      {"another configuration", [](const ProviderScene& scene) { write_text(scene.path("offline.tofurc"), "mine"); },
       "<dir>/offline.tofurc\" has other content [INVALID_PARAMS]"},
      {"the configuration is a link",
       [](const ProviderScene& scene) { fs::create_symlink(scene.path("nowhere"), scene.path("offline.tofurc")); },
       "<dir>/offline.tofurc\" has other content [INVALID_PARAMS]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderScene scene;
      BOOST_TEST(scene.create("all").exit_code == 0);
      row.prepare(scene);
      const Ran refused =
          scene.modlock({"bundle", "unpack", scene.path("all").string(), "--provider-mirror",
                         scene.path("mirror").string(), "--cli-config", scene.path("offline.tofurc").string()});
      BOOST_TEST(refused.exit_code == 2, refused.err);
      BOOST_TEST(refused.err.find(row.err) != std::string::npos, refused.err);
      BOOST_TEST(!fs::exists(scene.path("nowhere")));
      BOOST_TEST((!fs::exists(scene.path("elsewhere")) || fs::is_empty(scene.path("elsewhere"))));
    }
  }
  BOOST_TEST(modlock({"bundle", "create", "--output", path("without").string()}).exit_code == 0);
  const Ran none = modlock({"bundle", "unpack", path("without").string(), "--provider-mirror", path("m").string(),
                            "--cli-config", path("c").string()});
  BOOST_TEST(none.exit_code == 2, none.err);
  BOOST_TEST(none.err.find("has no providers [INVALID_PARAMS]") != std::string::npos, none.err);
}

struct PushedProviders : ProviderScene {
  PushedProviders() {
    environment["SSL_CERT_FILE"] = docker.authority().string();
    name_text(docker.host(), "<registry>");
  }
  std::string address() const { return docker.source("platform/modules"); }
  void push_and_install() {
    const Ran pushed = modlock({"bundle", "push", address(), "--providers", "--platform", "linux_amd64"});
    BOOST_TEST(pushed.exit_code == 0, pushed.err);
    const std::string block =
        "provider_installation {\n  oci_mirror {\n    repository_template = "
        "\"<registry>/platform/modules/${hostname}/${namespace}/${type}\"\n  }\n}\n";
    BOOST_TEST(pushed.out ==
               "oci://<registry>/platform/modules: 2 packages uploaded, 0 already there.\n"
               "Next: on another machine, run tofu-modlock install --from oci://<registry>/platform/modules.\n"
               "For providers, write this into the CLI configuration of OpenTofu:\n" +
                   block);
    const Ran other = modlock({"bundle", "push", address(), "--providers", "--platform", "darwin_arm64"});
    BOOST_TEST(other.out.starts_with("oci://<registry>/platform/modules: 1 package uploaded, 1 already there.\n"),
               other.out << other.err);
    BOOST_TEST(modlock({"bundle", "push", address()}).out.find(": 0 packages uploaded, 1 already there.\n") !=
               std::string::npos);
    leave();
    std::string configuration = block;
    configuration.replace(configuration.find("<registry>"), 10, docker.host());
    write_text(path("tofurc"), configuration);
    const Ran installed = modlock({"install", "--from", address()});
    BOOST_TEST(installed.exit_code == 0, installed.err);
  }

  DockerRegistry docker;
};

BOOST_FIXTURE_TEST_CASE(pushed_providers_have_a_mirror_block, PushedProviders, *needs(DockerRegistry::kPrograms)) {
  push_and_install();
}

BOOST_FIXTURE_TEST_CASE(stock_tofu_reads_pushed_providers, PushedProviders,
                        *needs(DockerRegistry::kPrograms) * needs("tofu")) {
  push_and_install();
  const Ran init = program({"tofu", "init", "-no-color", "-input=false"});
  BOOST_TEST(init.exit_code == 0, init.out << init.err);
  BOOST_TEST(has(".terraform/providers/registry.example.test/acme/cloud/1.0.0/linux_amd64"));
}

BOOST_FIXTURE_TEST_CASE(pulled_bundle_is_the_pushed_one, PushedProviders, *needs(DockerRegistry::kPrograms)) {
  BOOST_TEST(create("pushed.tar").exit_code == 0);
  const Ran missing = modlock({"bundle", "pull", address(), "--output", path("pulled.tar").string()});
  BOOST_TEST(missing.exit_code == 7, missing.err);
  BOOST_TEST(missing.err.find("oci://<registry>/platform/modules does not have the packages of the lock file "
                              ".terraform.lock.hcl (closure-") != std::string::npos,
             missing.err);
  BOOST_TEST(!fs::exists(path("pulled.tar")));
  BOOST_TEST(modlock({"bundle", "push", address(), "--input", path("pushed.tar").string()}).exit_code == 0);
  leave();
  const Ran pulled = modlock({"bundle", "pull", address(), "--output", path("pulled.tar").string()});
  BOOST_TEST(pulled.exit_code == 0, pulled.err);
  BOOST_TEST(pulled.out ==
             "<dir>/pulled.tar: 1 package and 1 provider for 1 lock file, 1 KiB.\n"
             "Next: on the other machine, run tofu-modlock install --from <dir>/pulled.tar.\n");
  BOOST_TEST((read_text(path("pulled.tar")) == read_text(path("pushed.tar"))));
}

// The name of a closure does not depend on providers, so that the registry has those of the earlier lock file too.
BOOST_FIXTURE_TEST_CASE(only_locked_providers_are_pulled, PushedProviders, *needs(DockerRegistry::kPrograms)) {
  const std::vector<std::string> push = {"bundle", "push", address(), "--providers", "--platform", "linux_amd64"};
  BOOST_TEST(modlock(push).exit_code == 0);
  registry.publish({.name = "acme/cloud", .version = "2.0.0"});
  BOOST_TEST(modlock({"upgrade", "--target", "provider.registry.example.test/acme/cloud"}).exit_code == 0);
  BOOST_TEST(modlock(push).exit_code == 0);
  const Json::Value pulled = json({"bundle", "pull", address(), "--output", path("pulled").string()});
  BOOST_TEST(pulled["closures"][0]["providers"].size() == 1U);
  BOOST_TEST(pulled["closures"][0]["providers"][0]["version"].asString() == "2.0.0");
}

BOOST_AUTO_TEST_CASE(plain_http_is_only_for_the_loopback) {
  for (const char* verb : {"push", "pull"}) {
    std::vector<std::string> arguments = {"bundle", verb, "oci://registry.example.test/modules", "--plain-http"};
    if (std::string_view(verb) == "pull") {
      arguments.insert(arguments.end(), {"--output", path("x.tar").string()});
    }
    const Ran refused = modlock(arguments);
    BOOST_TEST(refused.exit_code == 2, refused.err);
    BOOST_TEST(refused.err.find("is not on this machine, and plain http is only for the loopback [INVALID_PARAMS]") !=
                   std::string::npos,
               refused.err);
  }
}

BOOST_AUTO_TEST_CASE(flags_that_exclude_each_other) {
  const std::vector<std::string> push = {"bundle", "push", "oci://127.0.0.1/x", "--input", "x.tar", "--providers"};
  BOOST_TEST(modlock(push).exit_code == 2);
  BOOST_TEST(modlock({"bundle", "create", "--output", "x.tar", "--platform", "linux_amd64"}).err.find("--providers") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
