// A checkout of somebody else's repository: what lies in it may name no program, reach nothing outside, and change none
// of the user's own rules.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <thread>

#include "tests/e2e/scene.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct WorkingCopy : Scene {
  WorkingCopy() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
    write_text(path("outside/main.tf"), module_call("canary", "./canary"));
    write_text(path("outside/keep"), "kept\n");
  }
  std::string touch() const { return "touch " + path("ran").string(); }
  // Programs in the configuration of the repository around the root, wherever git could run one.
  void plant_programs() const {
    const std::string script = "#!/bin/sh\n" + touch() + "\n";
    for (const char* name : {"post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"}) {
      write_text(root() / ".git/hooks" / name, script);
      fs::permissions(root() / ".git/hooks" / name, fs::perms::owner_all);
    }
    write_text(
        root() / ".git/config",
        read(".git/config") + "[core]\n\tfsmonitor = " + touch() + "\n\tpager = " + touch() + "\n\tsshCommand = " +
            touch() + "\n\thooksPath = " + (root() / ".git/hooks").string() + "\n\talternateRefsCommand = " + touch() +
            "\n\taskPass = " + touch() + "\n\teditor = " + touch() + "\n[pager]\n\tlog = " + touch() +
            "\n\tcat-file = " + touch() + "\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = " + touch() +
            "\n[alias]\n\tlog = !" + touch() + "\n\tcat-file = !" + touch() + "\n[diff]\n\texternal = " + touch() +
            "\n[diff \"evil\"]\n\ttextconv = " + touch() + "\n\tcommand = " + touch() +
            "\n[filter \"evil\"]\n\tsmudge = " + touch() + "\n\tprocess = " + touch() +
            "\n[remote \"origin\"]\n\turl = ext::" + touch() + "\n\tpromisor = true\n[protocol \"ext\"]\n\tallow = " +
            "always\n[extensions]\n\tpartialClone = origin\n[credential]\n\thelper = !" + touch() + "\n");
    write(".gitattributes", "* filter=evil diff=evil\n");
  }
  void check_nothing_ran() const { BOOST_TEST(!fs::exists(path("ran"))); }
  void check_outside_is_kept() const {
    BOOST_TEST(read_text(path("outside/keep")) == "kept\n");
    BOOST_TEST(read_text(path("outside/main.tf")) == module_call("canary", "./canary"));
    BOOST_TEST(std::distance(fs::recursive_directory_iterator(path("outside")), {}) == 2);
  }
  // No command shows anything of a file outside, and each does its work: one that crashed would show nothing either.
  // The installation in the checkout is not that of the module.
  void check_nothing_is_told() const {
    struct Row {
      std::vector<std::string> command;
      int exit_code;
      const char* text;
    };
    for (const Row& row :
         {Row{{"lock"}, 0, "created the lock file"}, Row{{"lock", "--json"}, 0, "\"changes\": []"},
          Row{{"inspect"}, 0, "1 module call, 0 providers"}, Row{{"inspect", "--json"}, 0, "\"coreVersion\": []"},
          Row{{"graph"}, 0, "m0 --> m1"}, Row{{"verify"}, 4, "0 verified, 1 tampered"},
          Row{{"verify", "--json"}, 4, "\"ok\": false"}, Row{{"verify", "--online"}, 4, "0 verified, 1 tampered"},
          Row{{"install"}, 0, "1 installed."}, Row{{"verify"}, 0, "1 verified"},
          Row{{"sbom"}, 0, "\"bom-ref\": \"module.vpc\""}, Row{{"upgrade"}, 0, "The lock file is up to date."}}) {
      const Ran ran = modlock(row.command);
      BOOST_TEST(ran.exit_code == row.exit_code, row.command[0] << ran.out << ran.err);
      BOOST_TEST(ran.out.find(row.text) != std::string::npos, row.command[0] << ran.out << ran.err);
      BOOST_TEST((ran.out + ran.err).find("canary") == std::string::npos, row.command[0] << ran.out << ran.err);
    }
  }

  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(hostile_working_copies, WorkingCopy)

BOOST_AUTO_TEST_CASE(settings_of_a_package_are_not_read) {
  const std::string evil = "backend \"x\" {\n  command = [\"sh\", \"-c\", \"" + touch() + "\"]\n}\n";
  release(vpc, "1.1.0",
          {{".tofu-modlock.hcl", evil + "deny_sources = [\"*\"]\n"},
           {"sub/.tofu-modlock.hcl", evil},
           {"sub/main.tf", module_call("deep", "git::" + vpc.url() + "?ref=v1.0.0")}});
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "//sub?ref=v1.1.0"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(
      (locked_commits(*this) == std::map<std::string, std::string>{{"vpc", "<1.1.0>"}, {"vpc.deep", "<1.0.0>"}}));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  check_nothing_ran();
}

BOOST_AUTO_TEST_CASE(what_the_checkout_brings_as_installed_is_adopted_only_from_its_source_and_told) {
  const std::string url = "git::" + vpc.url();
  write("main.tf", module_call("vpc", url));
  program({"git", "clone", "--quiet", vpc.path().string(), ".terraform/modules/vpc"});
  write(".terraform/modules/vpc/main.tf", module_call("canary", "git::file:///nowhere.git"));
  write(".terraform/modules/modules.json", R"({"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"vpc","Source":")" +
                                               url + R"(","Dir":".terraform/modules/vpc"}]})");
  release(vpc, "1.1.0");
  const Ran tried = modlock({"lock", "--dry-run"});
  BOOST_TEST(tried.exit_code == 0, tried.err);
  BOOST_TEST(
      tried.out.find(
          "module.vpc  commit <1.0.0...>  adopted\n\n"
          "1 module is locked to the installed version, which may differ from what its source gives now (adopted).\nIf "
          "you did not install it yourself, select versions from the sources: tofu-modlock lock --no-adopt\n") == 0U,
      tried.out);
  BOOST_TEST(modlock({"lock", "--no-adopt", "--dry-run"}).out.find("module.vpc  commit <1.1.0...>\n") == 0U);
  const Ran locked = modlock({"lock", "--install"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST((locked_commits(*this) == std::map<std::string, std::string>{{"vpc", "<1.0.0>"}}));
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("canary") == std::string::npos);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_program_is_named_in_vain) {
  for (const char* name : {".tofu-modlock.hcl", "../.tofu-modlock.hcl"}) {
    BOOST_TEST_CONTEXT(name) {
      program({"git", "init", "--quiet", ".."});
      for (const std::string& setting : {"backend \"git\" {\n  command = [\"sh\", \"-c\", \"" + touch() + "\"]\n}\n",
                                         "source \"*\" {\n  command = [\"" + path("ran").string() + "\"]\n}\n",
                                         std::string("command = [\"sh\"]\n")}) {
        write(name, setting);
        for (const char* command : {"lock", "install", "verify", "inspect"}) {
          const Ran ran = modlock({command});
          BOOST_TEST(ran.exit_code == 8, command << ran.err);
          BOOST_TEST(ran.err.find("[SOURCE_DENIED]") != std::string::npos, ran.err);
        }
      }
      fs::remove(root() / name);
      check_nothing_ran();
    }
  }
}

// The client's own configuration is the user's: none lies in a root.
BOOST_AUTO_TEST_CASE(a_credentials_helper_is_named_in_vain) {
  ModuleRegistry registry;
  registry.add_version("acme/vpc/aws", "1.0.0", ModuleRegistry::by_header("git::https://127.0.0.1:1/x"));
  write_text(path("home/.tofurc"), registry.host_block("registry.example.test"));
  const std::string script = "#!/bin/sh\n" + touch() + "\necho '{\"token\": \"x\"}'\n";
  for (const char* name : {"terraform-credentials-evil", "docker-credential-evil", "tofu", "terraform", "git"}) {
    for (const char* place : {"", "terraform.d/plugins", ".terraform.d/plugins"}) {
      write_text(root() / place / name, script);
      fs::permissions(root() / place / name, fs::perms::owner_all);
    }
  }
  for (const char* name : {".tofurc", ".terraformrc", "tofurc", ".terraform.d/x.tfrc", ".config/opentofu/tofurc"}) {
    write(name, "credentials_helper \"evil\" {}\n" + registry.host_block("other.example.test"));
  }
  write(".docker/config.json", R"({"credsStore":"evil"})");
  write("main.tf", module_call("vpc", "registry.example.test/acme/vpc/aws") +
                       module_call("oci", "oci://127.0.0.1:1/x") + module_call("git", "git::" + vpc.url()));
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION_VERSION");
  for (const char* command : {"lock", "inspect", "verify"}) {
    modlock({command});
    check_nothing_ran();
  }
  BOOST_TEST(registry.requests().size() > 0U);
}

// Without HOME, or with a relative one, the files of the user are those of the account, never those of the checkout.
BOOST_AUTO_TEST_CASE(a_checkout_is_not_the_home_directory) {
  const std::string script = "#!/bin/sh\n" + touch() + "\n";
  for (const std::string& name : {"evil", ".terraform.d/plugins/terraform-credentials-evil"}) {
    write(name, script);
    fs::permissions(root() / name, fs::perms::owner_all);
  }
  write(".config/tofu-modlock/config.hcl",
        "backend \"hg\" {\n  command = [\"" + (root() / "evil").string() + "\"]\n}\n");
  write(".tofurc", "credentials_helper \"evil\" {}\n");
  write(".gitconfig", "[filter \"evil\"]\n\tclean = " + touch() + "; cat\n");
  write(".gitattributes", "* filter=evil\n");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  program({"sh", "-c", "git init --quiet . && git add -A && git -c user.name=t -c user.email=t@t commit --quiet -m x"});
  write("main.tf", read("main.tf") + module_call("hg", "hg::http://127.0.0.1:1/x") +
                       module_call("registry", "127.0.0.1:1/acme/vpc/aws"));
  using Words = std::vector<std::string>;
  for (const Words& home :
       {Words{}, Words{"HOME="}, Words{"HOME=."}, Words{"HOME=../root"},
        Words{"HOME=" + path("home").string(), "XDG_CONFIG_HOME=.config", "XDG_DATA_HOME=.terraform.d"}}) {
    BOOST_TEST_CONTEXT(home.size() << (home.empty() ? "" : home[0])) {
      for (const Words& arguments :
           {Words{"lock"}, Words{"verify"}, Words{"inspect"}, Words{"doctor"}, Words{"diff", "--lock-rev", "HEAD"},
            Words{"explain", "--credentials", "127.0.0.1"}}) {
        Words command = {"env", "-i", "PATH=" + environment.at("PATH"), "XDG_CACHE_HOME=" + cache().string()};
        command.insert(command.end(), home.begin(), home.end());
        command.push_back(binary);
        command.insert(command.end(), arguments.begin(), arguments.end());
        const Ran ran = program(command);
        BOOST_TEST(ran.exit_code < 9, arguments[0] << ran.out << ran.err);  // no crash: each exit code of an error
        BOOST_TEST(!(ran.out + ran.err).empty(), arguments[0]);
        BOOST_TEST(ran.err.find(".tofurc") == std::string::npos, arguments[0] << ran.err);
        BOOST_TEST(!fs::exists(path("ran")), arguments[0]);
        fs::remove(path("ran"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_checkout_cannot_make_foreign_content_stale) {
  // Its author has installed another version and commits all of it: files, file lists, the copy of the lock.
  release(vpc, "1.1.0");
  const std::string older = read("main.tf");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.1.0"));
  const std::string user_cache = std::exchange(environment["TOFU_MODLOCK_CACHE_DIR"], path("foreign").string());
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  environment["TOFU_MODLOCK_CACHE_DIR"] = user_cache;
  write("main.tf", older);
  BOOST_TEST(modlock({"lock", "--no-adopt"}).exit_code == 0);
  const Ran ran = modlock({"verify"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.out.find("tampered  module.vpc  ") == 0U, ran.out);
  // The user's own cache makes it stale.
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.1.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 3);
}

BOOST_AUTO_TEST_CASE(a_manifest_that_points_outside_is_not_followed) {
  const std::string source = "git::" + vpc.url() + "?ref=v1.0.0";
  for (const std::string& directory :
       {std::string("../outside"), path("outside").string(), std::string(".terraform/modules/../../../outside")}) {
    BOOST_TEST_CONTEXT(directory) {
      fs::remove_all(root() / ".terraform");
      fs::remove_all(cache());
      fs::remove(root() / ".terraform.lock.hcl");
      const std::string records = R"({"Modules":[{"Key":"","Source":"","Dir":"../outside"},{"Key":"vpc","Source":")" +
                                  source + R"(","Dir":")" + directory + R"("},{"Key":"gone","Source":"x","Dir":")" +
                                  directory + R"("},{"Key":"../../../outside","Source":"x","Dir":"."}]})";
      write(".terraform/modules/modules.json", records);
      check_nothing_is_told();
      BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.0.0\"") != std::string::npos);
      BOOST_TEST(read(".terraform/modules/modules.json").find("outside") == std::string::npos);
      check_outside_is_kept();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_data_directory_that_leads_outside_is_not_used) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  for (const char* name : {".terraform", ".terraform/modules", ".terraform/modules/modules.json",
                           ".terraform/tofu-modlock", ".terraform/tofu-modlock/files"}) {
    for (const char* target : {"outside", "nothing"}) {
      BOOST_TEST_CONTEXT(name << " leads to " << target) {
        fs::remove_all(root() / ".terraform");
        fs::create_directories((root() / name).parent_path());
        fs::create_directory_symlink(path(target), root() / name);
        for (const char* command : {"lock", "upgrade", "install", "verify", "inspect"}) {
          const Ran ran = modlock({command});
          BOOST_TEST(ran.exit_code == 8, command << ran.exit_code << ran.err);
          BOOST_TEST(ran.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, ran.err);
          check_outside_is_kept();
          BOOST_TEST(!fs::exists(path("nothing")));
        }
        fs::remove(root() / name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_garbage_is_no_empty_one) {
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  for (const char* garbage : {"{garbage", "{\"Modules\":[", "null", "[]", "{\"Modules\":[{\"Key\":[]}]}", "\x80"}) {
    BOOST_TEST_CONTEXT(garbage) {
      write(".terraform/modules/modules.json", garbage);
      for (const char* command : {"verify", "inspect"}) {
        const Ran ran = modlock({command});
        BOOST_TEST(ran.exit_code == 1, command << ran.exit_code << ran.err);
        BOOST_TEST(ran.err.find("modules.json cannot be used: ") != std::string::npos, ran.err);
        BOOST_TEST(ran.err.find("hint: `tofu-modlock install` moves it to modules.json.broken") != std::string::npos,
                   ran.err);
      }
      const Ran installed = modlock({"install"});
      BOOST_TEST(installed.exit_code == 0, installed.err);
      BOOST_TEST(installed.err.find("modules.json cannot be used: ") != std::string::npos, installed.err);
      BOOST_TEST(read_text(root() / ".terraform/modules/modules.json.broken") == garbage);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

// A client reads a recorded module where the record says, a local one too.
BOOST_AUTO_TEST_CASE(a_manifest_that_leads_a_client_elsewhere_is_found_and_healed) {
  write("net/main.tf", "");
  write("main.tf", read("main.tf") + module_call("net", "./net"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  const std::string manifest = read(".terraform/modules/modules.json");
  for (const std::string place : {"net", ".terraform/modules/vpc"}) {
    for (const std::string& elsewhere : {std::string("../outside"), path("outside").string()}) {
      BOOST_TEST_CONTEXT(place << " " << elsewhere) {
        std::string edited = manifest;
        edited.replace(edited.find("\"Dir\":\"" + place + "\"") + 7, place.size(), elsewhere);
        write(".terraform/modules/modules.json", edited);
        const Ran ran = modlock({"verify"});
        BOOST_TEST(ran.exit_code == 4, ran.out + ran.err);
        BOOST_TEST(ran.err.find("modules.json points to \"") != std::string::npos, ran.err);
        BOOST_TEST(modlock({"install"}).exit_code == 0);
        BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
        check_outside_is_kept();
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lock_file_that_leads_to_nothing_outside_is_not_written) {
  fs::remove(root() / ".terraform.lock.hcl");
  fs::create_symlink(path("nothing"), root() / ".terraform.lock.hcl");
  for (const char* command : {"lock", "install", "verify"}) {
    const Ran ran = modlock({command});
    BOOST_TEST(ran.exit_code == 8, command << ran.exit_code << ran.err);
    BOOST_TEST(ran.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, ran.err);
    BOOST_TEST(!fs::exists(path("nothing")));
  }
}

// What is written takes the place of a link.
BOOST_AUTO_TEST_CASE(links_where_something_is_written_are_not_followed) {
  fs::remove_all(root() / ".terraform");
  fs::create_directories(root() / ".terraform/modules");
  fs::create_directories(root() / ".terraform/tofu-modlock");
  fs::create_directory_symlink(path("outside"), root() / ".terraform/modules/vpc");
  fs::create_symlink(path("outside/keep"), root() / ".terraform/tofu-modlock/lock.hcl");
  check_nothing_is_told();
  check_outside_is_kept();
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(!fs::is_symlink(root() / ".terraform/modules/vpc"));
}

// A process that may write to the root replaces directories by links while a command writes in them.
BOOST_AUTO_TEST_CASE(a_directory_that_becomes_a_link_meanwhile_is_not_followed) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  for (const char* name : {".terraform/modules", ".terraform/tofu-modlock", ".terraform"}) {
    BOOST_TEST_CONTEXT(name) {
      const fs::path place = root() / name;
      const fs::path kept = root() / "kept";
      fs::create_directories(place);
      std::jthread swapper([&](const std::stop_token& stop) {
        std::error_code ignored;
        while (!stop.stop_requested()) {
          fs::rename(place, kept, ignored);
          fs::create_directory_symlink(path("outside"), place, ignored);
          fs::remove(place, ignored);  // the link, or an empty directory that the command has made in its place
          fs::rename(kept, place, ignored);
        }
      });
      for (int run = 0; run < 40; ++run) {
        const Ran ran = modlock({"install"});
        // 4: the files that the removal below left were restored, and reported.
        const bool is_restored = ran.exit_code == 4 && ran.err.find("was deleted [HASH_MISMATCH]") != std::string::npos;
        BOOST_TEST((ran.exit_code == 0 || ran.exit_code == 1 || ran.exit_code == 8 || is_restored),
                   ran.exit_code << ran.err);
        BOOST_TEST(ran.err.find("/proc/self/fd") == std::string::npos, ran.err);
        std::error_code ignored;
        fs::remove_all(place / (run % 2 == 0 ? "modules" : "vpc"), ignored);
      }
      swapper = {};
      check_outside_is_kept();
      fs::remove_all(kept);
      fs::remove_all(root() / ".terraform");
    }
  }
}

// The committed lock is looked up with git, in a repository whose configuration is not the user's.
BOOST_AUTO_TEST_CASE(the_repository_around_the_root_runs_nothing) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const std::string locked = lock();
  program({"sh", "-c", "git init --quiet . && git add -A && git -c user.name=t -c user.email=t@t commit --quiet -m x"});
  plant_programs();
  write(".terraform.lock.hcl", "# nothing is left\n");
  fs::remove_all(root() / ".terraform");
  for (const char* command : {"lock", "install", "verify", "inspect"}) {
    const Ran ran = modlock({command});
    BOOST_TEST(ran.exit_code == 0, command << ran.out << ran.err);
    check_nothing_ran();
  }
  BOOST_TEST(lock().find(locked.substr(locked.find("module "))) != std::string::npos);
}

// Every key of git's configuration that names a program, and every hook, while every command runs.
BOOST_AUTO_TEST_CASE(keys_that_start_programs_start_none) {
  write("sub/main.tf", "# sub\n");
  write("sub/clean.tf", "# clean\n");
  write("sub/process.tf", "# process\n");
  write("sub/odd.tf", "# odd\n");
  write("sub/included.tf", "# included\n");
  write("sub/worktree.tf", "# worktree\n");
  write(".gitattributes",
        "* filter=all diff=all merge=all\nclean.tf filter=clean\nprocess.tf filter=process\nodd.tf filter=a=b.c\n"
        "included.tf filter=included\nworktree.tf filter=worktree\n");
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  program({"sh", "-c",
           "git init --quiet . && echo .terraform > .gitignore && git add -A && git -c user.name=t -c "
           "user.email=t@t commit --quiet -m x"});
  fs::create_directories(path("ran"));
  const auto mark = [&](const std::string& name) { return "touch '" + (path("ran") / name).string() + "'; cat"; };
  const auto set = [&](const std::string& key, const std::string& value, const std::string& file = ".git/config") {
    BOOST_TEST(program({"git", "config", "--file", (root() / file).string(), "--add", key, value}).exit_code == 0, key);
  };
  for (const char* key : {"alias.cat-file",
                          "alias.config",
                          "alias.diff",
                          "alias.log",
                          "alias.ls-files",
                          "alias.rev-parse",
                          "browser.evil.cmd",
                          "core.alternateRefsCommand",
                          "core.askPass",
                          "core.editor",
                          "core.fsmonitor",
                          "core.gitProxy",
                          "core.pager",
                          "core.sshCommand",
                          "credential.helper",
                          "diff.all.command",
                          "diff.all.textconv",
                          "diff.external",
                          "difftool.evil.cmd",
                          "filter.a=b.c.clean",
                          "filter.all.clean",
                          "filter.all.process",
                          "filter.all.smudge",
                          "filter.clean.clean",
                          "filter.clean.smudge",
                          "filter.process.process",
                          "gc.recentObjectsHook",
                          "gpg.openpgp.program",
                          "gpg.program",
                          "gpg.ssh.defaultKeyCommand",
                          "gpg.ssh.program",
                          "gpg.x509.program",
                          "hook.evil.command",
                          "interactive.diffFilter",
                          "merge.all.driver",
                          "mergetool.evil.cmd",
                          "pack.packObjectsHook",
                          "pager.cat-file",
                          "pager.config",
                          "pager.diff",
                          "pager.grep",
                          "pager.log",
                          "remote.origin.receivepack",
                          "remote.origin.uploadpack",
                          "remote.origin.vcs",
                          "sequence.editor",
                          "submodule.sub.update",
                          "tar.evil.command",
                          "trailer.evil.cmd",
                          "trailer.evil.command",
                          "uploadpack.packObjectsHook",
                          "web.browser"}) {
    const std::string name(key);
    const bool is_shell = name.starts_with("alias.") || name == "credential.helper" || name == "submodule.sub.update";
    set(name, (is_shell ? "!" : "") + mark(name));
  }
  for (const char* event : {"post-index-change", "pre-commit", "reference-transaction"}) {
    set("hook.evil.event", event);
  }
  for (const auto& [key, value] : std::map<std::string, std::string>{{"filter.clean.required", "true"},
                                                                     {"filter.process.required", "true"},
                                                                     {"log.showSignature", "true"},
                                                                     {"remote.origin.url", "ext::" + mark("ext")},
                                                                     {"remote.origin.promisor", "true"},
                                                                     {"protocol.ext.allow", "always"},
                                                                     {"extensions.partialClone", "origin"},
                                                                     {"extensions.worktreeConfig", "true"},
                                                                     {"core.hooksPath", ".git/hooks"},
                                                                     {"include.path", "more"}}) {
    set(key, value);
  }
  set("filter.included.clean", mark("included"), ".git/more");
  set("filter.worktree.clean", mark("worktree"), ".git/config.worktree");
  for (const char* hook : {"fsmonitor-watchman", "post-checkout", "post-index-change", "pre-auto-gc", "pre-commit",
                           "query-watchman", "reference-transaction"}) {
    const std::string file = std::string(".git/hooks/") + hook;
    write(file, "#!/bin/sh\n" + mark(hook) + "\n");
    fs::permissions(root() / file, fs::perms::owner_all);
  }
  write("updates.json", "[]");
  using Words = std::vector<std::string>;
  for (const Words& command : {Words{"diff", "--lock-rev", "HEAD"},
                               {"update", "--from-diff", "HEAD", "--dry-run"},
                               {"update", "--from-file", "updates.json"},
                               {"update", "--list"},
                               {"lock"},
                               {"lock", "--frozen"},
                               {"lock", "--recursive"},
                               {"upgrade"},
                               {"install"},
                               {"verify"},
                               {"verify", "--online"},
                               {"status"},
                               {"inspect"},
                               {"graph"},
                               {"sbom"},
                               {"versions", "git::" + vpc.url()},
                               {"explain", "module.vpc"},
                               {"explain", "--recursive", "--find", "git::" + vpc.url()},
                               {"explain", "--credentials", "127.0.0.1"},
                               {"doctor"},
                               {"bundle", "create", "--output", path("bundle.tar").string()},
                               {"mirror", "--", "true"},
                               {"init", "--all"}}) {
    // git compares the content of files whose times are not those of its index, and then writes its index.
    for (const auto& file : fs::directory_iterator(root() / "sub")) {
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    write("sub/main.tf", "# changed by " + command[0] + "\n");
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 0, command[0] << ran.out << ran.err);
    for (const auto& file : fs::directory_iterator(path("ran"))) {
      BOOST_ERROR(command[0] << " started the program of " << file.path().filename());
      fs::remove(file);
    }
  }
}

BOOST_AUTO_TEST_CASE(merging_runs_nothing_of_the_repository) {
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const std::string locked = lock();
  const auto change_to = [&](const std::string& name) {
    return "printf '\\n# " + name + "\\n' >> .terraform.lock.hcl && git commit --quiet --all -m " + name;
  };
  program(
      {"sh", "-c",
       "git init --quiet . && git config user.name t && git config user.email t@t && git add -A && git commit --quiet "
       "-m x && git checkout --quiet -b theirs && " +
           change_to("theirs") + " && git checkout --quiet - && " + change_to("ours") + "; git merge --quiet theirs"});
  BOOST_TEST_REQUIRE(lock().find("<<<<<<<") != std::string::npos);
  plant_programs();
  write(".gitattributes", read(".gitattributes") + "* merge=evil\n");
  write(".git/config", read(".git/config") + "[merge \"evil\"]\n\tdriver = " + touch() + "\n");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
  check_nothing_ran();
  BOOST_TEST(lock() == locked + "\n# ours\n");
}

BOOST_AUTO_TEST_CASE(links_in_the_configuration_lead_to_nothing_outside) {
  struct Row {
    const char* name;
    bool is_needed;     // so that nothing is said without it
    int sbom_code = 3;  // it reads no configuration, and there is no lock file
  };
  for (const Row& row :
       {Row{"linked.tf", true}, Row{"linked.tf.json", true}, Row{"linked.tofu", true}, Row{"linked_override.tf", true},
        Row{"terraform.tfvars", true}, Row{"x.auto.tfvars", true}, Row{"tests/x.tftest.hcl", true},
        Row{".tofu-modlock.hcl", true, 8}, Row{".terraform.lock.hcl", true, 8}, Row{".terraform/environment", true, 8},
        Row{".terraform/modules/modules.json", true, 8}, Row{"terraform.tfstate", false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(root());
      write("main.tf", "variable \"v\" {\n  default = 1\n}\n");
      write_text(path("outside/canary"), "password = canary canary\n");
      fs::create_directories((root() / row.name).parent_path());
      fs::create_symlink(path("outside/canary"), root() / row.name);
      for (const char* command : {"lock", "install", "verify", "inspect", "sbom"}) {
        const Ran ran = modlock({command});
        BOOST_TEST((ran.out + ran.err).find("canary canary") == std::string::npos, command << ran.out << ran.err);
        const bool is_sbom = std::string(command) == "sbom";
        BOOST_TEST(ran.exit_code == (is_sbom ? row.sbom_code : row.is_needed ? 8 : 0), command << ran.out << ran.err);
        BOOST_TEST((ran.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos) == (ran.exit_code == 8),
                   command << ran.err);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(links_in_an_installed_module_lead_to_nothing_outside) {
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  fs::remove(root() / ".terraform/modules/vpc/main.tf");
  fs::create_symlink(path("outside/main.tf"), root() / ".terraform/modules/vpc/main.tf");
  using Words = std::vector<std::string>;
  for (const auto& [command, exit_code] : std::vector<std::pair<Words, int>>{{{"inspect"}, 0},
                                                                             {{"inspect", "--json"}, 0},
                                                                             {{"graph"}, 0},
                                                                             {{"verify"}, 4},
                                                                             {{"verify", "--json"}, 4},
                                                                             {{"lock"}, 0},
                                                                             {{"install"}, 0}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == exit_code, command[0] << ran.out << ran.err);
    BOOST_TEST((ran.out + ran.err).find("canary") == std::string::npos, command[0] << ran.out << ran.err);
  }
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  check_outside_is_kept();
}

BOOST_AUTO_TEST_CASE(a_cache_that_everybody_may_write_to_is_refused) {
  fs::create_directories(cache());
  fs::permissions(cache(), fs::perms::all);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock"},
                                                  {"lock", "--frozen"},
                                                  {"install"},
                                                  {"ci"},
                                                  {"upgrade"},
                                                  {"outdated"},
                                                  {"verify", "--online"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 1, command.front());
    BOOST_TEST(ran.err ==
               "Error: every user may write to the cache \"<dir>/cache\" [IO_ERROR]\n"
               "  hint: chmod o-w <dir>/cache\n");
  }
  BOOST_TEST(!has(".terraform.lock.hcl"));
  BOOST_TEST(fs::is_empty(cache()));
  fs::permissions(cache(), fs::perms{0775});
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_cache_of_another_user_is_not_changed, *needs("root")) {
  fs::create_directories(cache());
  fs::permissions(cache(), fs::perms::all);
  BOOST_REQUIRE(::chown(cache().c_str(), 4242, 4242) == 0);
  BOOST_TEST(modlock({"lock"}).err ==
             "Error: every user may write to the cache \"<dir>/cache\" [IO_ERROR]\n"
             "  hint: name a directory of your own with --cache-dir or TOFU_MODLOCK_CACHE_DIR\n");
}

BOOST_AUTO_TEST_CASE(commands_that_need_no_cache_leave_out_one_of_everybody) {
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  fs::permissions(cache(), fs::perms::all);
  const auto before = environment;
  for (const bool is_volume : {false, true}) {  // a directory that nothing is in yet
    if (is_volume) {
      fs::create_directories(path("volume"));
      fs::permissions(path("volume"), fs::perms::all);
      environment["TOFU_MODLOCK_CACHE_DIR"] = path("volume").string();
    }
    const std::string warning = std::string("Warning: every user may write to the cache \"<dir>/") +
                                (is_volume ? "volume" : "cache") +
                                "\" [IO_ERROR]\n  note: this command does not use the cache\n";
    for (const char* command : {"verify", "status", "inspect", "graph"}) {
      const Ran ran = modlock({command});
      BOOST_TEST(ran.exit_code == 0, command << ran.err);
      BOOST_TEST(ran.err.starts_with(warning), ran.err);
    }
    BOOST_TEST((!is_volume || fs::is_empty(path("volume"))));
  }
  environment = before;
  environment["TOFU_MODLOCK_CACHE_DIR"].clear();
  fs::create_directories(path("xdg-cache/tofu-modlock"));
  fs::permissions(path("xdg-cache/tofu-modlock"), fs::perms::all);
  BOOST_TEST(modlock({"sbom"}).exit_code == 0);
  environment = before;
  // Without the cache, nothing tells an older installation from a changed one.
  release(vpc, "1.1.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.1.0"));
  fs::permissions(cache(), fs::perms::owner_all);
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 3);
  fs::permissions(cache(), fs::perms::all);
  BOOST_TEST(modlock({"verify"}).exit_code == 4);
}

// Whoever writes the cache writes the proofs of the lock file. As in the job for GitLab, it is below the project.
BOOST_AUTO_TEST_CASE(a_cache_that_git_tracks_is_refused) {
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  struct Row {
    const char* name;
    std::string arrange;  // a shell script in the root module, a git repository
    std::string cache;
    std::string refused;  // the reason; empty: the cache is used
  };
  const std::string tracked = "git tracks \"";
  const std::string unreadable = "the index of the repository <dir>/root cannot be read: ";
  for (const Row& row : {
           Row{"below it", "mkdir -p .modlock/v2 && touch .modlock/v2/x && git add -f .modlock", ".modlock",
               tracked + ".modlock/v2/x\""},
           Row{"only in the index", "mkdir .modlock && touch .modlock/x && git add -f .modlock && rm -r .modlock",
               ".modlock", tracked + ".modlock/x\""},
           Row{"at it, a link", "mkdir ../elsewhere && ln -s ../elsewhere .modlock && git add -f .modlock", ".modlock",
               tracked + ".modlock\""},
           Row{"above it, a link", "mkdir ../elsewhere && ln -s ../elsewhere ci && git add ci", "ci/cache/modlock",
               tracked + "ci\""},
           Row{"above it, a submodule",
               "git init -q ci && git -C ci -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && git add "
               "ci 2>/dev/null",
               "ci/modlock", tracked + "ci\""},
           Row{"through a link of the user",
               "mkdir .modlock && touch .modlock/x && git add -f .modlock && ln -s "
               "$PWD/.modlock ../link",
               "../link", tracked + ".modlock/x\""},
           Row{"a broken index", "printf broken > .git/index", ".modlock", unreadable},
           Row{"a repository that is none", "rm -r .git && mkdir .git", ".modlock", unreadable},
           Row{"untracked", "touch other && git add other", ".modlock", ""},
           Row{"ignored", "echo .modlock > .gitignore && git add .gitignore", ".modlock", ""},
           Row{"an entry whose name only begins like it",
               "mkdir .modlock2 && touch .modlock2/x .modlock.md && git add -f .", ".modlock", ""},
           Row{"an entry beside it", "mkdir -p ci && touch ci/x && git add ci", "ci/modlock", ""},
           Row{"a repository without commits", "true", ".modlock", ""},
           Row{"outside", "mkdir .modlock && touch .modlock/x && git add -f .modlock", "../cache", ""},
           Row{"no repository", "rm -r .git && mkdir .modlock && touch .modlock/x", ".modlock", ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_REQUIRE(
          program({"sh", "-c", "rm -rf .git .gitignore .modlock* ci other ../elsewhere ../link && git init -q"})
              .exit_code == 0);
      const Ran arranged = program({"sh", "-c", row.arrange});
      BOOST_REQUIRE_MESSAGE(arranged.exit_code == 0, arranged.err);
      for (const char* command : {"lock --frozen", "install", "verify", "ci"}) {
        const Ran ran = program({"sh", "-c", "TOFU_MODLOCK_CACHE_DIR=" + row.cache + " \"$0\" " + command, binary});
        BOOST_TEST(ran.exit_code == (row.refused.empty() ? 0 : 8), command << ran.err);
        BOOST_TEST(ran.err.find(row.refused) != std::string::npos, ran.err);
      }
      program({"rm", "-rf", ".terraform"});
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
