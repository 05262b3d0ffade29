// Modules in Google Cloud Storage, from an emulator, to which no token is sent.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/package/tree_hash.h"
#include "tests/e2e/bucket_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct InGoogle : BucketScene {
  InGoogle() {
    environment["STORAGE_EMULATOR_HOST"] = server.server().host();
    environment["GOOGLE_OAUTH_ACCESS_TOKEN"] = "canary-ya29";
    write("main.tf", module_call("net", source("net.zip")) + module_call("dir", source("dir")) +
                         module_call("sub", source("net.zip//sub?#1")));
  }
  ~InGoogle() {
    for (const ReceivedRequest& request : server.server().log()) {
      BOOST_TEST(request.header("Authorization").empty());
    }
  }
  static std::string source(const std::string& below) {
    return "gcs::https://www.googleapis.com/storage/v1/mods/" + below;
  }
};

BOOST_FIXTURE_TEST_SUITE(gcs, InGoogle)

BOOST_AUTO_TEST_CASE(is_locked_installed_and_verified) {
  check({"lock"}, 0);
  BOOST_TEST(occurrences(lock(), "\"zh:") == 3U);
  BOOST_TEST(lock().find("net.zip//sub?#1\"") != std::string::npos, lock());
  check({"install"}, 0);
  BOOST_TEST(read(".terraform/modules/dir/sub/a b.tf") == "# sub\n");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"verify"},
                                                  {"ci"},
                                                  {"lock", "--frozen"},
                                                  {"verify", "--online"},
                                                  {"verify", "--online", "--full"},
                                                  {"sbom"},
                                                  {"outdated"},
                                                  {"explain", "module.net"}}) {
    check(command, 0);
  }
  check({"explain", "--credentials", "www.googleapis.com"}, 0, "gcs: uses environment variable GOOGLE_OAUTH");
  check({"versions", source("net.zip")}, 8, "is an archive, which has no versions [SOURCE_UNSUPPORTED]");
  check_cache();
  check_without_requests();
}

BOOST_AUTO_TEST_CASE(a_generation_is_part_of_the_address) {
  server.put("mods", "net.zip", archive("2"));
  write("main.tf", module_call("net", source("net.zip#1")));
  check({"lock", "--install"}, 0);
  BOOST_TEST(read(".terraform/modules/net/main.tf").find("value = 1") != std::string::npos);
  write("main.tf", module_call("net", source("net.zip#2")));
  check({"lock", "--frozen"}, 3, "FROZEN");
}

BOOST_AUTO_TEST_CASE(what_happened_at_the_source) {
  check({"lock", "--install"}, 0);
  server.put("mods", "dir/main.tf", "# other\n");
  check({"verify", "--online"}, 4, "has other content than when it was locked");
  for (const char* key : {"dir/main.tf", "dir/sub/a b.tf"}) {
    server.remove("mods", key);
  }
  check({"verify", "--online"}, 5, "vanished");
}

BOOST_AUTO_TEST_CASE(a_refusal_of_an_emulator_names_no_token) {
  server.require_token("canary-ya29");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 7, ran.err);
  BOOST_TEST(ran.err.find("note: no token is sent to STORAGE_EMULATOR_HOST") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("GOOGLE_OAUTH_ACCESS_TOKEN") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(rules_hold_before_a_request) {
  write(".tofu-modlock.hcl", "deny_sources = [\"gcs::*\"]\n");
  check({"lock"}, 8, "SOURCE_DENIED");
  write(".tofu-modlock.hcl", "unlocked_sources = [\"gcs::*\"]\n");
  write(".terraform.lock.hcl", "# This file is maintained automatically by \"tofu init\".\n");
  check({"verify"}, 3, "not-locked");
  BOOST_TEST(server.server().lines().empty());
}

// The trees of a stock client, which uses the JSON API for lists, and no request of a client for installed ones.
BOOST_AUTO_TEST_CASE(a_stock_client_has_the_same_trees, *needs("tofu or terraform")) {
  server.put("mods", "dir/sub/", "");
  server.put("mods", "dir/sub/deep/c+d.tf", "# deep\n");
  server.put("mods", "dir2/main.tf", "# of another directory\n");
  server.put("mods", "net.zip", archive("2"));
  server.set_page_size(2);
  write("main.tf", read("main.tf") + module_call("old", source("net.zip#1")) +
                       module_call("below", source("dir//sub")) + module_call("word", source("dir#word")) +
                       module_call("number", source("dir#1")));
  const auto hash = [&](const std::string& key) {
    return hash_tree(root() / ".terraform/modules" / key, Context{}).value();
  };
  for (const std::string& client : clients()) {
    const std::vector<std::string> init = {client, "init", "-no-color", "-input=false"};
    fs::remove_all(root() / ".terraform");
    const Ran theirs = program(init);
    BOOST_REQUIRE_MESSAGE(theirs.exit_code == 0, theirs.out << theirs.err);
    std::map<std::string, std::string> hashes;
    for (const char* key : {"net", "dir", "sub", "old", "below", "word", "number"}) {
      hashes[key] = hash(key);
    }
    fs::remove_all(root() / ".terraform");
    check({"lock", "--install"}, 0);
    for (const auto& [key, expected] : hashes) {
      BOOST_TEST(hash(key) == expected, client << " " << key);
    }
    const std::size_t before = server.server().lines().size();
    const Ran installed = program(init);
    BOOST_TEST(installed.exit_code == 0, installed.out << installed.err);
    BOOST_TEST(server.server().lines().size() == before);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
