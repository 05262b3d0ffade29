// What the trees of a commit prove of a package that anyone made.
#include "backends/git/tree_proof.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "backends/base/files.h"
#include "backends/git/objects.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using test::write_text;

struct ProofScene {
  // A commit with a file, a script, a link and a directory.
  ProofScene() : repository(directory / "repository.git") {
    const std::string sub = repository.write_tree(entry("100644", "blob", repository.write_blob("b"), "b.tf"));
    commit = repository.commit_tree(repository.write_tree(own(sub)));
    objects = ObjectReader::open(repository.path())->commit_and_trees(commit).value();
  }
  std::string own(const std::string& sub) {
    return entry("100644", "blob", repository.write_blob("a"), "main.tf") +
           entry("100755", "blob", repository.write_blob("#!/bin/sh\n"), "run.sh") +
           entry("120000", "blob", repository.write_blob("run.sh"), "start") + entry("040000", "tree", sub, "sub");
  }
  static std::string entry(const char* mode, const char* type, const std::string& id, const char* name) {
    return fmt::format("{} {} {}\t{}\n", mode, type, id, name);
  }
  fs::path package() const { return directory / "package"; }
  // Writes the package as its source has it.
  void write() const {
    fs::remove_all(package());
    write_text(package() / "main.tf", "a");
    write_text(package() / "run.sh", "#!/bin/sh\n");
    write_text(package() / "sub/b.tf", "b");
    fs::permissions(package() / "run.sh", fs::perms::owner_exec, fs::perm_options::add);
    fs::create_symlink("run.sh", package() / "start");
  }
  // "none", "kinds", "content", or the error.
  std::string prove() const {
    const auto entries = list_tree(package()).value();
    const auto proof = prove_tree(objects, commit, package(), entries);
    constexpr const char* kNames[] = {"none", "kinds", "content"};
    return proof ? kNames[static_cast<int>(*proof)]
                 : fmt::format("{}: {}", to_string(proof.error().code), proof.error().message);
  }
  std::string mismatch(const std::string& why) const {
    return fmt::format("HASH_MISMATCH: it does not match commit {}: {}", commit, why);
  }

  test::TemporaryDirectory directory;
  test::GitRepository repository;
  std::string commit;
  std::string objects;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tree_proof, ProofScene)

BOOST_AUTO_TEST_CASE(package_of_the_commit_is_proven) {
  write();
  BOOST_TEST(prove() == "content");
  BOOST_TEST(ObjectReader::open(repository.path())->commit_and_trees(commit).value() == objects);
}

BOOST_AUTO_TEST_CASE(another_package_is_refused) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> change;
    const char* why;
  };
  const Row rows[] = {
      {"executable",
       [](const fs::path& at) { fs::permissions(at / "main.tf", fs::perms::owner_exec, fs::perm_options::add); },
       "\"main.tf\" has another kind or executable bit"},
      {"not executable",
       [](const fs::path& at) { fs::permissions(at / "run.sh", fs::perms::owner_exec, fs::perm_options::remove); },
       "\"run.sh\" has another kind or executable bit"},
      {"file in place of a link",
       [](const fs::path& at) {
         fs::remove(at / "start");
         write_text(at / "start", "#!/bin/sh\n");
       },
       "\"start\" has another kind or executable bit"},
      {"link in place of a file",
       [](const fs::path& at) {
         fs::remove(at / "main.tf");
         fs::create_symlink("run.sh", at / "main.tf");
       },
       "\"main.tf\" has another kind or executable bit"},
      {"another target",
       [](const fs::path& at) {
         fs::remove(at / "start");
         fs::create_symlink("main.tf", at / "start");
       },
       "\"start\" has other content"},
      {"other content", [](const fs::path& at) { write_text(at / "sub/b.tf", "c"); }, "\"sub/b.tf\" has other content"},
      {"one more file", [](const fs::path& at) { write_text(at / "sub/c.tf", ""); }, "\"sub/c.tf\" is not in it"},
      {"one file less", [](const fs::path& at) { fs::remove(at / "sub/b.tf"); }, "a file is missing"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write();
      row.change(package());
      BOOST_TEST(prove() == mismatch(row.why));
    }
  }
}

BOOST_AUTO_TEST_CASE(objects_that_lie_are_refused) {
  struct Row {
    const char* name;
    std::string objects;
    std::string why;
  };
  const std::string other = repository.commit({{"main.tf", "a"}});
  const std::size_t tree = objects.find("tree ", objects.find('\0') + 50);
  std::string many;
  for (std::size_t i = 0; i <= kObjectCount; ++i) {
    many += fmt::format("tree 1{}{}", '\0', static_cast<char>(i % 256));
  }
  const std::string limit = "the trees of a commit have more than 4194304 bytes or 20000 objects";
  const Row rows[] = {
      {"of another commit", ObjectReader::open(repository.path())->commit_and_trees(other).value(),
       "an object of git is missing or damaged: "},
      {"without a tree", objects.substr(0, tree), "an object of git is missing or damaged: "},
      {"empty", "", "an object of git is missing or damaged: "},
      {"changed mode", std::string(objects).replace(objects.find("100755"), 6, "100644"),
       "an object of git is missing or damaged: "},
      {"truncated", objects.substr(0, objects.size() - 1), "not a commit and trees of git"},
      {"no objects", "PK", "not a commit and trees of git"},
      {"a blob", std::string("blob 1\0x", 8), "not a commit and trees of git"},
      {"size that is not a number", std::string("tree -1\0", 8), "not a commit and trees of git"},
      {"size beyond the end", std::string("tree 18446744073709551615\0", 26), "not a commit and trees of git"},
      {"too large", std::string(kObjectBytes + 1, ' '), limit},
      {"too many", many, limit},
  };
  write();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      objects = row.objects;
      const std::string found = prove();
      BOOST_TEST(found.starts_with(mismatch(row.why)), found);
    }
  }
}

// Each tree names the one below it a hundred times.
BOOST_AUTO_TEST_CASE(tree_without_end_is_refused) {
  std::string tree = repository.write_tree(entry("100644", "blob", repository.write_blob("a"), "main.tf"));
  for (int level = 0; level < 4; ++level) {
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      lines += entry("040000", "tree", tree, fmt::format("d{:02}", i).c_str());
    }
    tree = repository.write_tree(lines);
  }
  commit = repository.commit_tree(tree);
  objects = ObjectReader::open(repository.path())->commit_and_trees(commit).value();
  BOOST_TEST(objects.size() < 20'000U);
  write();
  BOOST_TEST(prove() == mismatch("which is one more than the 200000 allowed"));
}

BOOST_AUTO_TEST_CASE(submodules_prove_nothing) {
  const std::string sub = repository.write_tree(entry("100644", "blob", repository.write_blob("b"), "b.tf"));
  commit = repository.commit_tree(
      repository.write_tree(own(sub) + entry("160000", "commit", std::string(40, '1'), "vendor")));
  objects = ObjectReader::open(repository.path())->commit_and_trees(commit).value();
  write();
  BOOST_TEST(prove() == "none");
}

// A checkout has the line endings that the attributes of a tree name.
BOOST_AUTO_TEST_CASE(attributes_may_change_content_but_no_kind) {
  const std::string sub = repository.write_tree(entry("100644", "blob", repository.write_blob("b"), "b.tf"));
  const std::string attributes = "*.tf eol=crlf\n";
  commit = repository.commit_tree(
      repository.write_tree(entry("100644", "blob", repository.write_blob(attributes), ".gitattributes") + own(sub)));
  objects = ObjectReader::open(repository.path())->commit_and_trees(commit).value();
  write();
  write_text(package() / ".gitattributes", attributes);
  BOOST_TEST(prove() == "content");
  write_text(package() / "main.tf", "a\r\n");
  BOOST_TEST(prove() == "kinds");
  fs::remove(package() / "start");
  fs::create_symlink("main.tf", package() / "start");
  BOOST_TEST(prove() == mismatch("\"start\" has other content"));
  fs::permissions(package() / "main.tf", fs::perms::owner_exec, fs::perm_options::add);
  BOOST_TEST(prove() == mismatch("\"main.tf\" has another kind or executable bit"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
