// Bundles from outside: created from a lock file, carried to a machine without the sources, installed and verified.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/base/process.h"
#include "backends/package/tree_hash.h"
#include "backends/remote/layout.h"
#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/closures_of.h"
#include "tests/support/docker_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_module.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

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
  // Returns the closure of a bundle, and adds its blobs to a writer.
  remote::NamedClosure copy(const std::string& bundle, remote::LayoutWriter& writer) const {
    const auto layout = remote::Layout::open(path(bundle), path("unused"), Context{});
    remote::NamedClosure one = closures_of(*layout).value().at(0);
    for (const remote::BundledPackage& package : one.closure.packages) {
      for (const remote::Blob& blob : {package.layer, package.trees}) {
        BOOST_REQUIRE(writer.add(read_text(layout->find(blob).value())).has_value());
      }
    }
    return one;
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
    BOOST_TEST(created.out.find(": 2 packages for 1 lock file, 1 KiB.\n") != std::string::npos, created.out);
  }
  leave();
  BOOST_TEST(modlock({"install"}).exit_code != 0);
  for (const char* name : {"modules.tar", "modules"}) {
    BOOST_TEST_CONTEXT(name) {
      fs::remove_all(root() / ".terraform");
      const Ran verified = modlock({"bundle", "verify", path(name).string()});
      BOOST_TEST(verified.exit_code == 0, verified.err);
      BOOST_TEST(verified.out == "All digests and hashes match: 2 packages for 1 lock file, 1 KiB.\n");
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
  remote::LayoutWriter writer(path("work"));
  remote::NamedClosure one = copy("modules", writer);
  for (remote::BundledPackage& package : one.closure.packages) {
    package.layer = writer.add(zip_of({{"main.tf", "# evil\n"}})).value();
    package.trees = {};
    package.manifest = remote::blob_of(write_package_manifest(package));
  }
  BOOST_REQUIRE(writer.add_closure(one).has_value());
  BOOST_REQUIRE(writer.finish(path("evil.tar"), Context{}).has_value());
  leave();
  const Ran installed = modlock({"install", "--from", path("evil.tar").string()});
  BOOST_TEST(installed.exit_code != 0);
  BOOST_TEST(installed.err.find("has other content: expected h1:") != std::string::npos, installed.err);
  BOOST_TEST(!has(".terraform/modules/vpc"));
  const Ran verified = modlock({"bundle", "verify", path("evil.tar").string()});
  BOOST_TEST(verified.exit_code == 4, verified.err);
}

BOOST_AUTO_TEST_CASE(truncated_zip_with_its_digest_is_damage) {
  BOOST_TEST(create("modules").exit_code == 0);
  remote::LayoutWriter writer(path("work"));
  remote::NamedClosure one = copy("modules", writer);
  for (remote::BundledPackage& package : one.closure.packages) {
    const std::string zip = read_text(path("modules/blobs/sha256") / package.layer.digest.substr(7));
    package.layer = writer.add(zip.substr(0, zip.size() / 2)).value();
    package.manifest = remote::blob_of(write_package_manifest(package));
  }
  BOOST_REQUIRE(writer.add_closure(one).has_value());
  BOOST_REQUIRE(writer.finish(path("short.tar"), Context{}).has_value());
  const std::vector<std::vector<std::string>> commands = {
      {"install", "--from", path("short.tar").string()},
      {"install", "--remote-only", "--from", path("short.tar").string()},
      {"bundle", "verify", path("short.tar").string()}};
  for (const auto& command : commands) {
    fs::remove_all(cache());
    fs::remove_all(root() / ".terraform");
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 8, ran.err);
    BOOST_TEST(ran.err.find("cannot be unpacked: it is not a zip file [SOURCE_INVALID]") != std::string::npos, ran.err);
  }
}

BOOST_AUTO_TEST_CASE(config_of_the_manifests_is_verified) {
  BOOST_TEST(create("modules").exit_code == 0);
  const fs::path config = path("modules/blobs/sha256") / remote::blob_of(remote::kEmptyConfig).digest.substr(7);
  write_text(config, "[]");
  const Ran damaged = modlock({"bundle", "verify", path("modules").string()});
  BOOST_TEST(damaged.exit_code == 4, damaged.err);
  BOOST_TEST(damaged.err.find("does not match its digest [HASH_MISMATCH]") != std::string::npos, damaged.err);
  fs::remove(config);
  const Ran missing = modlock({"bundle", "verify", path("modules").string()});
  BOOST_TEST(missing.exit_code == 8, missing.err);
  BOOST_TEST(missing.err.find("lacks the blob sha256:") != std::string::npos, missing.err);
}

BOOST_AUTO_TEST_CASE(root_without_packages_has_an_empty_bundle) {
  write("local/main.tf", module_call("sub", "./sub"));
  write("local/sub/main.tf", "");
  for (const char* name : {"local.tar", "local"}) {
    BOOST_TEST_CONTEXT(name) {
      const std::string bundle = path(name).string();
      const Ran created = modlock({"bundle", "create", "local", "--output", bundle});
      BOOST_TEST(created.exit_code == 0, created.err);
      BOOST_TEST(created.out.find(": 0 packages for 1 lock file, 0 KiB.\n") != std::string::npos, created.out);
      const Ran verified = modlock({"bundle", "verify", bundle});
      BOOST_TEST(verified.out == "All digests and hashes match: 0 packages for 1 lock file, 0 KiB.\n", verified.err);
      const Ran installed = modlock({"install", "local", "--remote-only", "--from", bundle});
      BOOST_TEST(installed.exit_code == 0, installed.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(addresses_with_a_password_are_not_shown) {
  for (const char* address : {"oci://user:hunter2@registry.example.test/x", "oci://hunter2@registry.example.test/x",
                              "oci://user:a/hunter2@registry.example.test/x", "oci://user:hunter2@sha256:5000/x?tag=y",
                              "https://user:hunter2@registry.example.test/x"}) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"bundle", "push"},
                                                    {"bundle", "pull", "--output", path("x.tar").string()},
                                                    {"bundle", "verify"},
                                                    {"bundle", "list"},
                                                    {"install", "--from"}}) {
      if (!std::string_view(address).starts_with("oci://") && command.size() == 2 && command[1] != "push") {
        continue;  // the path of a file
      }
      BOOST_TEST_CONTEXT(command[0] << " " << command[1] << " " << address) {
        std::vector<std::string> arguments = command;
        arguments.emplace_back(address);
        const Ran ran = modlock(arguments);
        BOOST_TEST(ran.exit_code == 8, ran.err);
        BOOST_TEST(ran.err ==
                   "Error: the address of a repository must not contain a user or password [SOURCE_INVALID]\n"
                   "  hint: write oci://HOST/REPOSITORY, and log in: docker login HOST, or podman login HOST\n");
        BOOST_TEST(ran.out == "");
      }
    }
  }
}

// Its trees would prove a commit that the lock file does not name.
BOOST_AUTO_TEST_CASE(package_of_another_commit_is_not_installed) {
  BOOST_TEST(create("modules").exit_code == 0);
  remote::LayoutWriter writer(path("work"));
  remote::NamedClosure one = copy("modules", writer);
  for (remote::BundledPackage& package : one.closure.packages) {
    package.origin = "git:" + std::string(40, '1');
    package.trees = {};
    package.manifest = remote::blob_of(write_package_manifest(package));
  }
  BOOST_REQUIRE(writer.add_closure(one).has_value());
  BOOST_REQUIRE(writer.finish(path("other"), Context{}).has_value());
  leave();
  const Ran installed = modlock({"install", "--offline", "--from", path("other").string()});
  BOOST_TEST(installed.exit_code == 7, installed.err);
  BOOST_TEST(!has(".terraform/modules/vpc"));
}

// The second closure has the manifests of the first one.
BOOST_AUTO_TEST_CASE(names_of_a_bundle_are_escaped) {
  BOOST_TEST_REQUIRE(create("modules").exit_code == 0);
  std::string index = read_text(path("modules/index.json"));
  const std::size_t at = index.find("closure-");
  BOOST_REQUIRE(at != std::string::npos);
  index.replace(at, index.find('"', at) - at, "closure-\\u001b[31m");
  write_text(path("modules/index.json"), index);
  const Ran listed = modlock({"bundle", "list", path("modules").string()});
  BOOST_TEST(listed.exit_code == 0, listed.err);
  BOOST_TEST(listed.out.find('\x1b') == std::string::npos, listed.out);
}

BOOST_AUTO_TEST_CASE(content_is_listed_without_a_temporary_directory) {
  environment["TMPDIR"] = path("none").string();
  BOOST_TEST(create("modules").exit_code == 0);
  BOOST_TEST(modlock({"bundle", "verify", path("modules").string()}).exit_code == 0);
  BOOST_TEST(modlock({"bundle", "list", path("modules").string()}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(every_entry_is_compared_with_its_manifest) {
  BOOST_TEST(create("modules").exit_code == 0);
  remote::LayoutWriter writer(path("work"));
  const remote::NamedClosure one = copy("modules", writer);
  remote::NamedClosure other{"closure-" + std::string(64, '1'), one.closure};
  for (remote::BundledPackage& package : other.closure.packages) {
    package.origin = "git:" + std::string(40, '1');
  }
  BOOST_REQUIRE(writer.add_closure(one).has_value());
  BOOST_REQUIRE(writer.add_closure(other).has_value());
  BOOST_REQUIRE(writer.finish(path("both"), Context{}).has_value());
  const Ran verified = modlock({"bundle", "verify", path("both").string()});
  BOOST_TEST(verified.exit_code == 8, verified.err);
  BOOST_TEST(verified.err.find(" does not match its package") != std::string::npos, verified.err);
}

// Without this check the bundle would only lack the trees.
BOOST_AUTO_TEST_CASE(cached_package_that_is_not_that_of_its_commit_is_not_bundled) {
  for (const fs::directory_entry& package : fs::directory_iterator(cache() / "v2/packages")) {
    const fs::path tree = package.path() / "tree";
    fs::permissions(tree / "main.tf", fs::perms::owner_exec, fs::perm_options::add);
    const std::string name = package.path().filename().string();
    const std::string before = name.substr(name.find('-') + 1);
    const std::string after = hash_modes(list_tree(tree).value());
    for (const fs::directory_entry& record : fs::recursive_directory_iterator(cache() / "v2/identities")) {
      if (record.is_regular_file()) {
        std::string text = read_text(record.path());
        if (const std::size_t at = text.find(before); at != std::string::npos) {
          write_text(record.path(), text.replace(at, before.size(), after));
        }
      }
    }
    fs::rename(package.path(), package.path().parent_path() / (name.substr(0, name.find('-') + 1) + after));
  }
  const Ran created = create("modules");
  BOOST_TEST(created.exit_code == 4, created.err);
  BOOST_TEST(created.err.find("was changed: it does not match commit ") != std::string::npos, created.err);
  BOOST_TEST(!fs::exists(path("modules")));
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
      {"no output", {"bundle", "create"}, 2, "Error: --output is required [INVALID_PARAMS]\n"},
      {"not locked",
       {"bundle", "create", "unlocked", "--output", path("x.tar").string()},
       3,
       "hint: run: tofu-modlock lock --chdir unlocked, review"},
      {"one of two is not locked",
       {"bundle", "create", ".", "unlocked", "--output", path("x.tar").string()},
       3,
       "hint: run: tofu-modlock lock --chdir unlocked, review"},
      {"a bundle and a root module",
       {"bundle", "push", "oci://registry.example.test/x", "--input", path("modules").string(), "unlocked"},
       2,
       "--chdir and --input cannot be combined"},
      {"a bundle and all root modules",
       {"bundle", "push", "oci://registry.example.test/x", "--input", path("modules").string(), "--recursive"},
       2,
       "--recursive and --input cannot be combined"},
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

// The packages of a bundle in a registry, called by their digests.
struct CalledPackages : BundleScene {
  CalledPackages() {
    BOOST_TEST(create("modules").exit_code == 0);
    environment["SSL_CERT_FILE"] = registry.authority().string();
    const Json::Value packages =
        json({"bundle", "list", "--json", path("modules").string()})["closures"][0]["packages"];
    const auto blob = [&](const std::string& digest) {
      return read_text(path("modules") / ("blobs/sha256/" + digest.substr(7)));
    };
    registry.push_blob("acme/modules", "{}");
    std::string configuration;
    for (const Json::Value& package : packages) {
      const std::string manifest = blob(package["manifest"].asString());
      const auto layers = (*parse_json(manifest))["layers"];
      BOOST_TEST(layers.size() == 2U);  // OpenTofu ignores the trees
      for (const Json::Value& one : layers) {
        registry.push_blob("acme/modules", blob(one["digest"].asString()));
      }
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
    first = "m" + packages[0]["bytes"].asString();
  }

  DockerRegistry registry;
  std::string first;
};

BOOST_FIXTURE_TEST_CASE(package_is_a_module_package_of_an_oci_registry, CalledPackages,
                        *needs(DockerRegistry::kPrograms)) {
  BOOST_TEST(has("oci/.terraform.lock.hcl"));
}

BOOST_FIXTURE_TEST_CASE(stock_tofu_reads_a_bundled_package, CalledPackages,
                        *needs(DockerRegistry::kPrograms) * needs("tofu")) {
  fs::remove(root() / "oci/.terraform.lock.hcl");
  const Ran stock = program({"tofu", "-chdir=oci", "init", "-no-color"});
  BOOST_TEST(stock.exit_code == 0, stock.out << stock.err);
  BOOST_TEST(has("oci/.terraform/modules/" + first + "/main.tf"));
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

BOOST_FIXTURE_TEST_CASE(modules_are_installed_from_a_registry, RegistryScene, *needs(DockerRegistry::kPrograms)) {
  const Ran pushed = modlock({"bundle", "push", address()});
  BOOST_TEST(pushed.exit_code == 0, pushed.err);
  BOOST_TEST(pushed.out ==
             "oci://<registry>/platform/modules: 2 packages uploaded, 0 already there.\n"
             "Next: on another machine, run tofu-modlock install --from oci://<registry>/platform/modules.\n");
  const Ran again = modlock({"--verbose", "bundle", "push", address()});
  BOOST_TEST(again.out.find(": 0 packages uploaded, 2 already there.\n") != std::string::npos, again.out);
  BOOST_TEST(occurrences(again.err, "debug: ") == 1, again.err);
  const Ran checked = modlock({"--verbose", "bundle", "push", "--check", address()});
  BOOST_TEST(checked.out.find(": 0 packages uploaded, 2 already there.\n") != std::string::npos, checked.err);
  BOOST_TEST(occurrences(checked.err, "debug: HEAD https://<registry>/v2/platform/modules/blobs/") == 5, checked.err);
  leave();
  const Ran installed = install();
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(installed.out.find("2 installed.\n") != std::string::npos, installed.out);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  const Ran nothing = install();
  BOOST_TEST(nothing.out == "0 installed, 2 already in place.\n");
}

BOOST_FIXTURE_TEST_CASE(registry_without_the_closure_is_not_used, RegistryScene, *needs(DockerRegistry::kPrograms)) {
  const Ran pulled = modlock({"bundle", "pull", address(), "--output", path("pulled").string()});
  BOOST_TEST(pulled.exit_code == 7, pulled.err);
  BOOST_TEST(pulled.err.find("  note: root module: ") != std::string::npos, pulled.err);
  fs::remove_all(cache());
  const Ran installed = install();
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(installed.err.find("not installed from oci://<registry>/platform/modules: ") != std::string::npos,
             installed.err);
  BOOST_TEST(installed.out.find("2 installed.\n") != std::string::npos, installed.out);
}

BOOST_FIXTURE_TEST_CASE(packages_of_the_remote_store_are_not_sent_again, RegistryScene,
                        *needs(DockerRegistry::kPrograms)) {
  BOOST_TEST(modlock({"bundle", "push", address()}).exit_code == 0);
  environment["TOFU_MODLOCK_REMOTE"] = address();
  const std::string copy = registry.source("other/modules");
  const Ran pushed = modlock({"--verbose", "bundle", "push", copy});
  BOOST_TEST(pushed.exit_code == 0, pushed.err);
  BOOST_TEST(pushed.out.find(": 2 packages uploaded, 0 already there.\n") != std::string::npos, pushed.out);
  BOOST_TEST(occurrences(pushed.err, "debug: POST https://<registry>/v2/other/modules/blobs/uploads/") == 5U,
             pushed.err);
  BOOST_TEST(occurrences(pushed.err, "debug: PUT https://<registry>/v2/other/modules/blobs/uploads/") == 0U,
             pushed.err);
  const Ran verified = modlock({"bundle", "verify", copy});
  BOOST_TEST(verified.out == "All digests and hashes match: 2 packages for 1 lock file, 1 KiB.\n", verified.err);
}

BOOST_FIXTURE_TEST_CASE(bundle_file_is_pushed, RegistryScene, *needs(DockerRegistry::kPrograms)) {
  BOOST_TEST(create("modules.tar").exit_code == 0);
  leave();
  const Ran pushed = modlock({"bundle", "push", address(), "--input", path("modules.tar").string()});
  BOOST_TEST(pushed.exit_code == 0, pushed.err);
  BOOST_TEST(install().exit_code == 0);
}

BOOST_AUTO_TEST_CASE(pushing_needs_credentials, *needs(DockerRegistry::kPrograms)) {
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

BOOST_FIXTURE_TEST_CASE(repository_addresses, RegistryScene, *needs(DockerRegistry::kPrograms)) {
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
