// A fork has a commit that its origin lacks. What the cache, a bundle or a remote store knows of the fork says nothing
// about the origin.

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/base/files.h"
#include "backends/remote/layout.h"
#include "tests/e2e/scene.h"
#include "tests/support/closures_of.h"
#include "tests/support/fault_server.h"
#include "tests/support/served_bundle.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// Returns the first hash of a scheme in a lock file: "git:8f2c…".
std::string hash_of(const std::string& lock, const std::string& scheme) {
  const std::size_t at = lock.find(scheme, lock.find("hashes = ["));
  return lock.substr(at, lock.find('"', at) - at);
}

// The root module calls the origin, and `fork` below it calls the fork, whose bundle is in `modules` and on the server.
// The lock file of the root module is edited: it names the commit of the fork and its h1.
struct Fork : Scene {
  Fork() : server([this](const ReceivedRequest& request) { return answer_from_bundle(path(served.load()), request); }) {
    GitRepository& origin = repository("origin.git");
    release(origin, "1.0.0");
    GitRepository& fork = repository("fork.git");
    fork.git({"fetch", "--quiet", origin.url(), "main"});
    fork.branch("main", "FETCH_HEAD");
    release(fork, "6.6.6", {{"evil.tf", "# evil\n"}});
    origin_source = "git::" + origin.url() + "?ref=v1.0.0";
    write("main.tf", module_call("net", origin_source));
    write("fork/main.tf", module_call("fork", "git::" + fork.url() + "?ref=v6.6.6"));
    for (const char* directory : {".", "fork"}) {
      BOOST_TEST(modlock({"lock", directory}).exit_code == 0);
    }
    BOOST_TEST(modlock({"bundle", "create", "fork", "--output", path("modules").string()}).exit_code == 0);
    edit_lock();
  }
  void edit_lock() {
    honest = lock();
    edited = honest;
    for (const char* scheme : {"git:", "h1:"}) {
      const std::string own = hash_of(honest, scheme);
      const std::size_t at = edited.find(own + "\"");
      edited.replace(at, own.size(), hash_of(read("fork/.terraform.lock.hcl"), scheme));
    }
    write(".terraform.lock.hcl", edited);
  }
  std::string store() const { return "oci://" + server.host() + "/platform/modules"; }
  void use_store() {
    environment["TOFU_MODLOCK_REMOTE"] = store();
    environment["TOFU_MODLOCK_REMOTE_PLAIN_HTTP"] = "1";
  }
  void start_empty() {
    environment.erase("TOFU_MODLOCK_REMOTE");
    fs::remove_all(cache());
    uninstall();
  }
  void uninstall() const {
    fs::remove_all(root() / ".terraform");
    fs::remove_all(root() / "fork/.terraform");
  }
  // Writes a bundle that lists the package of the fork as one of the origin, as only its writer can.
  fs::path claim() const {
    const auto layout = remote::Layout::open(path("modules"), path("work/read"), Context{});
    remote::NamedClosure one = closures_of(*layout).value().at(0);
    remote::LayoutWriter writer(path("work/write"));
    for (remote::BundledPackage& package : one.closure.packages) {
      for (const remote::Blob& blob : {package.layer, package.trees}) {
        BOOST_REQUIRE(
            writer.add(read_text(path("modules/blobs/sha256") / blob.digest.substr(blob.digest.find(':') + 1)))
                .has_value());
      }
      package.source = origin_source;
      package.manifest = remote::blob_of(write_package_manifest(package));
    }
    one.tag = one.closure.tag();
    BOOST_REQUIRE(writer.add_closure(one).has_value());
    BOOST_REQUIRE(writer.finish(path("claim"), Context{}).has_value());
    return path("claim");
  }
  void check(const Words& command, int exit_code, const std::string& code) const {
    BOOST_TEST_CONTEXT(command[0] << " " << command.back()) {
      uninstall();
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == exit_code, ran.out << ran.err);
      BOOST_TEST((code.empty() || ran.err.find("[" + code + "]") != std::string::npos), ran.err);
      const bool is_installed = exit_code == 0 && command[0] == "install";
      BOOST_TEST(has(".terraform/modules/net/evil.tf") == is_installed);
    }
  }

  std::string origin_source;
  std::string honest;
  std::string edited;
  std::atomic<const char*> served = "modules";
  FaultServer server;
};

BOOST_FIXTURE_TEST_SUITE(foreign_proof, Fork)

BOOST_AUTO_TEST_CASE(commits_of_a_fork_are_not_taken_for_its_origin) {
  const std::string bundle = path("modules").string();
  struct Row {
    const char* name;
    bool has_store;
    Words prepare;
  };
  for (const Row& row :
       {Row{"an empty cache", false, {}}, Row{"an empty cache and a store", true, {}},
        Row{"fetched from the fork", false, {"install", "fork"}}, Row{"read from a store", true, {"install", "fork"}},
        Row{"installed from a bundle", false, {"install", "fork", "--from", bundle}},
        Row{"installed from a bundle, and a store", true, {"install", "fork", "--from", bundle}}}) {
    BOOST_TEST_CONTEXT(row.name) {
      start_empty();
      if (row.has_store) {
        use_store();
      }
      BOOST_TEST((row.prepare.empty() || modlock(row.prepare).exit_code == 0));
      check({"install"}, 4, "HASH_MISMATCH");
      check({"install", "--from", bundle}, 4, "HASH_MISMATCH");
      check({"install", "--offline"}, 7, "OFFLINE_MISS");
      check({"install", "--from", bundle, "--remote-only"}, 7, "OFFLINE_MISS");
      check({"install", "--from", bundle, "--offline"}, 7, "OFFLINE_MISS");
      check({"install", "--link"}, 4, "HASH_MISMATCH");
      check({"verify"}, 3, "");
      check({"verify", "--online"}, 4, "");
      check({"lock", "--frozen"}, 4, "HASH_MISMATCH");
      check({"lock"}, 4, "HASH_MISMATCH");
      check({"explain", "module.net"}, 4, "HASH_MISMATCH");
      check({"bundle", "create", "--output", path("again").string()}, 4, "HASH_MISMATCH");
      check({"bundle", "push", "--plain-http", store()}, 4, "HASH_MISMATCH");
      check({"mirror", "--", "true"}, 4, "HASH_MISMATCH");
    }
  }
  for (const std::string& line : server.lines()) {
    BOOST_TEST((line.starts_with("GET ") || line.starts_with("HEAD ")), line);  // nothing was uploaded
  }
}

// Both root modules share a cold cache in one command.
BOOST_AUTO_TEST_CASE(root_modules_of_one_run_prove_nothing_for_each_other) {
  for (const Words& more : {Words{}, Words{"--from", path("modules").string()}}) {
    for (const bool has_store : {false, true}) {
      BOOST_TEST_CONTEXT(more.size() << " " << has_store) {
        start_empty();
        if (has_store) {
          use_store();
        }
        Words command = {"install", "--recursive"};
        command.insert(command.end(), more.begin(), more.end());
        check(command, 4, "HASH_MISMATCH");
        BOOST_TEST(has("fork/.terraform/modules/fork/evil.tf"));
      }
    }
  }
}

// A directory with a lock file and without configuration is a unit of Terragrunt.
BOOST_AUTO_TEST_CASE(a_unit_is_not_filled_with_a_package_of_a_fork) {
  write("unit/.terraform.lock.hcl", edited);
  for (const Words& prepare :
       {Words{"install", "fork"}, Words{"install", "fork", "--from", path("modules").string()}}) {
    start_empty();
    BOOST_TEST(modlock(prepare).exit_code == 0);
    const Ran ran = modlock({"install", "--from", path("modules").string(), "unit"});
    BOOST_TEST(ran.exit_code == 3, ran.err);
    BOOST_TEST(ran.err.find("does not have the package of net") != std::string::npos, ran.err);
  }
}

// The writer of a bundle or a store is trusted with what it lists, in the modes that read it, and proves nothing.
BOOST_AUTO_TEST_CASE(lists_of_a_writer_prove_nothing) {
  const std::string bundle = claim().string();
  start_empty();
  check({"install", "--offline"}, 7, "OFFLINE_MISS");
  check({"install", "--from", bundle}, 0, "");
  check({"install", "--from", bundle, "--remote-only"}, 0, "");
  check({"install", "--offline"}, 0, "");
  // Neither the bundle of the fork nor a store lists it for the origin.
  const std::string of_fork = path("modules").string();
  check({"install", "--from", of_fork, "--remote-only"}, 7, "OFFLINE_MISS");
  check({"install", "--from", of_fork, "--offline"}, 7, "OFFLINE_MISS");
  use_store();
  check({"install", "--remote-only"}, 7, "OFFLINE_MISS");
  check({"install", "--from", store(), "--remote-only"}, 7, "OFFLINE_MISS");
  check({"install", "--offline"}, 0, "");
  environment.erase("TOFU_MODLOCK_REMOTE");
  check({"bundle", "create", "--offline", "--output", path("again").string()}, 0, "");
  BOOST_TEST(!fs::exists(cache() / "v2/identities"));
  BOOST_TEST(!fs::exists(cache() / "v2/installed"));
  check({"install"}, 4, "HASH_MISMATCH");
  check({"lock"}, 4, "HASH_MISMATCH");
  check({"lock", "--frozen"}, 4, "HASH_MISMATCH");
  check({"verify", "--online"}, 4, "");
  check({"bundle", "create", "--output", path("more").string()}, 4, "HASH_MISMATCH");
  check({"bundle", "push", "--plain-http", store()}, 4, "HASH_MISMATCH");
  // Another file of the same name lists something else.
  fs::rename(path("claim"), path("claimed"));
  fs::copy(path("modules"), path("claim"), fs::copy_options::recursive);
  check({"install", "--from", bundle}, 4, "HASH_MISMATCH");
  // A store has listed nothing of it.
  use_store();
  check({"install"}, 4, "HASH_MISMATCH");
  served = "claimed";
  check({"install"}, 0, "");
  const std::size_t before = server.lines().size();
  check({"install"}, 0, "");
  check({"lock", "--frozen"}, 0, "");
  BOOST_TEST(server.lines().size() == before);
  // A first lock and an upgrade select what the source has.
  for (const char* command : {"lock", "upgrade"}) {
    fs::remove(root() / ".terraform.lock.hcl");
    check({command}, 0, "");
    BOOST_TEST(lock() == honest);
  }
}

// An override file makes a client use the commit without a request to the source, so the source has to prove it.
BOOST_AUTO_TEST_CASE(override_files_are_not_written_from_claims) {
  write(".terraform.lock.hcl", honest);
  origin_source = origin_source.substr(0, origin_source.find('?'));
  write("main.tf", module_call("net", origin_source, "1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  edit_lock();
  const std::string bundle = claim().string();
  start_empty();
  const auto refuses = [&](const Words& command, int exit_code, const std::string& code) {
    check(command, exit_code, code);
    BOOST_TEST(!has("modlock_override.tf"), command.back());
  };
  for (int round = 0; round < 2; ++round) {
    refuses({"install", "--overrides", "--from", bundle}, 4, "HASH_MISMATCH");
    refuses({"install", "--overrides", "--from", bundle, "--remote-only"}, 7, "OFFLINE_MISS");
    refuses({"install", "--overrides", "--from", bundle, "--offline"}, 7, "OFFLINE_MISS");
    refuses({"install", "--overrides", "--offline"}, 7, "OFFLINE_MISS");
    check({"install", "--no-overrides", "--from", bundle}, 0, "");
  }
}

// A checkout may contain an installed module that its lock entry names, with a record that names its origin.
BOOST_AUTO_TEST_CASE(installed_content_of_a_checkout_proves_nothing) {
  struct Row {
    const char* name;
    bool is_edited;
    bool has_cache;
    Words command;
    int exit_code;
  };
  for (const Row& row :
       {Row{"of the fork", true, false, {"lock", "--frozen"}, 4}, Row{"of the fork", true, false, {"lock"}, 4},
        Row{"of the fork", true, false, {"lock", "--frozen", "--offline"}, 7},
        Row{"of the fork", true, false, {"ci"}, 4},
        Row{"of the fork, which the cache has", true, true, {"lock", "--frozen"}, 4},
        Row{"of the origin", false, false, {"lock", "--frozen"}, 0},
        Row{"of the origin", false, false, {"lock", "--frozen", "--offline"}, 7},
        Row{"of the origin, which the cache has", false, true, {"lock", "--frozen", "--offline"}, 0}}) {
    BOOST_TEST_CONTEXT(row.name << ": " << row.command.front() << " " << row.command.back()) {
      start_empty();
      write(".terraform.lock.hcl", honest);
      BOOST_TEST(modlock({"install", "--recursive"}).exit_code == 0);
      if (row.is_edited) {
        write(".terraform.lock.hcl", edited);
        fs::copy(root() / "fork/.terraform/modules/fork", root() / ".terraform/modules/net",
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
      }
      fs::remove_all(row.has_cache ? path("none") : cache());
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
      const Ran ran = modlock(row.command);
      BOOST_TEST(ran.exit_code == row.exit_code, ran.out << ran.err);
    }
  }
}

// An earlier release recorded no source.
BOOST_AUTO_TEST_CASE(packages_without_a_recorded_source_are_refused_offline) {
  const std::string bundle = path("modules").string();
  const auto forget_sources = [&] {
    for (const fs::directory_entry& package : fs::directory_iterator(cache() / "v2/proven")) {
      BOOST_TEST(fs::remove_all(package.path() / "claims") > 0U);
    }
    uninstall();
  };
  start_empty();
  BOOST_TEST(modlock({"install", "fork", "--from", bundle}).exit_code == 0);
  forget_sources();
  const Ran refused = modlock({"install", "fork", "--offline"});
  BOOST_TEST(refused.exit_code == 7, refused.err);
  BOOST_TEST(refused.err.find("[OFFLINE_MISS]") != std::string::npos, refused.err);
  use_store();
  BOOST_TEST(modlock({"install", "fork"}).exit_code == 0);
  BOOST_TEST(server.lines().size() == 1U);  // the index: the content is known
  // The source is asked once.
  environment.erase("TOFU_MODLOCK_REMOTE");
  forget_sources();
  BOOST_TEST(modlock({"install", "fork"}).exit_code == 0);
  fs::rename(repositories(), path("elsewhere"));
  uninstall();
  BOOST_TEST(modlock({"install", "fork"}).exit_code == 0);
}

// Two sources have the same files in different commits.
BOOST_AUTO_TEST_CASE(packages_with_the_same_files_keep_their_commits) {
  write(".terraform.lock.hcl", honest);
  GitRepository& copy = repository("copy.git");
  copy.commit({{"README", "another history\n"}});
  release(copy, "1.0.0");
  write("copy.tf", module_call("copy", "git::" + copy.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(hash_of(lock().substr(lock().find("module \"net\"")), "h1:") ==
             hash_of(lock().substr(lock().find("module \"copy\"")), "h1:"));
  const std::string bundle = path("both").string();
  BOOST_TEST(modlock({"bundle", "create", "--output", bundle}).exit_code == 0);
  const Ran verified = modlock({"bundle", "verify", bundle});
  BOOST_TEST(verified.exit_code == 0, verified.err);
  start_empty();
  const Ran installed = modlock({"install", "--from", bundle, "--remote-only"});
  BOOST_TEST(installed.exit_code == 0, installed.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
