// Disks that refuse: nothing is half written.
#include <sys/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iostream>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A small tmpfs on a directory, for as long as the object lives.
class SmallDisk {
 public:
  SmallDisk(fs::path where, const char* size) : where_(std::move(where)) {
    fs::create_directories(where_);
    const std::string options = std::string("size=") + size;
    mounted_ = ::mount("tmpfs", where_.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) {
      ::umount2(where_.c_str(), MNT_DETACH);
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  void make_read_only() const {
    BOOST_REQUIRE(::mount("tmpfs", where_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  }
  void fill() const {
    std::string block(4096, 'x');
    try {
      for (int i = 0; i < 100000; ++i) {
        write_text(where_ / ("filler" + std::to_string(i)), block);
      }
    } catch (const std::runtime_error&) {
    }
  }

 private:
  fs::path where_;
  bool mounted_ = false;
};

boost::test_tools::assertion_result may_mount(boost::unit_test::test_unit_id) {
  const TemporaryDirectory directory;
  if (!SmallDisk(directory / "disk", "64k").mounted()) {
    std::cout << "skipped: full and read-only disks (a tmpfs cannot be mounted here)\n";
    return false;
  }
  return true;
}

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

BOOST_FIXTURE_TEST_SUITE(bad_disk, BadDisk, *boost::unit_test::precondition(may_mount))

BOOST_AUTO_TEST_CASE(a_read_only_root) {
  const SmallDisk disk(root(), "4m");
  configure();
  modlock({"lock", "--install"});
  const std::string before = lock();
  release(vpc, "1.1.0");
  disk.make_read_only();
  check_io_error({"upgrade"}, "<dir>/root");
  BOOST_TEST(lock() == before);
  BOOST_TEST(modlock({"lock"}).exit_code == 0);  // nothing to write
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_read_only_root_without_an_installation) {
  const SmallDisk disk(root(), "4m");
  configure();
  modlock({"lock"});
  disk.make_read_only();
  check_io_error({"install"}, "<dir>/root/.terraform");
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(a_full_disk_below_the_root) {
  const SmallDisk disk(root(), "600k");
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
  const SmallDisk disk(root(), "600k");
  configure();
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  release(vpc, "1.1.0", {{"large.txt", std::string(std::size_t{400} << 10U, 'y')}});
  BOOST_REQUIRE(modlock({"upgrade"}).exit_code == 0);
  check_io_error({"install"}, "<dir>/root/.terraform");
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.0.0\"") != std::string::npos);
  BOOST_TEST(fs::file_size(root() / ".terraform/modules/vpc/large.txt") == std::size_t{400} << 10U);
  BOOST_TEST(modlock({"verify"}).exit_code == 4);  // what lies there is not what is locked
}

BOOST_AUTO_TEST_CASE(a_full_cache) {
  const SmallDisk disk(cache(), "300k");
  configure();
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 1, ran.exit_code << " " << ran.out << ran.err);
  BOOST_TEST(ran.err.find("[IO_ERROR]") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
