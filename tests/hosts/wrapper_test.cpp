// scripts/tofu-modlock-wrapper in front of a stand-in that says what it was given.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
constexpr const char* kWrapper = MODLOCK_SCRIPTS "/tofu-modlock-wrapper";

// Prints its arguments and what it reads, and does what CLIENT_DOES says.
constexpr const char* kClient = R"(#!/bin/sh
printf 'client:'
printf ' <%s>' "$@"
printf '\n'
eval "${CLIENT_DOES:-}"
)";

struct Wrapper : Scene {
  Wrapper() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    write_program("client", kClient);
    environment["TOFU_MODLOCK"] = binary;
    environment["TOFU_MODLOCK_CLIENT"] = path("client").string();
    environment["CI"] = "";
    environment["CLIENT_DOES"] = "";
  }
  void write_program(const std::string& name, std::string_view text) const {
    write_text(path(name), text);
    fs::permissions(path(name), fs::perms::owner_all);
  }
  Ran wrapper(std::vector<std::string> arguments, std::string input = {}) const {
    arguments.insert(arguments.begin(), kWrapper);
    return program(std::move(arguments), std::move(input));
  }
  bool is_installed() const { return has(".terraform/modules/vpc/main.tf"); }
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(wrapper, Wrapper)

BOOST_AUTO_TEST_CASE(init_locks_and_installs_first) {
  const Ran ran = wrapper({"init", "-no-color"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "client: <init> <-no-color> <-get=false>\n");
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.0.0>"}}));
  BOOST_TEST(is_installed());
}

// A variable may decide where a module comes from.
BOOST_AUTO_TEST_CASE(variables_are_those_of_the_client) {
  write("main.tf",
        "variable \"tag\" {\n  type = string\n}\nvariable \"note\" {\n  type    = string\n  default = \"\"\n}\n" +
            module_call("vpc", "git::" + vpc.url() + "?ref=${var.tag}"));
  fs::remove(root() / ".tofu-modlock.hcl");
  write("tag.tfvars", "tag = \"v1.0.0\"\n");
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;
    int exit_code;
  };
  const Row rows[] = {
      {"without a value", {"init"}, {}, 8},
      {"-var=", {"init", "-var=tag=v1.0.0"}, {}, 0},
      {"-var and a word", {"init", "-var", "tag=v1.0.0"}, {}, 0},
      {"--var-file=", {"init", "--var-file=tag.tfvars"}, {}, 0},
      {"a value with quotes", {"init", "-var", "note=it's \"so\"", "-var", "tag=v1.0.0"}, {}, 0},
      {"the last one wins", {"init", "-var=tag=v9.9.9", "-var=tag=v1.0.0"}, {}, 0},
      {"the command line wins", {"init", "-var=tag=v1.0.0"}, {{"TF_CLI_ARGS", "-var=tag=v9.9.9"}}, 0},
      {"of the environment of all commands", {"init"}, {{"TF_CLI_ARGS", "-var=tag=v1.0.0"}}, 0},
      {"of the environment of the command", {"plan"}, {{"TF_CLI_ARGS_plan", "-var=tag=v1.0.0"}}, 0},
      {"of the environment of another command", {"plan"}, {{"TF_CLI_ARGS_init", "-var=tag=v1.0.0"}}, 8},
      {"plan with a variable", {"plan", "-var=tag=v1.0.0"}, {}, 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const auto& [name, value] : row.environment) {
        environment[name] = value;
      }
      const Ran ran = wrapper(row.arguments);
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      for (const auto& entry : row.environment) {
        environment[entry.first] = "";
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_locked_stays) {
  wrapper({"init"});
  age_lock();
  fs::remove_all(root() / ".terraform");
  release(vpc, "1.1.0");
  BOOST_TEST(wrapper({"init"}).exit_code == 0);
  BOOST_TEST(lock_is_aged());
  BOOST_TEST(is_installed());
}

// As the hooks of Terragrunt do.
BOOST_AUTO_TEST_CASE(a_new_call_is_locked_except_in_ci) {
  for (const char* command : {"init", "get"}) {
    BOOST_TEST_CONTEXT(command) {
      Wrapper scene;
      scene.wrapper({"init"});
      scene.write("other.tf", module_call("other", "git::" + scene.vpc.url() + "?ref=v1.0.0"));
      scene.release(scene.vpc, "1.1.0");
      scene.environment["CI"] = "true";
      BOOST_TEST(scene.wrapper({command}).exit_code == 3);
      scene.environment["CI"] = "";
      const Ran ran = scene.wrapper({command});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST((locked_commits(scene) == Commits{{"other", "<1.0.0>"}, {"vpc", "<1.0.0>"}}));
      BOOST_TEST(scene.has(".terraform/modules/other/main.tf"));
    }
  }
}

BOOST_AUTO_TEST_CASE(in_ci_nothing_is_locked) {
  environment["CI"] = "true";
  const Ran ran = wrapper({"init"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err.find("module.vpc") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));

  modlock({"lock"});
  BOOST_TEST(wrapper({"init"}).out == "client: <init> <-get=false>\n");
  age_lock();
  release(vpc, "1.1.0");
  BOOST_TEST(wrapper({"init", "-upgrade"}).out == "client: <init> <-upgrade> <-get=false>\n");
  BOOST_TEST(wrapper({"get", "-update"}).exit_code == 0);
  BOOST_TEST(lock_is_aged());
}

// Starts one process, except to restore what the client has dropped.
BOOST_AUTO_TEST_CASE(starts_tofu_modlock_once) {
  write_program("counted", "#!/bin/sh\necho \"$1\" >>\"$COUNT\"\nexec \"$BINARY\" \"$@\"\n");
  environment["COUNT"] = path("count").string();
  environment["BINARY"] = binary;
  environment["TOFU_MODLOCK"] = path("counted").string();
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    const char* client_does;
    const char* started;
  };
  const Row rows[] = {
      {"other command", {"version"}, "", ""},
      {"nothing is locked", {"init"}, "", "lock\n"},
      {"locked", {"init"}, "", "lock\n"},
      {"get", {"get"}, "", "lock\n"},
      {"plan", {"plan"}, "", "verify\n"},
      {"upgrade", {"init", "-upgrade"}, "", "upgrade\n"},
      {"get -update", {"get", "-update"}, "", "upgrade\n"},
      {"providers lock", {"providers", "lock"}, "", ""},
      {"init drops the blocks", {"init"}, "echo >.terraform.lock.hcl", "lock\nlock\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(path("count"), "");
      environment["CLIENT_DOES"] = row.client_does;
      const Ran ran = wrapper(row.arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(read_text(path("count")) == row.started);
    }
  }
}

BOOST_AUTO_TEST_CASE(starts_nothing_without_module_blocks) {
  fs::remove(root() / "main.tf");
  write_program("counted", "#!/bin/sh\necho tofu-modlock \"$1\"\nexit 9\n");
  environment["TOFU_MODLOCK"] = path("counted").string();
  const std::string block = module_call("vpc", "./vpc");
  struct Row {
    const char* name;
    const char* file;
    std::string text;
    bool has_modules;
  };
  const Row rows[] = {
      {"no configuration", "README.md", "module", false},
      {"an output", "main.tf", "output \"version\" {\n  value = 1\n}\n", false},
      {"a file that no client reads", "main.tf.bak", block, false},
      {"a block", "main.tf", block, true},
      {"a block after a comment", "main.tf", "/* the network */ " + block, true},
      {"a block after a byte that is not UTF-8", "main.tf", "# \xff\n" + block, true},
      {"an override", "main_override.tf", block, true},
      {"OpenTofu", "main.tofu", block, true},
      {"JSON", "main.tf.json", R"({"module": {"vpc": {"source": "./vpc"}}})", true},
      {"JSON of OpenTofu", "main.tofu.json", R"({"module": {"vpc": {"source": "./vpc"}}})", true},
      {"JSON with escape sequences", "main.tf.json", R"({"\u006dodul\u0065": {"vpc": {"source": "./vpc"}}})", true},
      {"JSON with other escape sequences", "main.tf.json", R"({"locals": {"line": "\u000a"}})", false},
      {"a test", "main.tftest.hcl", "run \"a\" {\n  module {\n    source = \"./vpc\"\n  }\n}\n", true},
      {"a test of OpenTofu", "tests/main.tofutest.hcl", "run \"a\" {\n  module {\n  }\n}\n", true},
      {"a test in JSON", "tests/main.tftest.json", R"({"run": {"a": {"module": {"source": "./vpc"}}}})", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write(row.file, row.text);
      for (const std::string command : {"init", "plan"}) {
        const Ran ran = wrapper({command});
        BOOST_TEST(ran.exit_code == (row.has_modules ? 9 : 0), ran.err);
        BOOST_TEST((ran.out + ran.err).starts_with(row.has_modules ? "tofu-modlock " : "client: <" + command + ">\n"),
                   ran.out << ran.err);
      }
      fs::remove(root() / row.file);
    }
  }
}

BOOST_AUTO_TEST_CASE(test_directories_other_than_tests_are_checked_by_tofu_modlock) {
  write("main.tf", "output \"version\" {\n  value = 1\n}\n");
  environment["TOFU_MODLOCK"] = "/bin/false";
  BOOST_TEST(wrapper({"test"}).out == "client: <test>\n");
  BOOST_TEST(wrapper({"test", "-test-directory=checks"}).exit_code == 1);
}

BOOST_AUTO_TEST_CASE(calls_that_need_no_lock_are_left_to_the_client) {
  const std::string setting = "unlocked_sources = [\"hg::*\"]\n";
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;
    std::string settings;
    const char* client_does;
    int exit_code;
    std::string out;
  };
  const std::string downloads = "client: <init>\n";
  const std::string gets_nothing = "client: <init> <-get=false>\n";
  for (const Row& row : {
           Row{"allowed", {"init"}, {}, setting, "", 0, downloads},
           Row{"allowed, in CI",
               {"init"},
               {{"CI", "1"}, {"TOFU_MODLOCK_UNLOCKED_SOURCES", "hg::*"}},
               "",
               "",
               0,
               downloads},
           Row{"another data directory", {"init"}, {{"TF_DATA_DIR", "data"}}, setting, "", 0, downloads},
           Row{"not allowed", {"init"}, {}, "", "", 0, gets_nothing},
           Row{"not allowed by a change, in CI", {"init"}, {{"CI", "1"}}, setting, "", 0, gets_nothing},
           Row{"with -upgrade", {"init", "-upgrade"}, {}, setting, "", 0, "client: <init> <-upgrade> <-get=false>\n"},
           Row{"the client replaces a locked module",
               {"init"},
               {},
               setting,
               "echo '# other' > .terraform/modules/vpc/main.tf",
               4,
               downloads},
           Row{"the client fails", {"init"}, {}, setting, "exit 7", 7, downloads},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Wrapper scene;
      scene.write("h.tf", module_call("h", "hg::https://hg.example.test/net"));
      scene.write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + row.settings);
      BOOST_REQUIRE(scene.modlock({"lock"}).exit_code == 0);
      for (const auto& [name, value] : row.environment) {
        scene.environment[name] = value;
      }
      scene.environment["CLIENT_DOES"] = row.client_does;
      const Ran ran = scene.wrapper(row.arguments);
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.out == row.out);
    }
  }
}

// A list of an earlier run, or of the checkout.
BOOST_AUTO_TEST_CASE(an_old_list_of_such_calls_has_no_effect) {
  write(".terraform/tofu-modlock/unlocked", "h");
  BOOST_TEST(wrapper({"init"}).out == "client: <init> <-get=false>\n");
}

BOOST_AUTO_TEST_CASE(what_chooses_anew) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> more;
    const char* client;
  };
  const Row rows[] = {
      {"init", {"init", "-upgrade"}, {}, "client: <init> <-upgrade> <-get=false>\n"},
      {"two dashes", {"init", "--upgrade=true"}, {}, "client: <init> <--upgrade=true> <-get=false>\n"},
      {"another word for true", {"init", "-upgrade=1"}, {}, "client: <init> <-upgrade=1> <-get=false>\n"},
      {"by the variable of the command",
       {"init"},
       {{"TF_CLI_ARGS_init", "-input=false -upgrade"}},
       "client: <init> <-get=false>\n"},
      {"by the variable of every command", {"init"}, {{"TF_CLI_ARGS", "-upgrade"}}, "client: <init> <-get=false>\n"},
      {"get, which would choose by itself", {"get", "-update"}, {}, ""},
      {"get by its variable", {"get"}, {{"TF_CLI_ARGS_get", "-update"}}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Wrapper scene;
      scene.modlock({"lock"});
      scene.release(scene.vpc, "1.1.0");
      scene.environment.insert(row.more.begin(), row.more.end());
      const Ran ran = scene.wrapper(row.arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out == row.client);
      BOOST_TEST((locked_commits(scene) == Commits{{"vpc", "<1.1.0>"}}));
      BOOST_TEST(scene.is_installed());
    }
  }
}

BOOST_AUTO_TEST_CASE(upgrade_holds_a_moved_tag) {
  modlock({"lock"});
  vpc.commit({{"main.tf", "# other\n"}});
  vpc.tag("v1.0.0");
  const Ran ran = wrapper({"init", "-upgrade"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err.find("module.vpc: git:<1.0.0> is locked, git:") != std::string::npos, ran.err);
  BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.0.0>"}}));
}

BOOST_AUTO_TEST_CASE(what_installs_nothing) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    const char* client;
  };
  const Row rows[] = {
      {"init without modules", {"init", "-get=false"}, "client: <init> <-get=false>\n"},
      {"init from a module", {"init", "-from-module=./x"}, "client: <init> <-from-module=./x>\n"},
      {"help", {"init", "-help"}, "client: <init> <-help>\n"},
      {"help of all", {"--help"}, "client: <--help>\n"},
      {"version", {"version", "-json"}, "client: <version> <-json>\n"},
      {"a command that uses no modules", {"state", "list"}, "client: <state> <list>\n"},
      {"providers", {"providers", "schema", "-json"}, "client: <providers> <schema> <-json>\n"},
      {"nothing", {}, "client: <>\n"},
      {"no command of the client", {"x; echo `id` $(id)"}, "client: <x; echo `id` $(id)>\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = wrapper(row.arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out == row.client);
      BOOST_TEST(ran.err == "");
      BOOST_TEST(!has(".terraform"));
      BOOST_TEST(!has(".terraform.lock.hcl"));
    }
  }
}

BOOST_AUTO_TEST_CASE(get_installs_what_is_locked) {
  const Ran ran = wrapper({"get"});
  BOOST_TEST(ran.out == "client: <get>\n");
  BOOST_TEST(is_installed());
}

BOOST_AUTO_TEST_CASE(another_directory) {
  fs::create_directories(path("root/live/prod"));
  fs::rename(root() / "main.tf", path("root/live/prod/main.tf"));
  fs::rename(root() / ".tofu-modlock.hcl", path("root/live/prod/.tofu-modlock.hcl"));
  const Ran ran = wrapper({"-chdir=live/prod", "init"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "client: <-chdir=live/prod> <init> <-get=false>\n");
  BOOST_TEST(has("live/prod/.terraform.lock.hcl"));
  BOOST_TEST(has("live/prod/.terraform/modules/vpc/main.tf"));
}

BOOST_AUTO_TEST_CASE(blocks_that_the_client_drops_come_back) {
  modlock({"lock"});
  const std::string before = lock();
  environment["CLIENT_DOES"] = "printf '# rewritten\\n' > .terraform.lock.hcl; exit 3";
  const std::vector<std::string> commands[] = {{"init"}, {"init", "-get=false"}, {"get"}, {"providers", "lock"}};
  for (const auto& command : commands) {
    BOOST_TEST_CONTEXT(command.front()) {
      write(".terraform.lock.hcl", before);
      modlock({"install"});
      release(vpc, "1.1.0");
      const Ran ran = wrapper(command);
      BOOST_TEST(ran.exit_code == 3, ran.err);
      BOOST_TEST(lock().starts_with("# rewritten\n\nmodule \"vpc\" {"), lock());
      BOOST_TEST((locked_commits(*this) == Commits{{"vpc", "<1.0.0>"}}));
    }
  }
}

BOOST_AUTO_TEST_CASE(plans_are_made_of_what_is_locked) {
  wrapper({"init"});
  for (const char* command : {"plan", "apply", "destroy", "refresh", "import", "test"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran ran = wrapper({command, "-json", "a b", ""});
      BOOST_TEST(ran.exit_code == 0);
      BOOST_TEST(ran.out == "client: <" + std::string(command) + "> <-json> <a b> <>\n");
      BOOST_TEST(ran.err == "");
    }
  }
  write(".terraform/modules/vpc/main.tf", "output \"version\" {\n  value = \"mine\"\n}\n");
  const Ran ran = wrapper({"apply", "-json"});
  BOOST_TEST(ran.exit_code == 4);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err.find("module.vpc") != std::string::npos, ran.err);

  environment["TOFU_MODLOCK_SKIP"] = "1";
  BOOST_TEST(wrapper({"apply"}).out == "client: <apply>\n");
}

BOOST_AUTO_TEST_CASE(no_plan_is_made_of_a_stale_module) {
  BOOST_TEST(wrapper({"init"}).err.find("Next:") == std::string::npos);
  release(vpc, "1.1.0");
  modlock({"upgrade"});
  const Ran ran = wrapper({"plan"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err ==
             "stale  module.vpc  1.1.0  1.0.0 is installed, 1.1.0 is locked\n0 verified, 1 stale\n"
             "Next: run tofu-modlock install.\n");
  wrapper({"init"});
  BOOST_TEST(wrapper({"plan"}).out == "client: <plan>\n");
}

BOOST_AUTO_TEST_CASE(streams_and_exit_codes_are_the_clients) {
  environment["CLIENT_DOES"] = "cat; echo error >&2; exit 7";
  for (const char* command : {"init", "console"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran ran = wrapper({command}, "yes\n");
      BOOST_TEST(ran.exit_code == 7);
      BOOST_TEST(ran.out.ends_with(">\nyes\n"), ran.out);
      BOOST_TEST(ran.err.ends_with("error\n"), ran.err);
    }
  }
}

// Whoever started the wrapper knows its process alone.
BOOST_AUTO_TEST_CASE(signals_reach_the_client) {
  environment["CLIENT_DOES"] =
      "trap 'echo stopped in order; exit 9' TERM; mkfifo never; echo ready > started; read -r line < never";
  environment["WRAPPER"] = kWrapper;
  for (const char* command : {"init", "plan"}) {
    BOOST_TEST_CONTEXT(command) {
      Wrapper scene;
      scene.wrapper({"init"});
      scene.environment = environment;
      scene.environment["TOFU_MODLOCK_CACHE_DIR"] = scene.cache().string();
      const Ran ran = scene.program({"/bin/sh", "-c",
                                     "mkfifo started; \"$WRAPPER\" \"$0\" & read -r line < started; kill -s TERM $!; "
                                     "wait $!; echo \"exit $?\"",
                                     command});
      BOOST_TEST(ran.out.ends_with("stopped in order\nexit 9\n"), ran.out << ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_client_is_found) {
  const std::string tools = path("tools").string();
  fs::create_directories(tools);
  fs::copy_file(kWrapper, path("tools/tofu"));
  write_program("elsewhere/tofu", kClient);
  write_program("elsewhere/terraform", kClient);
  environment.erase("TOFU_MODLOCK_CLIENT");
  environment["PATH"] = tools + ":" + path("elsewhere").string() + ":" + environment["PATH"];
  environment["CLIENT_DOES"] = "echo \"$0\"";
  struct Row {
    const char* name;
    std::string wrapper;
    const char* client;
  };
  const Row rows[] = {
      {"behind itself", tools + "/tofu", "client: <version>\n<dir>/elsewhere/tofu\n"},
      {"by its own name", "terraform", "client: <version>\n<dir>/elsewhere/terraform\n"},
      {"tofu before terraform", kWrapper, "client: <version>\n<dir>/elsewhere/tofu\n"},
  };
  fs::create_symlink(kWrapper, path("terraform"));
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string started = row.wrapper == "terraform" ? path("terraform").string() : row.wrapper;
      BOOST_TEST(program({started, "version"}).out == row.client);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wrapper_is_no_client) {
  environment["TOFU_MODLOCK_CLIENT"] = kWrapper;
  name_text(kWrapper, "<wrapper>");
  const Ran ran = wrapper({"version"});
  BOOST_TEST(ran.exit_code == 127);
  BOOST_TEST(
      ran.err ==
      "tofu-modlock-wrapper: TOFU_MODLOCK_CLIENT is the wrapper itself, \"<wrapper>\"; set it to the path of the "
      "client\n");

  environment.erase("TOFU_MODLOCK_CLIENT");
  environment["PATH"] = path("empty").string();
  BOOST_TEST(wrapper({"version"}).err ==
             "tofu-modlock-wrapper: cannot find tofu or terraform on PATH; set TOFU_MODLOCK_CLIENT to the path of the "
             "client\n");

  // A name is not a path: the first program on PATH may be the wrapper.
  fs::create_directories(path("tools"));
  fs::create_symlink(kWrapper, path("tools/tofu"));
  environment["TOFU_MODLOCK_CLIENT"] = "tofu";
  environment["PATH"] = path("tools").string();
  BOOST_TEST(wrapper({"version"}).err ==
             "tofu-modlock-wrapper: cannot find tofu on PATH; set TOFU_MODLOCK_CLIENT to the path of the client\n");
  write_program("elsewhere/tofu", kClient);
  environment["PATH"] = path("tools").string() + ":" + path("elsewhere").string();
  BOOST_TEST(wrapper({"version"}).out == "client: <version>\n");
}

BOOST_AUTO_TEST_CASE(installs_itself_and_replaces_only_itself) {
  const std::string target = path("opt/bin/tofu").string();
  const auto install = [this](const std::string& file) { return wrapper({"--install", file}); };
  BOOST_TEST(install(target).exit_code == 0);
  BOOST_TEST(read_text(target) == read_text(kWrapper));
  BOOST_TEST(program({target, "version"}).out == "client: <version>\n");

  write_text(target, "#!/bin/sh\n# tofu-modlock-wrapper of an earlier version\n");
  BOOST_TEST(install(target).exit_code == 0);
  BOOST_TEST(read_text(target) == read_text(kWrapper));
  fs::remove(target);
  fs::create_symlink(kWrapper, target);
  BOOST_TEST(install(target).exit_code == 0);
  BOOST_TEST(!fs::is_symlink(target));

  write_program("client.copy", kClient);
  fs::create_symlink("client.copy", path("link"));
  fs::create_symlink("absent", path("dangling"));
  write_text(path("empty"), "");
  const std::string names[] = {"client.copy", "link", "dangling", "empty", "opt"};
  for (const std::string& name : names) {
    BOOST_TEST_CONTEXT(name) {
      const Ran ran = install(path(name).string());
      BOOST_TEST(ran.exit_code == 1);
      BOOST_TEST(ran.err ==
                 fmt::format("tofu-modlock-wrapper: \"<dir>/{}\" exists and is not the wrapper, so it is not "
                             "replaced; choose another directory\n",
                             name));
    }
  }
  BOOST_TEST(read_text(path("client.copy")) == kClient);
  BOOST_TEST(!fs::exists(path("absent")));
  BOOST_TEST(fs::is_empty(path("empty")));
  BOOST_TEST(install("").exit_code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
