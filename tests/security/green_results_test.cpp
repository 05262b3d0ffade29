// Sequences of what a person, an author of a pull request, a server or an accident does to a locked root module. After
// each one, every command that checks or installs runs on its own copy. A command that ends with 0 must leave exactly
// what the lock file has, and nothing harmless may be an error.
#include <fmt/format.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAppLock = "app/.terraform.lock.hcl";

// The version that a client would load of each module: "vpc" -> "1.0.0".
using Loaded = std::map<std::string, std::string>;

std::string text_of(const Loaded& loaded) {
  std::string text;
  for (const auto& [key, version] : loaded) {
    text += key + "=" + version + " ";
  }
  return text;
}

// The root module "app" of a repository calls "vpc", whose package calls "net". Both are locked, committed and
// installed. "other" is a root module that nothing changes.
struct Sequence : Scene {
  Sequence() : vpc(repository("vpc.git")), net(repository("net.git")) {
    release(net, "7.0.0");
    nested = module_call("net", "git::" + net.url() + "?ref=v7.0.0");
    release(vpc, "1.0.0", {{"nested.tf", nested}});
    release(vpc, "1.1.0", {{"nested.tf", nested}});
    environment["CI"] = "true";
    environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
    fs::create_directories(path("bin"));
    fs::create_symlink(binary, path("bin/tofu-modlock"));
    write_text(path("bin/tofu"), "#!/bin/sh\nexit 0\n");
    fs::permissions(path("bin/tofu"), fs::perms::owner_all);
    write_text(path("home/.gitconfig"), "[user]\n\tname = a\n\temail = a@b\n[init]\n\tdefaultBranch = main\n");
    sh("git init --quiet");
    write(".gitignore", ".terraform/\n");
    write("app/main.tf", call("1.0.0"));
    write("other/main.tf", call("1.0.0"));
    run("lock --install app other");
    commit();
  }

  std::string call(const std::string& version) const {
    return module_call("vpc", "git::" + vpc.url() + "?ref=v" + version);
  }
  // A shell command in the repository. Each must succeed.
  std::string sh(const std::string& command) const {
    const Ran ran = program({"/bin/sh", "-ec", command});
    BOOST_TEST(ran.exit_code == 0, command << "\n" << ran.out << ran.err);
    return ran.out;
  }
  // tofu-modlock outside CI, as a person runs it.
  void run(const std::string& arguments) const { sh("CI= tofu-modlock " + arguments + " 2>&1"); }
  void commit() const { sh("git add --all . && git commit --quiet --allow-empty --message change"); }
  void replace(const std::string& file, const std::string& what, const std::string& with) const {
    std::string text = read(file);
    const std::size_t at = text.find(what);
    BOOST_TEST_REQUIRE(at != std::string::npos, "no \"" << what << "\" in " << file << ":\n" << text);
    write(file, text.replace(at, what.size(), with));
  }
  void append(const std::string& file, const std::string& text) const { write(file, read(file) + text); }
  // The tag v1.0.0 then has other content.
  void move_tag() {
    vpc.commit({{"main.tf", "output \"version\" {\n  value = \"foreign\"\n}\n"}, {"nested.tf", nested}});
    vpc.tag("v1.0.0");
  }
  std::string remove_blocks(const std::string& file) const {
    std::string kept;
    std::istringstream lines(read(file));
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      inside = inside || line.starts_with("module ");
      kept += inside ? "" : line + "\n";
      inside = inside && line != "}";
    }
    write(file, kept);
    return kept;
  }

  // All lock files and their content.
  std::string lock_files() const {
    return program({"/bin/sh", "-c", "find . -name '.terraform*.lock.hcl' -print -exec cat {} \\; 2>&1"}).out;
  }

  // What a client would load in "app", by modules.json.
  Loaded loaded() const {
    Loaded found;
    const auto manifest = parse_json(read("app/.terraform/modules/modules.json"));
    BOOST_TEST_REQUIRE(manifest.has_value());
    for (const Json::Value& module : (*manifest)["Modules"]) {
      const std::string key = module["Key"].asString();
      const std::string text =
          key.empty() ? "" : read("app/" + module[module.isMember("dir") ? "dir" : "Dir"].asString() + "/main.tf");
      const std::size_t at = text.find("value = \"");
      if (at != std::string::npos) {
        found[key] = text.substr(at + 9, text.find('"', at + 9) - at - 9);
      }
    }
    return found;
  }

  GitRepository& vpc;
  GitRepository& net;
  std::string nested;
  Loaded expected = {{"vpc", "1.0.0"}, {"vpc.net", "7.0.0"}};
};

struct Check {
  const char* name;
  const char* command;
  bool has_installed;  // if it ends with 0, the modules are installed
};

constexpr std::array<Check, 6> kChecks = {{
    {"ci", "tofu-modlock ci --recursive", true},
    {"verify", "tofu-modlock verify --recursive", true},
    {"frozen", "tofu-modlock lock --frozen --recursive", false},
    {"install", "tofu-modlock install --recursive", true},
    {"wrapper",
     MODLOCK_SCRIPTS "/tofu-modlock-wrapper -chdir=app init && " MODLOCK_SCRIPTS
                     "/tofu-modlock-wrapper -chdir=app plan",
     true},
    {"hook",
     "root=$PWD && touch app/terragrunt.hcl && cd app && export TG_CTX_TF_PATH=tofu && "
     "TG_CTX_COMMAND=init tofu-modlock hook --unit . --root $root && "
     "TG_CTX_COMMAND=plan tofu-modlock hook --unit . --root $root",
     true},
}};

struct Row {
  const char* name;
  const char* codes;  // of the commands, in the order of kChecks
  void (*happens)(Sequence&);
};

void check_row(const Row& row) {
  Sequence scene;
  row.happens(scene);
  fs::create_directories(scene.path("saved"));
  const auto copy = [&scene](const std::string& from, const std::string& to) {
    scene.program(
        {"/bin/sh", "-ec",
         fmt::format("for name in root cache; do rm -rf \"{0}/$name\"; cp -a \"{1}/$name\" \"{0}/$name\"; done",
                     scene.path(to).string(), scene.path(from).string())});
  };
  copy(".", "saved");
  std::string codes;
  std::string errors;
  for (const Check& check : kChecks) {
    BOOST_TEST_CONTEXT(row.name << ": " << check.name) {
      copy("saved", ".");
      const std::string lock = scene.lock_files();
      const Ran ran = scene.program({"/bin/sh", "-c", check.command});
      codes += (codes.empty() ? "" : " ") + std::to_string(ran.exit_code);
      errors += ran.err;
      if (ran.exit_code == 0 && check.has_installed) {
        BOOST_TEST(text_of(scene.loaded()) == text_of(scene.expected), ran.out << ran.err);
      }
      BOOST_TEST(scene.lock_files() == lock, "a lock file was changed");
    }
  }
  BOOST_TEST(codes == row.codes, row.name << ": " << codes << ", expected " << row.codes << "\n" << errors);
}

template <std::size_t size>
void check_all(const Row (&rows)[size]) {
  for (const Row& row : rows) {
    check_row(row);
  }
}

const Row kEveryday[] = {
    {"nothing", "0 0 0 0 0 0", [](Sequence&) {}},
    {"a clone", "0 3 0 0 0 0", [](Sequence& s) { s.sh("rm -rf app/.terraform other/.terraform"); }},
    {"a clone on a new machine", "0 3 0 0 0 0",
     [](Sequence& s) { s.sh("rm -rf app/.terraform other/.terraform ../cache"); }},
    {"a version is changed and not locked", "3 3 3 3 3 3",
     [](Sequence& s) { s.write("app/main.tf", s.call("1.1.0")); }},
    {"a call is added and not locked", "3 3 3 3 3 3",
     [](Sequence& s) { s.append("app/main.tf", module_call("more", "git::" + s.net.url() + "?ref=v7.0.0")); }},
    {"a call is renamed and not locked", "3 3 3 3 3 3",
     [](Sequence& s) { s.replace("app/main.tf", "vpc", "network"); }},
    {"a call is removed and its entry is left", "3 3 3 0 3 3",
     [](Sequence& s) {
       s.write("app/main.tf", "# no module\n");
       s.expected.clear();
     }},
    {"the lock file is deleted", "3 3 3 3 3 3", [](Sequence& s) { s.sh("rm app/.terraform.lock.hcl; git add -A"); }},
    {"an update is locked and not installed", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.write("app/main.tf", s.call("1.1.0"));
       s.run("lock app");
       s.expected["vpc"] = "1.1.0";
     }},
    {"an update is locked and installed", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("app/main.tf", s.call("1.1.0"));
       s.run("lock --install app");
       s.expected["vpc"] = "1.1.0";
     }},
    {"a branch without the update is checked out", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.write("app/main.tf", s.call("1.1.0"));
       s.run("lock --install app");
       s.sh("git checkout --quiet -- .");
     }},
    {"an update is undone", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.run("update --chdir app vpc=1.1.0");
       s.run("update --chdir app vpc=1.0.0");
     }},
    {"the sidecar is set", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n");
       s.run("lock app other");
       BOOST_TEST(s.has("app/.terraform.modules.lock.hcl"));
     }},
    {"a new tag is released", "0 0 0 0 0 0", [](Sequence& s) { s.release(s.vpc, "1.2.0"); }},
    {"the tag is moved", "0 0 0 0 0 0", [](Sequence& s) { s.move_tag(); }},
    {"the tag is moved, and a clone on a new machine", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.move_tag();
       s.sh("rm -rf app/.terraform other/.terraform ../cache");
     }},
    {"the tag is deleted", "0 0 0 0 0 0", [](Sequence& s) { s.vpc.remove("refs/tags/v1.0.0"); }},
    {"the repository is gone", "0 0 0 0 0 0", [](Sequence& s) { s.sh("rm -rf ../repositories"); }},
    {"the repository is gone, and a clone on this machine", "0 3 0 0 0 0",
     [](Sequence& s) { s.sh("rm -rf ../repositories app/.terraform other/.terraform"); }},
    {"a client removed the blocks", "3 3 3 3 3 3", [](Sequence& s) { s.remove_blocks(kAppLock); }},
};

// A directory that calls the root module, and a change of the root module that is not locked.
void hide_behind(Sequence& s, const std::string& file, const std::string& text) {
  s.write("app/main.tf", s.call("1.1.0"));
  s.write(file, text);
  s.commit();
}

// Settings of the checkout name a client that does not read a file with an unlocked call.
void declare_terraform(Sequence& s, const std::vector<std::string>& clients) {
  s.write(".tofu-modlock.hcl", "implementation = \"terraform\"\n");
  s.write("app/main.tofu", s.call("1.1.0"));
  s.commit();
  s.sh("mv ../bin/tofu ../client");
  for (const std::string& client : clients) {
    s.sh("cp ../client ../bin/" + client);
  }
  s.environment["PATH"] = s.path("bin").string() + ":/usr/bin:/bin";
  s.environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
}

// What an author of a pull request can commit, or a server can change.
const Row kHostile[] = {
    {"the commit of an entry is replaced", "4 0 4 4 4 4",
     [](Sequence& s) { s.replace(kAppLock, s.vpc.id("v1.0.0"), s.vpc.id("v1.1.0")); }},
    {"the hash of an entry is replaced", "4 4 4 4 4 4", [](Sequence& s) { s.replace(kAppLock, "\"h1:", "\"h1:AAAA"); }},
    {"the source of an entry is replaced", "3 3 3 3 3 3",
     [](Sequence& s) { s.replace(kAppLock, s.vpc.url(), s.net.url()); }},
    {"an entry of a nested call is removed", "3 3 3 3 3 3",
     [](Sequence& s) {
       const std::string lock = s.read(kAppLock);
       s.write(kAppLock, lock.substr(0, lock.find("module \"vpc.net\"")));
     }},
    {"an entry is added that no call has", "3 3 3 0 3 3",
     [](Sequence& s) {
       const std::string lock = s.read(kAppLock);
       const std::size_t begin = lock.find("module \"vpc\"");
       std::string entry = lock.substr(begin, lock.find("}\n", begin) + 2 - begin);
       s.append(kAppLock, "\n" + entry.replace(8, 3, "more"));
     }},
    {"an override file changes the source", "3 3 3 3 3 3",
     [](Sequence& s) { s.write("app/main_override.tf", s.call("1.1.0")); }},
    {"a file in JSON syntax adds a call", "3 3 3 3 3 3",
     [](Sequence& s) {
       s.write("app/more.tf.json", R"({"module":{"more":{"source":"git::)" + s.net.url() + R"(?ref=v7.0.0"}}})");
     }},
    {"a file of OpenTofu changes the source", "3 3 3 3 3 3",
     [](Sequence& s) { s.write("app/main.tofu", s.call("1.1.0")); }},
    {"an example calls the root module", "3 3 3 3 3 3",
     [](Sequence& s) { hide_behind(s, "examples/x/main.tf", module_call("x", "../../app")); }},
    {"a module calls the root module", "3 3 3 3 3 3",
     [](Sequence& s) { hide_behind(s, "modules/x/main.tf", module_call("x", "../../app")); }},
    {"a root module calls the root module", "3 3 3 3 3 3",
     [](Sequence& s) { hide_behind(s, "other/zz.tf", module_call("x", "../app")); }},
    {"a file in JSON syntax calls the root module", "3 3 3 3 3 3",
     [](Sequence& s) { hide_behind(s, "tests/x/main.tf.json", R"({"module":{"x":{"source":"../../app"}}})"); }},
    {"a file of OpenTofu calls the root module", "3 3 3 3 3 3",
     [](Sequence& s) { hide_behind(s, "modules/y/x.tofu", module_call("x", "../../app")); }},
    {"a test calls the root module", "3 3 3 3 3 3",
     [](Sequence& s) {
       hide_behind(s, "other/t.tftest.hcl", "run \"x\" {\n  module {\n    source = \"../app\"\n  }\n}\n");
     }},
    {"a unit of Terragrunt has the root module as its source", "3 3 3 3 3 3",
     [](Sequence& s) { hide_behind(s, "unit/terragrunt.hcl", "terraform {\n  source = \"../app\"\n}\n"); }},
    {"a root module is hidden, and its lock file is deleted", "3 3 3 3 3 3",
     [](Sequence& s) {
       s.sh("rm app/.terraform.lock.hcl");
       s.write("app/main.tf", s.call("1.1.0"));
       s.write("examples/x/main.tf", module_call("x", "../../app"));
       s.sh("git add --all");
     }},
    {"the module is a link to another directory", "0 4 0 0 0 0",
     [](Sequence& s) {
       s.write("evil/main.tf", "output \"version\" {\n  value = \"foreign\"\n}\n");
       s.sh("rm -rf app/.terraform/modules/vpc; ln -s ../../../evil app/.terraform/modules/vpc");
     }},
    {"the manifest names another directory", "0 4 0 0 0 0",
     [](Sequence& s) {
       s.write("app/evil/main.tf", "output \"version\" {\n  value = \"foreign\"\n}\n");
       s.replace("app/.terraform/modules/modules.json", ".terraform/modules/vpc\"", "evil\"");
     }},
    {"the manifest names it in a member that clients read instead", "0 1 0 0 0 0",
     [](Sequence& s) {
       s.write("app/evil/main.tf", "output \"version\" {\n  value = \"foreign\"\n}\n");
       s.replace("app/.terraform/modules/modules.json", ".terraform/modules/vpc\"",
                 ".terraform/modules/vpc\",\"dir\":\"evil\"");
     }},
    {"the lock file is a link that leads out of the repository", "8 8 8 8 8 8",
     [](Sequence& s) { s.sh("mv app/.terraform.lock.hcl ../outside; ln -s ../../outside app/.terraform.lock.hcl"); }},
    {"the tag is moved, and the entry is removed", "3 3 3 3 3 3",
     [](Sequence& s) {
       s.move_tag();
       s.remove_blocks(kAppLock);
       s.sh("rm -rf app/.terraform");
       s.commit();
     }},
    {"a call that cannot be locked", "3 3 3 0 3 3",
     [](Sequence& s) { s.append("app/main.tf", module_call("m", "hg::https://hg.example.com/m")); }},
    {"a call that cannot be locked, and the change allows it", "3 3 3 0 3 3",
     [](Sequence& s) {
       s.append("app/main.tf", module_call("m", "hg::https://hg.example.com/m"));
       s.write(".tofu-modlock.hcl", "unlocked_sources = [\"hg::*\"]\n");
       s.commit();
     }},
    {"the change declares Terraform, and OpenTofu reads another file", "3 3 3 0 3 3",
     [](Sequence& s) {
       declare_terraform(s, {"tofu", "terraform"});
     }},
    {"the same, and only terraform is on PATH", "3 3 3 0 0 3",
     [](Sequence& s) { declare_terraform(s, {"terraform"}); }},
    {"the same, and no client is on PATH", "3 3 3 0 127 3", [](Sequence& s) { declare_terraform(s, {}); }},
};

const Row kDamaged[] = {
    {"a file is edited in place", "4 4 0 4 4 4",
     [](Sequence& s) { s.append("app/.terraform/modules/vpc/main.tf", "# edited\n"); }},
    {"a file is deleted in place", "4 4 0 4 4 4", [](Sequence& s) { s.sh("rm app/.terraform/modules/vpc/nested.tf"); }},
    {"a file is added in place that a client loads", "4 4 0 4 4 4",
     [](Sequence& s) { s.write("app/.terraform/modules/vpc/added.tf", "output \"added\" {\n  value = 1\n}\n"); }},
    {"a module is deleted", "0 3 0 0 0 0", [](Sequence& s) { s.sh("rm -r app/.terraform/modules/vpc"); }},
    {"a module is a file", "0 3 0 0 0 0",
     [](Sequence& s) { s.sh("rm -r app/.terraform/modules/vpc; touch app/.terraform/modules/vpc"); }},
    {"the manifest is deleted", "0 3 0 0 0 0", [](Sequence& s) { s.sh("rm app/.terraform/modules/modules.json"); }},
    {"the manifest is cut off", "0 1 0 0 0 0",
     [](Sequence& s) { s.write("app/.terraform/modules/modules.json", "{\"Modules\":["); }},
    {"the lock file is cut off", "8 8 8 8 8 8",
     [](Sequence& s) { s.write(kAppLock, s.read(kAppLock).substr(0, s.read(kAppLock).size() - 20)); }},
    {"the lock file is empty", "3 3 3 3 3 3", [](Sequence& s) { s.write(kAppLock, ""); }},
    {"the lock file has conflict markers", "8 8 8 8 8 8",
     [](Sequence& s) {
       s.write(kAppLock, "<<<<<<< ours\n" + s.read(kAppLock) + "=======\n" + s.read(kAppLock) + ">>>>>>> theirs\n");
     }},
    {"the lock file is not UTF-8", "8 8 8 8 8 8", [](Sequence& s) { s.append(kAppLock, "\xff"); }},
    {"the lock file is a directory", "1 1 1 1 1 1",
     [](Sequence& s) { s.sh("rm app/.terraform.lock.hcl; mkdir app/.terraform.lock.hcl"); }},
    {"the configuration is cut off", "8 8 8 8 8 8",
     [](Sequence& s) { s.write("app/main.tf", s.call("1.0.0").substr(0, 30)); }},
    {"the settings are cut off", "8 8 8 8 8 8", [](Sequence& s) { s.write(".tofu-modlock.hcl", "module \"vpc\" {"); }},
    {"a package of the cache is edited", "0 0 0 0 0 0",
     [](Sequence& s) { s.sh("find ../cache -name nested.tf -exec chmod u+w {} + -exec sh -c 'echo >> $0' {} \\;"); }},
    {"a package of the cache is edited, and a clone", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.sh("rm -rf app/.terraform other/.terraform");
       s.sh("find ../cache -name nested.tf -exec chmod u+w {} + -exec sh -c 'echo >> $0' {} \\;");
     }},
    {"the records of the installation are deleted", "0 0 0 0 0 0",
     [](Sequence& s) { s.sh("rm -rf app/.terraform/tofu-modlock"); }},
};

const Row kHarmless[] = {
    {"a comment in the configuration", "0 0 0 0 0 0", [](Sequence& s) { s.append("app/main.tf", "# comment\n"); }},
    {"line ends of Windows", "0 0 0 0 0 0", [](Sequence& s) { s.sh("sed -i 's/$/\\r/' app/main.tf"); }},
    {"a file that a client does not load is added in place", "0 0 0 0 0 0",
     [](Sequence& s) { s.write("app/.terraform/modules/vpc/note.txt", "note\n"); }},
    {"a local module is called", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("app/modules/m/main.tf", "");
       s.append("app/main.tf", module_call("m", "./modules/m"));
     }},
    {"an example calls a module of the repository", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("modules/m/main.tf", "");
       s.write("examples/m/main.tf", module_call("m", "../../modules/m"));
       s.commit();
     }},
    {"a module of the repository calls a package, and a root module calls it", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.write("modules/m/main.tf", s.call("1.0.0"));
       s.write("other/main.tf", s.call("1.0.0") + module_call("m", "../modules/m"));
       s.run("lock --install other");
       s.commit();
       s.sh("rm -rf other/.terraform");
     }},
    {"a catalog with a backend is the source of a unit", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("catalog/m/main.tf", "terraform {\n  backend \"s3\" {}\n}\n" + s.call("1.0.0"));
       s.write("live/m/terragrunt.hcl", "terraform {\n  source = \"../../catalog/m\"\n}\n");
       s.commit();
     }},
    {"a module has a lock file with providers only", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("modules/m/main.tf", s.call("1.1.0"));
       s.write("modules/m/.terraform.lock.hcl", "# This file is maintained automatically by \"tofu init\".\n");
       s.write("examples/m/main.tf", module_call("m", "../../modules/m"));
       s.run("lock --install examples/m");
       s.commit();
     }},
    {"a file of OpenTofu without calls", "0 0 0 0 0 0",
     [](Sequence& s) { s.write("app/more.tofu", "output \"more\" {\n  value = 1\n}\n"); }},
    {"a shallow clone", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.sh(
           "git clone --quiet --depth 1 \"file://$PWD\" ../shallow; mv .git ../old; rm -rf app other; cp -a "
           "../shallow/. .");
     }},
    {"another worktree", "0 3 0 0 0 0",
     [](Sequence& s) {
       s.sh("git worktree add --quiet ../tree; rm -rf app other; cp -a ../tree/app ../tree/other .");
     }},
    {"a checkout without .git", "0 0 0 0 0 0", [](Sequence& s) { s.sh("rm -rf .git"); }},
    {"the repository has a new branch", "0 0 0 0 0 0", [](Sequence& s) { s.vpc.branch("next", s.vpc.id("v1.1.0")); }},
    {"a branch is locked and has a new commit", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("app/main.tf", module_call("vpc", "git::" + s.vpc.url() + "?ref=main"));
       s.run("lock --install app");
       s.expected["vpc"] = "1.1.0";
       s.release(s.vpc, "1.2.0", {{"nested.tf", s.nested}});
     }},
    {"a partial tag is locked and moves", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.vpc.tag("v1", s.vpc.id("v1.0.0"));
       s.write("app/main.tf", module_call("vpc", "git::" + s.vpc.url() + "?ref=v1"));
       s.run("lock --install app");
       s.vpc.tag("v1", s.vpc.id("v1.1.0"));
     }},
    {"a commit is called", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("app/main.tf", module_call("vpc", "git::" + s.vpc.url() + "?ref=" + s.vpc.id("v1.0.0")));
       s.run("lock --install app");
     }},
    {"links to the cache", "0 0 0 0 0 0", [](Sequence& s) { s.run("install --link app other"); }},
    {"other files of the checkout", "0 0 0 0 0 0",
     [](Sequence& s) {
       s.write("README.md", "text\n");
       s.write("app/terraform.tfvars", "a = 1\n");
       s.write("app/scripts/run.sh", "#!/bin/sh\n");
     }},
    {"the lock file has line ends of Windows", "0 0 0 0 0 0",
     [](Sequence& s) { s.sh("sed -i 's/$/\\r/' app/.terraform.lock.hcl"); }},
    {"the cache was removed", "0 0 0 0 0 0", [](Sequence& s) { s.sh("rm -rf ../cache"); }},
};

BOOST_AUTO_TEST_SUITE(green_results)

BOOST_AUTO_TEST_CASE(everyday) {
  check_all(kEveryday);
}

BOOST_AUTO_TEST_CASE(hostile) {
  check_all(kHostile);
}

BOOST_AUTO_TEST_CASE(damaged) {
  check_all(kDamaged);
}

BOOST_AUTO_TEST_CASE(harmless) {
  check_all(kHarmless);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
