// `tofu-modlock merge`, by hand and as git's merge driver.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "plugin/lock/lock_file.h"
#include "tests/team/team_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Way = TeamScene::Way;

std::string block(const std::string& key, const std::string& version) {
  return write_module_block({.key = key,
                             .version = version,
                             .source = "git::https://git.example.test/" + key + ".git",
                             .hashes = {"git:" + version, "h1:" + key + version}});
}

std::string file(std::initializer_list<std::string> blocks) {
  std::string text(kOpenTofuLockHeader);
  for (const std::string& one : blocks) {
    text += "\n" + one;
  }
  return text;
}

std::string conflict(const std::string& ours, const std::string& theirs) {
  return "<<<<<<< ours\n" + ours + "=======\n" + theirs + ">>>>>>> theirs\n";
}

struct Driving : TeamScene {
  Driving() {
    write(".gitattributes", ".terraform.lock.hcl merge=tofu-modlock\n");
    succeed({"config", "merge.tofu-modlock.driver", "'" + binary + "' merge --marker-size %L %O %A %B"});
  }
  void write_lock_of(std::initializer_list<std::string> blocks) const { write(".terraform.lock.hcl", file(blocks)); }
  Ran merge_files(const std::string& base, const std::string& ours, const std::string& theirs,
                  std::vector<std::string> flags = {}) const {
    write("base", base);
    write("ours", ours);
    write("theirs", theirs);
    std::vector<std::string> command = {"merge", "base", "ours", "theirs"};
    command.insert(command.end(), flags.begin(), flags.end());
    return modlock(std::move(command));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(merge_driver, Driving)

BOOST_AUTO_TEST_CASE(writes_the_union_and_succeeds) {
  const Ran ran = merge_files(file({block("a", "1.0.0")}), file({block("a", "1.0.0"), block("b", "1.0.0")}),
                              file({block("a", "1.1.0"), block("c", "1.0.0")}));
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out + ran.err == "");
  BOOST_TEST(read("ours") == file({block("a", "1.1.0"), block("b", "1.0.0"), block("c", "1.0.0")}));
}

BOOST_AUTO_TEST_CASE(leaves_what_both_sides_changed_as_a_conflict) {
  const Ran ran = merge_files(file({block("a", "1.0.0")}), file({block("a", "1.2.0"), block("b", "1.0.0")}),
                              file({block("a", "1.1.0"), block("c", "1.0.0")}));
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.err == "Conflict: both sides changed module.a\nTo resolve this, run: tofu-modlock lock\n");
  BOOST_TEST(read("ours") ==
             file({conflict(block("a", "1.2.0"), block("a", "1.1.0")), block("b", "1.0.0"), block("c", "1.0.0")}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_leaves_ours_alone) {
  const std::string good = file({block("a", "1.0.0")});
  const std::string deep = "module \"a\" {\n  hashes = " + std::string(300, '[') + "\n}\n";
  struct Row {
    const char* name;
    std::string base, ours, theirs;
    const char* code;
  };
  const Row rows[] = {
      {"base", "module {\n", good, good, "LOCK_PARSE"},
      {"ours", good, "module {\n", good, "LOCK_PARSE"},
      {"theirs", good, good, "variable \"x\" {}\n", "LOCK_PARSE"},
      {"markers in theirs", good, good, conflict("", block("a", "1.0.0")), "LOCK_PARSE"},
      {"too deep", good, good, deep, "LIMIT_EXCEEDED"},
      {"too large", good, good, good + std::string(std::size_t{16} << 20U, '\n'), "LIMIT_EXCEEDED"},
      {"not UTF-8", good, good, "# \xff\n", "LOCK_PARSE"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = merge_files(row.base, row.ours, row.theirs);
      BOOST_TEST(ran.exit_code == 2);
      BOOST_TEST(ran.err.find(std::string("[") + row.code + "]") != std::string::npos, ran.err);
      BOOST_TEST(read("ours") == row.ours);
    }
  }
  write("ours", good);
  BOOST_TEST(modlock({"merge", "base", "ours", "nothing"}).exit_code == 2);
  BOOST_TEST(modlock({"merge", "base", "ours"}).exit_code == 2);
  BOOST_TEST(modlock({"merge", "base", "nothing", "ours"}).exit_code == 2);
  BOOST_TEST(!has("nothing"));
  BOOST_TEST(read("ours") == good);
}

BOOST_AUTO_TEST_CASE(an_empty_ancestor_and_one_with_a_conflict) {
  const std::string a = file({block("a", "1.0.0")});
  const std::string b = file({block("b", "1.0.0")});
  BOOST_TEST(merge_files("", a, b).exit_code == 0);
  BOOST_TEST(read("ours") == file({block("a", "1.0.0"), block("b", "1.0.0")}));
  const std::string nested = file({"<<<<<<<<< ours\n" + block("a", "1.1.0") + "=========\n>>>>>>>>> theirs\n"});
  BOOST_TEST(merge_files(nested, a, file({block("a", "1.2.0")})).exit_code == 1);
  BOOST_TEST(read("ours") == file({conflict(block("a", "1.0.0"), block("a", "1.2.0"))}));
}

BOOST_AUTO_TEST_CASE(reads_no_configuration) {
  environment["TOFU_MODLOCK_CONFIG_FILE"] = path("broken.hcl").string();
  environment["TF_CLI_CONFIG_FILE"] = path("broken.hcl").string();
  write_text(path("broken.hcl"), "{{{\n");
  write("main.tf", "{{{\n");
  write(".tofu-modlock.hcl", "{{{\n");
  BOOST_TEST(merge_files("", file({block("a", "1.0.0")}), file({block("b", "1.0.0")})).exit_code == 0);
  BOOST_TEST(!fs::exists(cache()));
}

BOOST_AUTO_TEST_CASE(lets_git_merge_neighbours) {
  for (const Way way : {Way::merge, Way::rebase, Way::cherry_pick, Way::stash_pop}) {
    BOOST_TEST_CONTEXT(way) {
      write_lock_of({block("a", "1.0.0"), block("d", "1.0.0")});
      succeed({"checkout", "--quiet", "-B", "main"});
      commit("first");
      diverge(
          [&] {
            write_lock_of({block("a", "1.0.0"), block("b", "1.0.0"), block("d", "1.0.0")});
          },
          [&] {
            write_lock_of({block("a", "1.1.0"), block("c", "1.0.0"), block("d", "1.0.0")});
          });
      bring_theirs(way);
      BOOST_TEST(lock() == file({block("a", "1.1.0"), block("b", "1.0.0"), block("c", "1.0.0"), block("d", "1.0.0")}));
      BOOST_TEST(succeed({"ls-files", "--unmerged"}) == "");
      succeed({"reset", "--quiet", "--hard"});
      succeed({"checkout", "--quiet", "main"});
      succeed({"branch", "-D", "ours", "theirs"});
    }
  }
}

BOOST_AUTO_TEST_CASE(leaves_git_a_conflict) {
  write_lock_of({block("a", "1.0.0")});
  commit("first");
  diverge(
      [&] {
        write_lock_of({block("a", "1.1.0"), block("b", "1.0.0")});
      },
      [&] {
        write_lock_of({block("a", "1.2.0"), block("c", "1.0.0")});
      });
  const Ran ran = git({"merge", "theirs"});
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.out.find("CONFLICT (content): Merge conflict in .terraform.lock.hcl") != std::string::npos, ran.out);
  BOOST_TEST(lock() ==
             file({conflict(block("a", "1.1.0"), block("a", "1.2.0")), block("b", "1.0.0"), block("c", "1.0.0")}));
  BOOST_TEST(succeed({"status", "--porcelain"}).find("UU .terraform.lock.hcl") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(merges_what_has_two_ancestors) {
  write_lock_of({block("a", "1.0.0")});
  commit("first");
  diverge([&] { write_lock_of({block("a", "1.1.0")}); }, [&] { write_lock_of({block("a", "1.2.0")}); });
  // Each side merges the first change of the other, and settles it differently.
  succeed({"branch", "theirs-first", "theirs"});
  succeed({"branch", "ours-first", "ours"});
  git({"merge", "--quiet", "theirs-first"});
  write_lock_of({block("a", "1.2.0"), block("b", "1.0.0")});
  commit("ours merged");
  succeed({"checkout", "--quiet", "theirs"});
  git({"merge", "--quiet", "ours-first"});
  write_lock_of({block("a", "1.2.0"), block("c", "1.0.0")});
  commit("theirs merged");
  succeed({"checkout", "--quiet", "ours"});
  succeed({"merge", "--quiet", "--no-edit", "theirs"});
  BOOST_TEST(lock() == file({block("a", "1.2.0"), block("b", "1.0.0"), block("c", "1.0.0")}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
