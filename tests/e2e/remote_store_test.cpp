// The remote store of a fleet: packages of a lock file come from a repository of an OCI registry before their sources.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "/v2/platform/modules/";

// Serves a bundle as a registry does.
ServerAnswer answer_from(const fs::path& bundle, const ReceivedRequest& request) {
  const std::string rest = request.path().substr(std::min(kPrefix.size(), request.path().size()));
  const std::string name = rest.substr(rest.find('/') == std::string::npos ? 0 : rest.find('/') + 1);
  std::string digest = name;
  if (rest.starts_with("manifests/closure-")) {
    const auto index = parse_json(read_text(bundle / "index.json"));
    digest.clear();
    for (const Json::Value& entry : (*index)["manifests"]) {
      if (entry["annotations"]["org.opencontainers.image.ref.name"].asString() == name) {
        digest = entry["digest"].asString();
      }
    }
  }
  const auto text = digest.size() > 7 ? read_file(bundle / "blobs/sha256" / digest.substr(7))
                                      : Result<std::string>(fail(Code::not_found, ""));
  if (!text) {
    return {.status = 404};
  }
  return {.headers = {{"Docker-Content-Digest", digest}}, .body = *text};
}

// A root that calls a module, which calls another one; both are in a bundle that a server on the loopback serves.
struct RemoteScene : Scene {
  RemoteScene() : server([this](const ReceivedRequest& request) { return answer_from(path("modules"), request); }) {
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
  std::vector<std::string> requests_of(const std::vector<std::string>& arguments) {
    const std::size_t before = server.lines().size();
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
    const auto lines = server.lines();
    return {lines.begin() + static_cast<std::ptrdiff_t>(before), lines.end()};
  }

  FaultServer server;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(remote_store, RemoteScene)

BOOST_AUTO_TEST_CASE(an_empty_runner_asks_for_the_closure_and_the_layers) {
  start_empty();
  remove_sources();
  const auto requests = requests_of({"install"});
  BOOST_TEST_REQUIRE(requests.size() == 3U);
  BOOST_TEST(requests[0].starts_with("GET /v2/platform/modules/manifests/closure-"), requests[0]);
  BOOST_TEST(requests[1].starts_with("GET /v2/platform/modules/blobs/sha256:"), requests[1]);
  BOOST_TEST(requests[2].starts_with("GET /v2/platform/modules/blobs/sha256:"), requests[2]);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(!fs::exists(cache() / "v2/identities"), "a remote store proved what a source has");
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
      BOOST_TEST(requests_of(arguments).size() == 3U);
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
  BOOST_TEST(server.lines().size() == 2U);
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
  BOOST_TEST_REQUIRE(count(index, "elsewhere") == 2U);
  server.add({.behaviour = faults::answer({.body = index}), .path = std::string(kPrefix) + "manifests"});
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read(".terraform/modules/modules.json").find("elsewhere") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_module_that_vanished_may_be_in_the_store) {
  remove_sources();
  const Ran there = modlock({"verify", "--online"});
  BOOST_TEST(there.exit_code == 5, there.err);
  BOOST_TEST(count(there.out + there.err, "; oci://<registry>/platform/modules has the package") == 2U,
             there.out + there.err);
  BOOST_TEST(server.lines().size() == 1U);
  server.add({.behaviour = faults::status(404)});
  const Ran gone = modlock({"verify", "--online"});
  BOOST_TEST(count(gone.out + gone.err, "; oci://<registry>/platform/modules does not have the package") == 2U,
             gone.out + gone.err);
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
  BOOST_TEST(requests_of({"install"}).size() == 3U);
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

// Without the flag only https is spoken, which this server does not understand.
BOOST_AUTO_TEST_CASE(plain_http_needs_its_flag) {
  environment.erase("TOFU_MODLOCK_REMOTE");
  environment.erase("TOFU_MODLOCK_REMOTE_PLAIN_HTTP");
  start_empty();
  const Ran without = modlock({"install", "--from", address()});
  BOOST_TEST(without.exit_code == 0, without.err);
  BOOST_TEST(count(without.err, "Warning: not installed from " + shown(address())) == 1U, without.err);
  const std::string hint = "if it uses plain http, add --plain-http or set TOFU_MODLOCK_REMOTE_PLAIN_HTTP=1";
  BOOST_TEST(without.err.find(hint) != std::string::npos, without.err);
  const Ran push = modlock({"bundle", "push", address()});
  BOOST_TEST(push.exit_code == 7, push.err);
  BOOST_TEST(push.err.find(hint) != std::string::npos, push.err);
  const Ran verify = modlock({"bundle", "verify", address()});
  BOOST_TEST(verify.exit_code == 2, verify.err);
  BOOST_TEST(verify.err ==
             "Error: \"oci://<registry>/platform/modules\" is in a registry, and this command reads directories and "
             "files [INVALID_PARAMS]\n  hint: download it first: tofu-modlock bundle pull "
             "oci://<registry>/platform/modules --output bundle.tar\n");
  BOOST_TEST(server.lines().empty());
  start_empty();
  BOOST_TEST(requests_of({"install", "--from", address(), "--plain-http"}).size() == 3U);
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
  const std::string index = std::string(kPrefix) + "manifests";
  const Row rows[] = {
      {"no access", index, faults::status(403), "not installed from oci://<registry>/platform/modules: "},
      {"another index", index, faults::answer({.body = "{}"}), "is damaged: "},
      {"no http", index, faults::not_http(), "not installed from oci://<registry>/platform/modules: "},
      {"swapped blob", vpc, faults::answer({.body = "PK"}), digest},
      {"truncated blob", vpc, faults::truncated(), digest},
      {"missing blob", vpc, faults::status(404), digest},
      {"plain http elsewhere", vpc, faults::redirect("http://registry.example.com/blob"), digest},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      start_empty();
      server.clear_rules();
      server.add({.behaviour = row.behaviour, .path = row.path});
      const Ran ran = modlock({"install"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(count(ran.err, "Warning: ") == 1U, ran.err);
      BOOST_TEST(ran.err.find(row.warning) != std::string::npos, ran.err);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
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
  BOOST_TEST(count(ran.err, "\"oci://<registry>/platform/modules\" did not send everything within 10 s") == 1U,
             ran.err);
}

BOOST_AUTO_TEST_CASE(blobs_on_another_host_get_no_secrets) {
  FaultServer blobs([this](const ReceivedRequest& request) { return answer_from(path("modules"), request); });
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
