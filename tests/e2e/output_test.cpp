#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {

BOOST_FIXTURE_TEST_SUITE(output, Scene)

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_is_an_error) {
  write("main.tf", "");
  for (const char* command : {"inspect", "inspect --json", "lock"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran ran = program({"sh", "-c", binary + " " + command + " >/dev/full"});
      BOOST_TEST(ran.exit_code == 1);
      BOOST_TEST(ran.err == "Error: the output could not be written [IO_ERROR]\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_others_named_cannot_command_the_terminal) {
  write(".terraform.lock.hcl",
        "module \"a\\u001b[2Jb\" {\n  source = \"git::https://example.com/x.git\"\n\n  hashes = [\n    \"h1:x\",\n  "
        "]\n}\n");
  write("main.tf", "");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find('\x1b') == std::string::npos);
  BOOST_TEST(ran.out.find("module.a\\x1b[2Jb  removed") == 0U);
}

BOOST_AUTO_TEST_CASE(closed_descriptors_do_no_harm) {
  write("main.tf", "");
  const Ran ran = program({"sh", "-c", binary + " inspect <&- >&- 2>&-; echo code $?"});
  BOOST_TEST(ran.out == "code 1\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
