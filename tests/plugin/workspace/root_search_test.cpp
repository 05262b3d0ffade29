#include "plugin/workspace/root_search.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "plugin/config/config_files.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;

using Files = std::vector<std::pair<std::string, std::string>>;

const std::string kPlain = "variable \"x\" {\n  default = \"a\"\n}\n";
const std::string kBackend = "terraform {\n  backend \"s3\" {}\n}\n";
const std::string kCloud = "terraform {\n  cloud {}\n}\n";
const std::string kProvider = "provider \"aws\" {}\n";
const std::string kLock = "# a lock\n";

std::string call(const std::string& source, const std::string& name = "m") {
  return fmt::format("module \"{}\" {{\n  source = \"{}\"\n}}\n", name, source);
}

const std::string kRemote = call("git::https://example.test/vpc.git");

std::string unit(const std::string& source) {
  return fmt::format("terraform {{\n  source = \"{}\"\n}}\n", source);
}

std::string run_of(const std::string& source) {
  return fmt::format("run \"setup\" {{\n  module {{\n    source = \"{}\"\n  }}\n}}\n", source);
}

// A tree of files, in a git repository or outside of one.
struct Tree {
  explicit Tree(const Files& files, bool is_repository) {
    fs::create_directories(top);
    if (is_repository) {
      test::run({"git", "init", "--quiet", "--template=", top.string()});
    }
    for (const auto& [name, text] : files) {
      test::write_text(top / name, text);
    }
  }

  // Relative to the top, joined by spaces; an error as its text.
  std::string roots(RootSearch search = {}) {
    if (search.directories.empty()) {
      search.directories = {top};
    }
    found = {};
    auto result = search_roots(search, Context{});
    if (!result) {
      return result.error().message;
    }
    found = std::move(*result);
    return relative(found.roots);
  }
  std::string relative(const std::vector<std::string>& paths) const {
    std::string text;
    for (const std::string& path : paths) {
      text += (text.empty() ? "" : " ") + fs::path(path).lexically_relative(top).generic_string();
    }
    return text;
  }
  // "modules/x (called by live/a)" for each.
  std::string called() const {
    std::string text;
    for (const messages::CalledModule& one : found.called) {
      text +=
          fmt::format("{}{} (called by {})", text.empty() ? "" : ", ", relative({one.directory}), relative({one.by}));
    }
    return text;
  }
  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", top.string(), "-c", "user.name=n", "-c", "user.email=e"});
    test::run(std::move(arguments));
  }
  void commit() const {
    git({"add", "--all"});
    git({"commit", "--quiet", "--allow-empty", "--message=m"});
  }
  // "live/old: exclude in .tofu-modlock.hcl:1" for each.
  std::string excluded() const {
    std::string text;
    for (const messages::ExcludedRoot& one : found.excluded) {
      std::string by = one.by;
      if (const std::size_t at = by.find(directory.path().string()); at != std::string::npos) {
        by.erase(at, directory.path().string().size() + 1);
      }
      text += (text.empty() ? "" : "; ") + relative({one.root}) + ": " + by;
    }
    return text;
  }

  TemporaryDirectory directory;
  const fs::path top = directory / "repo";
  messages::WorkspaceRootsResult found;
};

BOOST_AUTO_TEST_SUITE(root_search)

BOOST_AUTO_TEST_CASE(what_makes_a_root) {
  struct Row {
    const char* name;
    Files files;
    const char* roots;
  };
  const Row rows[] = {
      {"a lock file", {{"a/main.tf", kPlain}, {"a/.terraform.lock.hcl", kLock}}, "a"},
      {"a sidecar", {{"a/main.tf", kPlain}, {"a/.terraform.modules.lock.hcl", kLock}}, "a"},
      {"a backend", {{"a/main.tf", kBackend}}, "a"},
      {"the local backend", {{"a/main.tf", "terraform {\n  backend \"local\" {}\n}\n"}}, "a"},
      {"a cloud block", {{"a/main.tf", kCloud}}, "a"},
      {"a provider configuration", {{"a/main.tf", kProvider}}, "a"},
      {"a remote call", {{"a/main.tf", kRemote}}, "a"},
      {"a call of a registry", {{"a/main.tf", call("hashicorp/consul/aws")}}, "a"},
      {"the top", {{"main.tf", kBackend}}, "."},
      {"in JSON", {{"a/main.tf.json", R"({"provider": {"aws": {}}})"}}, "a"},
      {"for OpenTofu", {{"a/main.tofu", kRemote}}, "a"},
      {"in an override file", {{"a/main.tf", kPlain}, {"a/backend_override.tf", kBackend}}, "a"},
      {"below a hidden directory", {{".live/a/main.tf", kRemote}}, ".live/a"},
      {"several", {{"b/main.tf", kBackend}, {"a/main.tf", kRemote}, {"c/main.tf", kPlain}}, "a b"},
      {"one below another", {{"a/main.tf", kBackend}, {"a/b/main.tf", kBackend}}, "a a/b"},

      {"none of these", {{"a/main.tf", kPlain}}, ""},
      {"required providers", {{"a/main.tf", "terraform {\n  required_providers {\n    aws = {}\n  }\n}\n"}}, ""},
      {"resources", {{"a/main.tf", "resource \"null_resource\" \"x\" {}\n"}}, ""},
      {"only a local call", {{"a/main.tf", call("../b")}, {"b/main.tf", kPlain}}, ""},
      {"a linked directory", {{"a/main.tf", call("/opt/module")}}, ""},
      {"a lock file without configuration", {{"a/.terraform.lock.hcl", kLock}}, ""},
      {"only test files", {{"a/x.tftest.hcl", kProvider}}, ""},
      {"only our override file", {{"a/modlock_override.tf", kRemote}}, ""},
      {"other files", {{"a/main.tf~", kRemote}, {"a/.main.tf", kRemote}, {"a/main.hcl", kRemote}}, ""},
      {"what clients make",
       {{"a/.terraform/modules/x/main.tf", kBackend}, {"a/.terragrunt-cache/x/main.tf", kBackend}},
       ""},

      {"called", {{"a/main.tf", kBackend + call("../b")}, {"b/main.tf", kProvider}}, "a"},
      {"called, with a lock file",
       {{"a/main.tf", kBackend + call("../b")}, {"b/main.tf", kRemote}, {"b/.terraform.lock.hcl", kLock}},
       "a"},
      {"called by what is not a root", {{"a/main.tf", call("../b")}, {"b/main.tf", kProvider}}, ""},
      {"called through a detour", {{"a/main.tf", kBackend + call("./../a/../b/.")}, {"b/main.tf", kRemote}}, "a"},
      {"called from above", {{"main.tf", kBackend + call("./a")}, {"a/main.tf", kRemote}}, "."},
      {"called by itself", {{"a/main.tf", kBackend + call("../a")}}, "a"},
      {"called by each other", {{"a/main.tf", kBackend + call("../b")}, {"b/main.tf", kBackend + call("../a")}}, "a b"},
      {"called by a computed source",
       {{"a/main.tf", kBackend + "locals {\n  d = \"b\"\n}\n" + call("../${local.d}")}, {"b/main.tf", kRemote}},
       "a"},
      {"called by a variable", {{"c/main.tf", kBackend + kPlain + call("../${var.x}")}, {"a/main.tf", kRemote}}, "c"},
      {"perhaps called", {{"a/main.tf", "variable \"x\" {}\n" + call("../${var.x}")}, {"b/main.tf", kRemote}}, "a b"},
      {"called by an override",
       {{"a/main.tf", kBackend + call("../c")},
        {"a/override.tf", call("../b")},
        {"b/main.tf", kRemote},
        {"c/main.tf", kRemote}},
       "a c"},
      {"called by a test",
       {{"a/main.tf", kBackend}, {"a/tests/x.tftest.hcl", run_of("./setup")}, {"a/setup/main.tf", kRemote}},
       "a"},
      {"called by a test beside",
       {{"a/main.tf", kBackend}, {"a/x.tofutest.hcl", run_of("../setup")}, {"setup/main.tf", kProvider}},
       "a"},
      {"called by a test elsewhere",
       {{"a/main.tf", kBackend}, {"a/checks/x.tftest.hcl", run_of("./setup")}, {"a/setup/main.tf", kProvider}},
       "a"},
      {"called by a test of itself", {{"a/main.tf", kBackend}, {"a/tests/x.tftest.hcl", run_of("./")}}, "a"},
      {"called by a unit", {{"live/terragrunt.hcl", unit("../a")}, {"a/main.tf", kRemote}}, ""},
      {"called by a unit with a subdirectory",
       {{"live/terragrunt.hcl", unit("../a//b")}, {"a/b/main.tf", kRemote}},
       ""},
      {"called by a unit from the repository",
       {{"live/vpc/terragrunt.hcl", unit("${get_repo_root()}/a")}, {"a/main.tf", kRemote}},
       ""},
      {"called by a unit from itself",
       {{"live/vpc/terragrunt.hcl", unit("${get_terragrunt_dir()}/../../a")}, {"a/main.tf", kRemote}},
       ""},
      {"called by a file that a unit includes",
       {{"live/vpc/terragrunt.hcl", "include \"env\" {\n  path = \"${get_repo_root()}/env.hcl\"\n}\n"},
        {"env.hcl", unit("${get_terragrunt_dir()}/../../a")},
        {"a/main.tf", kRemote}},
       ""},
      {"called by an included file above",
       {{"live/root.hcl", ""},
        {"live/env/vpc.hcl", "locals {\n  d = \"../../a\"\n}\n" + unit("${local.d}")},
        {"live/vpc/terragrunt.hcl",
         "include \"env\" {\n  path = \"${dirname(find_in_parent_folders(\"root.hcl\"))}/env/vpc.hcl\"\n}\n"},
        {"a/main.tf", kRemote}},
       ""},
      {"the source of a unit replaces an included one",
       {{"live/vpc/terragrunt.hcl", "include {\n  path = \"../../env.hcl\"\n}\n" + unit("../../b")},
        {"env.hcl", unit("../../a")},
        {"a/main.tf", kRemote},
        {"b/main.tf", kRemote}},
       "a"},
      {"a unit that computes its source",
       {{"live/terragrunt.hcl", unit("${get_env(\\\"X\\\")}/a")}, {"a/main.tf", kRemote}},
       "a"},
      {"a unit with a lock file",
       {{"live/terragrunt.hcl", unit("../a")}, {"live/.terraform.lock.hcl", kLock}, {"a/main.tf", kRemote}},
       ""},
      {"a unit of its own",
       {{"live/terragrunt.hcl", "inputs = {}\n"}, {"live/main.tf", kPlain}, {"live/.terraform.lock.hcl", kLock}},
       "live"},

      {"a provider below modules", {{"modules/a/main.tf", kProvider}}, ""},
      {"a remote call below examples", {{"vpc/examples/a/main.tf", kRemote}}, ""},
      {"a remote call below test", {{"test/fixtures/a/main.tf", kRemote}}, ""},
      {"a backend below modules", {{"modules/a/main.tf", kBackend}}, "modules/a"},
      {"a cloud block below tests", {{"tests/a/main.tf", kCloud}}, "tests/a"},
      {"a lock file below examples",
       {{"examples/a/main.tf", kPlain}, {"examples/a/.terraform.lock.hcl", kLock}},
       "examples/a"},
      {"in modules itself", {{"modules/main.tf", kRemote}}, "modules"},
      {"such a name is a part of another", {{"submodules/a/main.tf", kRemote}}, "submodules/a"},

      {"broken", {{"a/main.tf", "module {"}}, "a"},
      {"broken below modules", {{"modules/a/main.tf", "resource {{"}}, "modules/a"},
      {"broken and called", {{"a/main.tf", kBackend + call("../b")}, {"b/main.tf", "{{"}}, "a"},
  };
  for (const Row& row : rows) {
    for (const bool is_repository : {true, false}) {
      BOOST_TEST_CONTEXT(row.name << (is_repository ? " in a repository" : "")) {
        Tree tree(row.files, is_repository);
        // Outside of one the directory that is searched is the top.
        BOOST_TEST(tree.roots() == row.roots);
      }
    }
  }
}

const std::string kEntry =
    "module \"m\" {\n  source = \"git::https://example.test/vpc.git\"\n  hashes = [\"h1:x\"]\n}\n";

// Each file calls live/app, which has a backend, or module entries in a lock file.
BOOST_AUTO_TEST_CASE(a_call_hides_no_root) {
  struct Row {
    const char* name;
    std::string caller;
    std::string text;
    bool is_unit = false;
  };
  const Row rows[] = {
      {"an example", "examples/x/main.tf", call("../../live/app")},
      {"a module", "modules/x/main.tf", call("../../live/app")},
      {"another root", "live/other/main.tf", kBackend + call("../app")},
      {"a .tofu file", "live/other/x.tofu", call("../app")},
      {"JSON", "tests/x/main.tf.json", R"({"module": {"x": {"source": "../../live/app"}}})"},
      {"a test", "live/other/main.tf", call("../app")},
      {"a unit", "unit/terragrunt.hcl", unit("../live/app"), true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Tree backend({{row.caller, row.text}, {"live/app/main.tf", kBackend + kRemote}}, true);
      BOOST_TEST((backend.roots().find("live/app") != std::string::npos) == !row.is_unit);
      BOOST_TEST(backend.called() == (row.is_unit ? "live/app (called by unit)" : ""));
      for (const char* const lock : {".terraform.lock.hcl", ".terraform.modules.lock.hcl"}) {
        Tree locked({{row.caller, row.text}, {"live/app/main.tf", kRemote}, {fmt::format("live/app/{}", lock), kEntry}},
                    true);
        BOOST_TEST(locked.roots().find("live/app") != std::string::npos);
      }
      // Harmless: only providers are locked, as in a module repository that runs init.
      Tree harmless({{row.caller, row.text},
                     {"live/app/main.tf", kRemote},
                     {"live/app/.terraform.lock.hcl", "provider \"registry.opentofu.org/hashicorp/null\" {\n}\n"}},
                    true);
      BOOST_TEST(harmless.roots().find("live/app") == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_commit_and_the_base_have) {
  Tree tree({{"live/app/main.tf", kRemote}, {"live/app/.terraform.lock.hcl", kEntry}}, true);
  tree.commit();
  tree.git({"tag", "base"});
  test::write_text(tree.top / "modules/x/main.tf", call("../../live/app"));
  BOOST_TEST(tree.roots() == "live/app");
  fs::remove(tree.top / "live/app/.terraform.lock.hcl");
  BOOST_TEST(tree.roots() == "live/app");  // of the last commit
  tree.commit();
  BOOST_TEST(tree.roots() == "");
  BOOST_TEST(tree.called() == "live/app (called by modules/x)");
  BOOST_TEST(tree.roots({.base = "base"}) == "live/app");
  BOOST_TEST(tree.roots({.base = "HEAD"}) == "");
  BOOST_TEST(tree.roots({.base = "v9"}) ==
             fmt::format("revision \"v9\" not found in the repository {}", tree.top.string()));
}

BOOST_AUTO_TEST_CASE(called_directories_are_named) {
  Tree module({{"main.tf", kProvider}, {"examples/b/main.tf", call("../../")}, {"examples/a/main.tf", call("../../")}},
              true);
  BOOST_TEST(module.roots() == "");  // a standard module repository
  BOOST_TEST(module.called() == ". (called by examples/a)");
  Tree plain({{"a/main.tf", kBackend + call("../b")}, {"b/main.tf", kPlain}}, true);
  BOOST_TEST(plain.roots() == "a");
  BOOST_TEST(plain.called() == "");  // it would be no root without the call, too
}

// Modules that are called only by directories that are not on disk.
BOOST_AUTO_TEST_CASE(sparse_checkouts) {
  const Tree full({{"live/a/main.tf", kBackend},
                   {"live/c/main.tf", kBackend + call("../../common/mod")},
                   {"live/unit/terragrunt.hcl", unit("../../common/catalog")},
                   {"common/mod/main.tf", kRemote},
                   {"common/catalog/main.tf", kRemote}},
                  true);
  full.commit();
  full.git({"config", "uploadpack.allowFilter", "true"});
  const std::vector<std::vector<std::string>> modes = {{"--cone", "live/a", "common"},
                                                       {"--no-cone", "/live/a/", "/common/"},
                                                       {"--cone", "--sparse-index", "live/a", "common"}};
  for (const std::vector<std::string>& mode : modes) {
    for (const bool is_partial : {false, true}) {
      BOOST_TEST_CONTEXT(mode[0] << mode[1] << (is_partial ? " partial" : "")) {
        Tree sparse({}, false);
        std::vector<std::string> clone = {
            "-c", "protocol.file.allow=always", "clone", "--quiet", "--no-checkout", "file://" + full.top.string(),
            "."};
        if (is_partial) {
          clone.insert(clone.end() - 2, "--filter=blob:none");
        }
        sparse.git(clone);
        std::vector<std::string> set = {"-c", "protocol.file.allow=always", "sparse-checkout", "set"};
        set.insert(set.end(), mode.begin(), mode.end());
        sparse.git(set);
        sparse.git({"-c", "protocol.file.allow=always", "checkout", "--quiet"});
        BOOST_TEST(sparse.roots() == (is_partial ? "common/catalog common/mod live/a" : "live/a"));
        BOOST_TEST(sparse.found.not_on_disk == 1U);
        BOOST_TEST(sparse.found.diagnostics.size() == (is_partial ? 1U : 0U));
        if (is_partial) {
          BOOST_TEST(sparse.found.diagnostics[0].what.message ==
                     fmt::format("the checkout is sparse, and the calls of 1 directories that are not on disk are not "
                                 "known: cannot read revisions of {}: the clone is partial and lacks files",
                                 sparse.top.string()));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_named_directory_that_git_ignores) {
  Tree tree({{".gitignore", "/out/\n"},
             {"out/stacks/a/main.tf", kRemote},
             {"out/stacks/b/main.tf", kPlain},
             {"out/other/main.tf", kBackend},
             {"live/main.tf", kBackend}},
            true);
  BOOST_TEST(tree.roots() == "live");
  BOOST_TEST(tree.roots({.directories = {tree.top / "out/stacks/a"}}) == "out/stacks/a");
  BOOST_TEST(tree.roots({.directories = {tree.top / "out/stacks"}}) == "out/stacks/a");
  BOOST_TEST(tree.roots({.current = tree.top, .root_globs = {"out/stacks/*"}}) == "live out/stacks/a out/stacks/b");
  BOOST_TEST(tree.roots({.current = tree.top, .root_globs = {"**"}}) == "live");  // names nothing that git ignores
  test::write_text(tree.top / ".tofu-modlock.hcl", "roots = [\"out/stacks/b\"]\n");
  BOOST_TEST(tree.roots() == "live out/stacks/b");
  fs::remove_all(tree.top / "live");
  BOOST_TEST(tree.roots() == "out/stacks/b");
}

BOOST_AUTO_TEST_CASE(what_git_knows) {
  Tree tree({{"tracked/main.tf", kBackend},
             {"new/main.tf", kBackend},
             {"ignored/main.tf", kBackend},
             {"tracked-and-ignored/main.tf", kBackend},
             {"deleted/main.tf", kBackend},
             {"other/main.tf", kBackend},
             {"na\xC3\xAFve \"name\"/main.tf", kBackend},
             {".gitignore", "/*ignored/\n"}},
            true);
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-C", tree.top.string()});
    test::run(std::move(arguments));
  };
  git({"add", "--force", "tracked", "tracked-and-ignored", "deleted"});
  fs::remove_all(tree.top / "deleted");
  fs::remove_all(tree.top / "other");
  test::run({"git", "init", "--quiet", "--template=", (tree.top / "nested").string()});
  test::write_text(tree.top / "nested/main.tf", kBackend);
  BOOST_TEST(tree.roots() == "na\xC3\xAFve \"name\" new tracked tracked-and-ignored");
  BOOST_TEST(tree.roots({.directories = {tree.top / "nested"}}) == "nested");
}

BOOST_AUTO_TEST_CASE(the_configuration_of_a_repository_starts_nothing) {
  Tree tree({{"a/main.tf", kBackend}}, true);
  const fs::path trap = tree.directory / "trap";
  test::write_text(trap, fmt::format("#!/bin/sh\ntouch {}\n", (tree.directory / "caught").string()));
  fs::permissions(trap, fs::perms::owner_all);
  test::run({"git", "-C", tree.top.string(), "config", "core.fsmonitor", trap.string()});
  BOOST_TEST(tree.roots() == "a");
  BOOST_TEST(!fs::exists(tree.directory / "caught"));
}

BOOST_AUTO_TEST_CASE(a_repository_that_git_refuses) {
  Tree tree({{"a/main.tf", kBackend}}, true);
  test::write_text(tree.top / ".git/config", "[broken\n");
  const std::string message = tree.roots();
  BOOST_TEST(
      message.find("cannot list the files of " + tree.top.string() + ": git cannot read the repository: fatal: ") == 0U,
      message);
}

BOOST_AUTO_TEST_CASE(a_part_of_a_tree) {
  Tree tree({{"live/a/main.tf", kBackend},
             {"live/b/main.tf", kRemote},
             {"live/modules/c/main.tf", kRemote},
             {"other/main.tf", kBackend + call("../live/b")}},
            true);
  BOOST_TEST(tree.roots() == "live/a other");
  BOOST_TEST(tree.roots({.directories = {tree.top / "live"}}) == "live/a");
  BOOST_TEST(tree.roots({.directories = {tree.top / "live/modules"}}) == "");
  BOOST_TEST(tree.roots({.directories = {tree.top / "live", tree.top / "other"}}) == "live/a other");
  BOOST_TEST(tree.roots({.directories = {tree.top / "liv"}}) == "");
}

BOOST_AUTO_TEST_CASE(links) {
  for (const bool is_repository : {true, false}) {
    BOOST_TEST_CONTEXT(is_repository) {
      Tree tree({{"a/main.tf", kBackend}, {"b/x.txt", ""}, {"c/x.txt", ""}, {"d/main.tf", kBackend + call("../e")}},
                is_repository);
      test::write_text(tree.directory / "outside/main.tf", kBackend);
      fs::create_directory_symlink(tree.directory / "outside", tree.top / "linked");
      fs::create_symlink("../a/main.tf", tree.top / "b/main.tf");
      fs::create_symlink("nowhere", tree.top / "c/main.tf");
      test::write_text(tree.top / "real/main.tf", kRemote);
      fs::create_directory_symlink("real", tree.top / "e");
      // A link to nothing cannot be read, so it may be a root.
      BOOST_TEST(tree.roots() == "a b c d");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lock_file_is_enough_for_some) {
  Tree tree({{"a/.terraform.lock.hcl", kLock}, {"b/main.tf", kBackend}, {"c/main.tf", kPlain}}, true);
  BOOST_TEST(tree.roots({.only_locks = true}) == "a b");
}

BOOST_AUTO_TEST_CASE(globs) {
  struct Row {
    const char* name;
    Files settings;  // besides the tree
    RootSearch search;
    const char* roots;
    const char* excluded;
  };
  const auto written = [](const char* text) {
    return std::vector<SourceText>{{text, Location{"config.hcl", Range{.start = {.line = 3}, .end = {}}}}};
  };
  const std::string top = ".tofu-modlock.hcl";
  const Row rows[] = {
      {"none", {}, {}, "live/a live/b", ""},
      {"excluded", {{top, "exclude = [\"live/a\"]\n"}}, {}, "live/b", "live/a: exclude in repo/.tofu-modlock.hcl:1"},
      {"excluded, nothing else",
       {{top, "\nexclude = [\"**\"]\n"}},
       {},
       "",
       "live/a: exclude in repo/.tofu-modlock.hcl:2; live/b: exclude in repo/.tofu-modlock.hcl:2"},
      {"a star stays in a component", {{top, "exclude = [\"*\", \"live/*/x\"]\n"}}, {}, "live/a live/b", ""},
      {"relative to their file",
       {{"live/.tofu-modlock.hcl", "exclude = [\"b\", \"live/a\"]\n"}},
       {},
       "live/a",
       "live/b: exclude in repo/live/.tofu-modlock.hcl:1"},
      {"beside the root",
       {{"live/a/.tofu-modlock.hcl", "exclude = [\".\"]\n"}},
       {},
       "live/b",
       "live/a: exclude in repo/live/a/.tofu-modlock.hcl:1"},
      {"what is no root is not excluded", {{top, "exclude = [\"plain\"]\n"}}, {}, "live/a live/b", ""},
      {"a root is named", {{top, "roots = [\"pl*\"]\n"}}, {}, "live/a live/b plain", ""},
      {"a called one is named", {{top, "roots = [\"called\"]\n"}}, {}, "called live/a live/b", ""},
      {"named and excluded",
       {{top, "roots = [\"*\"]\nexclude = [\"plain\"]\n"}},
       {},
       "called live/a live/b",
       "plain: exclude in repo/.tofu-modlock.hcl:2"},
      {"without configuration", {{top, "roots = [\"empty\"]\n"}}, {}, "live/a live/b", ""},
      {"named by a flag", {}, {.root_globs = {"plain"}}, "live/a live/b plain", ""},
      {"excluded by a flag", {}, {.exclude = {"live/*"}}, "", "live/a: --exclude live/*; live/b: --exclude live/*"},
      {"a flag is not excluded by a checkout",
       {{top, "exclude = [\"**\"]\n"}},
       {.root_globs = {"live/a"}},
       "live/a",
       "live/b: exclude in repo/.tofu-modlock.hcl:1"},
      {"the user is not excluded by a checkout",
       {{top, "exclude = [\"**\"]\n"}, {"live/a/.tofu-modlock.hcl", "exclude = [\".\"]\n"}},
       {.user_roots = written("live/a")},
       "live/a",
       "live/b: exclude in repo/.tofu-modlock.hcl:1"},
      {"the user is excluded by a flag",
       {},
       {.user_roots = written("live/a"), .exclude = {"live/a"}},
       "live/b",
       "live/a: --exclude live/a"},
      {"the user excludes what a checkout names",
       {{top, "roots = [\"plain\"]\n"}},
       {.user_exclude = written("plain")},
       "live/a live/b",
       "plain: exclude in config.hcl:3"},
      {"a flag that leads up", {}, {.exclude = {"../x"}}, "--exclude must not contain \"..\", found \"../x\"", ""},
      {"an absolute flag", {}, {.root_globs = {"/x"}}, "--root-glob must not be an absolute path, found \"/x\"", ""},
  };
  for (const Row& row : rows) {
    for (const bool is_repository : {true, false}) {
      BOOST_TEST_CONTEXT(row.name << (is_repository ? " in a repository" : "")) {
        Files files = row.settings;
        files.insert(files.end(), {{"live/a/main.tf", kBackend},
                                   {"live/b/main.tf", kRemote},
                                   {"plain/main.tf", kPlain + call("../called")},
                                   {"called/main.tf", kRemote},
                                   {"empty/x.txt", ""}});
        Tree tree(files, is_repository);
        RootSearch search = row.search;
        search.current = tree.top;
        BOOST_TEST(tree.roots(search) == row.roots);
        BOOST_TEST(tree.excluded() == row.excluded);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(where_globs_of_flags_and_users_start) {
  Tree tree({{"live/a/main.tf", kPlain}, {"live/b/main.tf", kPlain}}, true);
  BOOST_TEST(tree.roots({.current = tree.top / "live", .root_globs = {"a"}}) == "live/a");
  const std::vector<SourceText> of_top = {{"live/b", Location{"config.hcl", std::nullopt}}};
  BOOST_TEST(tree.roots({.user_file = "/home/someone/config.hcl", .user_roots = of_top}) == "live/b");
  const std::vector<SourceText> above = {{"repo/live/b", Location{"config.hcl", std::nullopt}}};
  BOOST_TEST(tree.roots({.user_file = tree.directory / "config.hcl", .user_roots = above}) == "live/b");
}

BOOST_AUTO_TEST_CASE(a_line_that_excludes) {
  for (const bool is_repository : {true, false}) {
    Tree tree({{"live/a/main.tf", kBackend}, {"live/b{*}/main.tf", kBackend}}, is_repository);
    const std::string file = (tree.top / ".tofu-modlock.hcl").string();
    const auto line = [&](const std::string& root) {
      const ExcludeLine found = exclude_line(tree.top / root, {tree.directory.path() / "elsewhere", tree.top});
      BOOST_TEST(found.file == file);
      return found.text;
    };
    BOOST_TEST(line("live/a") == "exclude = [\"live/a\"]");
    test::write_text(file, line("live/a") + "\n");
    BOOST_TEST(tree.roots() == "live/b{*}");
    BOOST_TEST(line("live/b{*}") == "exclude = [\"live/a\", \"live/b\\\\{\\\\*\\\\}\"]");
    test::write_text(file, line("live/b{*}") + "\n");
    BOOST_TEST(tree.roots() == "");
    BOOST_TEST(tree.found.excluded.size() == 2U);
    BOOST_TEST(line(".") == "exclude = [\"live/a\", \"live/b\\\\{\\\\*\\\\}\", \".\"]");
  }
}

BOOST_AUTO_TEST_CASE(globs_that_match_nothing) {
  Tree tree({{"live/a/main.tf", kBackend}, {".tofu-modlock.hcl", "roots = [\"live/x\", \"live/*\"]\n"}}, true);
  const std::vector<SourceText> users = {{"elsewhere", Location{"config.hcl", std::nullopt}}};
  BOOST_TEST(tree.roots({.user_roots = users, .current = tree.top, .root_globs = {"live/y"}}) == "live/a");
  BOOST_TEST_REQUIRE(tree.found.diagnostics.size() == 2U);
  BOOST_TEST(tree.found.diagnostics[0].what.message == "no directory with configuration matches --root-glob live/y");
  BOOST_TEST(tree.found.diagnostics[1].what.message ==
             "no directory with configuration matches roots in " + (tree.top / ".tofu-modlock.hcl").string() + ":1");
}

// A host limits what is read. The settings of the repository apply nevertheless, as they do for each root.
BOOST_AUTO_TEST_CASE(a_tree_within_bounds) {
  Tree tree({{"live/a/main.tf", kRemote},
             {"live/b/main.tf", kBackend},
             {"live/c/main.tf", kPlain},
             {"other/d/main.tf", kBackend + call("../../live/a")},
             {".tofu-modlock.hcl", "roots = [\"live/c\", \"other/x\"]\nexclude = [\"live/b\"]\n"}},
            true);
  struct Row {
    const char* name;
    std::vector<const char*> bounds;
    const char* directory;
    const char* roots;
    std::size_t warnings;
  };
  const Row rows[] = {
      {"none", {}, "", "live/c other/d", 1},
      {"above the repository", {".."}, "", "live/c other/d", 1},
      {"the repository", {"."}, "live", "live/c", 1},
      {"a part, whose caller is outside", {"live"}, "live", "live/a live/c", 0},
      {"the first of two that contains it", {"other", "live"}, "live/a", "live/a", 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RootSearch search{.directories = {document_path(tree.top / row.directory)}};
      for (const char* bound : row.bounds) {
        search.bounds.push_back(document_path(tree.top / bound));
      }
      BOOST_TEST(tree.roots(search) == row.roots);
      BOOST_TEST(tree.found.diagnostics.size() == row.warnings);
    }
  }
}

BOOST_AUTO_TEST_CASE(settings_that_cannot_be_read) {
  // A root below reports it; else whatever may be one does.
  Tree tree({{"live/.tofu-modlock.hcl", "roots = ["},
             {"live/a/main.tf", kBackend},
             {"live/b/main.tf", kPlain},
             {"other/.tofu-modlock.hcl", "roots = [\"../x\"]\n"},
             {"other/c/main.tf", kPlain},
             {"other/modules/d/main.tf", kPlain},
             {"e/main.tf", kPlain}},
            true);
  BOOST_TEST(tree.roots() == "live/a other/c other/modules/d");
}

BOOST_AUTO_TEST_CASE(it_is_cancelled) {
  Tree tree({{"a/main.tf", kBackend}}, false);
  std::stop_source source;
  source.request_stop();
  const auto found = search_roots({.directories = {tree.top}}, Context{.stop = source.get_token()});
  BOOST_TEST_REQUIRE(!found.has_value());
  BOOST_TEST((found.error().code == Code::request_cancelled));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
