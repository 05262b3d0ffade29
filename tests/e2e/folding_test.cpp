// File systems that fold case and normalize names, as those of macOS and Windows do.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/folding_disk.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

struct Folding : Scene {
  Folding() : disk(root()) {}
  std::string call(const std::string& key, GitRepository& repository) const {
    return module_call(key, "git::" + repository.url() + "?ref=v1.0.0");
  }
  FoldingDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(folding, Folding, *needs(kFuse))

BOOST_AUTO_TEST_CASE(a_package_is_locked_installed_and_verified) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0", {{"README.md", "1"}, {".gitignore", "2"}, {"Sub/main.tf", "#"}});
  write("main.tf", call("vpc", vpc) + module_call("own", "./modules/own"));
  write("modules/own/main.tf", "");
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  check_ran(modlock({"install"}), 0, "0 installed, 1 already in place.\n");
  check_ran(modlock({"verify"}), 0, "verified  module.vpc  v1.0.0 (<1.0.0...>)\n1 verified\n");
}

BOOST_AUTO_TEST_CASE(names_that_are_one_here_are_both_named) {
  struct Row {
    const char* name;
    const char* first;
    const char* second;
  };
  int number = 0;
  for (const Row& row : {Row{"case", "README.md", "readme.md"}, Row{"case of a directory", "Docs/a", "docs/b"},
                         Row{"NFC and NFD", "caf\u00e9.md", "cafe\u0301.md"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      GitRepository& twins = repository("twins" + std::to_string(++number) + ".git");
      release(twins, "1.0.0", {{row.first, "1"}, {row.second, "2"}});
      write("main.tf", call("twins", twins));
      modlock({"lock"});
      const Ran ran = modlock({"install"});
      BOOST_TEST(ran.exit_code == 1);
      BOOST_TEST(ran.err.find("this file system takes \"") != std::string::npos, ran.err);
      BOOST_TEST(
          ran.err.find("  hint: use a directory on a file system that keeps the two names apart") != std::string::npos,
          ran.err);
      for (const std::string file : {row.first, row.second}) {
        BOOST_TEST(ran.err.find(file.substr(0, file.find('/')) + "\"") != std::string::npos, ran.err);
      }
      BOOST_TEST(!has(".terraform/modules/twins"));
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_whose_names_are_one_here_are_both_named) {
  GitRepository& vpc = repository("vpc.git");
  release(vpc, "1.0.0");
  write("main.tf", call("net", vpc) + call("Net", vpc));
  modlock({"lock"});
  check_ran(
      modlock({"install"}), 1, "",
      "Error: modules \"Net\" and \"net\" need two directories, and this file system takes their names for the same "
      "[IO_ERROR]\n  hint: rename one of the two calls, or use a file system that keeps the names apart (Linux: ext4, "
      "XFS, Btrfs)\n");
  BOOST_TEST(!has(".terraform/modules/net"));
}

BOOST_AUTO_TEST_CASE(a_source_in_another_case_is_named) {
  write("modules/net/main.tf", "");
  const std::string hint = "as it is spelled: on Linux, ";
  struct Row {
    const char* source;
    const char* named;  // "": as it is
  };
  for (const Row& row : {Row{"./modules/net", ""}, Row{"./Modules/net", "modules"}, Row{"./modules/NET", "net"}}) {
    BOOST_TEST_CONTEXT(row.source) {
      write("main.tf", module_call("net", row.source));
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == 0);
      const std::string text = "Warning: the local source \"" + std::string(row.source) +
                               "\" of module \"net\" names the directory \"" + row.named + "\"";
      BOOST_TEST((ran.err.find(text) != std::string::npos) == (*row.named != '\0'), ran.err);
      BOOST_TEST((ran.err.find(hint) != std::string::npos) == (*row.named != '\0'), ran.err);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
