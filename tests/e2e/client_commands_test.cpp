// Commands of a stock client between `lock` and the next command of tofu-modlock, with both placements of module
// blocks.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInline = ".terraform.lock.hcl";
constexpr const char* kSidecar = ".terraform.modules.lock.hcl";

// A repository with two locked and installed modules and a provider, all committed. `more.txt` is a fake.tf that
// requires another provider too.
struct LockedRepository : Scene {
  LockedRepository(const std::string& client, const char* placement)
      : vpc(repository("vpc.git")), zone(repository("zone.git")), lock_name(placement) {
    release(vpc, "1.0.0");
    release(zone, "1.0.0");
    write("main.tf",
          module_call("vpc", "git::" + vpc.url()) + module_call("zone", "git::" + zone.url() + "?ref=v1.0.0"));
    write(".tofu-modlock.hcl", "module_lock_file = \"" + std::string(placement == kInline ? "inline" : "sidecar") +
                                   "\"\n" + module_rule("vpc", "~> 1.0"));
    const std::string fake = provider("fake");
    write("fake.tf", require(fake));
    write("more.txt", require(fake + provider("extra")));
    write(".gitignore", ".terraform\nother-data\n");
    for (const char* name : {"fake/1.0.0", "fake/1.1.0", "extra/1.0.0"}) {
      offer(name);
    }
    write_text(path("client.rc"), "provider_installation {\n  filesystem_mirror {\n    path = \"" +
                                      path("mirror").string() + "\"\n  }\n}\n");
    write_text(path("home/.gitconfig"), "[user]\n\tname = user\n\temail = user@example.test\n");
    environment["TF_CLI_CONFIG_FILE"] = path("client.rc").string();
    environment["TF_IN_AUTOMATION"] = "1";
    environment["CLIENT"] = client;
    environment["MIRROR"] = path("mirror").string();
    environment["ZONE"] = zone.path().string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = client == "terraform" ? "terraform" : "opentofu";
    lock_modules();
    run("$CLIENT init -input=false");  // locks the provider
    lock_modules();
    run("git init -q -b main");
    run("git add -A; git commit -q -m locked");
    blocks = module_blocks();
    BOOST_REQUIRE(occurrences(blocks, "\nmodule \"") == 2U);
    release(vpc, "1.1.0");
    zone.commit({{"main.tf", "# moved\n"}});
  }

  static std::string provider(const std::string& name) {
    return "    " + name + " = {\n      source  = \"example.test/acme/" + name +
           "\"\n      version = \"1.0.0\"\n    }\n";
  }
  static std::string require(const std::string& providers) {
    return "terraform {\n  required_providers {\n" + providers + "  }\n}\n";
  }
  void offer(const std::string& name_and_version) const {
    const fs::path release = path("mirror/example.test/acme") / name_and_version;
    const std::string program =
        "terraform-provider-" + release.parent_path().filename().string() + "_v" + release.filename().string();
    write_text(release / "linux_amd64" / program, "#!/bin/sh\nexit 1\n");
    fs::permissions(release / "linux_amd64" / program, fs::perms::owner_all);
    fs::copy(release / "linux_amd64", release / "linux_arm64");
  }
  void lock_modules() const {
    const Ran locked = modlock({"lock", "--include", "modules", "--install"});
    BOOST_REQUIRE_MESSAGE(locked.exit_code == 0, locked.err);
  }
  void run(const std::string& script) const {
    const Ran ran = program({"sh", "-e", "-c", script});
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, script << "\n" << ran.out << ran.err);
  }
  // From the first module block to the last.
  std::string module_blocks() const {
    const std::string text = has(lock_name) ? read(lock_name) : "";
    const std::size_t first = text.find("\nmodule \"");
    return first == std::string::npos ? "" : text.substr(first, text.find("\nprovider \"") - first);
  }

  GitRepository& vpc;
  GitRepository& zone;
  const char* lock_name;
  std::string blocks;
};

struct Row {
  const char* name;
  const char* script;
};

// $INIT: what people type.
const Row kRows[] = {
    {"init", "$INIT"},
    {"init twice", "$INIT; $INIT"},
    {"init -upgrade", "$INIT -upgrade"},
    {"init -get=false", "$INIT -get=false"},
    {"init -backend=false", "$INIT -backend=false"},
    {"init -reconfigure", "$INIT -reconfigure"},
    {"init -lockfile=readonly", "$INIT -lockfile=readonly"},
    {"get", "$CLIENT get"},
    {"get -update", "$CLIENT get -update"},
    {"providers", "$CLIENT providers"},
    {"providers lock", "$CLIENT providers lock -fs-mirror=$MIRROR"},
    {"providers lock for another platform", "$CLIENT providers lock -fs-mirror=$MIRROR -platform=linux_arm64"},
    {"a new provider", "cp more.txt fake.tf; $INIT"},
    {"a new provider without modules", "cp more.txt fake.tf; $INIT -get=false"},
    {"a new provider, then without it", "cp more.txt fake.tf; $INIT; git checkout -q fake.tf; $INIT"},
    {"a removed provider", "rm fake.tf; $INIT"},
    {"a newer provider", "sed -i s/1.0.0/1.1.0/ fake.tf; $INIT -upgrade"},
    {"a new provider, and providers lock", "cp more.txt fake.tf; $CLIENT providers lock -fs-mirror=$MIRROR"},
    {"a deleted data directory", "rm -rf .terraform; $INIT"},
    {"a deleted data directory and a new provider", "rm -rf .terraform; cp more.txt fake.tf; $INIT"},
    {"another data directory", "cp more.txt fake.tf; TF_DATA_DIR=other-data $INIT"},
    {"a deleted lock file of providers", "[ -e .terraform.modules.lock.hcl ] || exit 0; rm .terraform.lock.hcl; $INIT"},
    {"a branch with a provider, and back",
     "git checkout -q -b topic; cp more.txt fake.tf; $INIT; git add -A; git commit -q -m topic; "
     "git checkout -q main; $INIT"},
    {"a branch with a provider, merged",
     "git checkout -q -b topic; cp more.txt fake.tf; $INIT; git add -A; git commit -q -m topic; "
     "git checkout -q main; git merge -q topic; $INIT"},
    {"a stash", "cp more.txt fake.tf; git add -A; $INIT; git stash -q; git stash pop -q; $INIT"},
    {"a moved tag", "git -C $ZONE tag -f v1.0.0 main; $INIT -upgrade"},
    {"a moved tag and a new provider", "git -C $ZONE tag -f v1.0.0 main; cp more.txt fake.tf; $INIT"},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(client_commands, *needs("tofu or terraform"))

BOOST_AUTO_TEST_CASE(the_sidecar_loses_no_module_lock_and_inline_blocks_are_named_and_restored) {
  for (const std::string& client : clients()) {
    std::size_t dropped = 0;
    for (const Row& row : kRows) {
      for (const char* placement : {kSidecar, kInline}) {
        BOOST_TEST_CONTEXT(client << ": " << row.name << ", " << placement) {
          LockedRepository scene(client, placement);
          scene.environment["INIT"] = client + " init -no-color -input=false";
          scene.run(row.script);
          const bool is_dropped = scene.module_blocks() != scene.blocks;
          const Ran verified = scene.modlock({"verify", "--include", "modules"});
          const Ran frozen = scene.modlock({"lock", "--frozen", "--include", "modules"});
          if (placement == kSidecar) {
            BOOST_TEST(!is_dropped);
          }
          if (!is_dropped) {
            BOOST_TEST(frozen.exit_code == 0, frozen.err);
            BOOST_TEST(verified.out.find("not-locked") == std::string::npos, verified.out);
            continue;
          }
          ++dropped;
          BOOST_TEST(scene.module_blocks() == "");
          BOOST_TEST(verified.exit_code == 3, verified.out);
          for (const Ran* ran : {&verified, &frozen}) {
            BOOST_TEST(ran->exit_code == 3);
            BOOST_TEST(occurrences(ran->err, "a client removed the module blocks of .terraform.lock.hcl") == 1U,
                       ran->err);
          }
          const Json::Value restored = scene.json({"lock", "--include", "modules"});
          BOOST_TEST(restored["stats"]["requests"].asInt() == 0);
          BOOST_TEST(scene.module_blocks() == scene.blocks);
        }
      }
    }
    BOOST_TEST(dropped > 0U, client << " keeps module blocks: the sidecar is no longer needed");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
