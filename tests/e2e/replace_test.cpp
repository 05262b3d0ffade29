// `install` copies a local directory in place of a locked package.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLocalFile = ".tofu-modlock.local.hcl";
constexpr const char* kReplaceVpc = "module \"vpc\" {\n  replace = \"../vpc\"\n}\n";

// The root module is in a git repository, next to a work copy of the module that it calls.
struct Replacing : Scene {
  Replacing() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0", {{"own/main.tf", "# own\n"}});
    program({"git", "init", "-q", ".."});
    write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0") + module_call("local", "./local") +
                         "output \"vpc\" {\n  value = module.vpc.version\n}\n");
    write("local/main.tf", "# local\n");
    write_text(path("vpc/main.tf"), "output \"version\" {\n  value = \"work\"\n}\n");
    write_text(path("vpc/own/main.tf"), "# own\n");
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
    locked = lock();
  }
  void of_user(const std::string& text) const { write_text(path("home/.config/tofu-modlock/config.hcl"), text); }
  void of_user() const {
    of_user("source \"git::file://*/vpc.git*\" {\n  replace = \"" + path("vpc").string() + "\"\n}\n");
  }
  std::string installed(const std::string& name = "main.tf") const { return read(".terraform/modules/vpc/" + name); }
  bool is_replaced() const { return installed().find("work") != std::string::npos; }
  std::string install(std::vector<std::string> flags = {"--replace", "module.vpc=../vpc"}) const {
    flags.insert(flags.begin(), "install");
    const Ran ran = modlock(flags);
    BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.err);
    return ran.out;
  }

  GitRepository& vpc;
  std::string locked;
};

BOOST_FIXTURE_TEST_SUITE(replace, Replacing)

BOOST_AUTO_TEST_CASE(a_directory_is_installed_in_place_of_a_locked_package) {
  const std::string sbom = modlock({"sbom"}).out;
  BOOST_REQUIRE(modlock({"bundle", "create", "--output", path("before.tar").string()}).exit_code == 0);
  struct Way {
    std::string name;
    std::vector<std::string> flags;
    std::function<void()> prepare;
    std::function<void()> remove;
  };
  const std::vector<Way> ways = {
      {"the flag", {"--replace", "module.vpc=../vpc"}, [] {}, [] {}},
      {"the file next to the root",
       {},
       [&] { write(kLocalFile, kReplaceVpc); },
       [&] { fs::remove(root() / kLocalFile); }},
      {"the user's settings", {}, [&] { of_user(); }, [&] { of_user(""); }},
      {"a directory around the root",
       {"--replace", "module.vpc=.."},
       [&] { write_text(path("main.tf"), "# work\n"); },
       [] {}},
  };
  for (const Way& way : ways) {
    BOOST_TEST_CONTEXT(way.name) {
      way.prepare();
      const std::string installation = install(way.flags);
      BOOST_TEST(is_replaced());
      BOOST_TEST(lock() == locked);
      const std::string directory = way.flags.empty() || way.flags[1] != "module.vpc=.." ? "../vpc" : "..";
      BOOST_TEST(
          installation.find("module.vpc  .terraform/modules/vpc  replaced by " + directory + "\n") != std::string::npos,
          installation);
      BOOST_TEST(modlock({"verify"}).out ==
                 "stale  module.vpc  v1.0.0 (<1.0.0...>)  replaced by " + directory + "\n0 verified, 1 stale\n");
      BOOST_TEST(modlock({"verify"}).exit_code == 3);
      std::vector<std::string> again = way.flags;
      again.insert(again.begin(), "install");
      const Json::Value copy = json(again)["installed"][0];
      const Json::Value verdict = json({"verify"}, 3)["verdicts"][0];
      BOOST_TEST(verdict["verdict"].asString() == "stale");
      BOOST_TEST(verdict["detail"].asString() == "replaced by " + directory);
      BOOST_TEST(copy["h1"].asString() == verdict["actual"].asString());
      BOOST_TEST(copy["h1"].asString() != verdict["expected"].asString());
      BOOST_TEST(copy["replacedBy"].asString() == directory);
      const std::string status = modlock({"status", "--offline"}).out;
      BOOST_TEST(status.find("replaced by " + directory + " ") != std::string::npos, status);
      const std::string tree = modlock({"tree"}).out;
      BOOST_TEST(tree.find("locked v1.0.0 (<1.0.0...>), replaced by " + directory + " ") != std::string::npos, tree);
      BOOST_TEST(json({"tree"})["modules"][1]["replacedBy"].asString() == directory);
      // Everything else uses the locked package.
      BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
      BOOST_TEST(modlock({"lock"}).exit_code == 0);
      BOOST_TEST(lock() == locked);
      BOOST_TEST(modlock({"sbom"}).out == sbom);
      fs::remove(path("after.tar"));
      BOOST_TEST(modlock({"bundle", "create", "--output", path("after.tar").string()}).exit_code == 0);
      BOOST_TEST((read_text(path("after.tar")) == read_text(path("before.tar"))));
      way.remove();
      BOOST_TEST(install({}).find("replaced") == std::string::npos);
      BOOST_TEST(!is_replaced());
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
      BOOST_TEST(modlock({"tree"}).out.find("replaced") == std::string::npos);
      fs::remove(path("main.tf"));
    }
  }
}

BOOST_AUTO_TEST_CASE(each_installation_copies_the_directory_again) {
  write(kLocalFile, kReplaceVpc);
  write_text(path("vpc/.git/HEAD"), "ref: refs/heads/main\n");
  write_text(path("vpc/.terraform/modules/modules.json"), "{}");
  fs::create_symlink("/etc/hostname", path("vpc/.terraform/outside"));
  install({});
  BOOST_TEST(!fs::exists(root() / ".terraform/modules/vpc/.git"));
  BOOST_TEST(!fs::exists(root() / ".terraform/modules/vpc/.terraform"));
  write_text(path("vpc/new.tf"), "# new\n");
  fs::remove_all(path("vpc/own"));
  install({});
  BOOST_TEST(installed("new.tf") == "# new\n");
  BOOST_TEST(!fs::exists(root() / ".terraform/modules/vpc/own"));
  BOOST_TEST(modlock({"verify"}).exit_code == 3);
}

BOOST_AUTO_TEST_CASE(only_the_data_directory_itself_is_left_out_of_the_copy) {
  struct Row {
    std::string name;
    std::string data;       // below the directory of the test
    std::string directory;  // that replaces
    bool has_modules;       // whether the copy has modules/main.tf and own/modules/main.tf of vpc
  };
  write_text(path("vpc/modules/main.tf"), "# modules\n");
  write_text(path("vpc/own/modules/main.tf"), "# modules\n");
  for (const Row& row : {
           Row{"the default", "root/.terraform", "../vpc", true},
           Row{"a last part that the package has, too", "root/cache/modules", "../vpc", true},
           Row{"a directory outside", "elsewhere/modules", "../vpc", true},
           Row{"in the directory that replaces", "vpc/modules", "../vpc", false},
           Row{"behind a link to it", "link/modules", "../vpc", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      if (row.data.starts_with("link/")) {
        fs::create_directory_symlink("vpc", path("link"));
      }
      environment["TF_DATA_DIR"] = path(row.data).string();
      install({"--replace", "module.vpc=" + row.directory});
      const fs::path copy = path(row.data) / "modules/vpc";
      BOOST_TEST(fs::exists(copy / "main.tf"));
      BOOST_TEST(fs::exists(copy / "modules/main.tf") == row.has_modules);
      BOOST_TEST(fs::exists(copy / "own/modules/main.tf"));
      BOOST_TEST(modlock({"verify"}).exit_code == 3);
    }
  }
}

// `install` cannot put a locked call below a replaced one.
BOOST_AUTO_TEST_CASE(verify_names_no_step_for_calls_below_a_replacement) {
  release(vpc, "2.0.0", {{"x.tf", module_call("x", "git::" + vpc.url() + "?ref=v1.0.0")}});
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v2.0.0") +
                       module_call("vpcs", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  install();
  const Ran below = modlock({"verify"});
  BOOST_TEST(below.out.find("missing   module.vpc.x ") != std::string::npos, below.out);
  BOOST_TEST((below.out + below.err).find("Next:") == std::string::npos, below.out << below.err);
  fs::remove_all(root() / ".terraform/modules/vpcs");  // its key only starts with the same letters
  const Ran beside = modlock({"verify"});
  BOOST_TEST((beside.out + beside.err).find("Next: run tofu-modlock install.\n") != std::string::npos,
             beside.out << beside.err);
}

// The copy is stale; anything else that is in its place is tampered.
BOOST_AUTO_TEST_CASE(what_a_replacement_does_not_explain_stays_tampered) {
  struct Row {
    std::string name;
    std::function<void()> change;
    int exit_code;
  };
  const std::vector<Row> rows = {
      {"nothing else", [] {}, 3},
      {"the directory changed", [&] { write_text(path("vpc/more.tf"), "# more\n"); }, 3},
      {"a backend was configured since",
       [&] { of_user("backend \"git\" {\n  command = [\"/bin/false\"]\n  hosts = [\"git.example.test\"]\n}\n"); }, 3},
      {"the copy was edited", [&] { write(".terraform/modules/vpc/main.tf", "# edited\n"); }, 4},
      {"modules.json names another directory",
       [&] {
         std::string text = read(".terraform/modules/modules.json");
         fs::create_directories(root() / "elsewhere");
         const std::string place = "\"Dir\":\".terraform/modules/vpc\"";
         text.replace(text.find(place), place.size(), "\"Dir\":\"elsewhere\"");
         write(".terraform/modules/modules.json", text);
       },
       4},
      {"the cache was lost", [&] { fs::remove_all(cache() / "v2/installed"); }, 4},
      {"it is in another root module",
       [&] {
         fs::rename(root() / ".terraform/modules/vpc", path("copy"));
         install({});
         fs::remove_all(root() / ".terraform/modules/vpc");
         fs::rename(path("copy"), root() / ".terraform/modules/vpc");
       },
       4},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      install();
      row.change();
      BOOST_TEST(modlock({"verify"}).exit_code == row.exit_code);
      of_user("");
      modlock({"install"});  // reports the edited copy
      install({});
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(replacements_that_are_refused_and_their_harmless_neighbors) {
  const std::string why = "Error: module.vpc cannot be replaced by a directory: ";
  const std::string remove = " [SOURCE_DENIED]\n  hint: remove the replacement\n";
  const std::string none =
      "Error: module.vpc cannot be replaced by \"<dir>/none\": directory not found [CONFIG_PARSE]\n";
  struct Row {
    std::string name;
    std::function<void()> prepare;
    std::vector<std::string> arguments;
    std::string error;  // its start; empty: none
    bool replaces = true;
  };
  const auto file = [&](const std::string& text) { return [this, text] { write(kLocalFile, text); }; };
  const std::vector<std::string> install = {"install"};
  const std::vector<std::string> flagged = {"install", "--replace", "module.vpc=../vpc"};
  const auto in_ci = [&](const std::function<void()>& prepare) {
    return [this, prepare] {
      prepare();
      environment["CI"] = "true";
    };
  };
  const std::vector<Row> rows = {
      {"in CI by the file", in_ci(file(kReplaceVpc)), install, why + "this is not allowed in CI" + remove},
      {"in CI by the flag", in_ci([] {}), flagged, why + "this is not allowed in CI" + remove},
      {"in CI by the user's settings", in_ci([&] { of_user(); }), install, why + "this is not allowed in CI" + remove},
      {"in CI without one", in_ci([] {}), install, "", false},
      {"in CI, a glob of the user that matches nothing",
       in_ci([&] { of_user("source \"git::https://example.com/*\" {\n  replace = \"/nowhere\"\n}\n"); }), install, "",
       false},
      {"by ci", file(kReplaceVpc), {"ci"}, why + "this is not allowed in CI" + remove},
      {"by ci without one", [] {}, {"ci"}, "", false},
      {"with --link", file(kReplaceVpc), {"install", "--link"}, why + "links into the cache are requested" + remove},
      {"with --no-link", file(kReplaceVpc), {"install", "--no-link"}, ""},
      {"with the setting of links", [&] { of_user("install = \"link\"\n"); }, flagged, ""},
      {"with --overrides", file(kReplaceVpc), {"install", "--overrides"}, why + "override files are used" + remove},
      {"with --no-overrides", file(kReplaceVpc), {"install", "--no-overrides"}, ""},
      {"a file that git tracks",
       [&] {
         write(kLocalFile, kReplaceVpc);
         program({"git", "add", "-f", kLocalFile});
       },
       install,
       "Error: .tofu-modlock.local.hcl must not be part of a checkout, and git tracks it [SOURCE_DENIED]\n"
       "  hint: remove it, and use tofu-modlock install --replace module.KEY=DIR\n"},
      {"a file that git ignores",
       [&] {
         write(kLocalFile, kReplaceVpc);
         write(".gitignore", std::string(kLocalFile) + "\n");
       },
       install, ""},
      {"a file without a git repository",
       [&] {
         write(kLocalFile, kReplaceVpc);
         fs::rename(path(".git"), path("git"));
       },
       install,
       "Error: .tofu-modlock.local.hcl must not be part of a checkout, and no git repository shows that it is not "
       "[SOURCE_DENIED]\n"},
      {"the file of a directory above", [&] { write_text(path(kLocalFile), kReplaceVpc); }, install, "", false},
      {"a directory outside of the repository", file("module \"vpc\" {\n  replace = \"/usr\"\n}\n"), install,
       "Error: the path \"/usr\" is outside "},
      {"a link out of the repository",
       [&] {
         fs::create_directory_symlink("/usr", path("link"));
         write(kLocalFile, "module \"vpc\" {\n  replace = \"../link\"\n}\n");
       },
       install, "Error: the path \"<dir>/link\" is outside "},
      {"a directory that does not exist", file("module \"vpc\" {\n  replace = \"../none\"\n}\n"), install,
       none + "  at .tofu-modlock.local.hcl:2:13 (module.vpc)\n"},
      {"a directory of the flag that does not exist",
       [] {},
       {"install", "--replace", "module.vpc=../none"},
       none + "  at --replace (module.vpc)\n  hint: correct the directory, or remove the replacement\n"},
      {"the same with settings of the call in the repository",
       [&] { write(".tofu-modlock.hcl", "module \"vpc\" {\n  link = false\n}\n"); },
       {"install", "--replace", "module.vpc=../none"},
       none + "  at --replace (module.vpc)\n  hint: correct the directory, or remove the replacement\n"},
      {"a directory of the user's settings that does not exist",
       [&] { of_user("source \"git::file://*/vpc.git*\" {\n  replace = \"" + path("none").string() + "\"\n}\n"); },
       install, none + "  at <dir>/home/.config/tofu-modlock/config.hcl:2:13 (module.vpc)\n"},
      {"a file in place of the directory",
       [&] { write_text(path("vpc/out"), ""); },
       {"install", "--replace", "module.vpc=../vpc/out"},
       "Error: module.vpc cannot be replaced by \"<dir>/vpc/out\": directory not found [CONFIG_PARSE]\n  at "
       "--replace (module.vpc)\n"},
      {"a link in the directory that leaves it", [&] { fs::create_symlink("../root/main.tf", path("vpc/out")); },
       flagged,
       "Error: module.vpc cannot be replaced by \"<dir>/vpc\": the link \"out\" of the package points outside it "
       "[ARCHIVE_UNSAFE]\n  hint: correct the directory, or remove the replacement\n"},
      {"a file that only tofu-modlock may write", [&] { write_text(path("vpc/modlock_override.tf"), ""); }, flagged,
       "Error: module.vpc cannot be replaced by \"<dir>/vpc\": the package contains \"modlock_override.tf\", "},
      {"a link in the directory that stays in it", [&] { fs::create_symlink("main.tf", path("vpc/out")); }, flagged,
       ""},
      {"a call that does not exist",
       [] {},
       {"install", "--replace", "module.vcp=../vpc"},
       "Error: the block module \"vcp\" matches no module call [CONFIG_PARSE]\n  at --replace\n"
       "  hint: did you mean \"vpc\"?\n"},
      {"a local call",
       [] {},
       {"install", "--replace", "module.local=../vpc"},
       "Error: module.local cannot be replaced by a directory: it is not a locked package" + remove},
      {"a call in the directory without an entry",
       [&] { write_text(path("vpc/x.tf"), module_call("x", "git::" + vpc.url() + "?ref=v1.0.0")); }, flagged,
       "Error: .terraform.lock.hcl does not match the configuration: module.vpc.x (not locked) [FROZEN]\n"
       "  hint: change the source; running lock again cannot fix this\n"},
      {"a local call in the directory", [&] { write_text(path("vpc/x.tf"), module_call("x", "./own")); }, flagged, ""},
      {"in the settings of the repository",
       [&] { write(".tofu-modlock.hcl", "source \"*\" {\n  replace = \"../vpc\"\n}\n"); }, install,
       "Error: replace is a setting of one machine, found in a file of a repository [CONFIG_PARSE]\n"},
      {"another setting in the file", file("platforms = [\"linux_amd64\"]\n"), install,
       "Error: unknown setting \"platforms\" in .tofu-modlock.local.hcl:1 [CONFIG_PARSE]\n"},
      {"another block in the file", file("deny \"*\" {\n  versions = \"1\"\n}\n"), install,
       "Error: unknown block \"deny\" in .tofu-modlock.local.hcl:1 [CONFIG_PARSE]\n"},
      {"another argument in the file", file("module \"vpc\" {\n  version = \"1\"\n}\n"), install,
       "Error: unknown setting of module \"vpc\": \"version\" in .tofu-modlock.local.hcl:2 [CONFIG_PARSE]\n"},
      {"with settings of the call in the repository",
       [&] {
         write(".tofu-modlock.hcl", "module \"vpc\" {\n  link = false\n}\n");
         write(kLocalFile, kReplaceVpc);
       },
       install, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      row.prepare();
      const Ran ran = modlock(row.arguments);
      BOOST_TEST((ran.exit_code == 0) == row.error.empty(), ran.err);
      BOOST_TEST(ran.err.starts_with(row.error), ran.err);
      BOOST_TEST((has(".terraform/modules/vpc") && is_replaced()) == (row.error.empty() && row.replaces));
      BOOST_TEST(lock() == locked);
      environment.erase("CI");
      if (fs::exists(path("git"))) {
        fs::rename(path("git"), path(".git"));
      }
      program({"git", "rm", "-q", "--cached", "--ignore-unmatch", kLocalFile});
      for (const fs::path& made :
           {path("vpc/x.tf"), path("vpc/out"), path("vpc/modlock_override.tf"), path("link"), path(kLocalFile),
            root() / kLocalFile, root() / ".tofu-modlock.hcl", root() / ".gitignore"}) {
        fs::remove(made);
      }
      of_user("");
      fs::remove_all(root() / ".terraform");
    }
  }
}

// Calls of one package are decided together.
BOOST_AUTO_TEST_CASE(the_error_names_the_call_that_is_replaced) {
  write("a.tf", module_call("a", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran ran = modlock({"install", "--replace", "module.vpc=../none"});
  BOOST_TEST(ran.err.find("  at --replace (module.vpc)\n") != std::string::npos, ran.err);
}

// A call with a version needs an override file.
BOOST_AUTO_TEST_CASE(an_override_file_that_exists_excludes_a_replacement) {
  environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
  environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.12.6";
  write("main.tf", module_call("vpc", "git::" + vpc.url(), "~> 1.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  install({"--overrides"});
  const Ran ran = modlock({"install", "--replace", "module.vpc=../vpc"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err.find("module.vpc cannot be replaced by a directory: override files are used") != std::string::npos,
             ran.err);
  install({"--no-overrides", "--replace", "module.vpc=../vpc"});
  BOOST_TEST(is_replaced());
}

BOOST_AUTO_TEST_CASE(workspace_roots_widen_where_a_directory_may_be) {
  fs::create_directories(path("outside"));
  fs::rename(path(".git"), root() / ".git");
  BOOST_TEST(modlock({"install", "--replace", "module.vpc=../vpc"}).exit_code == 8);
  install({"--workspace-root", path("vpc").string(), "--replace", "module.vpc=../vpc"});
  BOOST_TEST(is_replaced());
}

BOOST_AUTO_TEST_CASE(a_client_uses_the_copy, *needs("tofu or terraform")) {
  environment["TF_IN_AUTOMATION"] = "1";
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      fs::remove_all(root() / ".terraform");
      install();
      const std::string manifest = read(".terraform/modules/modules.json");
      const Ran init = program({client, "init", "-no-color", "-input=false"});
      BOOST_TEST(init.exit_code == 0, init.out << init.err);
      BOOST_TEST(init.out.find("Downloading") == std::string::npos, init.out);
      BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
      const Ran plan = program({client, "plan", "-no-color", "-input=false"});
      BOOST_TEST(plan.exit_code == 0, plan.err);
      BOOST_TEST(plan.out.find("+ vpc = \"work\"") != std::string::npos, plan.out);
      BOOST_TEST(modlock({"verify"}).exit_code == 3);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
