// Disks that refuse: nothing is half written.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"
#include "tests/support/small_disk.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct BadDisk : Scene {
  BadDisk() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0", {{"large.txt", std::string(std::size_t{400} << 10U, 'x')}});
  }
  void configure() const {
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  }
  void check_io_error(const std::vector<std::string>& command, const std::string& named) const {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 1, ran.exit_code << " " << ran.out << ran.err);
    BOOST_TEST(ran.err.find("[IO_ERROR]") != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find(named) != std::string::npos, named << " is not in " << ran.err);
  }
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(bad_disk, BadDisk, *needs(kMount))

BOOST_AUTO_TEST_CASE(a_read_only_root) {
  const SmallDisk disk(root(), 4096);
  configure();
  modlock({"lock", "--install"});
  const std::string before = lock();
  release(vpc, "1.1.0");
  BOOST_REQUIRE(disk.make_read_only());
  check_io_error({"upgrade"}, "<dir>/root");
  BOOST_TEST(lock() == before);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);  // nothing to write
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_read_only_root_without_an_installation) {
  const SmallDisk disk(root(), 4096);
  configure();
  modlock({"lock"});
  BOOST_REQUIRE(disk.make_read_only());
  check_io_error({"install"}, "<dir>/root/.terraform");
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(a_full_disk_below_the_root) {
  const SmallDisk disk(root(), 600);
  configure();
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  const std::string before = lock();
  const std::string manifest = read(".terraform/modules/modules.json");
  release(vpc, "1.1.0", {{"large.txt", std::string(std::size_t{400} << 10U, 'y')}});
  disk.fill();
  check_io_error({"upgrade"}, "<dir>/root");
  BOOST_TEST(lock() == before);
  BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.0.0\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_disk_that_fills_while_installing) {
  const SmallDisk disk(root(), 600);
  configure();
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  release(vpc, "1.1.0", {{"large.txt", std::string(std::size_t{400} << 10U, 'y')}});
  BOOST_REQUIRE(modlock({"upgrade"}).exit_code == 0);
  check_io_error({"install"}, "<dir>/root/.terraform");
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.0.0\"") != std::string::npos);
  BOOST_TEST(fs::file_size(root() / ".terraform/modules/vpc/large.txt") == std::size_t{400} << 10U);
  BOOST_TEST(modlock({"verify"}).exit_code == 3);  // the older version is intact
}

BOOST_AUTO_TEST_CASE(a_full_cache) {
  const SmallDisk disk(cache(), 300);
  configure();
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 1, ran.exit_code << " " << ran.out << ran.err);
  BOOST_TEST(ran.err.find("[IO_ERROR]") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
