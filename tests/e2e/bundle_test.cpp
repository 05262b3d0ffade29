// Bundles from outside: created from a lock file, carried to a machine without the sources, installed and verified.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iostream>

#include "backends/base/process.h"
#include "backends/remote/layout.h"
#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/docker_registry.h"
#include "tests/support/oci_module.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

boost::test_tools::assertion_result has_registry(boost::unit_test::test_unit_id) {
  return DockerRegistry::available("bundles as packages of an OCI registry");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

// A root that calls a module, which calls another one.
struct BundleScene : Scene {
  BundleScene() {
    GitRepository& network = repository("network.git");
    release(network, "1.0.0", {{"scripts/run.sh", "#!/bin/sh\n"}});
    GitRepository& vpc = repository("vpc.git");
    release(vpc, "1.0.0",
            {{"nested.tf", module_call("network", "git::file://" + network.path().string() + "?ref=v1.0.0")}});
    write("main.tf", module_call("vpc", "git::file://" + vpc.path().string() + "?ref=v1.0.0"));
    BOOST_TEST(modlock({"lock"}).exit_code == 0);
  }
  Ran create(const std::string& name) const { return modlock({"bundle", "create", "--output", path(name).string()}); }
  // From now on only the root and the bundle exist.
  void leave() const {
    fs::remove_all(cache());
    fs::rename(repositories(), path("elsewhere"));
  }
  // Returns a source with the real directory.
  std::string real_path(std::string source) const {
    const std::size_t at = source.find("<dir>");
    return at == std::string::npos ? source : source.replace(at, 5, path("").parent_path().string());
  }
  // Returns the file of the first layer.
  fs::path layer(const std::string& bundle) const {
    const auto listed = json({"bundle", "list", "--json", path(bundle).string()});
    const std::string manifest = listed["closures"][0]["packages"][0]["manifest"].asString();
    const auto text = parse_json(read_text(path(bundle) / ("blobs/sha256/" + manifest.substr(7))));
    return path(bundle) / ("blobs/sha256/" + (*text)["layers"][0]["digest"].asString().substr(7));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bundle, BundleScene)

BOOST_AUTO_TEST_CASE(modules_are_installed_without_their_sources) {
  for (const char* name : {"modules.tar", "modules"}) {
    const Ran created = create(name);
    BOOST_TEST(created.exit_code == 0, created.err);
    BOOST_TEST(created.err == "");
    BOOST_TEST(created.out.find(": 2 packages for 1 lock file, 0.0 MiB.\n") != std::string::npos, created.out);
  }
  leave();
  BOOST_TEST(modlock({"install"}).exit_code != 0);
  for (const char* name : {"modules.tar", "modules"}) {
    BOOST_TEST_CONTEXT(name) {
      fs::remove_all(root() / ".terraform");
      const Ran verified = modlock({"bundle", "verify", path(name).string()});
      BOOST_TEST(verified.exit_code == 0, verified.err);
      BOOST_TEST(verified.out == "All digests and hashes match: 2 packages for 1 lock file, 0.0 MiB.\n");
      const Ran installed = modlock({"install", "--offline", "--from", path(name).string()});
      BOOST_TEST(installed.exit_code == 0, installed.err);
      BOOST_TEST(installed.out.find("2 installed.\n") != std::string::npos, installed.out);
      const fs::perms mode = fs::status(root() / ".terraform/modules/vpc.network/scripts/run.sh").permissions();
      BOOST_TEST(((mode & fs::perms::owner_exec) == fs::perms::none));
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
  BOOST_TEST(!fs::exists(cache() / "v2/identities"), "a bundle proved what a source has");
}

BOOST_AUTO_TEST_CASE(the_same_locks_have_the_same_bytes) {
  BOOST_TEST(create("a.tar").exit_code == 0);
  fs::remove_all(cache());
  BOOST_TEST(create("b.tar").exit_code == 0);
  BOOST_TEST((read_text(path("a.tar")) == read_text(path("b.tar"))));
}

BOOST_AUTO_TEST_CASE(several_roots_share_packages) {
  write("other/main.tf", read("main.tf"));
  BOOST_TEST(modlock({"lock", "other"}).exit_code == 0);
  const Ran created = modlock({"bundle", "create", "--recursive", "--output", path("all").string()});
  BOOST_TEST(created.exit_code == 0, created.err);
  BOOST_TEST(created.out.find(": 2 packages for 1 lock file") != std::string::npos, created.out);
}

BOOST_AUTO_TEST_CASE(links_and_executable_files_are_kept) {
  GitRepository& tools = repository("tools.git");
  const std::string script = tools.write_blob("#!/bin/sh\n");
  const std::string sub = tools.write_tree("100644 blob " + tools.write_blob("") + "\tmain.tf\n");
  const std::string tree =
      tools.write_tree("120000 blob " + tools.write_blob("sub") + "\talias\n" + "100755 blob " + script + "\trun.sh\n" +
                       "120000 blob " + tools.write_blob("run.sh") + "\tstart\n" + "040000 tree " + sub + "\tsub\n");
  tools.branch("main", tools.commit_tree(tree));
  write("main.tf", module_call("tools", "git::file://" + tools.path().string()));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const Ran created = create("modules");
  BOOST_TEST(created.exit_code == 0, created.err);
  BOOST_TEST(created.err.find("has links; a client that uses the package as an oci:// source gets files instead") !=
                 std::string::npos,
             created.err);
  leave();
  const Ran installed = modlock({"install", "--from", path("modules").string()});
  BOOST_TEST(installed.exit_code == 0, installed.err);
  const fs::path placed = root() / ".terraform/modules/tools";
  BOOST_TEST(fs::read_symlink(placed / "start") == "run.sh");
  BOOST_TEST(fs::read_symlink(placed / "alias") == "sub");
  BOOST_TEST(((fs::status(placed / "run.sh").permissions() & fs::perms::owner_exec) != fs::perms::none));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(damaged_package_is_fetched_from_its_source) {
  BOOST_TEST(create("modules").exit_code == 0);
  const std::string name = layer("modules").filename().string();
  write_text(layer("modules"), "PK swapped");
  fs::remove_all(cache());
  const Ran installed = modlock({"install", "--from", path("modules").string()});
  BOOST_TEST(installed.exit_code == 4, installed.err);
  BOOST_TEST(installed.err.find("Error: the blob sha256:" + name + " of the bundle") != std::string::npos,
             installed.err);
  BOOST_TEST(installed.err.find("the packages were installed from their sources instead") != std::string::npos,
             installed.err);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  fs::remove_all(cache());
  fs::remove_all(root() / ".terraform");
  const Ran offline = modlock({"install", "--offline", "--from", path("modules").string()});
  BOOST_TEST(offline.exit_code == 7, offline.err);
  BOOST_TEST(offline.err.find("the blob sha256:" + name) != std::string::npos, offline.err);
  const Ran only = modlock({"install", "--remote-only", "--from", path("modules").string()});
  BOOST_TEST(only.exit_code == 4, only.err);
  BOOST_TEST(only.err.find("Error: the blob sha256:" + name) != std::string::npos, only.err);
  BOOST_TEST(!has(".terraform/modules/vpc"));
  BOOST_TEST(modlock({"bundle", "verify", path("modules").string()}).exit_code == 4);
}

// Digests and manifests of the bundle are right, but the content is not the locked one.
BOOST_AUTO_TEST_CASE(bundle_with_other_content_is_not_installed) {
  BOOST_TEST(create("modules").exit_code == 0);
  const auto listed = json({"bundle", "list", "--json", path("modules").string()});
  remote::LayoutWriter writer(path("work"));
  remote::Closure closure;
  for (const Json::Value& locked : listed["closures"][0]["packages"]) {
    remote::BundledPackage package{.source = real_path(locked["source"].asString()),
                                   .origin = locked["origin"].asString(),
                                   .h1 = locked["h1"].asString()};
    package.layer = writer.add(zip_of({{"main.tf", "# evil\n"}})).value();
    package.manifest = remote::blob_of(write_package_manifest(package.layer, package.h1));
    closure.packages.push_back(package);
  }
  BOOST_REQUIRE(writer.finish({{closure.tag(), closure}}, path("evil.tar"), Context{}).has_value());
  leave();
  const Ran installed = modlock({"install", "--from", path("evil.tar").string()});
  BOOST_TEST(installed.exit_code != 0);
  BOOST_TEST(installed.err.find("has another content: expected h1:") != std::string::npos, installed.err);
  BOOST_TEST(!has(".terraform/modules/vpc"));
  BOOST_TEST(modlock({"bundle", "verify", path("evil.tar").string()}).exit_code == 4);
}

BOOST_AUTO_TEST_CASE(refusals) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    int exit_code;
    const char* err;
  };
  BOOST_TEST(create("modules").exit_code == 0);
  write_text(path("broken.tar"), "not an archive");
  write("unlocked/main.tf", read("main.tf"));
  fs::create_directory(root() / "empty");
  const Row rows[] = {
      {"the output exists",
       {"bundle", "create", "--output", path("modules").string()},
       2,
       "already exists [INVALID_PARAMS]"},
      {"no configuration",
       {"bundle", "create", "empty", "--output", path("x.tar").string()},
       8,
       "has no configuration files"},
      {"compressed", {"bundle", "create", "--output", path("x.tar.gz").string()}, 2, "a bundle is not compressed"},
      {"no output", {"bundle", "create"}, 2, "Error: --output is missing [INVALID_PARAMS]\n"},
      {"not locked",
       {"bundle", "create", "unlocked", "--output", path("x.tar").string()},
       3,
       "hint: run: tofu-modlock lock --chdir unlocked, review"},
      {"no such bundle", {"install", "--from", path("none.tar").string()}, 2, "not found [INVALID_PARAMS]"},
      {"not a bundle", {"install", "--from", path("broken.tar").string()}, 8, "is not a tar archive"},
      {"not a bundle to verify", {"bundle", "verify", path("broken.tar").string()}, 8, "is not a tar archive"},
      {"a source that the user denies",
       {"install", "--offline", "--from", path("modules").string()},
       8,
       "[SOURCE_DENIED]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      if (std::string_view(row.err) == "[SOURCE_DENIED]") {
        write_text(path("home/.config/tofu-modlock/config.hcl"), "deny_sources = [\"git::file://*\"]\n");
        leave();
      }
      if (std::string_view(row.name) == "not a bundle") {
        fs::remove_all(cache());
      }
      const Ran ran = modlock(row.arguments);
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.err) != std::string::npos, ran.err);
      BOOST_TEST(!fs::exists(path("x.tar")));
    }
  }
}

BOOST_AUTO_TEST_CASE(package_is_a_module_package_of_an_oci_registry, *boost::unit_test::precondition(has_registry)) {
  BOOST_TEST(create("modules").exit_code == 0);
  DockerRegistry registry;
  environment["SSL_CERT_FILE"] = registry.authority().string();
  const auto listed = json({"bundle", "list", "--json", path("modules").string()});
  const Json::Value& packages = listed["closures"][0]["packages"];
  const auto blob = [&](const std::string& digest) {
    return read_text(path("modules") / ("blobs/sha256/" + digest.substr(7)));
  };
  registry.push_blob("acme/modules", "{}");
  std::string configuration;
  for (const Json::Value& package : packages) {
    const std::string manifest = blob(package["manifest"].asString());
    registry.push_blob("acme/modules", blob((*parse_json(manifest))["layers"][0]["digest"].asString()));
    const std::string digest = registry.push_manifest("acme/modules", "t" + package["bytes"].asString(), manifest);
    BOOST_TEST(digest == package["manifest"].asString());
    configuration +=
        module_call("m" + package["bytes"].asString(), registry.source("acme/modules") + "?digest=" + digest);
  }
  write("oci/main.tf", configuration);
  const Ran locked = modlock({"lock", "oci"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  for (const Json::Value& package : packages) {
    BOOST_TEST(read("oci/.terraform.lock.hcl").find(package["h1"].asString()) != std::string::npos);
  }
  if (find_program("tofu")) {
    fs::remove(root() / "oci/.terraform.lock.hcl");
    const Ran stock = program({"tofu", "-chdir=oci", "init", "-no-color"});
    BOOST_TEST(stock.exit_code == 0, stock.out << stock.err);
    BOOST_TEST(has("oci/.terraform/modules/m" + packages[0]["bytes"].asString() + "/main.tf"));
  } else {
    std::cout << "skipped: a stock tofu that reads a bundled package (tofu is not on PATH)\n";
  }
}

struct RegistryScene : BundleScene {
  explicit RegistryScene(DockerRegistry::Auth auth = DockerRegistry::Auth::none) : registry(auth) {
    environment["SSL_CERT_FILE"] = registry.authority().string();
    name_text(registry.host(), "<registry>");
  }
  std::string address() const { return registry.source("platform/modules"); }
  Ran install() const { return modlock({"install", "--from", address()}); }

  DockerRegistry registry;
};

BOOST_FIXTURE_TEST_CASE(modules_are_installed_from_a_registry, RegistryScene,
                        *boost::unit_test::precondition(has_registry)) {
  const Ran pushed = modlock({"bundle", "push", address()});
  BOOST_TEST(pushed.exit_code == 0, pushed.err);
  BOOST_TEST(pushed.out ==
             "oci://<registry>/platform/modules: 2 packages uploaded, 0 already there.\n"
             "Next: on another machine, run tofu-modlock install --from oci://<registry>/platform/modules.\n");
  const Ran again = modlock({"--verbose", "bundle", "push", address()});
  BOOST_TEST(again.out.find(": 0 packages uploaded, 2 already there.\n") != std::string::npos, again.out);
  BOOST_TEST(count(again.err, "debug: ") == 1, again.err);
  leave();
  const Ran installed = install();
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(installed.out.find("2 installed.\n") != std::string::npos, installed.out);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  const Ran nothing = install();
  BOOST_TEST(nothing.out == "0 installed, 2 already in place.\n");
}

BOOST_FIXTURE_TEST_CASE(registry_without_the_closure_is_not_used, RegistryScene,
                        *boost::unit_test::precondition(has_registry)) {
  fs::remove_all(cache());
  const Ran installed = install();
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(installed.err.find("not installed from oci://<registry>/platform/modules: ") != std::string::npos,
             installed.err);
  BOOST_TEST(installed.out.find("2 installed.\n") != std::string::npos, installed.out);
}

BOOST_FIXTURE_TEST_CASE(bundle_file_is_pushed, RegistryScene, *boost::unit_test::precondition(has_registry)) {
  BOOST_TEST(create("modules.tar").exit_code == 0);
  leave();
  const Ran pushed = modlock({"bundle", "push", address(), "--input", path("modules.tar").string()});
  BOOST_TEST(pushed.exit_code == 0, pushed.err);
  BOOST_TEST(install().exit_code == 0);
}

BOOST_AUTO_TEST_CASE(pushing_needs_credentials, *boost::unit_test::precondition(has_registry)) {
  for (const auto auth : {DockerRegistry::Auth::basic}) {
    const RegistryScene scene(auth);
    const Ran refused = scene.modlock({"bundle", "push", scene.address()});
    BOOST_TEST(refused.exit_code == 7, refused.err);
    write_text(scene.path("home/.tofurc"), "oci_credentials \"" + scene.registry.host() + "\" {\n  username = \"" +
                                               DockerRegistry::user() + "\"\n  password = \"" +
                                               DockerRegistry::password() + "\"\n}\n");
    const Ran pushed = scene.modlock({"bundle", "push", scene.address()});
    BOOST_TEST(pushed.exit_code == 0, pushed.err);
    BOOST_TEST(pushed.err.find(DockerRegistry::password()) == std::string::npos);
    scene.leave();
    BOOST_TEST(scene.install().exit_code == 0);
    fs::remove_all(scene.root() / ".terraform");
    write_text(scene.path("home/.config/tofu-modlock/config.hcl"), "remote_store = \"" + scene.address() + "\"\n");
    const Ran stored = scene.modlock({"install", "--remote-only"});
    BOOST_TEST(stored.exit_code == 0, stored.err);
  }
}

BOOST_FIXTURE_TEST_CASE(repository_addresses, RegistryScene, *boost::unit_test::precondition(has_registry)) {
  for (const std::string& address : {this->address() + "?tag=x", this->address() + "//sub",
                                     std::string("https://example.com/x"), std::string("oci://UPPER")}) {
    BOOST_TEST_CONTEXT(address) {
      const Ran refused = modlock({"bundle", "push", address});
      BOOST_TEST(refused.exit_code == 8, refused.err);
      BOOST_TEST(modlock({"install", "--from", address}).exit_code != 0);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
