#include "backends/git/objects.h"

#include <string>

#include <boost/test/unit_test.hpp>

namespace modlock::git {

BOOST_AUTO_TEST_SUITE(entry_fault_of_names)

BOOST_AUTO_TEST_CASE(what_some_platform_takes_for_another_name_is_refused) {
  for (const char* name : {"", ".", "..", "a/b", ".git", ".GiT", ".git.", ".git . ", "git~1", "GIT~1", ".git::$INDEX",
                           ".git:x", ".git\\x", "a\\.git", ".g\xe2\x80\x8cit", "\xef\xbb\xbf.git"}) {
    BOOST_TEST(entry_fault(name, name, false) == "which no checkout may write", name);
  }
  for (const char* name : {"...", ".gitignore", ".github", "git", "git~2", ".gi", "a.git", "a\\b", ".gitmodules",
                           ".g\xe2\x82\xacit", "\xc3\xa4"}) {
    BOOST_TEST(entry_fault(name, name, false) == "", name);
  }
}

BOOST_AUTO_TEST_CASE(gitmodules_is_no_link) {
  for (const char* name : {".gitmodules", ".GITMODULES", "gitmod~1", ".gitmodules ."}) {
    BOOST_TEST(entry_fault(name, name, true) == "which no checkout may write", name);
  }
  BOOST_TEST(entry_fault("main.tf", "main.tf", true) == "");
}

BOOST_AUTO_TEST_CASE(lengths_have_limits) {
  const std::string name(255, 'n');
  BOOST_TEST(entry_fault(name, name, false) == "");
  BOOST_TEST(entry_fault(name + "n", name + "n", false) == "whose name is longer than 255 bytes");
  const std::string path = std::string(4000 - name.size(), '/') + name;
  BOOST_TEST(entry_fault(path, name, false) == "");
  BOOST_TEST(entry_fault("/" + path, name, false) == "whose path is longer than 4000 bytes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
