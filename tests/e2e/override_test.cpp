// Override files, from outside: written, honoured by a stock tofu, removed.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kOurs = "modlock_override.tf";

struct Overriding : Scene {
  Overriding() : vpc(repository("vpc.git")) {
    release(vpc, "1.2.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url(), "~> 1.2") + module_call("net", "./net"));
    write("net/main.tf", module_call("inner", "git::" + vpc.url(), "1.2.0"));
    environment["TF_IN_AUTOMATION"] = "1";
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.12.6";
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  }
  std::string override_of(const std::string& name) const {
    return "# Written by tofu-modlock from the lock file. Do not edit: \"tofu-modlock install --overrides\" writes it "
           "anew.\n\nmodule \"" +
           name + "\" {\n  source  = \"git::file://<dir>/repositories/vpc.git?ref=<1.2.0>\"\n  version = null\n}\n";
  }
  std::string locked_commit() const {
    const std::string text = lock();
    return text.substr(text.find("git:", text.find("hashes")) + 4, 40);
  }
  Ran client(std::vector<std::string> arguments) const {
    arguments.emplace_back("-no-color");
    return program(std::move(arguments));
  }
  GitRepository& vpc;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(override_files, Overriding)

BOOST_AUTO_TEST_CASE(are_written_beside_the_calls_and_named_by_the_manifest) {
  const Ran warned = modlock({"install"});
  BOOST_TEST(warned.exit_code == 0);
  BOOST_TEST(warned.err.find("[LOCK_UNENFORCED]") != std::string::npos, warned.err);
  const Ran ran = modlock({"install", "--overrides"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.err == "");
  BOOST_TEST(shown(read(kOurs)) == override_of("vpc"));
  BOOST_TEST(shown(read("net/modlock_override.tf")) == override_of("inner"));
  BOOST_TEST(shown(read(".terraform/modules/modules.json")) ==
             R"({"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"./net","Dir":"net"},)"
             R"({"Key":"net.inner","Source":"git::file://<dir>/repositories/vpc.git?ref=<1.2.0>",)"
             R"("Dir":".terraform/modules/net.inner"},)"
             R"({"Key":"vpc","Source":"git::file://<dir>/repositories/vpc.git?ref=<1.2.0>",)"
             R"("Dir":".terraform/modules/vpc"}]})");
  for (const char* command : {"verify", "lock", "install"}) {
    const Ran again = modlock({command});
    BOOST_TEST(again.exit_code == 0, command << again.err);
    BOOST_TEST(again.err == "", command << again.err);
  }
  BOOST_TEST(modlock({"install", "--no-overrides"}).exit_code == 0);
  BOOST_TEST(!has(kOurs));
  BOOST_TEST(!has("net/modlock_override.tf"));
  BOOST_TEST(read(".terraform/modules/modules.json").find("?ref=") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_next_step_writes_those_that_can_be_written) {
  GitRepository& outer = repository("outer.git");
  release(outer, "1.0.0", {{"main.tf", module_call("label", "git::" + vpc.url(), "~> 1.2")}});
  const std::string call = module_call("outer", "git::" + outer.url() + "?ref=v1.0.0");
  const std::string rejected = " has a version argument on a git source, which unmodified OpenTofu rejects";
  const std::string inside =
      "  hint: a call inside a package cannot be overridden: use a release of module.outer without "
      "this argument, or a copy of it\n";
  fs::remove(root() / ".terraform.lock.hcl");
  struct Row {
    const char* name;
    std::string calls;
    std::string next;
    std::size_t can_be_written;  // before; the warning of the others stays
  };
  const Row rows[] = {
      {"a call of the root", module_call("vpc", "git::" + vpc.url(), "~> 1.2"), "install --overrides", 1},
      {"a call inside a package", call, "install", 0},
      {"both", call + module_call("vpc", "git::" + vpc.url(), "~> 1.2"), "install --overrides", 1},
      {"no argument", module_call("vpc", "git::" + vpc.url() + "?ref=v1.2.0"), "install", 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write("main.tf", row.calls);
      fs::remove(root() / kOurs);
      fs::remove(root() / ".terraform.lock.hcl");
      const std::size_t inside_package = occurrences(row.calls, "outer.git");
      const Ran locked = modlock({"lock"});
      BOOST_TEST(locked.out.ends_with("Next: run tofu-modlock " + row.next + ", then tofu init.\n"), locked.out);
      BOOST_TEST(occurrences(locked.err, rejected) == row.can_be_written + inside_package, locked.err);
      BOOST_TEST(occurrences(locked.err, "hint: run: tofu-modlock install --overrides; or ") == row.can_be_written);
      BOOST_TEST(occurrences(locked.err, inside) == inside_package, locked.err);
      const Ran installed = modlock({"install", "--overrides"});
      BOOST_TEST(installed.exit_code == 0, installed.err);
      BOOST_TEST(occurrences(installed.err, rejected) == inside_package, installed.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(are_the_same_for_links_into_the_cache) {
  const auto is_link = [&] { return fs::is_symlink(root() / ".terraform/modules/net.inner"); };
  const Ran linked = modlock({"install", "--link", "--overrides"});
  BOOST_TEST(linked.err == "");
  BOOST_TEST(is_link());
  BOOST_TEST(shown(read(kOurs)) == override_of("vpc"));
  BOOST_TEST(shown(read("net/modlock_override.tf")) == override_of("inner"));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  for (const auto& [command, links] : {std::pair<std::vector<std::string>, bool>{{"install", "--overrides"}, false},
                                       {{"install", "--link"}, true},
                                       {{"install", "--link", "--no-overrides"}, true}}) {
    BOOST_TEST(modlock(command).exit_code == 0);
    BOOST_TEST(is_link() == links);
    BOOST_TEST(has(kOurs) == (command.back() != "--no-overrides"));
    BOOST_TEST(modlock({"verify"}).exit_code == 0);
  }
}

BOOST_AUTO_TEST_CASE(follow_the_lock) {
  BOOST_REQUIRE(modlock({"install", "--overrides"}).exit_code == 0);
  release(vpc, "1.3.0");
  write("net/main.tf", module_call("inner", "git::" + vpc.url(), "~> 1.2"));
  const std::string before = read(kOurs);
  BOOST_TEST(modlock({"upgrade", "--dry-run"}).out.find("+++ net/modlock_override.tf\n") != std::string::npos);
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 3);
  BOOST_TEST(read(kOurs) == before);
  const Ran upgraded = modlock({"upgrade"});
  BOOST_TEST(upgraded.exit_code == 0, upgraded.err);
  BOOST_TEST(upgraded.err == "");
  BOOST_TEST(upgraded.out.find("tofu-modlock has changed the module selections in .terraform.lock.hcl, "
                               "modlock_override.tf and net/modlock_override.tf.\n") != std::string::npos,
             upgraded.out);
  for (const char* file : {kOurs, "net/modlock_override.tf"}) {
    BOOST_TEST(shown(read(file)).find("?ref=<1.3.0>") != std::string::npos, file);
  }
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
  BOOST_TEST(modlock({"install"}).exit_code == 0);

  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.2.0") + module_call("net", "./net"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(!has(kOurs), "no call needs it");
  BOOST_TEST(has("net/modlock_override.tf"));
}

BOOST_AUTO_TEST_CASE(that_are_out_of_date_are_frozen) {
  BOOST_REQUIRE(modlock({"install", "--overrides"}).exit_code == 0);
  const std::string edited = read(kOurs) + "\n";
  write(kOurs, edited);
  const Ran refused = modlock({"install"});
  BOOST_TEST(refused.exit_code == 3);
  BOOST_TEST(refused.err.find("hint: run: tofu-modlock install --overrides") != std::string::npos, refused.err);
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 3);
  BOOST_TEST(read(kOurs) == edited);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(shown(read(kOurs)) == override_of("vpc"));
}

BOOST_AUTO_TEST_CASE(that_lock_does_not_write) {
  BOOST_TEST(modlock({"upgrade"}).exit_code == 0);
  BOOST_TEST(!has(kOurs), "none is created");
  write(kOurs, "module \"vpc\" {}\n");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.err.find("was not written by tofu-modlock") != std::string::npos, ran.err);
  BOOST_TEST(read(kOurs) == "module \"vpc\" {}\n");
}

// Each root says what it is locked to, and none is disobeyed in silence.
BOOST_AUTO_TEST_CASE(of_a_local_module_are_shared_by_the_roots_that_call_it) {
  release(vpc, "1.3.0");
  write_text(path("common/main.tf"), module_call("vpc", "git::" + vpc.url(), "~> 1.2"));
  const std::string ours = path("common/modlock_override.tf").string();
  program({"git", "init", "--quiet", ".."});
  const auto in = [&](const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--chdir", "../" + name});
    return modlock(std::move(arguments));
  };
  const auto says = [&](const std::string& version) {
    return shown(read_text(ours)).find("?ref=<" + version + ">") != std::string::npos;
  };
  for (const char* name : {"one", "same", "other"}) {
    const bool is_other = name == std::string("other");
    write_text(path(name) / "main.tf", module_call("net", "../common"));
    write_text(path(name) / ".tofu-modlock.hcl", module_rule("net.vpc", is_other ? "1.3.0" : "1.2.0"));
    const Ran locked = in(name, {"lock"});
    BOOST_TEST(locked.exit_code == 0, locked.err);
  }
  BOOST_TEST(in("one", {"install", "--overrides"}).exit_code == 0);
  BOOST_TEST(says("1.2.0"));
  BOOST_TEST(in("same", {"install"}).err == "", "locked to the same");
  const Ran refused = in("other", {"install"});
  BOOST_TEST(refused.exit_code == 3, refused.err);
  BOOST_TEST(
      refused.err.find("../common/modlock_override.tf does not match the lock file [FROZEN]") != std::string::npos,
      refused.err);
  BOOST_TEST(says("1.2.0"));
  BOOST_TEST(in("other", {"install", "--overrides"}).exit_code == 0);
  BOOST_TEST(says("1.3.0"));
  const Ran verified = in("one", {"verify"});
  BOOST_TEST(verified.exit_code == 3);
  BOOST_TEST(verified.err.find("does not match the lock file [FROZEN]") != std::string::npos, verified.err);
  BOOST_TEST(in("one", {"install"}).exit_code == 3);
  const Ran locked = in("one", {"lock"});
  BOOST_TEST(locked.err.find("../common/modlock_override.tf does not match the lock file [LOCK_UNENFORCED]") !=
                 std::string::npos,
             locked.err);
  BOOST_TEST(says("1.3.0"), "outside of the root lock writes nothing");
  BOOST_TEST(in("one", {"install", "--overrides"}).exit_code == 0);
  BOOST_TEST(says("1.2.0"));
}

BOOST_AUTO_TEST_CASE(older_releases_do_not_understand_them) {
  environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.9.4";
  const Ran ran = modlock({"install", "--overrides"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(
      ran.err.find("OpenTofu understands from 1.10 on, and this is 1.9.4 [SOURCE_UNSUPPORTED]") != std::string::npos,
      ran.err);
  BOOST_TEST(!has(kOurs));
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(of_somebody_else_stop_the_installation) {
  write(kOurs, "module \"vpc\" {\n  source  = \"git::file:///evil.git\"\n  version = null\n}\n");
  for (const char* flag : {"--offline", "--overrides", "--no-overrides"}) {
    const Ran ran = modlock({"install", flag});
    BOOST_TEST(ran.exit_code == 8, ran.err);
    BOOST_TEST(ran.err.find("[CONFIG_PARSE]") != std::string::npos, ran.err);
  }
  BOOST_TEST(read(kOurs).find("evil") != std::string::npos);
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(that_lead_elsewhere_are_no_lock_that_holds) {
  BOOST_REQUIRE(modlock({"install", "--overrides"}).exit_code == 0);
  const std::string ours = read(kOurs);
  const std::string header = ours.substr(0, ours.find("module"));
  std::string redirected = ours;
  redirected.replace(redirected.find("git::"), redirected.find("\"\n  version") - redirected.find("git::"), "./evil");
  struct Row {
    const char* name;
    std::string text;
    int exit_code;
    const char* code;
  };
  const Row rows[] = {
      {"another source in a file of ours", redirected, 3, "[FROZEN]"},
      {"another call in a file of ours", header + "module \"net\" {\n  source = \"./evil\"\n}\n", 3, "[FROZEN]"},
      {"more in a file of ours", ours + "\nmodule \"net\" {\n  source = \"./evil\"\n}\n", 3, "[FROZEN]"},
      {"a file of somebody else", "module \"vpc\" {\n  source  = \"./evil\"\n  version = null\n}\n", 8,
       "[CONFIG_PARSE]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write(kOurs, row.text);
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"verify"}, {"lock", "--frozen"}, {"install"}, {"mirror", "--", "true"}}) {
        const Ran ran = modlock(command);
        BOOST_TEST(ran.exit_code == row.exit_code, command[0] << ran.exit_code << ran.err);
        BOOST_TEST(ran.err.find(row.code) != std::string::npos, command[0] << ran.err);
      }
      // Only a file of ours is written again.
      const bool is_ours = row.exit_code == 3;
      const Ran locked = modlock({"lock"});
      BOOST_TEST(locked.exit_code == 0, locked.err);
      BOOST_TEST((locked.err.find("[LOCK_UNENFORCED]") == std::string::npos) == is_ours, locked.err);
      BOOST_TEST(read(kOurs) == (is_ours ? ours : row.text));
    }
  }
  // Where no call needs one, too.
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.2.0"));
  fs::remove(root() / kOurs);
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  write(kOurs, redirected);
  BOOST_TEST(modlock({"verify"}).exit_code == 3);
  BOOST_TEST(modlock({"install", "--no-overrides"}).exit_code == 0);
  BOOST_TEST(!has(kOurs));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

// What is installed has the locked checksum, whatever commit an edited lock names beside it.
BOOST_AUTO_TEST_CASE(name_no_commit_that_its_source_has_not_proven) {
  BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  std::string edited = lock();
  const std::string commit = locked_commit();
  for (std::size_t at = edited.find(commit); at != std::string::npos; at = edited.find(commit, at)) {
    edited.replace(at, commit.size(), std::string(40, '1'));
  }
  write(".terraform.lock.hcl", edited);
  const Ran refused = modlock({"install", "--overrides"});
  BOOST_TEST(refused.exit_code == 4, refused.err);
  BOOST_TEST(refused.err.find("[HASH_MISMATCH]") != std::string::npos, refused.err);
  BOOST_TEST(!has(kOurs));
}

BOOST_AUTO_TEST_CASE(make_a_stock_tofu_accept_versions_of_git_sources, *needs("tofu")) {
  BOOST_TEST(client({"tofu", "init"}).exit_code != 0);
  BOOST_REQUIRE(modlock({"install", "--overrides"}).exit_code == 0);
  const std::string manifest = read(".terraform/modules/modules.json");
  release(vpc, "1.3.0");
  // Nothing is asked of anybody: the origin is gone.
  fs::rename(repositories(), path("moved away"));
  for (const char* command : {"init", "validate", "plan"}) {
    const Ran ran = client({MODLOCK_WITHOUT_NETWORK, "--but-local", "tofu", command});
    BOOST_TEST(ran.exit_code == 0, command << ran.out << ran.err);
  }
  BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  // And an upgrade, which fetches everything anew, gets what is locked.
  fs::rename(path("moved away"), repositories());
  const Ran upgraded = client({"tofu", "init", "-upgrade"});
  BOOST_TEST(upgraded.exit_code == 0, upgraded.out << upgraded.err);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.2.0\"") != std::string::npos);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(do_not_help_with_terraform, *needs("terraform")) {
  BOOST_REQUIRE(modlock({"install", "--overrides"}).exit_code == 0);
  const Ran ran = client({"terraform", "init"});
  BOOST_TEST(ran.exit_code != 0);
  BOOST_TEST(ran.err.find("Invalid registry module source address") != std::string::npos, ran.out << ran.err);
}

BOOST_AUTO_TEST_SUITE_END()
