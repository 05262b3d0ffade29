// What every start pays for.

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {

BOOST_FIXTURE_TEST_SUITE(start, Scene)

BOOST_AUTO_TEST_CASE(libraries_of_few_commands_are_not_loaded) {
  environment["LD_TRACE_LOADED_OBJECTS"] = "1";  // the loader lists them instead of running the program
  const Ran ran = modlock({"--version"});
  BOOST_TEST(ran.out.find("libc.so.") != std::string::npos, ran.out);
  for (const char* library : {"libarchive", "libcpp-httplib", "libcrypto", "libcurl", "libgit2", "libidn2", "liblzma",
                              "librnp", "libssl", "libzip"}) {
    BOOST_TEST(ran.out.find(library) == std::string::npos, library);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
