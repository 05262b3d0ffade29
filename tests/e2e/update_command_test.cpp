// The command `update`, from outside: what people ask for, and what Renovate tells its postUpgradeTasks.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Updating : Scene {
  Updating() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    release(vpc, "1.1.0");
    release(vpc, "2.0.0");
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
  }

  std::string git() const { return "git::" + vpc.url(); }

  // Below the root, which is a repository.
  void write_data(const std::string& entries) const { write_text(path("data.json"), "[" + entries + "]"); }

  ProviderRegistry registry;
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(update_command, Updating)

BOOST_AUTO_TEST_CASE(a_subject_without_a_version_takes_the_newest_below_the_next_major_one) {
  struct Row {
    const char* name;
    std::string source;
    const char* constraint;
    const char* line;    // the first one of the output, or of the diagnostics
    const char* locked;  // afterwards
  };
  const Row rows[] = {
      {"a constraint that allows it", git(), "~> 1.0", "module.vpc  1.0.0 -> 1.1.0  (~> 1.0)", "<1.1.0>"},
      {"a constraint that does not", git(), "~> 1.0.0", "module.vpc  1.0.0 -> 1.1.0  (~> 1.1.0)", "<1.1.0>"},
      {"a tag", git() + "?ref=v1.0.0", "", "module.vpc  v1.0.0 (<1.0.0...>) -> v1.1.0 (<1.1.0...>)", "<1.1.0>"},
      {"nothing newer", git() + "?ref=v2.0.0", "", "Info: module.vpc 2.0.0 is the newest version [NO_MATCHING_VERSION]",
       "<2.0.0>"},
      {"only a new major version", git() + "?ref=v1.1.0", "",
       "Info: module.vpc 1.1.0 is the newest version below 2 [NO_MATCHING_VERSION]", "<1.1.0>"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::filesystem::remove(root() / ".terraform.lock.hcl");
      const std::string constraint = row.constraint;
      write("main.tf", module_call("vpc", row.source, constraint.empty() ? "" : "1.0.0"));
      BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
      write("main.tf", module_call("vpc", row.source, constraint));
      const Ran ran = modlock({"update", "module.vpc"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const std::string& text = ran.err.starts_with("Info: ") ? ran.err : ran.out;
      BOOST_TEST(text.substr(0, text.find('\n')) == row.line);
      BOOST_TEST(locked_commits(*this)["vpc"] == row.locked);
    }
  }
  write("live/main.tf", module_call("vpc", git() + "?ref=v1.1.0"));
  BOOST_REQUIRE(modlock({"lock", "--chdir", "live"}).exit_code == 0);
  const Ran below = modlock({"update", "--chdir", "live", "module.vpc"});
  BOOST_TEST(below.err ==
             "Info: module.vpc 1.1.0 is the newest version below 2 [NO_MATCHING_VERSION]\n"
             "  hint: for the new major version, run: tofu-modlock update --chdir live module.vpc=2.0.0\n");
  BOOST_TEST(below.out == "The lock file is up to date.\n");
  write("main.tf", module_call("vpc", git() + "?ref=main") + module_call("local", "./local"));
  write("local/main.tf", "");
  const Ran branch = modlock({"update", "module.vpc"});
  BOOST_TEST(branch.exit_code == 2);
  BOOST_TEST(branch.err ==
             "Error: cannot update module.vpc: its branch, tag or commit is not a version [INVALID_PARAMS]\n"
             "  hint: to lock the newest content, run: tofu-modlock upgrade --target module.vpc\n");
  BOOST_TEST(modlock({"update", "module.local"}).exit_code == 2);
  BOOST_TEST(modlock({"update", "module.nope"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(a_source_is_replaced_everywhere) {
  GitRepository& net = repository("net.git");
  release(net, "1.0.0", {{"main.tf", module_call("vpc", git() + "?ref=v1.1.0")}});
  write("pinned/main.tf", module_call("a", git() + "?ref=v1.1.0") + module_call("older", git() + "?ref=v1.0.0"));
  write("ranged/main.tf", module_call("b", git()));
  write("ranged/.tofu-modlock.hcl", module_rule("b", "~> 1.0"));
  write("inside/main.tf",
        module_call("c", git() + "?ref=v1.1.0") + module_call("net", "git::" + net.url() + "?ref=v1.0.0"));
  write("other/main.tf", module_call("net", "git::" + net.url() + "?ref=v1.0.0"));
  const auto versions = [&] {
    std::string text;
    const Json::Value all = json({"explain", "--recursive", "--find", git(), "--json"});
    for (const Json::Value& one : all["results"]) {
      for (const Json::Value& found : one["found"]) {
        const std::string source = found["source"].asString();
        text += fs::path(one["root"].asString()).filename().string() + " " + found["subject"].asString() + " " +
                (found.isMember("version") ? found["version"].asString() : source.substr(source.find('=') + 1)) + "\n";
      }
    }
    return text;
  };
  BOOST_REQUIRE(modlock({"lock", "--recursive"}).exit_code == 0);
  const Ran unknown = modlock({"update", "--recursive", "git.example.test/none=1.0.0"});
  BOOST_TEST(unknown.exit_code == 2);
  BOOST_TEST(unknown.err.find("\"git.example.test/none\" matches no module call or provider [INVALID_PARAMS]\n") !=
             std::string::npos);
  fs::remove_all(root() / "other");
  const Ran ran = modlock({"update", "--recursive", git() + "@1.1.0=1.0.0"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(
      ran.err.find("the source of module.net.vpc should become \"v1.0.0\", and the text cannot be changed where it "
                   "is written: it is in the package of module.net [CONFIG_NON_STATIC]\n") != std::string::npos,
      ran.err);
  BOOST_TEST(
      versions() ==
      "inside module.c v1.0.0\ninside module.net.vpc v1.1.0\npinned module.a v1.0.0\npinned module.older v1.0.0\n"
      "ranged module.b 1.0.0\n");
  BOOST_TEST(modlock({"update", "--recursive", git() + "=2.0.0"}).exit_code == 0);
  BOOST_TEST(
      versions() ==
      "inside module.c v2.0.0\ninside module.net.vpc v1.1.0\npinned module.a v2.0.0\npinned module.older v2.0.0\n"
      "ranged module.b 2.0.0\n");
}

BOOST_AUTO_TEST_CASE(the_newest_version_is_pinned_on_request) {
  write("main.tf", module_call("vpc", git() + "?ref=v2.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran ran = modlock({"update", "module.vpc", "--pin", "immutable"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "Info: module.vpc 2.0.0 is the newest version [NO_MATCHING_VERSION]\n");
  BOOST_TEST(ran.out.starts_with("module.vpc  v2.0.0 ("), ran.out);
  BOOST_TEST(shown(read("main.tf")).find("?ref=<2.0.0>\"") != std::string::npos, read("main.tf"));
  const Ran again = modlock({"update", "module.vpc", "--pin", "immutable"});
  BOOST_TEST(again.exit_code == 0, again.err);
}

BOOST_AUTO_TEST_CASE(a_moved_tag_is_not_pinned) {
  write("main.tf", module_call("vpc", git() + "?ref=v2.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const std::string before = read("main.tf");
  const std::string locked = lock();
  vpc.commit({{"main.tf", "# moved\n"}});
  vpc.tag("v2.0.0");
  for (const char* subject : {"module.vpc", "module.vpc=2.0.0"}) {
    const Ran ran = modlock({"update", subject, "--pin", "immutable"});
    BOOST_TEST(ran.exit_code == 4, ran.err);
    BOOST_TEST(ran.err.find("the tag v2.0.0 of module.vpc was locked as git:") != std::string::npos, ran.err);
    BOOST_TEST(read("main.tf") == before);
    BOOST_TEST(lock() == locked);
  }
  const Ran accepted = modlock({"update", "module.vpc", "--pin", "immutable", "--accept-moved"});
  BOOST_TEST(accepted.exit_code == 0, accepted.err);
  BOOST_TEST(read("main.tf") != before);
}

BOOST_AUTO_TEST_CASE(configuration_and_lock_are_written) {
  write("main.tf", "# kept\n" + module_call("vpc", git(), "~> 1.0.0"));
  modlock({"lock"});
  const Ran ran = modlock({"update", "module.vpc=2.0.0"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
             "module.vpc  1.0.0 -> 2.0.0  (~> 2.0.0)\n\ntofu-modlock has changed main.tf and .terraform.lock.hcl.\n"
             "Review and commit the change if it is what you intended.\n"
             "Next: run tofu-modlock install --overrides, then tofu init.\n");
  BOOST_TEST(read("main.tf") == "# kept\n" + module_call("vpc", git(), "~> 2.0.0"));
  BOOST_TEST((locked_commits(*this) == std::map<std::string, std::string>{{"vpc", "<2.0.0>"}}));
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(install_afterwards) {
  struct Row {
    const char* name;
    std::string main;
    std::vector<std::string> arguments;
    std::string out_end;
    const char* verified;  // the exit code of `verify`, and its version
  };
  const std::string old = module_call("vpc", git(), "~> 1.0.0");
  const std::string next =
      "if it is what you intended.\n1 installed.\nNext: run tofu-modlock install --overrides, then tofu init.\n";
  const Row rows[] = {
      {"version", old, {"module.vpc=2.0.0"}, next, "0 2.0.0"},
      {"locked version", old, {"module.vpc=1.0.0"}, "The lock file is up to date.\n1 installed.\n", "0 1.0.0"},
      {"nothing newer",
       module_call("vpc", git() + "?ref=v2.0.0"),
       {"module.vpc"},
       "The lock file is up to date.\n1 installed.\n",
       "0 v2.0.0"},
      {"dry run",
       old,
       {"module.vpc=2.0.0", "--dry-run"},
       "main.tf and .terraform.lock.hcl would change; nothing was written.\n",
       "3 1.0.0"},
      {"markdown",
       old,
       {"module.vpc=2.0.0", "--format", "markdown"},
       "- file `main.tf` changed (+1 -1)\n\n</details>\n",
       "0 2.0.0"},
      {"file of updates", old, {"--from-file", path("data.json").string()}, next, "0 2.0.0"},
  };
  write_data(R"({"subject": "module.vpc", "newVersion": "2.0.0"})");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(root() / ".terraform");
      fs::remove(root() / ".terraform.lock.hcl");
      write("main.tf", row.main);
      BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
      std::vector<std::string> arguments = {"update", "--install"};
      arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
      const Ran ran = modlock(arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out.ends_with(row.out_end), ran.out);
      const Ran verified = modlock({"verify"});
      BOOST_TEST(verified.exit_code == row.verified[0] - '0');
      BOOST_TEST(verified.out.find(row.verified + 2) != std::string::npos, verified.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(modules_alone_need_no_provider_registry) {
  registry.publish({.name = "acme/cloud", .version = "1.0.0", .platforms = {"linux_amd64"}});
  write("main.tf", required_cloud("~> 1.0") + module_call("vpc", git(), "~> 1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  write(".terraform.lock.hcl", lock().substr(0, lock().find("\nprovider ")));
  write_text(path("tofurc"),
             "host \"registry.opentofu.org\" {\n  services = {\n    \"providers.v1\" = "
             "\"http://127.0.0.1:1/\"\n  }\n}\n");
  const std::string before = lock();
  BOOST_TEST(modlock({"update", "module.vpc=2.0.0"}).exit_code == 7);
  BOOST_TEST(lock() == before);
  const Ran ran = modlock({"update", "module.vpc=2.0.0", "--include", "modules"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read("main.tf") == required_cloud("~> 1.0") + module_call("vpc", git(), "~> 2.0.0"));
  BOOST_TEST((locked_commits(*this) == std::map<std::string, std::string>{{"vpc", "<2.0.0>"}}));
  BOOST_TEST(lock().find("provider ") == std::string::npos, lock());
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(a_subject_that_include_leaves_out_is_refused) {
  write("main.tf", module_call("vpc", git(), "~> 1.0.0"));
  modlock({"lock"});
  for (const auto& [subject, kind] :
       {std::pair("module.vpc=2.0.0", "providers"), std::pair("provider.acme/cloud=2.0.0", "modules")}) {
    const Ran ran = modlock({"update", subject, "--include", kind});
    BOOST_TEST(ran.exit_code == 2, ran.err);
    const std::string name = std::string(subject).substr(0, std::string_view(subject).find('='));
    BOOST_TEST(ran.err.find("--include excludes " + name + " [INVALID_PARAMS]") != std::string::npos, ran.err);
  }
  BOOST_TEST(modlock({"update", "--list", "--include", "modules"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(a_dry_run_shows_both_files) {
  write("main.tf", module_call("vpc", git(), "~> 1.0.0"));
  modlock({"lock"});
  const std::string before = lock();
  const Ran ran = modlock({"update", "module.vpc=~> 2.0", "--dry-run"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("--- main.tf\n+++ main.tf\n") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("-  version = \"~> 1.0.0\"\n+  version = \"~> 2.0\"\n") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find("main.tf and .terraform.lock.hcl would change; nothing was written.\n") != std::string::npos);
  BOOST_TEST(lock() == before);
  BOOST_TEST(read("main.tf") == module_call("vpc", git(), "~> 1.0.0"));
}

BOOST_AUTO_TEST_CASE(a_summary_in_markdown) {
  write("main.tf", module_call("vpc", git() + "?ref=v1.0.0"));
  modlock({"lock"});
  const Ran ran = modlock({"update", "module.vpc=1.1.0", "--pin", "immutable", "--format", "markdown"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out ==
                 "| Subject | Change | From | To | Constraint |\n|---|---|---|---|---|\n"
                 "| `module.vpc` | source-changed | `v1.0.0 (<1.0.0...>)` | `commit <1.1.0...>` |  |\n\n"
                 "Files: `main.tf` `.terraform.lock.hcl`\n\n"
                 "### `module.vpc`: `v1.0.0 (<1.0.0...>)` → `commit <1.1.0...>`\n\n"
                 "<details><summary>1 file changed, 1 line added, 1 line removed</summary>\n\n"
                 "- file `main.tf` changed (+1 -1)\n\n</details>\n",
             ran.out);
  BOOST_TEST(shown(read("main.tf")) == shown(module_call("vpc", git() + "?ref=<1.1.0>")));
}

BOOST_AUTO_TEST_CASE(a_link_stays_one) {
  write("shared/versions.tf", module_call("vpc", git(), "1.0.0"));
  std::filesystem::create_symlink("shared/versions.tf", root() / "main.tf");
  modlock({"lock"});
  BOOST_TEST(modlock({"update", "module.vpc=1.1.0"}).exit_code == 0);
  BOOST_TEST(std::filesystem::is_symlink(root() / "main.tf"));
  BOOST_TEST(read("shared/versions.tf") == module_call("vpc", git(), "1.1.0"));
}

// A local module in another directory: only in the same repository, and only if no link is on the way to it.
BOOST_AUTO_TEST_CASE(a_local_module_is_edited_in_its_repository) {
  struct Row {
    const char* name;
    bool has_repository;
    const char* link;     // to "other", in place of this
    const char* written;  // nullptr: none
  };
  for (const Row& row :
       {Row{"in the repository", true, nullptr, "net/main.tf"}, Row{"in no repository", false, nullptr, nullptr},
        Row{"a linked file", true, "net/main.tf", nullptr}, Row{"a linked directory", true, "net", "other/main.tf"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(path(".git"));
      fs::remove_all(path("net"));
      fs::remove_all(path("other"));
      fs::remove(root() / ".terraform.lock.hcl");
      if (row.has_repository) {
        program({"git", "init", "--quiet", path(".git").parent_path().string()});
      }
      const std::string call = module_call("vpc", git(), "1.0.0");
      write_text(path("net/main.tf"), call);
      write_text(path("other/main.tf"), call);
      if (row.link != nullptr) {
        fs::remove_all(path(row.link));
        fs::create_symlink(row.link == std::string("net") ? path("other") : path("other/main.tf"), path(row.link));
      }
      write("main.tf", module_call("net", "../net"));
      BOOST_TEST(modlock({"lock"}).exit_code == 0);
      const std::string before = lock();
      const Ran ran = modlock({"update", "module.net.vpc=1.1.0"});
      BOOST_TEST(ran.exit_code == (row.written != nullptr ? 0 : 8), ran.out << ran.err);
      BOOST_TEST((lock() == before) == (row.written == nullptr));
      for (const char* file : {"net/main.tf", "other/main.tf"}) {
        const bool is_written = row.written != nullptr && fs::equivalent(path(file), path(row.written));
        BOOST_TEST(read_text(path(file)) == (is_written ? module_call("vpc", git(), "1.1.0") : call), file);
      }
      const std::string said = row.written == nullptr
                                   ? "[PATH_OUTSIDE_ROOT]"
                                   : fmt::format(
                                         "Other root modules may read ../{}, too. To update their lock files, "
                                         "run: tofu-modlock lock --chdir <dir> --recursive\n",
                                         row.written);
      BOOST_TEST((ran.out + ran.err).find(said) != std::string::npos, ran.out << ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_settings_file_above_the_root_is_edited_in_its_repository) {
  const fs::path shared = path(".tofu-modlock.hcl");
  const std::vector<std::string> command = {"update", "vpc=2.0.0"};
  write("main.tf", module_call("vpc", git()));
  BOOST_REQUIRE(program({"git", "init", "--quiet", ".."}).exit_code == 0);
  write_text(shared, module_rule("vpc", "~> 1.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran shown = modlock({"update", "vpc=2.0.0", "--dry-run"});
  BOOST_TEST(shown.exit_code == 0, shown.err);
  BOOST_TEST(read_text(shared) == module_rule("vpc", "~> 1.0"));
  const Ran ran = modlock(command);
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(
      ran.out.find("tofu-modlock has changed ../.tofu-modlock.hcl and .terraform.lock.hcl.\n") != std::string::npos,
      ran.out);
  const std::string others =
      "Other root modules read ../.tofu-modlock.hcl, too. To update their lock files, run: tofu-modlock lock --chdir "
      "<dir> --recursive\n";
  BOOST_TEST(ran.out.find(others) != std::string::npos, ran.out);
  BOOST_TEST(shown.out.find("Other root modules") == std::string::npos, shown.out);
  BOOST_TEST(read_text(shared) == module_rule("vpc", "~> 2.0"));
  BOOST_TEST(locked_commits(*this)["vpc"] == "<2.0.0>");
  // A link could change the meaning of any file.
  const std::string linked = module_rule("vpc", "~> 1.0");
  write_text(path("other.hcl"), linked);
  fs::remove(shared);
  fs::create_symlink("other.hcl", shared);
  fs::remove(root() / ".terraform.lock.hcl");
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran refused = modlock(command);
  BOOST_TEST(refused.exit_code == 8);
  BOOST_TEST(refused.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, refused.err);
  BOOST_TEST(read_text(path("other.hcl")) == linked);
}

BOOST_AUTO_TEST_CASE(what_is_no_update) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    const char* message;
  };
  write("main.tf", "");
  fs::create_directory(root() / "my live");
  write_text(path("object.json"), "{}");
  const Row rows[] = {
      {"nothing", {"update"}, "Error: update: nothing to update [INVALID_PARAMS]\n"},
      {"no version",
       {"update", "module.vpc="},
       "Error: expected SUBJECT or SUBJECT=VERSION, found \"module.vpc=\" [INVALID_PARAMS]\n"},
      {"a version of its own",
       {"update", "network", "2.0.0"},
       "Error: expected SUBJECT or SUBJECT=VERSION, found \"2.0.0\" [INVALID_PARAMS]\n"
       "  hint: write it as network=2.0.0\n"},
      {"a tag as a word",
       {"update", "network", "v2.0.0"},
       "Error: expected SUBJECT or SUBJECT=VERSION, found \"v2.0.0\" [INVALID_PARAMS]\n"
       "  hint: write it as network=2.0.0\n"},
      {"a constraint as a word",
       {"update", "network", "~> 2.0"},
       "Error: expected SUBJECT or SUBJECT=VERSION, found \"~> 2.0\" [INVALID_PARAMS]\n"
       "  hint: write it as 'network=~> 2.0'\n"},
      {"a constraint with an equals sign as a word",
       {"update", "network", ">=2.0"},
       "Error: expected SUBJECT or SUBJECT=VERSION, found \">=2.0\" [INVALID_PARAMS]\n"
       "  hint: write it as 'network=>=2.0'\n"},
      {"a tag without a version",
       {"update", "m1=stable"},
       "Error: expected a version or a constraint, found \"stable\" [INVALID_PARAMS]\n"
       "  hint: to lock a tag or branch that is not a version, name it in the source of m1 (?ref=stable) and run: "
       "tofu-modlock lock\n"},
      {"a directory",
       {"outdated", "my live"},
       "Error: expected a module call or a provider, found the directory \"my live\" [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock outdated --chdir 'my live'\n"},
      {"an at sign",
       {"update", "network@v2.0.0"},
       "Error: expected SUBJECT or SUBJECT=VERSION, found \"network@v2.0.0\" [INVALID_PARAMS]\n"
       "  hint: write it as network=2.0.0\n"},
      {"a tag with a prefix",
       {"update", "m1=net/v2.0"},
       "Error: expected a version or a constraint, found \"net/v2.0\" [INVALID_PARAMS]\n"
       "  hint: write it as m1=2.0.0\n"},
      {"a tag with a prerelease",
       {"update", "m1=net-2.0-rc1"},
       "Error: expected a version or a constraint, found \"net-2.0-rc1\" [INVALID_PARAMS]\n"
       "  hint: write it as m1=2.0.0-rc1\n"},
      {"no such file", {"update", "--from-file", "nope.json"}, "nope.json"},
      {"no list in the file",
       {"update", "--from-file", "../object.json"},
       "object.json: expected a list of updates [INVALID_PARAMS]\n"
       "  hint: write a list of objects, or an object that has one as updates or upgrades\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = modlock(row.arguments);
      BOOST_TEST(ran.exit_code != 0);
      BOOST_TEST(ran.err.find(row.message) != std::string::npos, ran.err);
    }
  }
  for (const char* command : {"update", "diff"}) {
    const Ran ran = modlock({command, "module.vpc=", "--json"});
    BOOST_TEST(ran.exit_code == 2);
    BOOST_TEST(ran.err == "");
    BOOST_TEST(ran.out.find("expected SUBJECT or SUBJECT=VERSION, found") != std::string::npos, ran.out);
  }
  fs::remove(root() / "main.tf");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"outdated"}, {"update"}, {"diff"}, {"explain"}, {"upgrade", "--target"}}) {
    std::vector<std::string> words = command;
    words.emplace_back("my live");
    const Ran above = modlock(words);
    BOOST_TEST(above.exit_code == 2, above.err);
    BOOST_TEST(above.err ==
               "Error: expected a module call or a provider, found the directory \"my live\" "
               "[INVALID_PARAMS]\n  hint: run: tofu-modlock " +
                   command.front() + " --chdir 'my live'\n");
  }
}

// Renovate has changed the configuration already, as it does before postUpgradeTasks.
BOOST_AUTO_TEST_CASE(what_renovate_has_edited_is_locked) {
  write("live/main.tf", module_call("vpc", git() + "?ref=v1.0.0") + module_call("old", git() + "?ref=v1.1.0"));
  BOOST_TEST(modlock({"lock", "--chdir", "live"}).exit_code == 0);
  write("live/main.tf", module_call("vpc", git() + "?ref=v2.0.0") + module_call("old", git() + "?ref=v1.1.0"));
  program({"git", "init", "--quiet"});
  write_data(fmt::format(R"({{"depName": "{}", "packageFile": "live/main.tf", "currentValue": "v1.0.0",)"
                         R"( "newValue": "v2.0.0", "newVersion": "v2.0.0", "updateType": "major"}})",
                         vpc.path().string()));
  const Ran ran = modlock({"update", "--from-file", "../data.json"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read("live/main.tf") ==
             module_call("vpc", git() + "?ref=v2.0.0") + module_call("old", git() + "?ref=v1.1.0"));
  BOOST_TEST(modlock({"lock", "--frozen", "--chdir", "live"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(what_renovate_has_not_edited_is_changed_too) {
  registry.publish({.name = "acme/cloud", .version = "1.0.0"});
  write("main.tf", required_cloud("~> 1.0") + module_call("vpc", git(), "~> 1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  registry.publish({.name = "acme/cloud", .version = "2.1.0"});
  program({"git", "init", "--quiet"});
  write_data(fmt::format(R"({{"depName": "{}", "packageFile": "main.tf", "currentValue": "~> 1.0.0",)"
                         R"( "newValue": "~> 2.0.0", "newVersion": "2.0.0"}},)"
                         R"({{"depName": "cloud", "packageName": "acme/cloud", "depType": "required_provider",)"
                         R"( "packageFile": "main.tf", "currentValue": "~> 1.0", "newValue": "~> 2.0"}},)"
                         R"({{"depName": "alpine", "packageFile": "Dockerfile", "newValue": "3.20"}})",
                         vpc.path().string()));
  // As Renovate's settings hand the file over; a command is split into words, and no shell runs it.
  environment["RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE"] = path("data.json").string();
  const Ran ran = modlock({"update"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read("main.tf") == required_cloud("~> 2.0") + module_call("vpc", git(), "~> 2.0.0"));
  BOOST_TEST(ran.out.find("module.vpc                                 1.0.0 -> 2.0.0") == 0U, ran.out);
  BOOST_TEST(ran.out.find("acme/cloud  1.0.0 -> 2.1.0") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(a_root_is_found_by_its_local_module) {
  program({"git", "init", "--quiet"});
  write("net/main.tf", module_call("vpc", git(), "1.0.0"));
  write("a/main.tf", module_call("net", "../net"));
  write("b/main.tf", module_call("vpc", git(), "1.0.0"));
  BOOST_TEST(modlock({"lock", "--chdir", "a"}).exit_code == 0);
  BOOST_TEST(modlock({"lock", "--chdir", "b"}).exit_code == 0);
  write("net/main.tf", module_call("vpc", git(), "1.1.0"));
  write_data(fmt::format(R"({{"depName": "{}", "packageFile": "net/main.tf", "currentValue": "1.0.0",)"
                         R"( "newValue": "1.1.0", "newVersion": "1.1.0"}})",
                         vpc.path().string()));
  const Ran ran = modlock({"update", "--from-file", "../data.json"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(shown(read("a/.terraform.lock.hcl")).find("git:<1.1.0>") != std::string::npos, ran.out);
  BOOST_TEST(shown(read("b/.terraform.lock.hcl")).find("git:<1.0.0>") != std::string::npos);
}

// Three roots, of which a and b read what changed, and c does not. What is wrong with one of them decides the exit
// code; the others are updated.
BOOST_AUTO_TEST_CASE(a_root_that_cannot_be_read) {
  struct Row {
    const char* name;
    const char* path;  // of a file below the repository; a text replaces it
    const char* text;
    int exit_code;
    const char* label;  // of what stderr reports
    const char* text_of_error;
  };
  const std::string direct = module_call("vpc", git() + "?ref=v1.0.0");
  const char* reads = "the root module <dir>/root/a reads what changed";
  const char* skipped = "the root module <dir>/root/c does not read what changed and is skipped";
  const char* unknown = "cannot determine whether the root module <dir>/root/c reads what changed";
  const Row rows[] = {
      {"settings of a reader", "a/.tofu-modlock.hcl", "module {", 8, "Error in a: ", reads},
      {"unknown setting of a reader", "a/.tofu-modlock.hcl", "nope = 1\n", 8, "Error in a: ", reads},
      {"lock of a reader", "a/.terraform.lock.hcl", "module {", 8, "Error in a: ", "[LOCK_PARSE]"},
      {"configuration of a reader", "a/more.tf", "module {", 8, "Error in a: ", reads},
      {"source of a reader is denied", "a/.tofu-modlock.hcl", "deny_sources = [\"git::file://*\"]\n", 8,
       "Error in a: ", "[SOURCE_DENIED]"},
      {"source of a reader is unreachable", "a/more.tf",
       "module \"x\" {\n  source = \"git::http://localhost:1/x\"\n}\n", 7, "Error in a: ", "[UNREACHABLE]"},
      {"settings of another", "c/.tofu-modlock.hcl", "module {", 0, "Warning: ", skipped},
      {"lock of another", "c/.terraform.lock.hcl", "module {", 0, "Warning: ", skipped},
      {"call without a source in another", "c/more.tf", "module \"x\" {}\n", 0, "Warning: ", skipped},
      {"source of another is denied", "c/.tofu-modlock.hcl", "deny_sources = [\"git::file://*\"]\n", 0,
       "Warning: ", skipped},
      {"incomplete configuration of another", "c/more.tf", "module {", 8, "Error in c: ", unknown},
      {"computed source of another", "c/more.tf", "variable \"from\" {}\nmodule \"x\" {\n  source = var.from\n}\n", 8,
       "Error in c: ", unknown},
      {"missing local module of another", "c/more.tf", "module \"x\" {\n  source = \"./gone\"\n}\n", 0,
       "Warning: ", skipped},
  };
  program({"git", "init", "--quiet"});
  write_data(fmt::format(R"({{"depName": "{}", "packageFile": "net/main.tf", "currentValue": "v1.0.0",)"
                         R"( "newValue": "v1.1.0", "newVersion": "v1.1.0"}})",
                         vpc.path().string()));
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const char* directory : {"net", "a", "b", "c"}) {
        std::filesystem::remove_all(root() / directory);
      }
      write("net/main.tf", direct);
      write("a/main.tf", module_call("net", "../net"));
      write("b/main.tf", module_call("net", "../net"));
      write("c/main.tf", direct);
      BOOST_TEST(modlock({"lock", "a", "b", "c"}).exit_code == 0);
      write("net/main.tf", module_call("vpc", git() + "?ref=v1.1.0"));
      write(row.path, row.text);
      const Ran ran = modlock({"update", "--from-file", "../data.json"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.exit_code << " " << ran.err);
      const std::string err = shown(ran.err);
      BOOST_TEST(err.starts_with(row.label), err);
      BOOST_TEST(err.find(row.text_of_error) != std::string::npos, err);
      BOOST_TEST(shown(read("b/.terraform.lock.hcl")).find("git:<1.1.0>") != std::string::npos, ran.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(settings_that_renovate_has_changed_concern_the_roots_below) {
  program({"git", "init", "--quiet"});
  write("live/a/main.tf", module_call("vpc", git()));
  write("live/a/.tofu-modlock.hcl", module_rule("vpc", "1.0.0"));
  BOOST_TEST(modlock({"lock", "--chdir", "live/a"}).exit_code == 0);
  const auto update = [&](const std::string& file) {
    write_data(fmt::format(R"({{"depName": "{}", "packageFile": "{}", "currentValue": "1.0.0",)"
                           R"( "newValue": "1.1.0", "newVersion": "1.1.0"}})",
                           vpc.path().string(), file));
    return modlock({"update", "--from-file", "../data.json"});
  };
  write("live/a/.tofu-modlock.hcl", module_rule("vpc", "1.1.0"));
  const Ran beside = update("live/a/.tofu-modlock.hcl");
  BOOST_TEST(beside.exit_code == 0, beside.err);
  BOOST_TEST(shown(read("live/a/.terraform.lock.hcl")).find("git:<1.1.0>") != std::string::npos, beside.out);
  write("live/.tofu-modlock.hcl", "module {");
  const Ran above = update("live/.tofu-modlock.hcl");
  BOOST_TEST(above.exit_code == 8, above.err);
  BOOST_TEST(shown(above.err).find("the root module <dir>/root/live/a reads what changed") != std::string::npos,
             above.err);
}

BOOST_AUTO_TEST_CASE(nothing_of_ours_is_no_error) {
  program({"git", "init", "--quiet"});
  write("main.tf", module_call("vpc", git(), "1.0.0"));
  modlock({"lock"});
  write_data(R"({"depName": "alpine", "packageFile": "Dockerfile", "newValue": "3.20"})");
  const Ran ran = modlock({"update", "--from-file", "../data.json"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out == "");
}

// Nobody writes to that pipe or closes it: who reads it waits for ever.
BOOST_AUTO_TEST_CASE(an_open_pipe_and_an_empty_environment) {
  program({"git", "init", "--quiet"});
  write("main.tf", module_call("vpc", git() + "?ref=v1.1.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  write_data(fmt::format(R"({{"depName": "{}", "packageFile": "main.tf", "currentValue": "v1.1.0",)"
                         R"( "newValue": "v2.0.0"}})",
                         vpc.path().string()));
  const Ran ran =
      program({"sh", "-c",
               "mkfifo ../pipe; exec 3<>../pipe; exec timeout 60 env -i PATH=\"$PATH\" HOME=\"$HOME\" CI=true "
               "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always "
               "\"$0\" update --from-file ../data.json --cache-dir ../cache <&3",
               binary});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read("main.tf") == module_call("vpc", git() + "?ref=v2.0.0"));
  BOOST_TEST((locked_commits(*this) == std::map<std::string, std::string>{{"vpc", "<2.0.0>"}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
