// Locking without the network, from what the sources said last.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/module_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct OfflineScene : Scene {
  // The copy of its blocks in the data directory, too.
  void remove_lock() const {
    fs::remove(root() / ".terraform.lock.hcl");
    fs::remove_all(root() / ".terraform");
  }
  // Locks anew what is locked, while nobody can be asked.
  Ran lock_anew_offline() {
    locked = lock();
    remove_lock();
    fs::rename(repositories(), path("away"));
    Ran ran = modlock({"lock", "--offline"});
    fs::rename(path("away"), repositories());
    return ran;
  }

  std::string locked;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(offline, OfflineScene)

BOOST_AUTO_TEST_CASE(a_version_is_chosen_among_those_that_were_there_last) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  release(vpc, "1.1.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const Ran ran = lock_anew_offline();
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err.find("vpc.git (last fetched at 20") != std::string::npos, ran.err);
  BOOST_TEST(lock() == locked);
}

BOOST_AUTO_TEST_CASE(completion_offers_no_name_that_a_shell_would_run) {
  std::string text;
  for (const char* name : {"vpc", "a;touch$${IFS}ran", "b`ran`", "c d", "e\\nf", "g*"}) {
    text += fmt::format(
        "module \"{}\" {{\n  source = \"git::https://git.example.test/vpc.git\"\n"
        "  hashes = [\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n}}\n",
        name);
  }
  write(".terraform.lock.hcl", text);
  write("main.tf", "");
  const Ran ran = modlock({"complete", "explain", "module."});
  BOOST_TEST(ran.out == "module.vpc\n");
}

// Of the listing that the lock left in the cache: the newest of the same and of the next major version.
BOOST_AUTO_TEST_CASE(versions_are_completed_from_the_last_listing) {
  GitRepository& vpc = repository("vpc.git");
  for (const char* version : {"1.0.0", "1.1.0", "1.2.0", "2.3.1"}) {
    release(vpc, version);
  }
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  release(vpc, "3.0.0");
  fs::rename(repositories(), path("away"));
  struct Row {
    std::vector<std::string> words;
    const char* expected;
  };
  for (const Row& row :
       {Row{{"update", "mod"}, "module.vpc=\t1.0.0\n"},
        Row{{"update", "module.vpc="}, "module.vpc=1.2.0\tminor\nmodule.vpc=2.3.1\tmajor\nmodule.vpc=1.0.0\tlocked\n"},
        Row{{"update", "module.vpc=2"}, "module.vpc=2.3.1\tmajor\n"}, Row{{"update", "module.other="}, ""}}) {
    std::vector<std::string> arguments = row.words;
    arguments.insert(arguments.begin(), "complete");
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.exit_code == 0);
    BOOST_TEST(ran.out == row.expected);
    BOOST_TEST(ran.err == "");
  }
}

BOOST_AUTO_TEST_CASE(a_branch_is_where_it_was_last) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const Ran fetched = lock_anew_offline();
  BOOST_TEST(fetched.exit_code == 0, fetched.err);
  BOOST_TEST(fetched.err.find("vpc.git\n") != std::string::npos, fetched.err);
  BOOST_TEST(lock() == locked);
}

BOOST_AUTO_TEST_CASE(what_was_not_asked_or_not_brought_is_a_miss) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  release(vpc, "1.1.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "1.0.0"));
  const Ran unknown = modlock({"lock", "--offline"});
  BOOST_TEST(unknown.exit_code == 7);
  BOOST_TEST(unknown.err.find("[OFFLINE_MISS]") != std::string::npos, unknown.err);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  write(".tofu-modlock.hcl", module_rule("vpc", "1.1.0"));
  const Ran not_brought = lock_anew_offline();
  BOOST_TEST(not_brought.exit_code == 7);
  BOOST_TEST(not_brought.err.find("[OFFLINE_MISS]") != std::string::npos, not_brought.err);
}

BOOST_AUTO_TEST_CASE(an_upgrade_takes_no_kept_answer) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  age_lock();
  const Ran ran = modlock({"upgrade", "--offline"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("cannot upgrade in offline mode: upgrade must query the sources") != std::string::npos,
             ran.err);
  BOOST_TEST(lock_is_aged());
}

BOOST_AUTO_TEST_CASE(who_can_ask_takes_no_kept_answer) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url()));
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  remove_lock();
  fs::rename(repositories(), path("away"));
  BOOST_TEST(modlock({"lock"}).exit_code == 7);
  BOOST_TEST(!has(".terraform.lock.hcl"));
  fs::rename(path("away"), repositories());
  release(vpc, "1.1.0");
  BOOST_TEST(modlock({"lock"}).out.find("module.vpc  1.1.0") == 0U);
}

BOOST_AUTO_TEST_CASE(a_registry_counts_too) {
  ModuleRegistry registry;
  write_text(path("tofurc"), registry.host_block("registry.example.test"));
  environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
  write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
  GitRepository& vpc = repository("vpc");
  release(vpc, "1.0.0");
  registry.add_version("acme/vpc/aws", "1.0.0",
                       ModuleRegistry::by_header("git::file://" + vpc.path().string() + "?ref=v1.0.0"));
  write("main.tf", module_call("vpc", "registry.example.test/acme/vpc/aws", "~> 1.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  registry.forget_requests();
  const Ran ran = lock_anew_offline();
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(lock() == locked);
  BOOST_TEST(registry.lines().empty());
}

// docs/ci.md: keep the cache. Installed files prove no commit, so that a lost cache costs requests for git modules.
BOOST_AUTO_TEST_CASE(without_the_cache_an_installed_commit_is_asked_for) {
  ModuleRegistry registry;
  registry.serve("/net.zip",
                 {.body = make_zip({{.name = "main.tf", .content = "# net\n"}}), .type = "application/zip"});
  registry.add_version("acme/net/aws", "1.0.0", ModuleRegistry::by_header(registry.url() + "/net.zip"));
  write_text(path("tofurc"), registry.host_block("registry.example.test"));
  environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  const std::string of_registry = module_call("net", "registry.example.test/acme/net/aws", "1.0.0");
  write("main.tf", of_registry + module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  const auto without_cache = [&](const std::vector<std::string>& command) {
    fs::remove_all(cache());
    return modlock(command);
  };
  BOOST_TEST(without_cache({"verify"}).exit_code == 0);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"install", "--offline"}, {"lock", "--frozen", "--offline"}}) {
    const Ran ran = without_cache(command);
    BOOST_TEST(ran.exit_code == 7, command[0]);
    BOOST_TEST(ran.err.find("Error: git may not fetch from \"git::file://<dir>/repositories/vpc.git\" in offline mode: "
                            "it is not in the cache [OFFLINE_MISS]\n") == 0U,
               ran.err);
    BOOST_TEST(ran.err.ends_with("  hint: run it without --offline, or install from a bundle: tofu-modlock install "
                                 "--from BUNDLE\n"),
               ran.err);
  }
  BOOST_TEST(without_cache({"install"}).out == "0 installed, 2 already in place.\n");
  BOOST_TEST(modlock({"install", "--offline"}).out == "0 installed, 2 already in place.\n");

  write("main.tf", of_registry);
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  registry.forget_requests();
  BOOST_TEST(without_cache({"install", "--offline"}).out == "0 installed, 1 already in place.\n");
  BOOST_TEST(without_cache({"install"}).out == "0 installed, 1 already in place.\n");
  BOOST_TEST(registry.lines().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
