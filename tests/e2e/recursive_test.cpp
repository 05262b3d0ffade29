// Root modules that --recursive finds.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A repository with two roots, the modules that they call, and an example; nothing is locked yet.
struct Monorepo : Scene {
  Monorepo() {
    GitRepository& made = repository("vpc.git");
    release(made, "1.0.0");
    vpc = module_call("vpc", "git::file://" + made.path().string() + "?ref=v1.0.0");
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
    BOOST_REQUIRE(program({"git", "init", "--quiet"}).exit_code == 0);
    write(".gitignore", ".terraform/\n");
    write("live/a/main.tf", module_call("app", "../../modules/app") + vpc);
    write("live/b/main.tf", vpc);
    write("modules/app/main.tf", vpc);
    write("modules/app/examples/basic/main.tf", vpc + "provider \"aws\" {}\n");
  }

  // What a command with --json has in `results`, as "live/a live/b".
  std::string roots_of(std::vector<std::string> command, int exit_code) {
    command.emplace_back("--recursive");
    std::string text;
    const Json::Value printed = json(std::move(command), exit_code);
    for (const Json::Value& result : printed["results"]) {
      text += (text.empty() ? "" : " ") + result["root"].asString();
    }
    return text;
  }

  std::string vpc;
};

constexpr const char* kBoth = "<dir>/root/live/a <dir>/root/live/b";

BOOST_FIXTURE_TEST_SUITE(recursive, Monorepo)

BOOST_AUTO_TEST_CASE(a_fresh_monorepo_is_locked) {
  const Ran ran = modlock({"lock", "--recursive"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  for (const char* root : {"live/a", "live/b"}) {
    BOOST_TEST(read(fmt::format("{}/.terraform.lock.hcl", root)).find("module \"vpc\"") != std::string::npos);
  }
  for (const char* other : {".", "modules/app", "modules/app/examples/basic"}) {
    BOOST_TEST(!has(fmt::format("{}/.terraform.lock.hcl", other)));
  }
  BOOST_TEST(modlock({"lock", "--frozen", "--recursive"}).exit_code == 0);
  BOOST_TEST(modlock({"install", "--recursive"}).exit_code == 0);
  BOOST_TEST(modlock({"verify", "--recursive"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(every_command_finds_the_same_roots) {
  BOOST_TEST(roots_of({"inspect"}, 0) == kBoth);
  BOOST_TEST(roots_of({"graph"}, 0) == kBoth);
  BOOST_TEST(roots_of({"verify"}, 3) == kBoth);
  BOOST_TEST(roots_of({"install"}, 3) == kBoth);
  BOOST_TEST(roots_of({"lock", "--frozen"}, 3) == kBoth);
  BOOST_TEST(roots_of({"lock", "--dry-run"}, 0) == kBoth);
  BOOST_TEST(roots_of({"upgrade"}, 0) == kBoth);
  BOOST_TEST(roots_of({"update", "--list"}, 0) == kBoth);
  BOOST_TEST(modlock({"sbom", "--recursive"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_new_root_fails_and_is_named) {
  modlock({"lock", "--recursive"});
  write("live/new/main.tf", vpc);
  const std::string line =
      "<dir>/root/live/new has no lock file. Run tofu-modlock lock there and commit the file. If the directory is not "
      "a root module, set in <dir>/root/.tofu-modlock.hcl:\n  exclude = [\"live/new\"]\n";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock", "--frozen"},
                                                  {"install"},
                                                  {"verify"},
                                                  {"verify", "--json"},
                                                  {"verify", "--sarif"},
                                                  {"sbom"}}) {
    BOOST_TEST_CONTEXT(command.front() << " " << command.back()) {
      std::vector<std::string> whole = command;
      whole.emplace_back("--recursive");
      const Ran ran = modlock(whole);
      BOOST_TEST(ran.exit_code == 3);
      BOOST_TEST(ran.err.find(line) != std::string::npos, ran.err);
      BOOST_TEST(ran.err.find("live/a has no lock file") == std::string::npos, ran.err);
    }
  }
  // Named by itself it is a root in any case.
  BOOST_TEST(modlock({"verify", "live/new"}).err.find("exclude") == std::string::npos);
  write(".tofu-modlock.hcl", "exclude = [\"live/new\"]\n");
  const Ran excluded = modlock({"lock", "--frozen", "--recursive"});
  BOOST_TEST(excluded.exit_code == 0, excluded.err);
  BOOST_TEST(excluded.err ==
             "Excluded <dir>/root/live/new: exclude in <dir>/root/.tofu-modlock.hcl:1\n"
             "2 root modules, 1 source: all up to date.\n");
}

BOOST_AUTO_TEST_CASE(a_source_with_two_tags_is_counted_once) {
  write("live/b/main.tf", module_call("vpc", "git::file://" + repository("vpc.git").path().string() + "?ref=main"));
  BOOST_TEST(modlock({"lock", "--recursive"}).err == "2 root modules, 1 source: all changed.\n");
}

// Each root has a settings file of its own, which the hint may name.
BOOST_AUTO_TEST_CASE(a_warning_of_several_roots_is_printed_once) {
  const std::string call = module_call("vpc", "git::file://" + repository("vpc.git").path().string(), "~> 1.0");
  write("live/a/main.tf", call);
  write("live/b/main.tf", call);
  const Ran ran = modlock({"lock", "--recursive"});
  BOOST_TEST(ran.err ==
             "Warning in live/a and live/b: module \"vpc\" has a version argument on a git source, which unmodified "
             "OpenTofu rejects [LOCK_UNENFORCED]\n"
             "  at main.tf:3:13 (module.vpc)\n"
             "     3 |   version = \"~> 1.0\"\n"
             "       |             ^^^^^^^^\n"
             "  hint: run: tofu-modlock install --recursive --overrides; or write it into .tofu-modlock.hcl instead: "
             "module \"vpc\" { version = \"~> 1.0\" }\n"
             "2 root modules, 1 source: all changed.\n");
}

BOOST_AUTO_TEST_CASE(every_error_names_its_root_and_a_table_ends_the_output) {
  BOOST_TEST(modlock({"lock", "--recursive"}).err == "2 root modules, 1 source: all changed.\n");
  write("live/b/more.tf", "module {");
  write("live/c/main.tf", vpc);
  write(".tofu-modlock.hcl", "roots = [\"live/*\"]\n");
  const Ran ran = modlock({"lock", "--frozen", "--recursive"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.out == "live/a:\nThe lock file is up to date.\n");
  BOOST_TEST(
      shown(ran.err) ==
      R"(Error in live/b: the "{" of block "module" is never closed: expected "}" before the end of the file [CONFIG_PARSE]
  at more.tf:1:8
     1 | module {
       |        ^
  hint: add the missing "}"
Error in live/c: the missing .terraform.lock.hcl does not match the configuration: module.vpc (not locked) [FROZEN]
  hint: run: tofu-modlock lock --chdir live/c, review the change and commit it
<dir>/root/live/c has no lock file. Run tofu-modlock lock there and commit the file. If the directory is not a root module, set in <dir>/root/.tofu-modlock.hcl:
  exclude = ["live/c"]

ROOT    RESULT        HINT
live/a  up to date
live/b  CONFIG_PARSE  add the missing "}"
live/c  FROZEN        run: tofu-modlock lock --chdir live/c, review the change and commit it
3 root modules: 1 ok, 2 failed (exit code 8).
)");
  const Json::Value all = json({"lock", "--frozen", "--recursive"}, 8);
  BOOST_REQUIRE(all["results"].size() == 3U);
  const std::vector<std::pair<std::string, int>> expected = {{"a", 0}, {"b", 8}, {"c", 3}};
  for (Json::ArrayIndex i = 0; i < all["results"].size(); ++i) {
    BOOST_TEST(all["results"][i]["root"].asString() == "<dir>/root/live/" + expected[i].first);
    BOOST_TEST(all["results"][i]["exitCode"].asInt() == expected[i].second);
    BOOST_TEST(all["results"][i].isMember("error") == (expected[i].second != 0));
  }
}

// The code of the worst root: 4 before 5, 8, 6, 2, 7, 3, 1.
BOOST_AUTO_TEST_CASE(the_worst_root_decides_the_exit_code) {
  write("live/a/.tofu-modlock.hcl", "");
  modlock({"lock", "--install", "--recursive"});
  write("live/c/main.tf", vpc);
  BOOST_TEST(modlock({"verify", "--recursive"}).exit_code == 3);
  write("live/c/main.tf", "module {");
  BOOST_TEST(modlock({"verify", "--recursive", "live"}).exit_code == 8);
  write("live/a/.terraform/modules/vpc/main.tf", "# changed\n");
  BOOST_TEST(modlock({"verify", "--recursive", "live"}).exit_code == 4);
}

BOOST_AUTO_TEST_CASE(a_directory_without_configuration_is_an_error) {
  write("empty/README.md", "");
  const std::string error = "Error: <dir>/root/empty has no configuration files [CONFIG_PARSE]\n";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock"},
                                                  {"lock", "--frozen"},
                                                  {"upgrade"},
                                                  {"update", "module.vpc=1.0.0"},
                                                  {"update", "--list"},
                                                  {"install"},
                                                  {"verify"},
                                                  {"inspect"},
                                                  {"graph"}}) {
    BOOST_TEST_CONTEXT(command.front() << " " << command.back()) {
      std::vector<std::string> whole = command;
      whole.insert(whole.end(), {"--chdir", "empty"});
      const Ran ran = modlock(whole);
      BOOST_TEST(ran.exit_code == 8);
      BOOST_TEST(ran.out == "");
      BOOST_TEST(ran.err.find(error) == 0U, ran.err);
    }
  }
  modlock({"lock", "live/a"});
  write("empty/.terraform.lock.hcl", read("live/a/.terraform.lock.hcl"));
  BOOST_TEST(modlock({"sbom", "empty"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_subject_is_listed_and_updated_where_it_is_called) {
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0");
  write("live/b/dns.tf", module_call("dns", "git::file://" + dns.path().string() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock", "--recursive"}).exit_code == 0);
  release(dns, "1.1.0");
  struct Row {
    const char* name;
    std::vector<std::string> command;
    const char* out;
  };
  const Row rows[] = {
      {"outdated",
       {"outdated", "dns", "--recursive"},
       "live/a:\nNo module call or provider matches dns.\n\nlive/b:\nmodule.dns  v1.0.0 (<1.0.0...>)  (?ref=v1.0.0)  "
       "-> "
       "1.1.0 (v1.1.0, minor)\n"},
      {"update without a version",
       {"update", "dns", "--recursive", "--dry-run"},
       "live/a:\nNo module call or provider matches dns.\n\nlive/b:\nmodule.dns  v1.0.0 (<1.0.0...>) -> v1.1.0 "
       "(<1.1.0...>)\n"},
      {"update to a tag",
       {"update", "module.dns=v1.1.0", "--recursive"},
       "live/a:\nNo module call or provider matches module.dns.\n\nlive/b:\nmodule.dns  v1.0.0 (<1.0.0...>) -> v1.1.0 "
       "(<1.1.0...>)\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = modlock(row.command);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out.find(row.out) == 0U, ran.out);
    }
  }
  BOOST_TEST(read("live/b/dns.tf").find("?ref=v1.1.0") != std::string::npos);
  // A subject that no root module has is an error with the nearest name.
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"outdated", "--recursive", "module.dsn"}, {"update", "--recursive", "module.dsn"}}) {
    const Ran refused = modlock(command);
    BOOST_TEST(refused.exit_code == 2);
    BOOST_TEST(refused.err.find("\"module.dsn\" matches no module call or provider") != std::string::npos, refused.err);
    BOOST_TEST(refused.err.find("did you mean \"module.dns\"?") != std::string::npos, refused.err);
  }
}

BOOST_AUTO_TEST_CASE(a_block_of_shared_settings_that_applies_to_no_root_is_noted_once) {
  write(".tofu-modlock.hcl", module_rule("other", "~> 1.0") + "module \"app\" {\n}\n");
  const Ran ran = modlock({"lock", "--recursive"});
  const std::string note = "the block module \"other\" matches no module call";
  const std::size_t first = ran.err.find(note);
  BOOST_TEST(first != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find(note, first + 1) == std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("block module \"app\"") == std::string::npos, "it applies to live/a: " << ran.err);
}

BOOST_AUTO_TEST_CASE(a_target_is_upgraded_where_it_is_called) {
  GitRepository& dns = repository("dns.git");
  release(dns, "1.0.0");
  write("live/b/dns.tf", module_call("dns", "git::file://" + dns.path().string()));
  write(".tofu-modlock.hcl", module_rule("dns", "~> 1.0"));
  BOOST_REQUIRE(modlock({"lock", "--recursive"}).exit_code == 0);
  release(dns, "1.1.0");
  const Ran ran = modlock({"upgrade", "--recursive", "--target", "module.dns"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("live/a:\nNo module call or provider matches module.dns.\n\nlive/b:\nmodule.dns  1.0.0 -> "
                          "1.1.0  (~> 1.0)\n") == 0U,
             ran.out);
  release(dns, "1.2.0");
  BOOST_TEST(modlock({"upgrade", "--recursive", "--target", "module.dns", "--target", "module.app"}).exit_code == 0);
  BOOST_TEST(read("live/b/.terraform.lock.hcl").find("\"1.2.0\"") != std::string::npos);
  // A target that no root module has is an error, and so is one that the root module does not have without --recursive.
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"upgrade", "--recursive", "--target", "module.dsn"},
        {"upgrade", "--recursive", "--target", "module.dns", "--target", "module.dsn"},
        {"upgrade", "live/a", "live/b", "--target", "module.dns"}}) {
    const Ran refused = modlock(command);
    BOOST_TEST(refused.exit_code == 2);
    BOOST_TEST(refused.err.find("Error in live/a: \"module.d") == 0U, refused.err);
  }
}

// A directory after a repeatable flag is not one of its values.
BOOST_AUTO_TEST_CASE(a_repeatable_flag_takes_one_value) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock", "--include", "modules"},
                                                  {"lock", "--platform", "linux_amd64"},
                                                  {"upgrade", "--target", "module.vpc"}}) {
    BOOST_TEST_CONTEXT(command[1]) {
      std::vector<std::string> whole = command;
      whole.emplace_back("live/a");
      const Ran ran = modlock(whole);
      BOOST_TEST(ran.exit_code == 0, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_root_is_left) {
  const Ran ran = modlock({"verify", "--recursive", "--exclude", "live/*"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err ==
             "Excluded <dir>/root/live/a: --exclude live/*\nExcluded <dir>/root/live/b: --exclude live/*\n"
             "Error: no root module found in or below <dir>/root [CONFIG_PARSE]\n"
             "  hint: every root module is excluded: name the root modules that you mean\n");
  const Ran empty = modlock({"verify", "--recursive", "modules/app"});
  BOOST_TEST(empty.exit_code == 8);
  BOOST_TEST(empty.err.find("Error: no root module found in or below <dir>/root/modules/app [CONFIG_PARSE]\n") == 0U,
             empty.err);
}

BOOST_AUTO_TEST_CASE(flags) {
  const Ran alone = modlock({"verify", "--exclude", "live/a"});
  BOOST_TEST(alone.exit_code == 2);
  BOOST_TEST(alone.err.find("--root-glob and --exclude require --recursive") != std::string::npos, alone.err);
  const Ran up = modlock({"verify", "--recursive", "--root-glob", "../x"});
  BOOST_TEST(up.exit_code == 2);
  BOOST_TEST(up.err.find("Error: --root-glob must not contain \"..\", found \"../x\" [INVALID_PARAMS]") == 0U, up.err);
  const std::string with_modules = std::string(kBoth) + " <dir>/root/modules/app";
  BOOST_TEST(roots_of({"inspect", "--root-glob", "modules/*"}, 0) == with_modules);
  BOOST_TEST(modlock({"inspect", "--recursive", "--root-glob", "x"}).err ==
             "Warning: no directory with configuration matches --root-glob x\n2 root modules: all ok.\n");
}

BOOST_AUTO_TEST_CASE(the_roots_of_the_user_are_not_excluded_by_the_checkout) {
  write(".tofu-modlock.hcl", "exclude = [\"**\"]\n");
  write_text(path("config.hcl"), "roots = [\"root/live/a\"]\n");
  const Ran ran = modlock({"verify", "--recursive", "--config-file", path("config.hcl").string()});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.err.find("Excluded <dir>/root/live/b: exclude in <dir>/root/.tofu-modlock.hcl:1\n") == 0U, ran.err);
  BOOST_TEST(ran.err.find("<dir>/root/live/a has no lock file.") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_an_error) {
  modlock({"lock", "--recursive"});
  modlock({"install", "--recursive"});
  struct Row {
    const char* name;
    const char* file;
    const char* text;  // null: a link to nothing
    int exit_code;
    const char* error;
  };
  const Row rows[] = {
      {"configuration", "modules/x/main.tf", "resource {{", 8, "main.tf:1"},
      {"a link to nothing", "modules/x/main.tf", nullptr, 1, "the file \"main.tf\" is in its directory"},
      {"settings", "modules/x/.tofu-modlock.hcl", "roots = [\"..\"]\n", 8, "a glob of roots must not contain"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("modules/x/variables.tf", "variable \"x\" {}\n");
      if (row.text != nullptr) {
        write(row.file, row.text);
      } else {
        fs::create_symlink("nowhere", root() / row.file);
      }
      for (const char* command : {"lock", "install", "verify"}) {
        const Ran ran = modlock({command, "--recursive", "--offline"});
        BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
        BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
      }
      fs::remove_all(root() / "modules/x");
    }
  }
  BOOST_TEST(modlock({"verify", "--recursive"}).exit_code == 0);
}

// A git that interrupts its parent at one repository stands in for a user.
BOOST_AUTO_TEST_CASE(an_interruption_names_the_state_of_each_root) {
  const fs::path git = path("bin/git");
  write_text(git,
             "#!/bin/sh\ncase \"$*\" in *stop.git*) kill -INT $PPID; exec sleep 60 ;; esac\n"
             "PATH=${PATH#*:}\nexec git \"$@\"\n");
  fs::permissions(git, fs::perms::owner_all);
  environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
  environment["TOFU_MODLOCK_GIT_ENGINE"] = "git";
  write("live/b/main.tf", module_call("stop", "git::file:///nowhere/stop.git"));
  write("live/c/main.tf", vpc);
  const Ran ran = modlock({"lock", "--recursive", "--jobs", "1", "live"});
  BOOST_TEST(ran.exit_code == 130);
  BOOST_TEST(ran.err ==
             "Interrupted.\n"
             "live/a  lock file written\n"
             "live/b  nothing was written\n"
             "live/c  not started\n");
  BOOST_TEST(has("live/a/.terraform.lock.hcl"));
  BOOST_TEST(!has("live/c/.terraform.lock.hcl"));
  const Ran one = modlock({"lock", "live/b"});
  BOOST_TEST(one.exit_code == 130);
  BOOST_TEST(one.out == "");
  BOOST_TEST(one.err == "Interrupted: nothing was written.\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
