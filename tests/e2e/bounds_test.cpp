// What a root reads outside of itself.

#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// The root is a/live/root, next to a/modules; nothing is in a repository.
struct Bounds : Scene {
  Bounds() {
    environment["GIT_CONFIG_COUNT"] = "1";
    environment["GIT_CONFIG_KEY_0"] = "protocol.file.allow";
    environment["GIT_CONFIG_VALUE_0"] = "always";
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    write_text(live / "main.tf", module_call("app", "../../modules/app"));
    write_text(modules / "app/main.tf", module_call("vpc", source("v1.0.0")));
  }

  std::string source(const std::string& tag) const { return "git::" + vpc.url() + "?ref=" + tag; }

  Ran in_root(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, {"--chdir", live.string()});
    return modlock(std::move(arguments));
  }

  void write_user_settings(std::string_view text) const {
    write_text(path("home/.config/tofu-modlock/config.hcl"), text);
  }

  fs::path live = path("a/live/root");
  fs::path modules = path("a/modules");
  GitRepository& vpc = repository("vpc.git");
};

const char* const kLockName = ".terraform.lock.hcl";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bounds, Bounds)

BOOST_AUTO_TEST_CASE(outside_of_a_repository_local_sources_may_lead_above_the_root) {
  write_text(modules / "app/main.tf", module_call("vpc", source("v1.0.0")) + module_call("net", "../net"));
  write_text(modules / "net/main.tf", module_call("vpc", source("v1.1.0")));
  BOOST_TEST(in_root({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(read_text(live / kLockName).find("module \"app.net.vpc\"") != std::string::npos);
  BOOST_TEST(shown(read_text(live / ".terraform/modules/modules.json")) ==
             R"({"Modules":[{"Key":"","Source":"","Dir":"."},)"
             R"({"Key":"app","Source":"../../modules/app","Dir":"../../modules/app"},)"
             R"({"Key":"app.net","Source":"../net","Dir":"../../modules/net"},)"
             R"({"Key":"app.net.vpc","Source":"git::file://<dir>/repositories/vpc.git?ref=v1.1.0",)"
             R"("Dir":".terraform/modules/app.net.vpc"},)"
             R"({"Key":"app.vpc","Source":"git::file://<dir>/repositories/vpc.git?ref=v1.0.0",)"
             R"("Dir":".terraform/modules/app.vpc"}]})");
  for (const char* command : {"verify", "inspect", "graph", "install", "doctor"}) {
    const Ran ran = in_root({command});
    BOOST_TEST(ran.exit_code == 0, command << ran.out << ran.err);
  }
  BOOST_TEST(in_root({"lock", "--frozen"}).exit_code == 0);
  BOOST_TEST(in_root({"explain", "module.app.net.vpc"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_client_reads_the_same, *needs("tofu or terraform")) {
  write_text(path("a/common/net/main.tf"), module_call("vpc", source("v1.1.0")));
  fs::create_directory_symlink("../common/net", modules / "net");
  write_text(modules / "app/main.tf", module_call("vpc", source("v1.0.0")) + module_call("net", "../net"));
  for (const std::string& client : clients()) {
    for (const fs::path& root : {live, path("link-to-root")}) {
      BOOST_TEST_CONTEXT(client << " in " << root) {
        fs::remove_all(live / ".terraform");
        fs::remove(live / kLockName);
        fs::remove(path("link-to-root"));
        fs::create_directory_symlink(live, path("link-to-root"));
        environment["TOFU_MODLOCK_IMPLEMENTATION"] = client == "tofu" ? "opentofu" : "terraform";
        const Ran locked = modlock({"lock", "--install", "--chdir", root.string()});
        BOOST_TEST(locked.exit_code == 0, locked.err);
        const std::string ours = read_text(live / ".terraform/modules/modules.json");
        fs::remove_all(live / ".terraform");
        const Ran ran = program({client, "-chdir=" + root.string(), "init", "-backend=false"});
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(read_text(live / ".terraform/modules/modules.json") == ours);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_leads_elsewhere_needs_a_workspace_root) {
  struct Row {
    const char* name;
    std::function<void(const Bounds&)> make;
    std::string message;  // empty: it may be read
    std::string hint;
    std::vector<std::string> workspace_roots;  // with which it may be read
  };
  const std::string module_hint =
      "  hint: allow the directory with --workspace-root, or move the module into the repository of "
      "the root\n";
  const std::string file_hint =
      "  hint: replace the link with the file, or allow its directory with --workspace-root\n";
  const std::string function_hint =
      "  hint: keep the file below the root, or allow its directory with --workspace-root\n";
  const auto says = [](const std::string& name) {
    return "the local source \"" + name + "\" of module \"app\" points outside the directories that may be read";
  };
  const std::string link = "is a symbolic link to a file outside the directories that may be read";
  const std::string by_function =
      "locals {\n  s = jsondecode(file(\"${path.module}/names.json\"))\n}\nmodule \"x\" {\n  source = local.s\n}\n";
  const Row rows[] = {
      {"a link above the root, within what encloses both",
       [](const Bounds& s) {
         fs::rename(s.modules / "app", s.path("a/other"));
         fs::create_directory_symlink("../other", s.modules / "app");
       },
       {},
       {},
       {}},
      {"a link above the root that leaves it",
       [](const Bounds& s) {
         fs::rename(s.modules / "app", s.path("outside"));
         fs::create_directory_symlink("../../outside", s.modules / "app");
       },
       says("../../modules/app"),
       module_hint,
       {"outside"}},
      {"a link in the root",
       [](const Bounds& s) {
         fs::create_directory_symlink("../../modules", s.live / "modules");
         write_text(s.live / "main.tf", module_call("app", "./modules/app"));
       },
       says("./modules/app"),
       module_hint,
       {"a/modules"}},
      {"a link to a file of the same module",
       [](const Bounds& s) {
         fs::rename(s.modules / "app/main.tf", s.modules / "app/real");
         fs::create_symlink("real", s.modules / "app/main.tf");
       },
       {},
       {},
       {}},
      {"a link to a file of another module",
       [](const Bounds& s) {
         fs::rename(s.modules / "app/main.tf", s.modules / "main.tf");
         fs::create_symlink("../main.tf", s.modules / "app/main.tf");
       },
       link,
       file_hint,
       {"a/modules"}},
      {"a link to a file, in the root",
       [](const Bounds& s) {
         fs::rename(s.live / "main.tf", s.path("a/live/main.tf"));
         fs::create_symlink("../main.tf", s.live / "main.tf");
       },
       link,
       file_hint,
       {"a/live"}},
      {"a file function in the root",
       [&](const Bounds& s) {
         write_text(s.live / "names.json", "\"" + s.source("v1.0.0") + "\"");
         write_text(s.live / "main.tf", by_function);
       },
       {},
       {},
       {}},
      {"a file function in a module above the root",
       [&](const Bounds& s) {
         write_text(s.modules / "app/names.json", "\"" + s.source("v1.0.0") + "\"");
         write_text(s.modules / "app/main.tf", by_function);
       },
       "the path \"<dir>/a/modules/app/names.json\" is outside \"<dir>/a/live/root\"",
       function_hint,
       {"a/modules/app"}},
      {"a file of variables above the root",
       [](const Bounds& s) {
         write_text(s.path("a/x.auto.tfvars"), "");
         fs::create_symlink("../../x.auto.tfvars", s.live / "x.auto.tfvars");
       },
       "the path \"<dir>/a/live/root/x.auto.tfvars\" is outside \"<dir>/a/live/root\"",
       "  hint: move the file below the root, or allow its directory with --workspace-root\n",
       {"a"}},
      {"two of them in two directories",
       [](const Bounds& s) {
         fs::rename(s.modules / "app/main.tf", s.modules / "main.tf");
         fs::create_symlink("../main.tf", s.modules / "app/main.tf");
         fs::rename(s.live / "main.tf", s.path("a/live/main.tf"));
         fs::create_symlink("../main.tf", s.live / "main.tf");
       },
       link,
       file_hint,
       {"a/modules", "a/live"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bounds scene;
      row.make(scene);
      const Ran ran = scene.in_root({"lock", "--dry-run"});
      if (row.message.empty()) {
        BOOST_TEST(ran.exit_code == 0, ran.err);
        continue;
      }
      BOOST_TEST(ran.exit_code == 8, ran.out << ran.err);
      BOOST_TEST(ran.err.find(row.message + " [PATH_OUTSIDE_ROOT]") != std::string::npos, ran.err);
      BOOST_TEST(ran.err.find(row.hint) != std::string::npos, ran.err);
      std::vector<std::string> arguments = {"lock"};
      std::string settings;
      for (const std::string& root : row.workspace_roots) {
        arguments.insert(arguments.end(), {"--workspace-root", scene.path(root).string()});
        settings += (settings.empty() ? "" : ", ") + ("\"" + scene.path(root).string() + "\"");
      }
      const Ran allowed = scene.in_root(arguments);
      BOOST_TEST(allowed.exit_code == 0, allowed.err);
      scene.write_user_settings("workspace_roots = [" + settings + "]\n");
      const Ran by_settings = scene.in_root({"lock", "--frozen"});
      BOOST_TEST(by_settings.exit_code == 0, by_settings.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_is_left_only_to_a_workspace_root) {
  program({"git", "init", "--quiet", live.string()});
  const Ran refused = in_root({"lock"});
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, refused.err);
  BOOST_TEST(in_root({"lock", "--workspace-root", modules.string()}).exit_code == 0);
  for (const char* command : {"verify", "inspect", "graph", "install", "doctor", "upgrade"}) {
    const Ran ran = in_root({command, "--workspace-root", modules.string()});
    BOOST_TEST((ran.exit_code == 0 || ran.exit_code == 3), command << ran.out << ran.err);
    BOOST_TEST(ran.err.find("PATH_OUTSIDE_ROOT") == std::string::npos, command << ran.err);
  }
  fs::remove_all(live / ".git");
  program({"git", "init", "--quiet", path("a").string()});
  BOOST_TEST(in_root({"lock", "--frozen"}).exit_code == 0);
}

// The configuration of a checkout may have a token, which an error would quote.
BOOST_AUTO_TEST_CASE(a_link_into_the_git_directory_is_not_followed) {
  write_text(live / ".git/config", "[http]\n\textraheader = AUTHORIZATION: basic canary-token\n");
  for (const char* name : {"main.tf", "x.auto.tfvars", ".tofu-modlock.hcl", ".terraform.lock.hcl"}) {
    BOOST_TEST_CONTEXT(name) {
      fs::remove(live / name);
      fs::create_symlink(".git/config", live / name);
      const Ran ran = in_root({"lock"});
      BOOST_TEST(ran.exit_code == 8, ran.err);
      BOOST_TEST((ran.out + ran.err).find("canary-token") == std::string::npos, ran.err);
      BOOST_TEST(ran.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, ran.err);
      fs::remove(live / name);
      write_text(live / "main.tf", module_call("vpc", "git::" + vpc.url(), "1.0.0"));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_read_from_the_git_directory) {
  const std::string token = "canary-token";
  write_text(live / ".git/config", token);
  write_text(live / ".git/m/main.tf", "variable \"" + token + "\" {");
  const std::string in_git = "leads into a directory of git";
  const std::string in_text = module_call("m", "git::https://127.0.0.1:1/${local.x}") + "locals {\n  x = ";
  struct Row {
    const char* name;
    std::string text;
    std::string message;
  };
  for (const Row& row : {
           Row{"a file", in_text + "file(\".git/config\")\n}\n", in_git},
           Row{"an encoded file", in_text + "filebase64(\"./.git/config\")\n}\n", in_git},
           Row{"a template", in_text + "templatefile(\"${path.module}/.git/config\", {})\n}\n", in_git},
           Row{"a list of files", in_text + "join(\",\", fileset(\".git\", \"*\"))\n}\n", in_git},
           Row{"a local source", module_call("m", "./.git/m"),
               "the local source \"./.git/m\" of module \"m\" points outside the directories that may be read"},
           Row{"a state", "terraform {\n  backend \"local\" {\n    path = \".git/config\"\n  }\n}\n", ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(live / "main.tf", row.text);
      const Ran ran = in_root({"lock"});
      BOOST_TEST((ran.exit_code == 8) == !row.message.empty(), ran.err);
      BOOST_TEST((ran.out + ran.err).find(token) == std::string::npos, ran.err);
      BOOST_TEST(ran.err.find(row.message) != std::string::npos, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_checkout_names_no_workspace_roots) {
  write_text(live / ".tofu-modlock.hcl", "workspace_roots = [\"/\"]\n");
  const Ran ran = in_root({"lock"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err.find("Error: workspace_roots is a setting of one machine, found in a file of a repository "
                          "[CONFIG_PARSE]\n  at " +
                          shown((live / ".tofu-modlock.hcl").string()) + ":1:1\n") == 0U,
             ran.err);
}

BOOST_AUTO_TEST_CASE(a_workspace_root_that_is_no_directory) {
  const Ran ran = in_root({"lock", "--workspace-root", path("nothing").string()});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err ==
             "Error: --workspace-root <dir>/nothing is not a directory [INVALID_PARAMS]\n"
             "  hint: name an existing directory\n");
}

BOOST_AUTO_TEST_CASE(a_lock_file_that_is_a_link_is_read_within_the_bounds_and_never_written) {
  struct Row {
    const char* name;
    std::string target;
    const char* repository;  // nullptr: none
    bool is_read;
    bool exists = true;
  };
  const Row rows[] = {
      {"in the root, in no repository", "shared/lock.hcl", nullptr, true},
      {"in the repository", "../../lock.hcl", "a", true},
      {"outside of the root, in no repository", "../../lock.hcl", nullptr, false},
      {"outside of the repository", "../../lock.hcl", "a/live/root", false},
      {"nothing, outside of the repository", "../../../lock.hcl", "a", false, false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Bounds scene;
      write_text(scene.live / "main.tf", module_call("vpc", scene.source("v1.0.0")));
      BOOST_TEST(scene.in_root({"lock", "--install"}).exit_code == 0);
      const std::string locked = read_text(scene.live / kLockName);
      const fs::path target = (scene.live / row.target).lexically_normal();
      if (row.repository != nullptr) {
        scene.program({"git", "init", "--quiet", scene.path(row.repository).string()});
      }
      if (row.exists) {
        write_text(target, locked);
      }
      fs::remove(scene.live / kLockName);
      fs::create_symlink(row.target, scene.live / kLockName);
      const std::vector<std::string> allow = {"--workspace-root", scene.path("a").string()};
      for (std::vector<std::string> command : std::vector<std::vector<std::string>>{
               {"verify"}, {"lock", "--frozen"}, {"lock"}, {"install"}, {"sbom"}, {"inspect"}, {"explain", "vpc"}}) {
        const Ran ran = scene.in_root(command);
        BOOST_TEST(ran.exit_code == (row.is_read ? 0 : 8), command[0] << ran.out << ran.err);
        BOOST_TEST((ran.err.find("[PATH_OUTSIDE_ROOT]") == std::string::npos) == row.is_read, command[0] << ran.err);
        command.insert(command.end(), allow.begin(), allow.end());
        BOOST_TEST((command[0] == "sbom" || !row.exists || scene.in_root(command).exit_code == 0), command[0]);
      }
      write_text(scene.live / "main.tf", module_call("vpc", scene.source("v1.1.0")));
      const Ran refused = scene.in_root({"lock"});
      if (row.is_read) {
        BOOST_TEST(refused.exit_code == 1);
        BOOST_TEST(refused.err == "Error: cannot write <dir>/a/live/root/.terraform.lock.hcl: it is a link to " +
                                      row.target +
                                      " [IO_ERROR]\n  hint: replace the link with a copy of the file, or make the "
                                      "change there by hand: --dry-run shows it\n");
        const Ran shown = scene.in_root({"lock", "--dry-run"});
        BOOST_TEST(shown.out.find("+++ .terraform.lock.hcl") != std::string::npos, shown.out << shown.err);
      }
      BOOST_TEST(fs::read_symlink(scene.live / kLockName) == row.target);
      BOOST_TEST(fs::exists(target) == row.exists);
      BOOST_TEST((!row.exists || read_text(target) == locked));
    }
  }
}

// The sides of a merge have the text of the link, which is no lock file.
BOOST_AUTO_TEST_CASE(a_lock_file_that_is_a_link_is_read_during_a_merge) {
  write_text(live / "main.tf", module_call("vpc", source("v1.0.0")));
  BOOST_TEST(in_root({"lock"}).exit_code == 0);
  fs::rename(live / kLockName, path("a/lock.hcl"));
  fs::create_symlink("../../lock.hcl", live / kLockName);
  const Ran merging =
      program({"sh", "-ec",
               "cd \"$0\"; git init --quiet; git config user.name t; git config user.email t@t; git add -A; git commit "
               "--quiet -m 1; "
               "git checkout --quiet -b other; git commit --quiet --allow-empty -m 2; git checkout --quiet -; "
               "git commit --quiet --allow-empty -m 3; git merge --quiet --no-commit --no-ff other",
               path("a").string()});
  BOOST_TEST(merging.exit_code == 0, merging.err);
  BOOST_TEST(fs::exists(path("a/.git/MERGE_HEAD")));
  const Ran ran = in_root({"lock", "--frozen"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
}

// Reading above the root is no leave to write there.
BOOST_AUTO_TEST_CASE(nothing_is_written_above_the_root) {
  const std::string text = module_call("vpc", "git::" + vpc.url(), "1.0.0");
  write_text(modules / "app/main.tf", text);
  BOOST_TEST(in_root({"lock"}).exit_code == 0);
  const std::vector<std::string> allowed = {"--workspace-root", modules.string()};
  const fs::path file = modules / "app/modlock_override.tf";
  const auto with = [&](std::vector<std::string> arguments, bool is_allowed) {
    if (is_allowed) {
      arguments.insert(arguments.end(), allowed.begin(), allowed.end());
    }
    return in_root(std::move(arguments));
  };
  const Ran refused = with({"install", "--overrides"}, false);
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, refused.err);
  BOOST_TEST(!fs::exists(file));
  BOOST_TEST(with({"install", "--overrides"}, true).exit_code == 0);
  BOOST_TEST(fs::exists(file));
  for (const bool is_allowed : {false, true}) {
    const Ran ran = with({"update", "module.app.vpc=1.1.0"}, is_allowed);
    BOOST_TEST(ran.exit_code == 8, ran.out);
    BOOST_TEST(ran.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, ran.err);
    BOOST_TEST(read_text(modules / "app/main.tf") == text);
  }
}

BOOST_AUTO_TEST_CASE(a_root_behind_a_link_is_where_the_link_leads) {
  fs::create_directory_symlink(live, path("link-to-root"));
  BOOST_TEST(modlock({"lock", "--chdir", path("link-to-root").string()}).exit_code == 0);
  BOOST_TEST(read_text(live / kLockName).find("module \"app.vpc\"") != std::string::npos);
  program({"git", "init", "--quiet", live.string()});
  const Ran refused = modlock({"lock", "--chdir", path("link-to-root").string()});
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, refused.err);
}

// The directories that a host names are the bounds. Those of the user come on top.
BOOST_AUTO_TEST_CASE(of_a_host_workspace_roots_bound_what_is_read) {
  const auto found = [&](const std::string& roots) {
    const std::string requests =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["1.0"],)"
        R"("clientInfo":{"name":"t","version":"1"})" +
        (roots.empty() ? "" : ",\"workspaceRoots\":[\"" + roots + "\"]") +
        "}}\n"
        R"({"jsonrpc":"2.0","method":"initialized"})"
        "\n"
        R"({"jsonrpc":"2.0","id":2,"method":"config/inspect","params":{"root":")" +
        live.string() + "\"}}\n";
    const Ran ran = modlock({"serve"}, requests);
    return ran.out.find("PATH_OUTSIDE_ROOT") == std::string::npos && ran.out.find("app.vpc") != std::string::npos;
  };
  BOOST_TEST(found(""));
  BOOST_TEST(found(path("a").string()));
  BOOST_TEST(!found(live.string()));
  write_user_settings("workspace_roots = [\"" + modules.string() + "\"]\n");
  BOOST_TEST(found(live.string()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
