#include <boost/test/unit_test.hpp>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

// What OpenTofu 1.12 answers.
BOOST_AUTO_TEST_CASE(file_path_answer_as_opentofu) {
  const Row rows[] = {
      {"basename of a/b/c.txt", "basename", R"(["a/b/c.txt"])", R"("c.txt")"},
      {"dirname of a/b/c.txt", "dirname", R"(["a/b/c.txt"])", R"("a/b")"},
      {"basename of /", "basename", R"(["/"])", R"("/")"},
      {"dirname of /", "dirname", R"(["/"])", R"("/")"},
      {"basename of ", "basename", R"([""])", R"(".")"},
      {"dirname of ", "dirname", R"([""])", R"(".")"},
      {"basename of a/", "basename", R"(["a/"])", R"("a")"},
      {"dirname of a/", "dirname", R"(["a/"])", R"("a")"},
      {"basename of a//b/../c", "basename", R"(["a//b/../c"])", R"("c")"},
      {"dirname of a//b/../c", "dirname", R"(["a//b/../c"])", R"("a")"},
      {"basename of /a/..", "basename", R"(["/a/.."])", R"("..")"},
      {"dirname of /a/..", "dirname", R"(["/a/.."])", R"("/a")"},
      {"basename of ..", "basename", R"([".."])", R"("..")"},
      {"dirname of ..", "dirname", R"([".."])", R"(".")"},
      {"basename of ../x", "basename", R"(["../x"])", R"("x")"},
      {"dirname of ../x", "dirname", R"(["../x"])", R"("..")"},
      {"basename of .", "basename", R"(["."])", R"(".")"},
      {"dirname of .", "dirname", R"(["."])", R"(".")"},
  };
  check(rows);
}

}  // namespace modlock::eval::test
