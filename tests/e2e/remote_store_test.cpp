// The remote store of a fleet: packages of a lock file come from a repository of an OCI registry before their sources.

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/package/pack.h"
#include "backends/package/unpack.h"
#include "backends/remote/layout.h"
#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/closures_of.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"
#include "tests/support/served_bundle.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "/v2/platform/modules/";

// A root that calls a module, which calls another one; both are in a bundle that a server on the loopback serves.
struct RemoteScene : Scene {
  RemoteScene()
      : server([this](const ReceivedRequest& request) { return answer_from_bundle(path("modules"), request); }) {
    GitRepository& network = repository("network.git");
    release(network, "1.0.0");
    GitRepository& vpc = repository("vpc.git");
    release(vpc, "1.0.0",
            {{"nested.tf", module_call("network", "git::file://" + network.path().string() + "?ref=v1.0.0")}});
    write("main.tf", module_call("vpc", "git::file://" + vpc.path().string() + "?ref=v1.0.0"));
    BOOST_TEST(modlock({"lock"}).exit_code == 0);
    BOOST_TEST(modlock({"bundle", "create", "--output", path("modules").string()}).exit_code == 0);
    name_text(server.host(), "<registry>");
    use(address());
  }
  void use(const std::string& remote) {
    environment["TOFU_MODLOCK_REMOTE"] = remote;
    environment["TOFU_MODLOCK_REMOTE_PLAIN_HTTP"] = "1";
  }
  std::string address() const { return "oci://" + server.host() + "/platform/modules"; }
  void start_empty() const {
    fs::remove_all(cache());
    fs::remove_all(root() / ".terraform");
  }
  void remove_sources() const { fs::rename(repositories(), path("elsewhere")); }
  // Returns the path of the layer of a module on the server.
  std::string layer(const std::string& module) const {
    const auto listed = json({"bundle", "list", "--json", path("modules").string()});
    for (const Json::Value& package : listed["closures"][0]["packages"]) {
      if (package["source"].asString().find(module) != std::string::npos) {
        const std::string manifest = package["manifest"].asString();
        const auto text = parse_json(read_text(path("modules") / ("blobs/sha256/" + manifest.substr(7))));
        return std::string(kPrefix) + "blobs/" + (*text)["layers"][0]["digest"].asString();
      }
    }
    return {};
  }
  remote::NamedClosure closure() const {
    const auto layout = remote::Layout::open(path("modules"), path("modules"), Context{});
    return closures_of(*layout).value().at(0);
  }
  fs::path blob(const remote::Blob& blob) const { return path("modules/blobs/sha256") / blob.digest.substr(7); }
  // Returns the package of a module.
  remote::BundledPackage package(const std::string& module) const {
    const remote::NamedClosure one = closure();
    const auto& packages = one.closure.packages;
    return *std::find_if(packages.begin(), packages.end(), [&](const remote::BundledPackage& package) {
      return package.source.find(module) != std::string::npos;
    });
  }
  std::string tag(const std::string& module) const { return package(module).tag(); }
  std::size_t cache_packages() const { return json({"cache", "info"})["sizes"]["packages"].asUInt(); }
  std::vector<std::string> requests_of(const std::vector<std::string>& arguments) {
    const std::size_t before = server.lines().size();
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
    const auto lines = server.lines();
    return {lines.begin() + static_cast<std::ptrdiff_t>(before), lines.end()};
  }

  FaultServer server;
};

bool is_executable(const fs::path& file) {
  return (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(remote_store, RemoteScene)

BOOST_AUTO_TEST_CASE(an_empty_runner_asks_for_the_closure_and_the_layers) {
  start_empty();
  remove_sources();
  const auto requests = requests_of({"install"});
  BOOST_TEST_REQUIRE(requests.size() == 5U);  // a zip and trees for each package
  BOOST_TEST(requests[0].starts_with("GET /v2/platform/modules/manifests/closure-"), requests[0]);
  for (std::size_t i = 1; i < requests.size(); ++i) {
    BOOST_TEST(requests[i].starts_with("GET /v2/platform/modules/blobs/sha256:"), requests[i]);
  }
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(!fs::exists(cache() / "v2/identities"), "a remote store proved what a source has");
}

// A package that its trees prove is in the cache, which proves nothing of its source.
BOOST_AUTO_TEST_CASE(a_second_command_sends_no_request) {
  start_empty();
  remove_sources();
  BOOST_TEST(requests_of({"install"}).size() == 5U);
  fs::remove_all(root() / ".terraform");
  BOOST_TEST(requests_of({"install"}).empty());
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(!fs::exists(cache() / "v2/identities"), "a remote store proved what a source has");
  BOOST_TEST(!fs::exists(cache() / "v2/packages"), "a remote store chose what verify knows");
  BOOST_TEST(cache_packages() == 2U);
  // A package that was changed there is downloaded again.
  for (const fs::directory_entry& package : fs::directory_iterator(cache() / "v2/proven")) {
    const fs::path file = package.path() / "tree/main.tf";
    fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
  }
  fs::remove_all(root() / ".terraform");
  BOOST_TEST(requests_of({"install"}).size() == 5U);
  BOOST_TEST(!is_executable(root() / ".terraform/modules/vpc/main.tf"));
}

// In offline mode, what a bundle listed is used. Without it the sources are asked, once.
BOOST_AUTO_TEST_CASE(packages_of_a_bundle_need_no_store_offline) {
  start_empty();
  remove_sources();
  const Ran from = modlock({"install", "--from", path("modules").string()});
  BOOST_TEST(from.exit_code == 0, from.err);
  environment.erase("TOFU_MODLOCK_REMOTE");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"install"}, {"lock"}, {"lock", "--frozen"}, {"explain", "module.vpc.network"}}) {
    BOOST_TEST_CONTEXT(arguments.front()) {
      fs::remove_all(root() / ".terraform");
      BOOST_TEST(modlock(arguments).exit_code == 5);
      std::vector<std::string> offline = arguments;
      offline.emplace_back("--offline");
      BOOST_TEST(requests_of(offline).empty());
    }
  }
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(!fs::exists(cache() / "v2/identities"), "a bundle proved what a source has");
  fs::rename(path("elsewhere"), repositories());
  for (const bool has_sources : {true, false}) {
    fs::remove_all(root() / ".terraform");
    BOOST_TEST(modlock({"install"}).exit_code == 0);
    if (has_sources) {
      remove_sources();
      BOOST_TEST(fs::exists(cache() / "v2/identities"));
    }
  }
  // A lock entry with another commit is not proven.
  std::string other = lock();
  const std::string commit = package("vpc").origin;
  other.replace(other.find(commit), commit.size(), "git:" + std::string(40, '1'));
  write(".terraform.lock.hcl", other);
  fs::remove_all(root() / ".terraform");
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 7);
}

// What a machine has only from the store is a bundle again, with the same zips and trees: in offline mode also without
// the store.
BOOST_AUTO_TEST_CASE(packages_of_the_store_are_bundled_again) {
  std::vector<std::string> again = {"bundle", "create", "--output", path("again").string()};
  const auto same_bytes = [&] {
    std::size_t blobs = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path("modules"))) {
      if (entry.is_regular_file()) {
        const fs::path name = fs::relative(entry.path(), path("modules"));
        BOOST_TEST((read_text(path("again") / name) == read_text(entry.path())), name);
        ++blobs;
      }
    }
    BOOST_TEST(blobs == 10U);  // two files of the layout, the config, the closure, and three blobs of each package
    BOOST_TEST(modlock({"bundle", "verify", path("again").string()}).exit_code == 0);
  };
  start_empty();
  remove_sources();
  BOOST_TEST(requests_of(again).size() == 5U);
  same_bytes();
  fs::remove_all(path("again"));
  environment.erase("TOFU_MODLOCK_REMOTE");
  BOOST_TEST(modlock(again).exit_code == 5);
  again.emplace_back("--offline");
  BOOST_TEST(requests_of(again).empty());
  same_bytes();
  // Without trees it is still a bundle.
  for (const fs::directory_entry& package : fs::directory_iterator(cache() / "v2/proven")) {
    BOOST_TEST(fs::remove(package.path() / "trees"));
  }
  const std::string zip = package("vpc").layer.digest;
  fs::rename(path("again"), path("modules-with-trees"));
  const Ran without = modlock(again);
  BOOST_TEST(without.exit_code == 0, without.err);
  BOOST_TEST(fs::exists(path("again/blobs/sha256") / zip.substr(7)));
  BOOST_TEST(!fs::exists(path("again/blobs/sha256") / package("vpc").trees.digest.substr(7)));
}

// The zips have the locked content, and executable bits that the commit does not have.
BOOST_AUTO_TEST_CASE(modes_that_the_commit_does_not_have_are_refused) {
  const remote::NamedClosure honest = closure();
  remote::LayoutWriter writer(path("work"));
  remote::NamedClosure lying{honest.tag, {}};
  fs::create_directories(path("tree"));
  for (remote::BundledPackage package : honest.closure.packages) {
    fs::remove_all(path("tree"));
    fs::create_directories(path("tree"));
    BOOST_REQUIRE(unpack_archive(blob(package.layer), ArchiveFormat::zip, path("tree"), "it", Context{}).has_value());
    fs::permissions(path("tree/main.tf"), fs::perms::owner_exec, fs::perm_options::add);
    package.layer =
        writer.add([&](const ByteSink& sink) { return pack_zip(path("tree"), package.h1, sink, Context{}); }).value();
    BOOST_REQUIRE(writer.add(read_text(blob(package.trees))).has_value());
    package.manifest = remote::blob_of(write_package_manifest(package));
    lying.closure.packages.push_back(package);
  }
  fs::remove_all(path("modules"));
  BOOST_REQUIRE(writer.add_closure(lying).has_value());
  BOOST_REQUIRE(writer.finish(path("modules"), Context{}).has_value());
  const Ran verified = modlock({"bundle", "verify", path("modules").string()});
  BOOST_TEST(verified.exit_code == 4, verified.err);
  start_empty();
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const remote::BundledPackage& package = lying.closure.packages[0];
  BOOST_TEST(occurrences(ran.err, "Warning: ") == 2U, ran.err);
  BOOST_TEST(occurrences(ran.err, "the package " + package.layer.digest + " with the trees " + package.trees.digest +
                                      ": it does not match commit ") == 1U,
             ran.err);
  BOOST_TEST(occurrences(ran.err, ": \"main.tf\" has another kind or executable bit [HASH_MISMATCH]") == 2U, ran.err);
  BOOST_TEST(!is_executable(root() / ".terraform/modules/vpc/main.tf"));
}

BOOST_AUTO_TEST_CASE(warm_caches_need_no_request) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"install"}, {"lock"}, {"lock", "--frozen"}, {"verify"}, {"upgrade"}}) {
    BOOST_TEST(requests_of(arguments).empty(), arguments.front());
  }
}

BOOST_AUTO_TEST_CASE(locked_packages_are_read_from_the_store_by_every_command) {
  remove_sources();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"lock"}, {"lock", "--frozen"}, {"explain", "module.vpc.network"}}) {
    BOOST_TEST_CONTEXT(arguments.front()) {
      start_empty();
      BOOST_TEST(requests_of(arguments).size() == 5U);
    }
  }
}

// An upgrade and a call that is not locked ask the sources, although the store has a package.
BOOST_AUTO_TEST_CASE(the_store_resolves_nothing) {
  start_empty();
  BOOST_TEST(requests_of({"upgrade"}).empty());
  start_empty();
  fs::rename(root() / ".terraform.lock.hcl", path("before"));
  BOOST_TEST(requests_of({"lock"}).empty());
  BOOST_TEST(lock() == read_text(path("before")));
}

BOOST_AUTO_TEST_CASE(denied_sources_are_not_asked_for) {
  start_empty();
  write_text(path("home/.config/tofu-modlock/config.hcl"), "deny_sources = [\"git::file://*\"]\n");
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 8, ran.err);
  BOOST_TEST(ran.err.find("[SOURCE_DENIED]") != std::string::npos, ran.err);
  BOOST_TEST(server.lines().empty());
}

// The module of a denied call is not downloaded, also if the store lists it.
BOOST_AUTO_TEST_CASE(a_denied_source_of_a_lock_file_is_not_asked_for) {
  start_empty();
  const std::string network = layer("network");
  write_text(path("home/.config/tofu-modlock/config.hcl"), "deny_sources = [\"git::file://*/network.git*\"]\n");
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 8, ran.err);
  BOOST_TEST(ran.err.find("[SOURCE_DENIED]") != std::string::npos, ran.err);
  BOOST_TEST(server.lines().size() == 3U);
  for (const std::string& line : server.lines()) {
    BOOST_TEST(line.find(network) == std::string::npos, line);
  }
}

// The directory of a module in its package is chosen by the source, or by a registry of modules.
BOOST_AUTO_TEST_CASE(a_store_does_not_choose_the_directory_of_a_git_module) {
  start_empty();
  const auto layout = parse_json(read_text(path("modules/index.json")));
  std::string index =
      read_text(path("modules/blobs/sha256") / (*layout)["manifests"][0]["digest"].asString().substr(7));
  const std::string origin = "\"tofu-modlock.origin\":";
  for (std::size_t at = 0; (at = index.find(origin, at)) != std::string::npos;) {
    const std::string subdir = "\"tofu-modlock.subdir\":\"elsewhere\",";
    index.insert(at, subdir);
    at += subdir.size() + origin.size();
  }
  BOOST_TEST_REQUIRE(occurrences(index, "elsewhere") == 2U);
  server.add({.behaviour = faults::answer({.body = index}), .path = std::string(kPrefix) + "manifests"});
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read(".terraform/modules/modules.json").find("elsewhere") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_module_that_vanished_may_be_in_the_store) {
  remove_sources();
  const Ran there = modlock({"verify", "--online"});
  BOOST_TEST(there.exit_code == 5, there.err);
  BOOST_TEST(occurrences(there.out + there.err, "; oci://<registry>/platform/modules has the package") == 2U,
             there.out + there.err);
  BOOST_TEST(server.lines().size() == 1U);
  server.add({.behaviour = faults::status(404)});
  const Ran gone = modlock({"verify", "--online"});
  BOOST_TEST(occurrences(gone.out + gone.err, "; oci://<registry>/platform/modules does not have the package") == 2U,
             gone.out + gone.err);
}

// The lock file has another closure, but its unchanged entries have the same tags.
BOOST_AUTO_TEST_CASE(a_changed_lock_file_finds_the_packages_of_its_other_entries) {
  GitRepository& subnet = repository("subnet.git");
  release(subnet, "1.0.0");
  write("subnet.tf", module_call("subnet", "git::file://" + subnet.path().string() + "?ref=v1.0.0"));
  environment.erase("TOFU_MODLOCK_REMOTE");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  use(address());
  start_empty();
  const Ran installed = modlock({"install"});
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(installed.err == "");
  auto requests = server.lines();
  BOOST_TEST_REQUIRE(requests.size() == 8U);
  BOOST_TEST(requests[0].starts_with("GET /v2/platform/modules/manifests/closure-"), requests[0]);
  BOOST_TEST(occurrences(requests[1] + requests[2] + requests[3], "GET /v2/platform/modules/manifests/module-") == 3U);
  BOOST_TEST(occurrences(requests[4] + requests[5] + requests[6] + requests[7],
                         "GET /v2/platform/modules/blobs/sha256:") == 4U);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  start_empty();
  const Ran named = modlock({"install", "--from", address()});
  BOOST_TEST(named.exit_code == 0, named.err);
  BOOST_TEST(named.err ==
             "Warning: not installed from oci://<registry>/platform/modules: it does not have 1 of 3 packages of this "
             "lock file\n");
  start_empty();
  remove_sources();
  const Ran only = modlock({"install", "--remote-only"});
  BOOST_TEST(only.exit_code == 7, only.err);
  BOOST_TEST(only.err.find("the package of module.subnet (git::file://") != std::string::npos, only.err);
  const Ran gone = modlock({"verify", "--online"});
  BOOST_TEST(occurrences(gone.out + gone.err, "; oci://<registry>/platform/modules has the package") == 1U,
             gone.out + gone.err);
  BOOST_TEST(occurrences(gone.out + gone.err, "; oci://<registry>/platform/modules does not have the package") == 1U);
}

// The closure is missing, and the packages are requested by their tags.
BOOST_AUTO_TEST_CASE(faults_of_tags) {
  struct Row {
    const char* name;
    Behaviour behaviour;
    std::string warning;  // empty: none
  };
  const std::string closure = std::string(kPrefix) + "manifests/closure-";
  const std::string network = tag("network");
  ReceivedRequest request;
  request.target = std::string(kPrefix) + "manifests/" + network;
  const std::string manifest = answer_from_bundle(path("modules"), request).body;
  const Row rows[] = {
      {"missing", faults::status(404), ""},
      {"of another lock entry", faults::answer({.body = manifest}),
       fmt::format("{} of \"oci://<registry>/platform/modules\" is damaged: it is the package of another lock entry "
                   "[SOURCE_INVALID]",
                   tag("vpc"))},
      {"no manifest", faults::answer({.body = "{}"}), "is damaged: it is not the manifest of a module package"},
      {"no access", faults::status(403), "not installed from oci://<registry>/platform/modules: "},
      {"an endless manifest", faults::endless_body(), "not installed from oci://<registry>/platform/modules: "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      start_empty();
      server.clear_rules();
      server.add({.behaviour = faults::status(404), .path = closure});
      server.add({.behaviour = row.behaviour, .path = std::string(kPrefix) + "manifests/" + tag("vpc")});
      const Ran ran = modlock({"install"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(occurrences(ran.err, "Warning: ") == (row.warning.empty() ? 0U : 1U), ran.err);
      BOOST_TEST(ran.err.find(row.warning) != std::string::npos, ran.err);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(offline_sends_no_request) {
  start_empty();
  const Ran ran = modlock({"install", "--offline"});
  BOOST_TEST(ran.exit_code == 7, ran.err);
  BOOST_TEST(ran.err.find("not installed from") == std::string::npos, ran.err);
  BOOST_TEST(server.lines().empty());
}

BOOST_AUTO_TEST_CASE(the_setting_of_a_user_names_a_store) {
  environment.erase("TOFU_MODLOCK_REMOTE");
  write_text(path("home/.config/tofu-modlock/config.hcl"), "remote_store = \"" + address() + "\"\n");
  start_empty();
  BOOST_TEST(requests_of({"install"}).size() == 5U);
}

BOOST_AUTO_TEST_CASE(unusable_addresses) {
  struct Row {
    const char* name;
    std::string remote;
    std::string settings;
    int exit_code;
    std::string err;
  };
  const Row rows[] = {
      {"another machine", "oci://registry.example.com/a", "", 2,
       "\"oci://registry.example.com/a\" is not on this machine, and plain http is only for the loopback"},
      {"no registry", "https://example.com/a", "", 8, "is not a repository of an OCI registry"},
      {"a tag", address() + "?tag=x", "", 8, "TOFU_MODLOCK_REMOTE names it"},
      {"a setting", "", "remote_store = \"modules\"\n", 8, "remote_store names it"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      environment["TOFU_MODLOCK_REMOTE"] = row.remote;
      write_text(path("home/.config/tofu-modlock/config.hcl"), row.settings);
      const Ran ran = modlock({"install"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.err) != std::string::npos, ran.err);
    }
  }
  fs::remove(path("home/.config/tofu-modlock/config.hcl"));
  const Ran flag = modlock({"install", "--plain-http", "--from", "oci://registry.example.com/a"});
  BOOST_TEST(flag.exit_code == 2, flag.err);
}

BOOST_AUTO_TEST_CASE(variables_that_turn_something_on) {
  const struct {
    const char* value;
    int exit_code;
  } rows[] = {{"1", 0}, {"true", 0}, {"YES", 0}, {"on", 0}, {"maybe", 2}};
  remove_sources();
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.value) {
      environment["TOFU_MODLOCK_REMOTE_PLAIN_HTTP"] = row.value;
      start_empty();
      const Ran ran = modlock({"install"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(
          (row.exit_code == 0 || ran.err == "Error: TOFU_MODLOCK_REMOTE_PLAIN_HTTP: expected 1 or 0, found \"maybe\" "
                                            "[INVALID_PARAMS]\n  hint: set it to 1 or 0\n"),
          ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_variable_of_an_older_version_is_ignored) {
  for (const auto& [value, advice] : {std::pair("1", "; to push packages, run: tofu-modlock bundle push --recursive"),
                                      std::pair("0", ": unset it")}) {
    environment["TOFU_MODLOCK_REMOTE_WRITE"] = value;
    const Ran ran = modlock({"install"});
    BOOST_TEST(ran.exit_code == 0);
    BOOST_TEST(ran.err == fmt::format("Warning: TOFU_MODLOCK_REMOTE_WRITE is ignored{}\n", advice));
  }
}

// Without the flag only https is spoken, which this server does not understand.
BOOST_AUTO_TEST_CASE(plain_http_needs_its_flag) {
  environment.erase("TOFU_MODLOCK_REMOTE");
  environment.erase("TOFU_MODLOCK_REMOTE_PLAIN_HTTP");
  start_empty();
  const Ran without = modlock({"install", "--from", address()});
  BOOST_TEST(without.exit_code == 0, without.err);
  BOOST_TEST(occurrences(without.err, "Warning: not installed from " + shown(address())) == 1U, without.err);
  const std::string hint = "if it uses plain http, add --plain-http or set TOFU_MODLOCK_REMOTE_PLAIN_HTTP=1";
  BOOST_TEST(without.err.find(hint) != std::string::npos, without.err);
  const Ran push = modlock({"bundle", "push", address()});
  BOOST_TEST(push.exit_code == 7, push.err);
  BOOST_TEST(push.err.find(hint) != std::string::npos, push.err);
  const Ran verify = modlock({"bundle", "verify", address()});
  BOOST_TEST(verify.exit_code == 7, verify.err);
  BOOST_TEST(verify.err.find(hint) != std::string::npos, verify.err);
  BOOST_TEST(server.lines().empty());
  start_empty();
  BOOST_TEST(requests_of({"install", "--from", address(), "--plain-http"}).size() == 5U);
}

BOOST_AUTO_TEST_CASE(repository_is_verified_and_listed) {
  environment.erase("TOFU_MODLOCK_REMOTE_PLAIN_HTTP");
  environment.erase("TOFU_MODLOCK_REMOTE");
  start_empty();
  const Ran verified = modlock({"bundle", "verify", "--plain-http", address()});
  BOOST_TEST(verified.exit_code == 0, verified.err);
  BOOST_TEST(verified.out == "All digests and hashes match: 2 packages for 1 lock file, 1 KiB.\n");
  BOOST_TEST(server.lines().size() == 9U);  // tags, closure, config, and manifest, layer and trees of two packages
  const Ran listed = modlock({"bundle", "list", "--plain-http", address()});
  BOOST_TEST(listed.exit_code == 0, listed.err);
  BOOST_TEST(listed.out == modlock({"bundle", "list", path("modules").string()}).out);
  BOOST_TEST(server.lines().size() == 11U);
  const std::string vpc = layer("vpc");
  const std::string index = std::string(kPrefix) + "manifests/closure-";
  struct Row {
    const char* name;
    std::string path;
    Behaviour behaviour;
    int exit_code;
    std::string err;
  };
  const Row rows[] = {
      {"swapped blob", vpc, faults::answer({.body = "PK"}), 4, vpc.substr(vpc.find("sha256:"))},
      {"missing blob", vpc, faults::status(404), 7, vpc.substr(vpc.find("sha256:"))},
      {"another manifest", std::string(kPrefix) + "manifests/sha256:", faults::answer({.body = "{}"}), 4,
       "manifest content does not match digest"},
      {"another index", index, faults::answer({.body = "{}"}), 8, "is damaged: "},
      {"no closure", std::string(kPrefix) + "tags", faults::answer({.body = R"({"tags":["latest"]})"}), 7,
       "\"oci://<registry>/platform/modules\" has no bundle"},
      {"no access", std::string(kPrefix), faults::status(403), 7, "[FORBIDDEN]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      server.clear_rules();
      server.add({.behaviour = row.behaviour, .path = row.path});
      const Ran ran = modlock({"bundle", "verify", "--plain-http", address()});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.err) != std::string::npos, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(doctor_queries_the_remote_store) {
  const auto lines = requests_of({"doctor", "--online"});
  BOOST_TEST_REQUIRE(lines.size() == 1U);
  BOOST_TEST(lines[0].starts_with("HEAD /v2/platform/modules/manifests/closure-"), lines[0]);
  const Ran there = modlock({"doctor", "--online"});
  BOOST_TEST(there.out.find("remote store oci://<registry>/platform/modules") != std::string::npos, there.out);
  BOOST_TEST(there.out.find("has the packages of this lock file") != std::string::npos, there.out);
  server.add({.behaviour = faults::status(404), .count = 1});
  const Ran missing = modlock({"doctor", "--online"});
  BOOST_TEST(missing.exit_code == 0, missing.out);
  BOOST_TEST(missing.out.find("does not have the packages of this lock file") != std::string::npos, missing.out);
  server.clear_rules();
  const std::string locked = lock();
  fs::remove(root() / ".terraform.lock.hcl");
  const Ran reached = modlock({"doctor", "--online"});
  BOOST_TEST(reached.out.find("can be reached") != std::string::npos, reached.out);
  write(".terraform.lock.hcl", locked);
  server.add({.behaviour = faults::status(403)});
  const Ran refused = modlock({"doctor", "--online"});
  BOOST_TEST(refused.exit_code == 7, refused.out);
  BOOST_TEST(requests_of({"doctor"}).empty());
}

BOOST_AUTO_TEST_CASE(remote_only_asks_no_source) {
  start_empty();
  server.add({.behaviour = faults::status(404), .path = std::string(kPrefix) + "manifests"});
  const Ran missing = modlock({"install", "--remote-only"});
  BOOST_TEST(missing.exit_code == 7, missing.err);
  BOOST_TEST(missing.err.find("the package of module.vpc (git::file://") != std::string::npos, missing.err);
  BOOST_TEST(missing.err.find("is neither in the cache nor in oci://<registry>/platform/modules") != std::string::npos,
             missing.err);
  server.clear_rules();
  BOOST_TEST(modlock({"install", "--remote-only"}).exit_code == 0);
  environment.erase("TOFU_MODLOCK_REMOTE");
  const Ran none = modlock({"install", "--remote-only"});
  BOOST_TEST(none.exit_code == 2, none.err);
}

// A client follows an override file without contacting the source, and a store proves no commit.
BOOST_AUTO_TEST_CASE(remote_only_names_a_call_that_needs_an_override_file) {
  write("main.tf", "module \"vpc\" {\n  source  = \"git::file://" + repository("vpc.git").path().string() +
                       "\"\n  version = \"~> 1.0\"\n}\n");
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  fs::remove_all(path("modules"));
  BOOST_TEST(modlock({"bundle", "create", "--output", path("modules").string()}).exit_code == 0);
  start_empty();
  const Ran missing = modlock({"install", "--remote-only"});
  BOOST_TEST(missing.exit_code == 7, missing.err);
  BOOST_TEST(missing.err.find("module.vpc needs an override file, so its package must come from its source or the "
                              "cache") != std::string::npos,
             missing.err);
  BOOST_TEST(missing.err.find("hint: install without --remote-only") != std::string::npos, missing.err);
}

// What the store does wrong costs a warning, and the sources are asked.
BOOST_AUTO_TEST_CASE(faults_of_the_store) {
  struct Row {
    const char* name;
    std::string path;
    Behaviour behaviour;
    std::string warning;
  };
  const std::string vpc = layer("vpc");
  const std::string digest = vpc.substr(vpc.find("sha256:"));
  const std::string trees = std::string(kPrefix) + "blobs/" + package("vpc").trees.digest;
  const std::string index = std::string(kPrefix) + "manifests";
  const Row rows[] = {
      {"no access", index, faults::status(403), "not installed from oci://<registry>/platform/modules: "},
      {"another index", index, faults::answer({.body = "{}"}), "is damaged: "},
      {"no http", index, faults::not_http(), "not installed from oci://<registry>/platform/modules: "},
      {"swapped blob", vpc, faults::answer({.body = "PK"}), digest},
      {"truncated blob", vpc, faults::truncated(), digest},
      {"missing blob", vpc, faults::status(404), digest},
      {"swapped trees", trees, faults::answer({.body = "tree"}), package("vpc").trees.digest},
      {"missing trees", trees, faults::status(404), package("vpc").trees.digest},
      {"endless trees", trees, faults::endless_body(), package("vpc").trees.digest},
      {"plain http elsewhere", vpc, faults::redirect("http://registry.example.com/blob"), digest},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      start_empty();
      server.clear_rules();
      server.add({.behaviour = row.behaviour, .path = row.path});
      const Ran ran = modlock({"install"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(occurrences(ran.err, "Warning: ") == 1U, ran.err);
      BOOST_TEST(ran.err.find(row.warning) != std::string::npos, ran.err);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_password_in_an_address_is_not_shown) {
  const std::string secret = "oci://user:hunter2@registry.example.test/a";
  write_text(path("home/.config/tofu-modlock/config.hcl"), "remote_store = \"" + secret + "\"\n");
  const Ran doctor = modlock({"doctor"});
  BOOST_TEST(doctor.out.find("remote_store = oci://…@registry.example.test/a") != std::string::npos, doctor.out);
  for (const std::string& remote : {std::string(), secret}) {
    environment["TOFU_MODLOCK_REMOTE"] = remote;
    const Ran ran = modlock({"install"});
    BOOST_TEST(ran.exit_code == 8, ran.err);
    BOOST_TEST(ran.err.find("must not contain a user or password [SOURCE_INVALID]") != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find("hunter2") == std::string::npos, ran.err);
  }
}

// A store that lacks the closure is normal before it was pushed.
BOOST_AUTO_TEST_CASE(a_missing_closure_is_no_warning) {
  start_empty();
  server.add({.behaviour = faults::status(404)});
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "");
}

BOOST_AUTO_TEST_CASE(a_silent_store_costs_ten_seconds) {
  start_empty();
  server.add({.behaviour = faults::black_hole()});
  write("other/main.tf", read("main.tf"));
  write("other/.terraform.lock.hcl", lock());
  const auto begun = std::chrono::steady_clock::now();
  const Ran ran = modlock({"install", ".", "other", "--jobs", "1"});
  BOOST_TEST((std::chrono::steady_clock::now() - begun < std::chrono::seconds(20)));
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(occurrences(ran.err, "\"oci://<registry>/platform/modules\" did not send everything within 10 s") == 1U,
             ran.err);
}

BOOST_AUTO_TEST_CASE(blobs_on_another_host_get_no_secrets) {
  FaultServer blobs([this](const ReceivedRequest& request) { return answer_from_bundle(path("modules"), request); });
  write_text(path("home/.tofurc"),
             "oci_credentials \"" + server.host() + "\" {\n  username = \"reader\"\n  password = \"secret\"\n}\n");
  const std::string vpc = layer("vpc");
  server.add({.behaviour = faults::redirect("http://127.0.0.1:" + std::to_string(blobs.port()) + vpc), .path = vpc});
  server.add({.behaviour = faults::answer({.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"x\""}}}),
              .count = 1});
  start_empty();
  remove_sources();
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const auto log = blobs.log();
  BOOST_TEST_REQUIRE(log.size() == 1U);
  BOOST_TEST(log[0].header("Authorization") == "");
  BOOST_TEST(!server.log().back().header("Authorization").empty());
}

// The lists of the user, and of the root module where there is one, also judge where a registry leads.
BOOST_AUTO_TEST_CASE(no_command_follows_a_denied_redirect_of_a_bundle) {
  FaultServer blobs([this](const ReceivedRequest& request) { return answer_from_bundle(path("modules"), request); });
  const std::string host = "127.0.0.1:" + std::to_string(blobs.port());
  const std::string vpc = layer("vpc");
  server.add({.behaviour = faults::redirect("http://" + host + vpc), .path = vpc});
  struct Command {
    std::vector<std::string> arguments;
    bool has_root = true;     // and its settings
    bool falls_back = false;  // to the sources, with a warning
  };
  const std::string of_user = "home/.config/tofu-modlock/config.hcl";
  const std::string of_root = "root/.tofu-modlock.hcl";
  const std::vector<Command> commands = {
      {{"install"}, true, true},
      {{"install", "--from", address(), "--plain-http"}},
      {{"install", "--from", address(), "--plain-http", "--remote-only"}},
      {{"ci", "--from", address(), "--plain-http"}, true, true},
      {{"bundle", "pull", address(), "--plain-http", "--output", path("pulled").string()}},
      {{"bundle", "verify", address(), "--plain-http"}, false},
      {{"bundle", "push", "--check", "--plain-http", address()}, false},
  };
  const std::string allowed =
      "allow_sources = [\"git::file://*\", \"oci://" + server.host() + "/*\", \"http://" + server.host() + "/*\"";
  const std::vector<std::pair<std::string, bool>> rules = {
      {"", true},
      {"deny_sources = [\"https://*\", \"git::*.example.com/*\"]\n", true},
      {allowed + ", \"http://" + host + "/*\"]\n", true},
      {"deny_sources = [\"http://" + host + "/*\"]\n", false},
      {"deny_sources = [\"*" + host + "*\"]\n", false},
      {allowed + "]\n", false},
  };
  for (const Command& command : commands) {
    for (const std::string& file : {of_user, of_root}) {
      for (const auto& [rule, is_followed] : rules) {
        if (file == of_root && !command.has_root) {
          continue;
        }
        BOOST_TEST_CONTEXT(fmt::format("{} with {} {}", fmt::join(command.arguments, " "), file, rule)) {
          const bool pushes = command.arguments.at(1 % command.arguments.size()) == "push";
          if (!pushes) {
            start_empty();
          }
          fs::remove_all(path("pulled"));
          fs::remove(path(of_user));
          fs::remove(path(of_root));
          write_text(path(file), rule);
          const std::size_t before = blobs.log().size();
          const Ran ran = modlock(command.arguments);
          BOOST_TEST((blobs.log().size() > before) == is_followed, ran.out << ran.err);
          BOOST_TEST(ran.exit_code == (is_followed || command.falls_back ? 0 : 8), ran.err);
          if (!is_followed) {
            BOOST_TEST(ran.err.find("it redirects to http://" + host) != std::string::npos, ran.err);
          }
          if (!is_followed && !command.falls_back && rule.starts_with("allow")) {
            BOOST_TEST(ran.err.find("hint: if you trust this server, add \"http://" + host + "/*\" to allow_sources") !=
                           std::string::npos,
                       ran.err);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
