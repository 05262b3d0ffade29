// A work tree compared with a revision, by the git program.

#include "plugin/workspace/work_tree.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

struct WorkTree {
  WorkTree() {
    git({"init", "--quiet", "--template=", "--initial-branch=main"});
    write("a/main.tf", "# first\n");
    write("a/main.tofu", "# tofu\n");
    write("gone.tf", "# gone\n");
    commit();
  }
  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    test::run(std::move(arguments), directory.path(),
              {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CONFIG_NOSYSTEM", "1"}});
  }
  void commit() const {
    git({"add", "--all"});
    git({"-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message=m"});
  }
  void write(const std::string& name, std::string_view text) const { directory.write(name, text); }

  // "a/main.tf = # first": changed files with their text at the revision, if it is known.
  std::string text_of(const Result<RevisionDiff>& diff) const {
    if (!diff) {
      return fmt::format("{}: {}", to_string(diff.error().code), diff.error().message);
    }
    std::string text;
    for (const fs::path& file : diff->files) {
      text += file.lexically_relative(directory.path()).string();
      for (const messages::Document& document : diff->documents) {
        text += document.path == file.string() ? " = " + document.text : "";
      }
      const bool is_unknown = std::find(diff->unknown.begin(), diff->unknown.end(), file) != diff->unknown.end();
      text += is_unknown ? " unknown\n" : text.ends_with('\n') ? "" : "\n";
    }
    return text;
  }

  test::TemporaryDirectory directory;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(revision, WorkTree)

BOOST_AUTO_TEST_CASE(files_that_differ_from_a_revision) {
  struct Row {
    const char* name;
    std::function<void()> change;
    const char* text;
  };
  const Row rows[] = {
      {"nothing", [] {}, ""},
      {"changed", [&] { write("a/main.tf", "# second\n"); }, "a/main.tf = # first\n"},
      {"added", [&] { write("new.tf", "# new\n"); }, "new.tf = \n"},
      {"added as JSON", [&] { write("new.tf.json", "{\"a\": 1}"); }, "new.tf.json = {}\n"},
      {"deleted", [&] { fs::remove(directory / "gone.tf"); }, "gone.tf = # gone\n"},
      {"installed modules do not count", [&] { write("a/.terraform/modules/vpc/main.tf", "# 1\n"); }, ""},
      {"added over a file of the same name", [&] { write("gone.tofu", "# new\n"); }, "gone.tofu = # gone\n"},
      {"a link to a directory", [&] { fs::create_directory_symlink("a", directory / "link"); }, "link = \n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      git({"reset", "--quiet", "--hard"});
      git({"clean", "--quiet", "-dfx"});
      row.change();
      BOOST_TEST(text_of(diff_with_revision(directory.path(), "main", Context{})) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_compared) {
  BOOST_TEST(text_of(diff_with_revision(directory.path(), "v9", Context{})) ==
             fmt::format("INVALID_PARAMS: revision \"v9\" not found in the repository {}", directory.path().string()));
  BOOST_TEST(text_of(diff_with_revision(directory / "a", "main", Context{})) ==
             fmt::format("INVALID_PARAMS: {} is not in a git repository", (directory / "a").string()));
}

BOOST_AUTO_TEST_CASE(targets_are_what_changed_without_its_entry) {
  const std::string entry =
      "module \"vpc\" {\n  version = \"1.0.0\"\n  source  = \"git::https://example.com/vpc.git\"\n}\n";
  const auto inspected = [](const char* constraint) {
    messages::ConfigInspectResult result;
    messages::InspectedModule module;
    module.key = "vpc";
    module.source = "git::https://example.com/vpc.git";
    module.constraint = constraint;
    result.modules = {module};
    return result;
  };
  struct Row {
    const char* name;
    const char* before;  // the constraint
    const char* now;
    std::string lock_before;
    bool is_changed;
    const char* targets;
  };
  const Row rows[] = {
      {"nothing changed", "~> 1.0", "~> 1.0", entry, false, ""},
      {"a constraint", "~> 1.0", ">= 1.0", entry, true, "module.vpc "},
      {"a constraint, and the entry with it", "~> 1.0", ">= 1.0", "", true, ""},
      {"the entry alone", "~> 1.0", "~> 1.0", "", true, ""},
  };
  write(".terraform.lock.hcl", entry);
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RevisionDiff diff;
      diff.documents = {{(directory / ".terraform.lock.hcl").string(), row.lock_before}};
      const auto change = compare_configurations(directory.path(), diff, inspected(row.before), inspected(row.now));
      BOOST_TEST_REQUIRE(change.has_value());
      BOOST_TEST(change->is_changed == row.is_changed);
      std::string targets;
      for (const std::string& target : change->targets) {
        targets += target + " ";
      }
      BOOST_TEST(targets == row.targets);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock
