#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

BOOST_AUTO_TEST_CASE(files_are_read) {
  FakeFiles files;
  files.files = {{"a.txt", "héllo\n"}, {"binary", "\xFF"}, {"dir/b.txt", "b"}};
  const Row rows[] = {
      {"file", "file", R"(["a.txt"])", R"("héllo\n")"},
      {"file that is no text", "file", R"(["binary"])",
       R"(error: contents of "binary" are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents or the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead)"},
      {"file that is not there", "file", R"(["none"])",
       R"(error path: no file exists at "none"; this function works only with files that are distributed as part of the configuration source code, so if this file will be created by a resource in this configuration you must instead obtain this result from an attribute of that resource)"},
      {"file outside", "file", R"(["../x"])", R"(error path: "../x" is outside of the root)"},
      {"file of another user", "file", R"(["~x/y"])",
       "error path: failed to expand ~: cannot expand user-specific home dir"},
      {"filebase64", "filebase64", R"(["binary"])", R"("/w==")"},
      {"filemd5", "filemd5", R"(["dir/b.txt"])", R"("92eb5ffee6ae2fec3ad71c777531578f")"},
      {"filesha1", "filesha1", R"(["dir/b.txt"])", R"("e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98")"},
      {"filesha256", "filesha256", R"(["dir/b.txt"])",
       R"("3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d")"},
      {"filebase64sha256", "filebase64sha256", R"(["dir/b.txt"])", R"("PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0=")"},
      {"fileexists", "fileexists", R"(["a.txt"])", "true"},
      {"fileexists not", "fileexists", R"(["b.txt"])", "false"},
      {"abspath", "abspath", R"(["x/../y"])", R"("/start/y")"},
      {"abspath of an absolute one", "abspath", R"(["/x/./y/"])", R"("/x/y")"},
      {"pathexpand without a tilde", "pathexpand", R"(["x/~"])", R"("x/~")"},
      {"pathexpand of another user", "pathexpand", R"(["~x"])", "error: cannot expand user-specific home dir"},
  };
  check(rows, files);
}

BOOST_AUTO_TEST_CASE(home_stands_for_a_tilde) {
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("HOME", "/home/somebody", 1);
  BOOST_TEST(outcome("pathexpand", call("pathexpand", values(R"(["~/x"])"), FakeFiles())) == R"("/home/somebody/x")");
  BOOST_TEST(outcome("pathexpand", call("pathexpand", values(R"(["~"])"), FakeFiles())) == R"("/home/somebody")");
  ::setenv("HOME", before.c_str(), 1);
}

// Each verified with OpenTofu 1.12 over the same files.
BOOST_AUTO_TEST_CASE(files_are_found_by_pattern) {
  FakeFiles files;
  for (const char* path : {"a.tf", "b.tf", ".hidden.tf", "sub/c.tf", "sub/deep/d.tf", "sub/e.txt", "x[1].tf", "-.tf"}) {
    files.files.emplace(path, "");
  }
  const Row rows[] = {
      {"star", "fileset", R"([".","*.tf"])", R"(["-.tf",".hidden.tf","a.tf","b.tf","x[1].tf"])"},
      {"two stars", "fileset", R"([".","**/*.tf"])",
       R"(["-.tf",".hidden.tf","a.tf","b.tf","sub/c.tf","sub/deep/d.tf","x[1].tf"])"},
      {"two stars at the end", "fileset", R"(["sub","**"])", R"(["c.tf","deep/d.tf","e.txt"])"},
      {"two stars in a part", "fileset", R"([".","s**.tf"])", "[]"},
      {"two stars in the middle", "fileset", R"([".","sub/**/d.tf"])", R"(["sub/deep/d.tf"])"},
      {"question mark", "fileset", R"([".","?.tf"])", R"(["-.tf","a.tf","b.tf"])"},
      {"class", "fileset", R"([".","[a-b].tf"])", R"(["a.tf","b.tf"])"},
      {"negated class", "fileset", R"([".","[^a].tf"])", R"(["-.tf","b.tf"])"},
      {"class negated the other way", "fileset", R"([".","[!a].tf"])", R"(["-.tf","b.tf"])"},
      {"alternatives", "fileset", R"([".","{a,sub/c}.tf"])", R"(["a.tf","sub/c.tf"])"},
      {"escaped", "fileset", R"([".","x\\[1\\].tf"])", R"(["x[1].tf"])"},
      {"no wildcard", "fileset", R"([".","sub/c.tf"])", R"(["sub/c.tf"])"},
      {"below a directory", "fileset", R"(["sub/","*"])", R"(["c.tf","e.txt"])"},
      {"up again", "fileset", R"(["sub","../*.tf"])",
       R"(["../-.tf","../.hidden.tf","../a.tf","../b.tf","../x[1].tf"])"},
      {"no such directory", "fileset", R"(["none","*"])", "[]"},
      {"open class", "fileset", R"([".","[a"])", R"(error: failed to glob pattern "[a": syntax error in pattern)"},
      {"open alternatives", "fileset", R"([".","{a"])",
       R"(error: failed to glob pattern "{a": syntax error in pattern)"},
  };
  check(rows, files);
}

}  // namespace modlock::eval::test
