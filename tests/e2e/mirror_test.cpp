// The mirror, from outside: a command that asks registries gets exactly what is locked.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/fault_server.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/served_bundle.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

// What a client does to get one module: reads where the host's modules are, asks for versions, takes the newest, and
// unpacks it. Prints the version.
constexpr const char* kStandIn = R"py(
import json, os, re, subprocess, sys, urllib.request
text = open(os.environ["TF_CLI_CONFIG_FILE"]).read()
base = re.findall(r'"modules\.v1"\s*=\s*"([^"]*)"', text)[-1]
ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
versions = json.load(ask(base + sys.argv[1] + "/versions"))["modules"][0]["versions"]
newest = max(v["version"] for v in versions)
answer = ask(base + sys.argv[1] + "/" + newest + "/download")
assert answer.status == 204, answer.status
place, _, subdir = answer.headers["X-Terraform-Get"].partition(".tar.gz")
os.mkdir(sys.argv[2])
subprocess.run(["tar", "-xzC", sys.argv[2]], input=ask(place + ".tar.gz").read(), check=True)
print(newest, len(versions), subdir)
)py";

struct Mirroring : Scene {
  Mirroring() : vpc(repository("vpc")) {
    write_text(path("tofurc"), "# the user's own\ncredentials \"" + std::string(kRegistryHost) +
                                   "\" {\n  token = \"canary-token\"\n}\n" + registry.host_block(kRegistryHost));
    // Else no registry may lead there.
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n[core]\n\tautocrlf = true\n");
    write_text(path("client.py"), kStandIn);
    fs::create_directory(path("tmp"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TMPDIR"] = path("tmp").string();
    environment["TF_IN_AUTOMATION"] = "1";
    publish("1.0.0");
    call("~> 1.0");
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
    publish("1.2.0");
    registry.forget_requests();
  }
  void publish(const std::string& version) {
    release(vpc, version, {{"modules/net/inner/main.tf", "output \"v\" {\n  value = \"" + version + "\"\n}\n"}});
    registry.add_version(
        "acme/vpc/aws", version,
        ModuleRegistry::by_header("git::file://" + vpc.path().string() + "//modules/net?ref=v" + version));
  }
  void call(const std::string& version, const std::string& more = {}) {
    write("main.tf", module_call("vpc", std::string(kRegistryHost) + "/acme/vpc/aws//inner", version) + more);
  }
  Ran mirror(std::vector<std::string> command) const {
    command.insert(command.begin(), {"mirror", "--"});
    return modlock(std::move(command));
  }
  std::vector<std::string> stand_in() const {
    return {"python3", path("client.py").string(), "acme/vpc/aws", path("unpacked").string()};
  }

  GitRepository& vpc;
  ModuleRegistry registry;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mirror, Mirroring)

BOOST_AUTO_TEST_CASE(a_client_gets_the_locked_version_and_asks_nobody_else) {
  const Ran ran = mirror(stand_in());
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "1.0.0 1 //modules/net\n");
  BOOST_TEST(ran.err == "");
  BOOST_TEST(read_text(path("unpacked/modules/net/inner/main.tf")).find("\"1.0.0\"") != std::string::npos);
  BOOST_TEST(registry.lines().empty());
  BOOST_TEST(fs::is_empty(path("tmp")));
}

BOOST_AUTO_TEST_CASE(a_stock_client_upgrades_to_what_is_locked, *needs("tofu or terraform")) {
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      fs::remove_all(root() / ".terraform");
      environment["TOFU_MODLOCK_IMPLEMENTATION"] = name == "tofu" ? "opentofu" : "terraform";
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{name, "init", "-upgrade", "-no-color"}, {name, "get", "-update", "-no-color"}}) {
        const Ran ran = mirror(command);
        BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
        BOOST_TEST(ran.out.find("registry.example.test/acme/vpc/aws 1.0.0 for vpc") != std::string::npos, ran.out);
        BOOST_TEST(read(".terraform/modules/modules.json").find("\"Version\":\"1.0.0\"") != std::string::npos);
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
      }
      BOOST_TEST(registry.lines().empty());
    }
  }
}

// Without the repository a bundle has no trees, so that the package is not kept in the cache.
BOOST_AUTO_TEST_CASE(packages_of_the_remote_store_are_served) {
  for (const bool has_trees : {true, false}) {
    BOOST_TEST_CONTEXT(has_trees) {
      const fs::path bundle = path(has_trees ? "with" : "without");
      if (!has_trees) {
        fs::rename(path("elsewhere"), repositories());
        BOOST_TEST(modlock({"lock"}).exit_code == 0);
        fs::remove_all(cache() / "v2/git");
      }
      BOOST_TEST(modlock({"bundle", "create", "--output", bundle.string()}).exit_code == 0);
      const FaultServer store([&](const ReceivedRequest& request) { return answer_from_bundle(bundle, request); });
      environment["TOFU_MODLOCK_REMOTE"] = "oci://" + store.host() + "/platform/modules";
      environment["TOFU_MODLOCK_REMOTE_PLAIN_HTTP"] = "1";
      fs::remove_all(cache());
      fs::remove_all(path("unpacked"));
      fs::rename(repositories(), path("elsewhere"));
      const Ran ran = mirror(stand_in());
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out == "1.0.0 1 //modules/net\n");
      BOOST_TEST(read_text(path("unpacked/modules/net/inner/main.tf")).find("\"1.0.0\"") != std::string::npos);
      BOOST_TEST(store.lines().size() == (has_trees ? 3U : 2U));
      BOOST_TEST(fs::exists(cache() / "v2/proven") == has_trees);
      environment.erase("TOFU_MODLOCK_REMOTE");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_directory_without_configuration_has_no_mirror) {
  fs::create_directories(path("elsewhere"));
  const Ran ran = modlock({"mirror", "--chdir", path("elsewhere").string(), "--", "sh", "-c", "exit 5"});
  BOOST_TEST(ran.exit_code == 5);
  BOOST_TEST(ran.err.starts_with("Warning: <dir>/elsewhere has no configuration files: the command runs without a "
                                 "mirror [CONFIG_PARSE]\n"),
             ran.err);
}

BOOST_AUTO_TEST_CASE(the_configuration_of_the_user_is_merged_and_private) {
  const Ran ran = mirror({"sh", "-c",
                          "cat \"$TF_CLI_CONFIG_FILE\"; stat -c %a \"$TF_CLI_CONFIG_FILE\" "
                          "\"$(dirname \"$TF_CLI_CONFIG_FILE\")\""});
  const std::string own = read_text(path("tofurc"));
  BOOST_TEST(ran.out.starts_with(own), ran.out);
  BOOST_TEST(ran.out.find("host \"registry.example.test\" {\n  services = {\n    \"modules.v1\" = \"http://127.0.0.1:",
                          own.size()) != std::string::npos,
             ran.out);
  BOOST_TEST(ran.out.ends_with("600\n700\n"), ran.out);
  BOOST_TEST(read_text(path("tofurc")) == own);
  BOOST_TEST(fs::is_empty(path("tmp")));
}

BOOST_AUTO_TEST_CASE(a_killed_mirror_leaves_nothing_after_the_next_command) {
  const auto left = [this] { return std::distance(fs::directory_iterator(path("tmp")), {}); };
  mirror({"sh", "-c", "kill -9 $PPID"});
  BOOST_TEST(left() == 1);
  modlock({"--version"});
  BOOST_TEST(left() == 0);
  // The copy of one that runs stays.
  const std::string inner =
      "test \"$(ls \"$TMPDIR\" | wc -l)\" = 1 && '" + binary + "' mirror -- true && test -r \"$TF_CLI_CONFIG_FILE\"";
  const Ran ran = mirror({"sh", "-c", inner});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(left() == 0);
}

BOOST_AUTO_TEST_CASE(a_configuration_that_is_not_there_is_told) {
  environment["TF_CLI_CONFIG_FILE"] = path("gone").string();
  const Ran ran = modlock({"mirror", "--offline", "--", "true"});
  BOOST_TEST(ran.err.find("TF_CLI_CONFIG_FILE names <dir>/gone, which does not exist") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(other_services_of_a_host_stay_its_own) {
  write_text(path("tofurc"), "host \"" + std::string(kRegistryHost) + "\" {\n  services = {\n    \"modules.v1\" = \"" +
                                 registry.modules_url() + "\"\n    \"providers.v1\" = \"" + registry.url() +
                                 "/v1/providers/\"\n  }\n}\n");
  const Ran ran = mirror({"sh", "-c", "cat \"$TF_CLI_CONFIG_FILE\""});
  const std::size_t added = ran.out.rfind("host ");
  BOOST_TEST(
      ran.out.find("\"providers.v1\" = \"" + shown(registry.url()) + "/v1/providers/\"", added) != std::string::npos,
      ran.out);
}

BOOST_AUTO_TEST_CASE(streams_exit_code_and_signals_are_those_of_the_command) {
  struct Row {
    const char* name;
    const char* script;
    int exit_code;
  };
  for (const Row& row : {Row{"success", "exit 0", 0}, Row{"an exit code", "exit 7", 7},
                         Row{"ended by a signal", "kill -TERM $$", 143}, Row{"killed", "kill -KILL $$", 137}}) {
    BOOST_TEST(mirror({"sh", "-c", row.script}).exit_code == row.exit_code, row.name);
    BOOST_TEST(fs::is_empty(path("tmp")));
  }
  const Ran ran = modlock({"mirror", "--", "sh", "-c", "read line; echo \"got $line\"; echo no >&2"}, "a line\n");
  BOOST_TEST(ran.out == "got a line\n");
  BOOST_TEST(ran.err == "no\n");
  const Ran missing = mirror({"no-such-program"});
  BOOST_TEST(missing.exit_code == 2);
  BOOST_TEST(missing.err.find("[TOOL_MISSING]") != std::string::npos, missing.err);
}

// Sent to us alone, a signal reaches the command once, and it is the command that ends.
BOOST_AUTO_TEST_CASE(a_signal_is_passed_on_once) {
  write_text(path("command.py"), R"py(
import os, signal, sys
signal.alarm(60)
counts = {}
def count(number, frame):
    counts[number] = counts.get(number, 0) + 1
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, count)
parent = os.getppid()
for number in (signal.SIGINT, signal.SIGTERM):
    before = dict(counts)
    os.kill(parent, number)
    while counts == before:
        signal.sigtimedwait([], 1)
print(counts.get(signal.SIGINT), counts.get(signal.SIGTERM))
sys.exit(9)
)py");
  const Ran ran = mirror({"python3", path("command.py").string()});
  BOOST_TEST(ran.exit_code == 9, ran.err);
  BOOST_TEST(ran.out == "1 1\n");
}

BOOST_AUTO_TEST_CASE(two_versions_of_one_module_are_refused) {
  call("1.0.0", module_call("other", std::string(kRegistryHost) + "/acme/vpc/aws//inner", "1.2.0"));
  // The registry still gives what it gave.
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran ran = mirror({"touch", "ran"});
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(ran.err.find("is locked to 1.2.0 and to 1.0.0, and a mirror can serve only one [CONSTRAINT_CONFLICT]") !=
                 std::string::npos,
             ran.err);
  BOOST_TEST(ran.err.find("hint: run: tofu-modlock install") != std::string::npos, ran.err);
  BOOST_TEST(!has("ran"));
}

BOOST_AUTO_TEST_CASE(what_is_not_locked_stops_the_command) {
  call("~> 1.0", module_call("other", std::string(kRegistryHost) + "/acme/vpc/aws", "1.2.0"));
  const Ran ran = mirror({"touch", "ran"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.err.find("[FROZEN]") != std::string::npos, ran.err);
  BOOST_TEST(!has("ran"));
  const Ran above = program({"sh", "-c", "cd .. && exec \"$0\" mirror --chdir root -- true", binary});
  BOOST_TEST(above.err.find("hint: run: tofu-modlock lock --chdir root, ") != std::string::npos, above.err);
}

BOOST_AUTO_TEST_CASE(no_secret_of_the_configuration_is_shown) {
  write_text(path("tofurc"), "credentials \"x\" {\n  token = \"canary-token\n");
  const Ran ran = mirror({"touch", "ran"});
  BOOST_TEST(ran.exit_code != 0);
  BOOST_TEST((ran.out + ran.err).find("canary") == std::string::npos, ran.err);
  BOOST_TEST(!has("ran"));
}

BOOST_AUTO_TEST_CASE(a_root_may_be_named_to_us_or_to_the_client) {
  const std::string root_name = root().filename().string();
  const Ran ours = modlock({"mirror", "--chdir", "../" + root_name, "--", "pwd"});
  BOOST_TEST(ours.out == shown(root().string()) + "\n");
  write_text(path("elsewhere/x"), "");
  const Ran its = program({"sh", "-c", "cd ../elsewhere && exec \"$0\" mirror -- echo -chdir=../" + root_name, binary});
  BOOST_TEST(its.exit_code == 0, its.err);
  BOOST_TEST(its.out == "-chdir=../" + root_name + "\n");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

constexpr const char* kGit = "git::https://git.example.test/";

// Repositories that git finds under the URLs of a host that does not exist. Since they were locked, every branch and
// tag has moved.
struct MirroringGit : Scene {
  MirroringGit() : net(repository("net")), lib(repository("net-lib")) {
    write_text(path("home/.gitconfig"), rule("https://git.example.test/") + rule("ssh://git@git.example.test/") +
                                            "[protocol \"file\"]\n\tallow = always\n");
    fs::create_directory(path("tmp"));
    environment["TMPDIR"] = path("tmp").string();
    environment["TF_IN_AUTOMATION"] = "1";
    name_id(net.commit({{"main.tf", "# older\n"}}), "older");
    publish("locked");
  }
  std::string rule(const std::string& url) const {
    return "[url \"file://" + repositories().string() + "/\"]\n\tinsteadOf = " + url + "\n";
  }
  void publish(const std::string& name) {
    for (GitRepository* published : {&net, &lib}) {
      name_id(published->commit({{"main.tf", "# " + name + "\n"}, {"sub/main.tf", "# sub " + name + "\n"}}), name);
      published->tag("v1.0.0");
    }
  }
  Ran mirror(std::vector<std::string> command) const {
    command.insert(command.begin(), {"mirror", "--"});
    return modlock(std::move(command));
  }
  std::string url_of(const std::string& url) const {
    const Ran ran = mirror({"git", "ls-remote", "--get-url", url});
    return ran.exit_code == 0 ? ran.out : ran.err;
  }

  GitRepository& net;
  GitRepository& lib;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mirror_of_git, MirroringGit)

BOOST_AUTO_TEST_CASE(a_stock_client_upgrades_to_the_locked_commits, *needs("tofu or terraform")) {
  const std::string full = net.id("main");
  const std::string git = kGit;
  const std::map<std::string, std::string> sources = {
      {"abbreviated", git + "net?ref=" + full.substr(0, 10)},
      {"branch", git + "net?ref=main"},
      {"commit", git + "net?ref=" + full},
      {"head", git + "net"},
      {"neighbor", git + "net-lib?ref=main"},
      {"scp", "git@git.example.test:net.git//sub?ref=main"},
      {"shallow", git + "net?depth=1&ref=main"},
      {"ssh", "git::ssh://git@git.example.test/net?ref=v1.0.0"},
      {"subdirectory", git + "net//sub?ref=v1.0.0"},
      {"suffix", git + "net.git?ref=main"},
      {"user", "git::https://user:canary-token@git.example.test/net?ref=main"},
  };
  std::string calls;
  for (const auto& [name, source] : sources) {
    calls += module_call(name, source);
  }
  write("main.tf", calls);
  fs::create_symlink("net", repositories() / "net.git");
  const Ran locked = modlock({"lock"});
  BOOST_REQUIRE_MESSAGE(locked.exit_code == 0, locked.err);
  publish("moved");
  fs::rename(repositories(), path("elsewhere"));  // no source is there
  for (const std::string& name : clients()) {
    BOOST_TEST_CONTEXT(name) {
      fs::remove_all(root() / ".terraform");
      environment["TOFU_MODLOCK_IMPLEMENTATION"] = name == "tofu" ? "opentofu" : "terraform";
      const Ran ran = mirror({name, "init", "-upgrade", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(ran.err.find("LOCK_UNENFORCED") == std::string::npos, ran.err);
      for (const auto& [key, source] : sources) {
        BOOST_TEST(read(".terraform/modules/" + key + "/main.tf") == "# locked\n", key);
      }
      const Ran verified = modlock({"verify"});
      BOOST_TEST(verified.exit_code == 0, verified.out << verified.err);
    }
  }
  BOOST_TEST(fs::is_empty(path("tmp")));
}

BOOST_AUTO_TEST_CASE(the_full_name_of_the_default_branch_is_found, *needs("tofu or terraform")) {
  const std::string full = module_call("full", std::string(kGit) + "net?ref=refs/heads/main");
  for (const std::string& calls : {full, full + module_call("head", std::string(kGit) + "net")}) {
    write("main.tf", calls);
    BOOST_TEST(modlock({"lock"}).exit_code == 0);
    for (const std::string& name : clients()) {
      fs::remove_all(root() / ".terraform");
      environment["TOFU_MODLOCK_IMPLEMENTATION"] = name == "tofu" ? "opentofu" : "terraform";
      const Ran ran = mirror({name, "init", "-upgrade", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
      BOOST_TEST(read(".terraform/modules/full/main.tf") == "# locked\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_submodule_comes_from_its_own_repository, *needs("tofu or terraform")) {
  const std::string blob = net.write_blob("[submodule \"lib\"]\n\tpath = lib\n\turl = ../net-lib\n");
  const std::string tree = net.write_tree("100644 blob " + blob + "\t.gitmodules\n160000 commit " + lib.id("main") +
                                          "\tlib\n100644 blob " + net.write_blob("# top\n") + "\tmain.tf\n");
  net.branch("main", net.commit_tree(tree));
  write("main.tf", module_call("a", std::string(kGit) + "net?ref=main"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  publish("moved");
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
  const Ran ran = mirror({clients().front(), "init", "-upgrade", "-no-color"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  BOOST_TEST(read(".terraform/modules/a/lib/main.tf") == "# locked\n");
}

BOOST_AUTO_TEST_CASE(only_locked_urls_are_rewritten) {
  write("main.tf", module_call("a", std::string(kGit) + "net?ref=main"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const std::string own = url_of("https://git.example.test/net");
  BOOST_TEST(own.find("/tmp/tofu-modlock-private-") != std::string::npos, own);
  BOOST_TEST(url_of("https://git.example.test/net-lib") == shown("file://" + repositories().string() + "/net-lib\n"));
  BOOST_TEST(url_of("https://git.example.test/net/x") == shown("file://" + repositories().string() + "/net/x\n"));
  BOOST_TEST(url_of("https://other.example.test/net") == "https://other.example.test/net\n");
}

BOOST_AUTO_TEST_CASE(settings_of_the_environment_are_kept_and_no_secret_is_added) {
  write("main.tf", module_call("a", "git::https://user:canary-token@git.example.test/net?ref=main"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  environment["GIT_CONFIG_COUNT"] = "1";
  environment["GIT_CONFIG_KEY_0"] = "user.name";
  environment["GIT_CONFIG_VALUE_0"] = "user";
  const Ran ran = mirror({"sh", "-c",
                          "git config user.name; env | grep -c canary; stat -c %a \"$GIT_CONFIG_VALUE_1\" \"$(dirname "
                          "\"$GIT_CONFIG_VALUE_1\")\"; git ls-remote https://user:canary-token@git.example.test/net"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "user\n0\n600\n700\n<locked>\trefs/tags/main\n");
}

BOOST_AUTO_TEST_CASE(two_commits_of_one_branch_are_refused) {
  write("main.tf", module_call("a", std::string(kGit) + "net?ref=main"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  publish("moved");
  write("main.tf", module_call("a", std::string(kGit) + "net?ref=main") +
                       module_call("b", std::string(kGit) + "net//sub?ref=main"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran ran = mirror({"touch", "ran"});
  BOOST_TEST(ran.exit_code == 6);
  BOOST_TEST(ran.err.find("main of \"git::https://git.example.test/net\" is locked to <locked> and to <moved>, and a "
                          "mirror can serve only one [CONSTRAINT_CONFLICT]") != std::string::npos,
             ran.err);
  BOOST_TEST(!has("ran"));
}

BOOST_AUTO_TEST_CASE(a_commit_that_no_reference_can_name_is_not_held) {
  write("main.tf",
        module_call("a", std::string(kGit) + "net?ref=main~1") + module_call("b", std::string(kGit) + "net?ref=main"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran ran = mirror({"git", "ls-remote", "--get-url", "https://git.example.test/net"});
  BOOST_TEST(ran.out == shown("file://" + repositories().string() + "/net\n"));
  BOOST_TEST(ran.err.find("a mirror cannot serve these, so the command fetches them from their sources: module.a, "
                          "module.b [LOCK_UNENFORCED]") != std::string::npos,
             ran.err);
}

BOOST_AUTO_TEST_SUITE_END()
