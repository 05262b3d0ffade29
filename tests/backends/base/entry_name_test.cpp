#include "backends/base/entry_name.h"

#include <boost/test/unit_test.hpp>
#include <string_view>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(entry_name)

BOOST_AUTO_TEST_CASE(names_of_git_entries) {
  BOOST_TEST(is_git_entry(".git"));
  for (const char* name : {"", "git", ".GIT", ".gitignore", ".github", ".hg", ".svn", ".bzr", "CVS", "_darcs"}) {
    BOOST_TEST(!is_git_entry(name));
  }
}

// What another file system reads as a name that git, a client or this program trusts.
BOOST_AUTO_TEST_CASE(names_that_are_disguised) {
  struct Row {
    const char* name;
    std::string_view read;  // "": as it is
  };
  const Row rows[] = {
      {".git", ""},
      {".GIT", ".git"},
      {".gIt", ".git"},
      {".git.", ".git"},
      {".git . ", ".git"},
      {".git::$INDEX_ALLOCATION", ".git"},
      {"git~1", ".git"},
      {"GIT~1", ".git"},
      {"a\\.git", ".git"},
      {".git\\hooks", ".git"},
      {".g\u200cit", ".git"},
      {"\ufeff.git", ".git"},
      {".gi\u2060t", ".git"},
      {".Terraform", ".terraform"},
      {".TERRAFORM.lock.hcl", ".terraform.lock.hcl"},
      {".terraform.loc\u212a.hcl", ".terraform.lock.hcl"},  // the sign of Kelvin
      {".terraform.modules.Lock.hcl", ".terraform.modules.lock.hcl"},
      {".tofu-modlock.HCL", ".tofu-modlock.hcl"},
      // What every package may have.
      {"", ""},
      {".", ""},
      {"main.tf", ""},
      {"README.MD", ""},
      {".gitignore", ""},
      {".GITIGNORE", ""},
      {".github", ""},
      {".gitmodules", ""},
      {"git", ""},
      {"GIT", ""},
      {"git~2", ""},
      {".terraform", ""},
      {".terraform.lock.hcl", ""},
      {".terraform.modules.lock.hcl", ""},
      {".tofu-modlock.hcl", ""},
      {".Terraform-docs.yml", ""},
      {".terraformrc", ""},
      {"a\\b", ""},
      {"caf\u00e9.md", ""},
      {"\xff\xfe.git", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST(disguised_name(row.name).value_or("") == row.read, row.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
