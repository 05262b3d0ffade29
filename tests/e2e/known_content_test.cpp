// What the lock file, the records of an installation and the responses of sources show about the content in use.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <regex>

#include "tests/e2e/scene.h"

using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

// A root module that calls one module by a tag, locked and installed.
struct Known : Scene {
  explicit Known(const std::string& query = "?ref=v1.0.0", const std::string& version = {})
      : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url() + query));
    write(".tofu-modlock.hcl", version.empty() ? "" : module_rule("vpc", version));
    prepare();
  }

  void prepare() const {
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
    BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  }

  void edit_lock(const std::string& pattern, const std::string& replacement) const {
    const std::string text = std::regex_replace(lock(), std::regex(pattern), replacement);
    BOOST_REQUIRE(text != lock());
    write(".terraform.lock.hcl", text);
  }

  GitRepository& vpc;
};

const std::string kInstalled = ".terraform/modules/vpc/";

}  // namespace

BOOST_AUTO_TEST_SUITE(known_content)

BOOST_AUTO_TEST_CASE(every_command_names_the_hash_that_an_entry_lacks) {
  struct Row {
    const char* name;
    const char* query;
    const char* version;
    const char* hash;
  };
  const Row rows[] = {
      {"a tag", "?ref=v1.0.0", "", "git"},
      {"the default branch", "", "", "git"},
      {"a version", "", "1.0.0", "git"},
      {"the files", "?ref=v1.0.0", "", "h1"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Known it(row.query, row.version);
      it.edit_lock(std::string("\n *\"") + row.hash + ":[^\"]*\",", "");
      const std::string verdict = std::string("the lock file has no ") + row.hash + " hash for it";
      const Ran verified = it.modlock({"verify"});
      BOOST_TEST(verified.exit_code == 3);
      BOOST_TEST(verified.out.find(verdict) != std::string::npos, verified.out);
      BOOST_TEST(it.modlock({"status"}).exit_code == 3);
      for (const std::vector<std::string>& command :
           {std::vector<std::string>{"lock", "--frozen"}, {"install"}, {"ci"}}) {
        const Ran ran = it.modlock(command);
        BOOST_TEST(ran.exit_code == 3);
        BOOST_TEST(ran.err.find(std::string("module.vpc (hashes were missing: ") + row.hash + ")") != std::string::npos,
                   command[0] << ran.err);
      }
      BOOST_TEST(it.modlock({"lock"}).exit_code == 0);
      BOOST_TEST(it.modlock({"ci"}).exit_code == 0);
      BOOST_TEST(it.modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_case_of_a_commit_means_nothing) {
  const Known it;
  std::string text = it.lock();
  const std::size_t at = text.find("    \"git:") + 9;
  std::transform(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(at + 40),
                 text.begin() + static_cast<std::ptrdiff_t>(at), [](unsigned char c) { return std::toupper(c); });
  it.write(".terraform.lock.hcl", text);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"verify"},
                                                  {"status"},
                                                  {"lock", "--frozen"},
                                                  {"lock"},
                                                  {"verify", "--online"},
                                                  {"install"},
                                                  {"ci"}}) {
    const Ran ran = it.modlock(command);
    BOOST_TEST(ran.exit_code == 0, command[0] << ran.err);
  }
  BOOST_TEST(it.lock() == text);
  fs::remove_all(it.root() / ".terraform");
  fs::remove_all(it.cache());
  BOOST_TEST(it.modlock({"install"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_module_that_was_edited_in_place_is_named_and_restored) {
  using Step = std::function<void(Known&)>;
  struct Row {
    const char* name;
    Step change;
    bool is_edited;
  };
  const auto copy = [](const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  };
  const Row rows[] = {
      {"a changed file", [](Known& it) { it.write(kInstalled + "main.tf", "# edited\n"); }, true},
      {"an added file", [](Known& it) { it.write(kInstalled + "evil.tf", "# added\n"); }, true},
      {"a deleted file", [](Known& it) { fs::remove(it.root() / kInstalled / "main.tf"); }, true},
      {"without the cache",
       [](Known& it) {
         fs::remove_all(it.cache());
         it.write(kInstalled + "main.tf", "# edited\n");
       },
       true},
      // Harmless.
      {"nothing", [](Known&) {}, false},
      {"converted line endings",
       [](Known& it) {
         it.write(kInstalled + "main.tf",
                  std::regex_replace(it.read(kInstalled + "main.tf"), std::regex("\n"), "\r\n"));
       },
       false},
      {"a file that no client loads", [](Known& it) { it.write(kInstalled + "notes.md", "x\n"); }, false},
      {"a deleted module", [](Known& it) { fs::remove_all(it.root() / kInstalled); }, false},
      {"another version",
       [](Known& it) {
         it.release(it.vpc, "1.1.0");
         it.write("main.tf", module_call("vpc", "git::" + it.vpc.url() + "?ref=v1.1.0"));
         BOOST_REQUIRE(it.modlock({"lock"}).exit_code == 0);
       },
       false},
      {"there and back",
       [](Known& it) {
         const std::string main = it.read("main.tf");
         const std::string lock = it.lock();
         it.release(it.vpc, "1.1.0");
         it.write("main.tf", module_call("vpc", "git::" + it.vpc.url() + "?ref=v1.1.0"));
         it.prepare();
         it.write("main.tf", main);
         it.write(".terraform.lock.hcl", lock);
       },
       false},
      {"an older data directory",
       [copy](Known& it) {
         copy(it.root() / ".terraform", it.path("old"));
         it.release(it.vpc, "1.1.0");
         it.write("main.tf", module_call("vpc", "git::" + it.vpc.url() + "?ref=v1.1.0"));
         it.prepare();
         copy(it.path("old"), it.root() / ".terraform");
         fs::remove_all(it.cache());
       },
       false},
      {"older modules in a newer data directory",
       [copy](Known& it) {
         copy(it.root() / ".terraform/modules", it.path("old"));
         it.release(it.vpc, "1.1.0");
         it.write("main.tf", module_call("vpc", "git::" + it.vpc.url() + "?ref=v1.1.0"));
         it.prepare();
         copy(it.path("old"), it.root() / ".terraform/modules");
       },
       false},
      {"the clone of a client, and its copy for another call",
       [](Known& it) {
         it.write("other.tf", module_call("other", "git::" + it.vpc.url() + "?ref=v1.0.0"));
         it.prepare();
         it.write(".terraform/modules/other/.git/HEAD", "ref: refs/heads/main\n");
         it.write(".terraform/modules/other/main.tf", "# moved\n");
         it.write(kInstalled + "main.tf", "# moved\n");
       },
       false},
      {"the clone of a client",
       [](Known& it) {
         it.write(kInstalled + ".git/HEAD", "ref: refs/heads/main\n");
         it.write(kInstalled + "main.tf", "# moved\n");
       },
       false},
  };
  for (const Row& row : rows) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"install"}, {"ci"}, {"lock", "--install"}}) {
      BOOST_TEST_CONTEXT(row.name << " " << command[0]) {
        Known it;
        row.change(it);
        const Ran ran = it.modlock(command);
        BOOST_TEST(ran.exit_code == (row.is_edited ? 4 : 0), ran.err);
        const std::string line =
            "module \"vpc\" was changed after it was installed, and the locked package was restored: ";
        BOOST_TEST(occurrences(ran.err, line) == (row.is_edited ? 1U : 0U), ran.err);
        const Ran again = it.modlock(command);
        BOOST_TEST(again.exit_code == 0, again.err);
        BOOST_TEST(it.modlock({"verify"}).exit_code == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(moved_tags_and_new_commits_are_named_without_a_request_more) {
  struct Row {
    const char* name;
    const char* query;
    const char* version;
    const char* newer;  // of status
    const char* last;   // of outdated
  };
  const Row rows[] = {
      {"a tag", "?ref=v1.0.0", "", "moved (<moved...>)", "moved (<moved...>)"},
      {"the tag of a version", "", "1.0.0", "moved (<moved...>)", "moved (<moved...>)"},
      {"a tag that is no version", "?ref=stable", "", "moved (<moved...>)", "moved (<moved...>)"},
      {"a branch", "?ref=main", "", "new commit (<moved...>)", "new commit (<moved...>)"},
      {"HEAD", "", "", "new commit (<moved...>)", "new commit (<moved...>)"},
      {"a partial tag", "?ref=v1", "", "new commit (<moved...>)", "new commit (<moved...>)"},
      // Harmless.
      {"a branch that stays", "?ref=other", "", "-", "skipped: its branch, tag or commit is not a version"},
      {"a tag that stays", "?ref=v0.9.0", "", "1.0.0", "-> 1.0.0 (v1.0.0, major)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Scene it;
      GitRepository& vpc = it.repository("vpc.git");
      it.release(vpc, "0.9.0");
      vpc.branch("other", "main");
      it.release(vpc, "1.0.0");
      vpc.tag("stable");
      vpc.tag("v1");
      it.write("main.tf", module_call("vpc", "git::" + vpc.url() + row.query));
      it.write(".tofu-modlock.hcl", *row.version == '\0' ? "" : module_rule("vpc", row.version));
      BOOST_REQUIRE(it.modlock({"lock"}).exit_code == 0);
      BOOST_REQUIRE(it.modlock({"install"}).exit_code == 0);
      it.name_id(vpc.commit({{"main.tf", "# other\n"}}), "moved");
      for (const char* const tag : {"v1.0.0", "stable", "v1"}) {
        vpc.git({"tag", "--force", tag, "main"});
      }
      const Ran outdated = it.modlock({"outdated", "-v"});
      BOOST_TEST(outdated.exit_code == 0, outdated.err);
      BOOST_TEST(outdated.out.find(row.last) != std::string::npos, outdated.out);
      BOOST_TEST(occurrences(outdated.err, "ls-remote") == 1U, outdated.err);
      const Ran status = it.modlock({"status"});
      BOOST_TEST(status.exit_code == 0, status.err);
      BOOST_TEST(status.out.find(std::string("  ") + row.newer) != std::string::npos, status.out);
      const std::string moved = row.newer;
      const Json::Value dependency = it.json({"outdated"})["dependencies"][0];
      BOOST_TEST(dependency["isMoved"].asBool() == moved.starts_with("moved"));
      if (moved.find("<moved") != std::string::npos) {
        BOOST_TEST(it.shown(dependency["referenceNow"].asString()) == "git:<moved>");
        const Ran diff = it.modlock({"diff"});
        BOOST_TEST(diff.exit_code == 0, diff.err);
        BOOST_TEST((diff.out + diff.err).find(moved + ", and it is not compared") != std::string::npos,
                   diff.out + diff.err);
        BOOST_TEST(diff.out == "No newer versions, 1 reference moved.\n");
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
