// Commands of a stock client between `lock` and the next command of tofu-modlock, with both placements of module
// blocks.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "backends/base/process.h"
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

// What a recommended set-up runs: $CLIENT in the scripts above, and the command that decides at the end. $STOCK is the
// client itself.
struct SetUp {
  const char* name;
  const char* client;
  const char* end;
};

// As scripts/terragrunt/modlock.hcl starts the hooks.
constexpr const char* kTerragrunt = R"(#!/bin/sh
hook() { tofu-modlock hook --unit "$PWD" --root "$PWD" "$@"; }
upgrade=; get=
case " $* " in (*" -upgrade "*) upgrade=--upgrade ;; esac
case $1 in
  init) get=-get=false; hook $upgrade init || exit 1 ;;
  get) hook $upgrade get || exit 1 ;;
  plan) hook plan; exit ;;
esac
"$STOCK" "$@" $get; result=$?
hook --after "$1" && exit $result
)";

const SetUp kSetUps[] = {
    {"settings of init", "$STOCK", "tofu-modlock verify --include modules"},
    {"job for GitHub", "$STOCK", "tofu-modlock ci --recursive -- $STOCK init -backend=false"},
    {"job for GitLab", "$STOCK", "tofu-modlock ci --recursive --include modules"},
    {"wrapper", "wrapper", "wrapper init -input=false"},
    {"Terragrunt", "terragrunt", "terragrunt init -input=false && terragrunt plan"},
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

// Locked is the commit that the lock file names, and of a full tag the one that was locked first.
BOOST_AUTO_TEST_CASE(no_recommended_set_up_ends_with_success_and_unlocked_code) {
  const std::string stock = clients().front();
  for (const SetUp& set_up : kSetUps) {
    std::size_t successes = 0;
    std::size_t unlocked = 0;
    for (const Row& row : kRows) {
      BOOST_TEST_CONTEXT(set_up.name << ": " << row.name) {
        LockedRepository scene(stock, kSidecar);
        const auto add_program = [&](const char* name, const std::string& text) {
          write_text(scene.path("bin") / name, text);
          fs::permissions(scene.path("bin") / name, fs::perms::owner_all);
        };
        add_program("tofu-modlock", "#!/bin/sh\nexec " + scene.binary + " \"$@\"\n");
        add_program("wrapper", "#!/bin/sh\nexec " MODLOCK_SCRIPTS "/tofu-modlock-wrapper \"$@\"\n");
        add_program("terragrunt", kTerragrunt);
        if (set_up.client == std::string_view("terragrunt")) {
          scene.write("terragrunt.hcl", "");  // a unit without a source
        }
        scene.environment["PATH"] = scene.path("bin").string() + ":" + getenv("PATH");
        scene.environment["STOCK"] = stock;
        scene.environment["TOFU_MODLOCK"] = scene.binary;
        scene.environment["TOFU_MODLOCK_CLIENT"] = *find_program(stock);
        scene.environment["CLIENT"] = set_up.client[0] == '$' ? stock : set_up.client;
        scene.environment["INIT"] = scene.environment["CLIENT"] + " init -no-color -input=false";
        const std::string script = fmt::format("set -e; {}\n{}", row.script, set_up.end);
        const Ran ran = scene.program({"sh", "-c", script});
        if (ran.exit_code != 0) {
          continue;
        }
        ++successes;
        const std::string lock = scene.has(kSidecar) ? scene.read(kSidecar) : "";
        for (const auto& [key, repository] : {std::pair("vpc", &scene.vpc), std::pair("zone", &scene.zone)}) {
          const std::size_t block = lock.find(fmt::format("module \"{}\"", key));
          const std::size_t commit = lock.find("\"git:", lock.find("hashes", block));
          const std::string installed = fmt::format(".terraform/modules/{}/main.tf", key);
          const std::string expected =
              commit == std::string::npos ? "" : repository->git({"show", lock.substr(commit + 5, 40) + ":main.tf"});
          const bool is_first = key == std::string("vpc") || expected.find("1.0.0") != std::string::npos;
          const bool is_locked =
              is_first && !expected.empty() && scene.has(installed) && scene.read(installed).starts_with(expected);
          unlocked += scene.has(installed) && !is_locked ? 1U : 0U;
          BOOST_TEST((is_locked || !scene.has(installed)), key << expected << ran.out << ran.err);
        }
      }
    }
    BOOST_TEST(unlocked == 0U, set_up.name);
    BOOST_TEST(successes > 0U, set_up.name);
    BOOST_TEST_MESSAGE(set_up.name << ": " << successes << " end with success, " << unlocked << " with unlocked code");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
