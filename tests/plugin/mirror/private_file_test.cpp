#include "plugin/mirror/private_file.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

namespace {

unsigned mode_of(const std::filesystem::path& path) {
  struct stat found {};
  BOOST_REQUIRE(::stat(path.c_str(), &found) == 0);
  return found.st_mode & 07777U;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(private_file)

BOOST_AUTO_TEST_CASE(is_its_owners_alone_and_goes_with_the_object) {
  const TemporaryDirectory directory;
  const ScopedEnvironment temporary("TMPDIR", directory.path().string());
  {
    const auto file = PrivateFile::create("rc", "secret");
    BOOST_REQUIRE(file.has_value());
    BOOST_TEST(read_text(file->path()) == "secret");
    BOOST_TEST(mode_of(file->path()) == 0600U);
    BOOST_TEST(mode_of(file->path().parent_path()) == 0700U);
    BOOST_TEST(file->path().parent_path().parent_path() == directory.path());
  }
  BOOST_TEST(std::filesystem::is_empty(directory.path()));
}

BOOST_AUTO_TEST_CASE(needs_a_directory) {
  const ScopedEnvironment temporary("TMPDIR", "/nonexistent/directory");
  const auto refused = PrivateFile::create("rc", "secret");
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "IO_ERROR");
}

BOOST_AUTO_TEST_SUITE_END()
