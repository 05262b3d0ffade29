// Advice that works as pasted: a command of each hint, run in the situation that prints the hint, leads out of it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A root module that calls "vpc", which has the tags v1.0.0 and v1.1.0.
struct Hints : Scene {
  Hints() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    environment["PATH"] = fs::path(binary).parent_path().string() + ":" + environment["PATH"];
  }
  Ran shell(const std::string& command) const { return program({"sh", "-c", command}); }
  void run(const std::string& command) const {
    const Ran ran = shell(command);
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, command << ": " << ran.out << ran.err);
  }
  std::string call(const std::string& query = {}) const { return module_call("vpc", "git::" + vpc.url() + query); }
  // The call names a tag and is locked and installed.
  void pin() const {
    write("main.tf", call("?ref=v1.0.0"));
    run("tofu-modlock lock --install");
  }
  // A constraint of the settings selects the version.
  void constrain(const std::string& constraint) const {
    write("main.tf", call());
    write(".tofu-modlock.hcl", module_rule("vpc", constraint));
    run("tofu-modlock lock --install");
  }
  // The call is in a package.
  void call_nested() {
    GitRepository& net = repository("net.git");
    release(net, "1.0.0", {{"main.tf", call("?ref=v1.0.0")}});
    write("main.tf", module_call("net", "git::" + net.url() + "?ref=v1.0.0"));
    run("tofu-modlock lock --install");
  }
  void deny(const std::string& version) const {
    write_text(path("home/.config/tofu-modlock/config.hcl"),
               "deny \"*/repositories/vpc\" {\n  versions = \"= " + version + "\"\n}\n");
  }
  void damage(const std::string& name) const { write(name, read(name) + "# changed\n"); }
  void replace(const std::string& name, const std::string& what, const std::string& with) const {
    std::string text = read(name);
    text.replace(text.find(what), what.size(), with);
    write(name, text);
  }

  GitRepository& vpc;
};

// It restores the module, and reports the change once.
void install_once_more(Hints& scene) {
  BOOST_TEST(scene.shell("tofu-modlock install").exit_code == 4);
}

void wrong_checksum(Hints& scene) {
  scene.pin();
  scene.replace(".terraform.lock.hcl", "h1:", "h1:AAAA");
  const std::string text = scene.lock();
  scene.write(".terraform.lock.hcl", text.substr(0, text.find("h1:AAAA") + 7) + text.substr(text.find("h1:AAAA") + 11));
}

void restore(Hints& scene) {
  fs::remove(scene.root() / ".terraform.lock.hcl");
  scene.run("tofu-modlock lock");
}

struct Row {
  const char* name;
  std::function<void(Hints&)> arrange;
  const char* command;  // prints the hint
  int exit_code;
  std::vector<std::string> steps;         // at most two, each printed before
  std::function<void(Hints&)> edit = {};  // what the last step says, if it is not a command
  std::string then = command;             // succeeds if the advice is good
};

// Each is what a user does: the situation, the command, the advice as pasted, and the command again, which succeeds.
const std::vector<Row> kRows = {
    {"the denied release of a tag",
     [](Hints& scene) {
       scene.pin();
       scene.deny("1.0.0");
     },
     "tofu-modlock install",
     4,
     {"tofu-modlock update module.vpc", "tofu-modlock install"}},
    {"the denied release of a tag, as verify says",
     [](Hints& scene) {
       scene.pin();
       scene.deny("1.0.0");
     },
     "tofu-modlock verify",
     4,
     {"tofu-modlock update module.vpc", "tofu-modlock install"}},
    {"the denied release of a tag in several root modules",
     [](Hints& scene) {
       scene.pin();
       scene.write("b/main.tf", scene.call("?ref=v1.0.0"));
       scene.run("tofu-modlock lock --chdir b --install");
       scene.deny("1.0.0");
     },
     "tofu-modlock verify --recursive",
     4,
     {"tofu-modlock update module.vpc", "tofu-modlock update --chdir b module.vpc"},
     {},
     "tofu-modlock install --recursive && tofu-modlock verify --recursive"},
    {"the denied release of a version",
     [](Hints& scene) {
       scene.constrain("~> 1.0");
       scene.deny("1.1.0");
     },
     "tofu-modlock install",
     4,
     {"tofu-modlock upgrade --target module.vpc", "tofu-modlock install"}},
    {"a changed module",
     [](Hints& scene) {
       scene.pin();
       scene.damage(".terraform/modules/vpc/main.tf");
     },
     "tofu-modlock verify",
     4,
     {"tofu-modlock install"},
     &install_once_more},
    {"line endings that core.autocrlf converted",
     [](Hints& scene) {
       scene.pin();
       scene.run("sed -i 's/$/\\r/' .terraform/modules/vpc/main.tf");
     },
     "tofu-modlock verify",
     4,
     {"tofu-modlock install"}},
    {"a changed module of a package",
     [](Hints& scene) {
       scene.call_nested();
       scene.damage(".terraform/modules/net.vpc/main.tf");
     },
     "tofu-modlock verify",
     4,
     {"tofu-modlock install"},
     &install_once_more},
    {"a module of a package without an entry",
     [](Hints& scene) {
       scene.call_nested();
       scene.write(".terraform.lock.hcl", scene.lock().substr(0, scene.lock().find("\nmodule \"net.vpc\"")));
     },
     "tofu-modlock verify",
     3,
     {"tofu-modlock lock", "tofu-modlock install"}},
    {"a wrong checksum, as install says",
     &wrong_checksum,
     "tofu-modlock install",
     4,
     {"tofu-modlock upgrade --target module.vpc"}},
    {"a wrong checksum, as lock says",
     &wrong_checksum,
     "tofu-modlock lock",
     4,
     {"the lock file contradicts itself: restore this entry from version control"},
     &restore},
    {"a wrong checksum, as ci says",
     &wrong_checksum,
     "tofu-modlock ci",
     4,
     {"tofu-modlock upgrade --target module.vpc"}},
    {"a wrong checksum, as verify says",
     &wrong_checksum,
     "tofu-modlock verify",
     4,
     {"tofu-modlock upgrade --target module.vpc"}},
    {"no lock file",
     [](Hints& scene) { scene.write("main.tf", scene.call("?ref=v1.0.0")); },
     "tofu-modlock install",
     3,
     {"tofu-modlock lock"}},
    {"no lock file of the only root module",
     [](Hints& scene) { scene.write("main.tf", scene.call("?ref=v1.0.0")); },
     "tofu-modlock lock --frozen --recursive",
     3,
     {"tofu-modlock lock"}},
    {"a directory that is not a root module",
     [](Hints& scene) {
       scene.pin();
       scene.write("other/main.tf", scene.call("?ref=v1.0.0"));
     },
     "tofu-modlock lock --frozen --recursive",
     3,
     {"exclude = [\"other\"]"},
     [](Hints& scene) { scene.write(".tofu-modlock.hcl", "exclude = [\"other\"]\n"); }},
    {"a command that does not exist",
     [](Hints& scene) {
       scene.pin();
       scene.run(
           "git init -q && echo .terraform/ > .gitignore && git add . && git -c user.name=a -c user.email=b "
           "commit -qm 1 && tofu-modlock update module.vpc");
     },
     "tofu-modlock undo",
     2,
     {"git restore main.tf .terraform.lock.hcl"},
     {},
     "git diff --exit-code && tofu-modlock lock --frozen"},
    {"a client's command without --",
     &Hints::pin,
     "tofu-modlock ci true x",
     2,
     {"tofu-modlock ci -- true x"},
     {},
     "true"},
    {"tags with a prefix",
     [](Hints& scene) {
       scene.vpc.tag("net-v2.1.0");
       scene.write("main.tf", scene.call());
       scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 2.1"));
     },
     "tofu-modlock lock",
     6,
     {"set tag_prefix = \"net-\" in the block module \"vpc\" of .tofu-modlock.hcl"},
     [](Hints& scene) {
       scene.write(".tofu-modlock.hcl", "module \"vpc\" {\n  version    = \"~> 2.1\"\n  tag_prefix = \"net-\"\n}\n");
     }},
    {"two tags of one version",
     [](Hints& scene) {
       scene.vpc.tag("1.1.0", scene.vpc.commit({{"main.tf", "# other\n"}}));
       scene.write("main.tf", scene.call());
       scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
     },
     "tofu-modlock lock",
     6,
     {"name one of them in the source"},
     [](Hints& scene) {
       scene.write("main.tf", scene.call("?ref=v1.1.0"));
       scene.write(".tofu-modlock.hcl", "");
     }},
    {"two tags of one version, excluded",
     [](Hints& scene) {
       scene.vpc.tag("1.1.0", scene.vpc.commit({{"main.tf", "# other\n"}}));
       scene.write("main.tf", scene.call());
       scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
     },
     "tofu-modlock lock",
     6,
     {"exclude the version with a \"!=\" constraint, which excludes both"},
     [](Hints& scene) { scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0, != 1.1.0")); }},
    {"two builds of one version",
     [](Hints& scene) {
       scene.vpc.tag("v1.2.0+b1");
       scene.vpc.tag("v1.2.0+b2", scene.vpc.commit({{"main.tf", "# other\n"}}));
       scene.write("main.tf", scene.call());
       scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
     },
     "tofu-modlock lock",
     6,
     {"name the version exactly, with its build metadata"},
     [](Hints& scene) { scene.write(".tofu-modlock.hcl", module_rule("vpc", "1.2.0+b2")); }},
    {"a file of a package that is not UTF-8",
     [](Hints& scene) {
       scene.release(scene.vpc, "1.2.0", {{"more.tf", "locals {\n  a = \"\xff\"\n}\n"}});
       scene.write("main.tf", scene.call("?ref=v1.2.0"));
     },
     "tofu-modlock lock",
     8,
     {"the file is part of a package: name another version of it"},
     [](Hints& scene) { scene.write("main.tf", scene.call("?ref=v1.1.0")); }},
    {"a source that needs much memory",
     [](Hints& scene) {
       std::string big(70'000'000, '\0');
       std::uint32_t state = 1;
       std::generate(big.begin(), big.end(),
                     [&] { return static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U); });
       scene.release(scene.vpc, "9.0.0", {{"big", big}});
       scene.write("main.tf", scene.call("?ref=v9.0.0"));
       write_text(scene.path("home/.config/tofu-modlock/config.hcl"), "child_memory = \"64MiB\"\n");
     },
     "tofu-modlock lock",
     8,
     {"set child_memory = \"256MiB\" in your own settings"},
     [](Hints& scene) {
       write_text(scene.path("home/.config/tofu-modlock/config.hcl"), "child_memory = \"256MiB\"\n");
     }},
    {"different entries of a call in both lock files",
     [](Hints& scene) {
       scene.constrain("~> 1.0");
       scene.run("cp .terraform.lock.hcl .terraform.modules.lock.hcl");
       scene.replace(".terraform.lock.hcl", "1.1.0", "1.0.0");
     },
     "tofu-modlock verify",
     8,
     {"module_lock_file = \"sidecar\""},
     [](Hints& scene) {
       scene.write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n" + module_rule("vpc", "~> 1.0"));
       scene.run("tofu-modlock lock");
     }},
    {"a call that cannot be locked",
     [](Hints& scene) {
       scene.pin();
       scene.write("h.tf", module_call("h", "hg::https://hg.example.test/net?rev=1"));
     },
     "tofu-modlock ci",
     3,
     {"unlocked_sources = [\"hg::https://hg.example.test/net?rev=1\"]"},
     [](Hints& scene) {
       scene.write(".tofu-modlock.hcl", "unlocked_sources = [\"hg::https://hg.example.test/net?rev=1\"]\n");
     }},
    {"a subject that does not exist in another directory",
     [](Hints& scene) {
       scene.write("root3/main.tf", scene.call("?ref=v1.0.0"));
       scene.run("tofu-modlock lock --chdir root3");
     },
     "tofu-modlock upgrade --target module.nope --chdir root3",
     2,
     {"tofu-modlock inspect --chdir root3"},
     {},
     "tofu-modlock upgrade --target module.vpc --chdir root3"},
    {"offline without a cache",
     [](Hints& scene) {
       scene.pin();
       scene.run("tofu-modlock bundle create -o BUNDLE");
       fs::remove_all(scene.cache());
       fs::remove_all(scene.root() / ".terraform");
     },
     "tofu-modlock install --offline",
     7,
     {"tofu-modlock install --from BUNDLE"}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hints)

BOOST_AUTO_TEST_CASE(advice_works_as_pasted) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      Hints scene;
      row.arrange(scene);
      const Ran first = scene.shell(row.command);
      std::string printed = first.out + first.err;
      BOOST_TEST(first.exit_code == row.exit_code, printed);
      BOOST_TEST((!row.steps.empty() && row.steps.size() <= 2));
      for (const std::string& step : row.steps) {
        BOOST_TEST(printed.find(step) != std::string::npos, "\"" << step << "\" is not in: " << printed);
        if (row.edit && &step == &row.steps.back()) {
          row.edit(scene);
          continue;
        }
        const Ran ran = scene.shell(step);
        BOOST_TEST(ran.exit_code == 0, step << ": " << ran.out << ran.err);
        printed += ran.out + ran.err;
      }
      const Ran again = scene.shell(row.then);
      BOOST_TEST(again.exit_code == 0, row.then << ": " << again.out << again.err);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_wrong_variable_is_named_not_the_flag, Hints) {
  pin();
  for (const auto& [variable, message] : std::vector<std::pair<std::string, std::string>>{
           {"TOFU_MODLOCK_JOBS", "TOFU_MODLOCK_JOBS: \"x\" is not a number from 1 to 64"},
           {"TOFU_MODLOCK_OFFLINE", "TOFU_MODLOCK_OFFLINE: \"x\" is not true or false"},
           {"TOFU_MODLOCK_GIT_ENGINE", "TOFU_MODLOCK_GIT_ENGINE: \"x\" is not one of auto,in-process,libgit2,git"},
           {"TOFU_MODLOCK_IMPLEMENTATION_VERSION",
            "expected a version at --implementation-version or TOFU_MODLOCK_IMPLEMENTATION_VERSION, found \"x\""}}) {
    const Ran ran = shell(variable + "=x tofu-modlock lock");
    BOOST_TEST(ran.exit_code == 2);
    BOOST_TEST(ran.err.starts_with("Error: " + message + " [INVALID_PARAMS]\n"), ran.err);
  }
  BOOST_TEST(shell("tofu-modlock lock --jobs x").err.starts_with("Error: --jobs: \"x\" is not a number"));
}

BOOST_FIXTURE_TEST_CASE(the_next_step_names_the_client_of_the_project, Hints) {
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION");
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION_VERSION");
  write_text(path("bin/tofu"), "");
  fs::permissions(path("bin/tofu"), fs::perms::owner_all);
  environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
  write("main.tf", call("?ref=v1.0.0"));
  write(".terraform.lock.hcl", "# This file is maintained automatically by \"terraform init\".\n");
  const Ran ran = shell("tofu-modlock lock");
  BOOST_TEST(ran.out.ends_with("Next: run tofu-modlock install, then terraform init.\n"), ran.out << ran.err);
}

BOOST_FIXTURE_TEST_CASE(units_of_terragrunt_are_not_root_modules, Hints) {
  write("live/terragrunt.hcl", "terraform {\n  source = \"git::" + vpc.url() + "\"\n}\n");
  for (const char* command : {"lock --frozen", "verify", "status"}) {
    const Ran ran = shell(std::string("tofu-modlock ") + command + " --recursive");
    BOOST_TEST(ran.exit_code == 8);
    BOOST_TEST(ran.err.ends_with("run: CI=true terragrunt run --all init\n"), ran.err);
  }
  write("app/main.tf", call("?ref=v1.0.0"));
  write("own/main.tf", call("?ref=v1.0.0"));
  write("own/terragrunt.hcl", "inputs = {}\n");
  const std::string note =
      "Not root modules: hooks check the units of Terragrunt (docs/terragrunt.md), run: CI=true terragrunt run --all "
      "init\n";
  BOOST_TEST(modlock({"lock", "--recursive", "."}).err.starts_with(note));
  BOOST_TEST(modlock({"lock", "--recursive", "--json"}).err == note);
  fs::remove_all(root() / "live");
  BOOST_TEST(modlock({"lock", "--recursive", "--json"}).err == "");
}

BOOST_FIXTURE_TEST_CASE(a_wrong_password_of_netrc_was_rejected, Hints, *needs(HttpsGitServer::kPrograms)) {
  HttpsGitServer server;
  GitRepository net(server.repositories() / "net.git");
  release(net, "1.0.0");
  name_text(server.host(), "<git>");
  environment["SSL_CERT_FILE"] = environment["GIT_SSL_CAINFO"] = server.authority().string();
  const auto write_password = [&](const std::string& password) {
    const std::string login = " login reader password " + password + "\n";
    write_text(path("home/.netrc"), "machine localhost" + login + "machine " + server.host() + login);
  };
  write_password("wrong");
  write("main.tf", module_call("net", server.url("private", "net.tar.gz")));
  const Ran archive = modlock({"lock"});
  BOOST_TEST(archive.exit_code == 7);
  BOOST_TEST(
      archive.err.find("hint: <git> rejected the credential from machine <git> in ~/.netrc:2: renew it there\n") !=
          std::string::npos,
      archive.err);
  write("main.tf", module_call("net", "git::" + server.url("private", "net.git") + "?ref=v1.0.0"));
  const Ran git = modlock({"lock"});
  BOOST_TEST(git.exit_code == 7);
  BOOST_TEST(git.err.find("<git> rejected the credentials (looked in: the address, git's credential helpers, "
                          "~/.netrc") != std::string::npos,
             git.err);
  BOOST_TEST(git.err.find("or correct the password for localhost in ~/.netrc;") != std::string::npos, git.err);
  write_password(HttpsGitServer::password());
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
}

BOOST_FIXTURE_TEST_CASE(a_flag_may_be_written_before_the_command, Hints) {
  write("live/main.tf", call("?ref=v1.0.0"));
  run("tofu-modlock --chdir live lock");
  BOOST_TEST(has("live/.terraform.lock.hcl"));
}

BOOST_FIXTURE_TEST_CASE(the_headings_of_graphs_are_comments, Hints) {
  pin();
  write("live/main.tf", call("?ref=v1.0.0"));
  const Ran ran = shell("tofu-modlock graph --recursive --format dot | grep -v '^  \\|^}\\|^$'");
  BOOST_TEST(ran.out == "// .:\ndigraph modules {\n// live:\ndigraph modules {\n", ran.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
