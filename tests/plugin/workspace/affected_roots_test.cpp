#include "plugin/workspace/affected_roots.h"

#include <boost/test/unit_test.hpp>
#include <map>

#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Two roots: `a` has a lock file, and `b` calls a local module that `a` does not.
struct Roots {
  Roots() {
    directory.write("a/main.tf", "module \"vpc\" {}\n");
    directory.write("b/main.tf", "module \"net\" {\n  source = \"./net\"\n}\n");
    directory.write("b/net/main.tf", "");
  }

  static messages::ConfigInspectResult inspected(const std::string& constraint) {
    messages::InspectedModule call;
    call.key = "vpc";
    call.source = "acme/vpc/aws";
    call.constraint = constraint;
    call.location.path = "main.tf";
    messages::ConfigInspectResult result;
    result.files = {{.path = "main.tf"}};
    result.modules = {call};
    return result;
  }
  // The answers for a root, now and before; one that is missing is an error.
  InspectRoot inspect() const {
    return [this](const std::string& root, const std::vector<messages::Document>& documents) {
      const auto& constraints = documents.empty() ? now : before;
      const auto found = constraints.find(fs::path(root).filename().string());
      return found == constraints.end() ? Result<messages::ConfigInspectResult>(fail(Code::config_parse, "broken"))
                                        : inspected(found->second);
    };
  }
  // "a: module.vpc=~> 2.0; skipped: <last note>; b: <last note>"
  std::string text(const AffectedRoots& affected) const {
    std::string text;
    const auto note = [&](const Error& error) {
      std::string last = error.notes.empty() ? error.message : error.notes.back();
      const std::size_t at = last.find(directory.path().string() + "/");
      return at == std::string::npos ? last : last.erase(at, directory.path().string().size() + 1);
    };
    for (const Error& skipped : affected.skipped) {
      text += "skipped: " + note(skipped) + "; ";
    }
    for (const AffectedRoot& one : affected.roots) {
      text += fs::path(one.root).filename().string() + ":";
      for (const messages::Update& update : one.updates) {
        text += " " + update.subject + "=" + update.new_constraint.value_or(update.new_version.value_or(""));
      }
      for (const std::string& target : one.targets) {
        text += " " + target;
      }
      text += (one.error ? " " + note(*one.error) : "") + "; ";
    }
    return text;
  }
  std::vector<std::string> roots() const { return {(directory / "a").string(), (directory / "b").string()}; }

  test::TemporaryDirectory directory;
  std::map<std::string, std::string> now = {{"a", "~> 1.0"}, {"b", "~> 1.0"}};
  std::map<std::string, std::string> before = now;
};

BOOST_FIXTURE_TEST_SUITE(affected_roots, Roots)

BOOST_AUTO_TEST_CASE(by_the_updates_of_a_bot) {
  struct Row {
    const char* name;
    const char* file;
    const char* broken;  // the root that cannot be read
    const char* text;
  };
  const Row rows[] = {
      {"a file of one root", "a/main.tf", "", "a: module.vpc=~> 2.0; "},
      {"no file, so each root", "", "", "a: module.vpc=~> 2.0; b: module.vpc=~> 2.0; "},
      {"a file of no root", "c/main.tf", "", ""},
      {"another root is broken", "a/main.tf", "b",
       "skipped: the root module b does not read what changed and is skipped; a: module.vpc=~> 2.0; "},
      {"the root is broken", "a/main.tf", "a", "a: the root module a reads what changed; "},
      {"a local module of a broken root", "b/net/main.tf", "b", "b: the root module b reads what changed; "},
      {"no file, and a broken root", "", "b", "a: module.vpc=~> 2.0; b: broken; "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      now = before;
      now.erase(row.broken);
      const DataEntry entry{
          .dep_name = "acme/vpc/aws", .package_file = row.file, .current_value = "~> 1.0", .new_value = "~> 2.0"};
      BOOST_TEST(text(find_affected(roots(), {entry}, directory.path(), inspect(), Context{})) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(by_what_changed_since_a_revision) {
  directory.write("a/.terraform.lock.hcl",
                  "module \"vpc\" {\n  source = \"registry.opentofu.org/acme/modules/vpc/aws\"\n"
                  "  version = \"1.0.0\"\n  hashes = [\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n}\n");
  RevisionDiff diff{.revision = "HEAD", .files = {directory / "a/main.tf"}};
  diff.documents = {{(directory / "a/main.tf").string(), ""}};
  BOOST_TEST(text(find_affected(roots(), diff, inspect(), Context{})) == "");
  before["a"] = "~> 0.9";
  BOOST_TEST(text(find_affected(roots(), diff, inspect(), Context{})) == "a: module.vpc; ");
  before["b"] = "~> 0.9";  // without a lock entry, a plan of what is missing is sufficient
  BOOST_TEST(text(find_affected(roots(), diff, inspect(), Context{})) == "a: module.vpc; b:; ");
  before.erase("b");
  BOOST_TEST(text(find_affected(roots(), diff, inspect(), Context{})) ==
             "skipped: the root module b does not read what changed and is skipped; a: module.vpc; ");
  diff.unknown = {directory / "a/main.tf"};
  BOOST_TEST(text(find_affected(roots(), diff, inspect(), Context{})) ==
             "skipped: the root module b does not read what changed and is skipped; "
             "a: the root module a reads what changed; ");
  diff.files.clear();
  BOOST_TEST(text(find_affected(roots(), diff, inspect(), Context{})) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
