#include "plugin/install/package_lookup.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "plugin/install/manifest.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

const std::string kA(40, 'a');
const std::string kB(40, 'b');

// A root that a client has installed something in.
struct Installed {
  void record(const std::string& key, const std::string& source, const std::string& version = {}) {
    manifest[key] = {.key = key, .source = source, .version = version, .directory = ".terraform/modules/" + key};
  }
  void put(const std::string& name, const std::string& text) const {
    directory.write(".terraform/modules/" + name, text);
  }
  void check_out(const std::string& key, const std::string& commit) const { put(key + "/.git/HEAD", commit + "\n"); }

  Result<std::function<std::optional<InstalledRecord>(const ModuleNode&)>> read() {
    directory.write(".terraform/modules/modules.json", write_manifest(manifest));
    data = find_data_directory(directory.path(), std::nullopt).value();
    return find_installed_records(data, context);
  }
  // "1.2.3", "commit aaaaaaaaaaaa", "1.2.3 commit aaaaaaaaaaaa", "".
  std::string found(const std::string& key, const std::string& source, const std::string& constraint = {}) {
    ModuleNode node;
    node.key = key;
    node.address = parse_source(source).value();
    if (!constraint.empty()) {
      node.constraints.push_back({ModuleConstraint::parse(constraint).value(), key, {}});
    }
    const auto recorded = read().value()(node);
    if (!recorded) {
      return "";
    }
    const std::string commit = recorded->commit.empty() ? "" : InstalledRecord{.commit = recorded->commit}.text();
    return recorded->version ? recorded->text() + (commit.empty() ? "" : " " + commit) : commit;
  }

  TemporaryDirectory directory;
  DataDirectory data;
  Context context;
  Manifest manifest;
};

constexpr const char* kGit = "git::https://example.com/vpc.git";
constexpr const char* kRegistryModule = "registry.opentofu.org/acme/vpc/aws";

}  // namespace

BOOST_AUTO_TEST_SUITE(recorded_modules)

BOOST_AUTO_TEST_CASE(what_a_client_installed_for_a_call) {
  struct Row {
    const char* name;
    std::string recorded;  // source
    std::string version;
    std::string commit;  // checked out; empty: no repository
    std::string source;
    std::string constraint;
    std::string expected;
  };
  const std::string git = kGit;
  const std::string commit = "commit aaaaaaaaaaaa";
  const Row rows[] = {
      {"git", git, "", kA, git, "", commit},
      {"git with a reference", git + "?ref=v1", "", kA, git + "?ref=v1", "", commit},
      {"git, another reference", git + "?ref=v1", "", kA, git + "?ref=v2", "", ""},
      {"git, a constraint in place of the reference", git + "//net?ref=v1", "", kA, git + "//net", "~> 1.0", commit},
      {"git, a constraint, another subdirectory", git + "//net?ref=v1", "", kA, git + "//other", "~> 1.0", ""},
      {"git, another repository", "git::https://example.com/x.git", "", kA, git, "", ""},
      {"git without its repository", git, "", "", git, "", ""},
      {"registry", kRegistryModule, "1.2.3", "", "acme/vpc/aws", "~> 1.0", "1.2.3"},
      {"registry, from git", kRegistryModule, "1.2.3", kA, "acme/vpc/aws", "", "1.2.3 " + commit},
      {"registry of another host", "registry.terraform.io/acme/vpc/aws", "1.2.3", kA, "acme/vpc/aws", "", ""},
      {"registry without a version", kRegistryModule, "", "", "acme/vpc/aws", "", ""},
      {"oci has none", "oci://example.com/vpc?tag=1", "", "", "oci://example.com/vpc?tag=1", "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Installed installed;
      installed.record("vpc", row.recorded, row.version);
      installed.put("vpc/main.tf", "");
      if (!row.commit.empty()) {
        installed.check_out("vpc", row.commit);
      }
      BOOST_TEST(installed.found("vpc", row.source, row.constraint) == row.expected);
      BOOST_TEST(installed.found("other", row.source, row.constraint) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(copy_has_the_commit_of_what_it_was_copied_from) {
  struct Row {
    const char* name;
    std::map<std::string, std::string> copy;
    std::string source = kGit;
    std::string expected = "commit aaaaaaaaaaaa";
  };
  const Row rows[] = {
      {"without dotfiles", {{"main.tf", "1"}, {"z/x.tf", "3"}}},
      {"with a dotfile", {{"main.tf", "1"}, {".hidden/a", "2"}, {"z/x.tf", "3"}}},
      {"of another subdirectory", {{"main.tf", "1"}, {"z/x.tf", "3"}}, std::string(kGit) + "//z"},
      {"of another reference", {{"main.tf", "1"}, {"z/x.tf", "3"}}, std::string(kGit) + "?ref=v1", ""},
      {"changed", {{"main.tf", "other"}, {"z/x.tf", "3"}}, kGit, ""},
      {"with a file more", {{"main.tf", "1"}, {"y.tf", ""}, {"z/x.tf", "3"}}, kGit, ""},
      {"with a file less", {{"main.tf", "1"}}, kGit, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Installed installed;
      installed.record("a", kGit);
      installed.record("copy", row.source);
      installed.check_out("a", kA);
      for (const auto& [name, text] :
           std::map<std::string, std::string>{{"main.tf", "1"}, {".hidden/a", "2"}, {"z/.keep", ""}, {"z/x.tf", "3"}}) {
        installed.put("a/" + name, text);
      }
      for (const auto& [name, text] : row.copy) {
        installed.put("copy/" + name, text);
      }
      BOOST_TEST(installed.found("copy", row.source) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(only_a_directory_of_the_call_itself_counts) {
  Installed installed;
  installed.record("vpc", kGit);
  installed.manifest["vpc"].directory = "elsewhere";
  installed.directory.write("elsewhere/.git/HEAD", kB);
  BOOST_TEST(installed.found("vpc", kGit) == "");
  fs::create_directory_symlink(installed.directory / "elsewhere", installed.directory / ".terraform/modules/vpc");
  BOOST_TEST(installed.found("vpc", kGit) == "");
}

BOOST_AUTO_TEST_CASE(without_a_manifest_nothing_is_installed) {
  Installed installed;
  installed.check_out("vpc", kA);
  BOOST_TEST(installed.found("vpc", kGit) == "");
  fs::remove(installed.directory / ".terraform/modules/modules.json");
  BOOST_TEST(find_installed_records(installed.data, installed.context).has_value());
}

BOOST_AUTO_TEST_CASE(manifest_that_cannot_be_used_is_not_an_empty_one) {
  Installed installed;
  installed.record("vpc", kRegistryModule, "latest");
  const auto unusable = installed.read();
  BOOST_REQUIRE(!unusable);
  BOOST_TEST(to_string(unusable.error().code) == "IO_ERROR");
  const std::string path = (installed.directory / ".terraform/modules/modules.json").string();
  BOOST_TEST(unusable.error().message ==
             "the module manifest " + path + " cannot be used: \"latest\" of module \"vpc\" is not a version");
  installed.directory.write(".terraform/modules/modules.json", "{");
  BOOST_TEST(!find_installed_records(installed.data, installed.context));
}

BOOST_AUTO_TEST_SUITE_END()
