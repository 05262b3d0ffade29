#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "backends/base/descriptor.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "tests/support/needs.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::kMount;
using modlock::test::mode_of;
using modlock::test::needs;
using modlock::test::SmallDisk;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

namespace {

struct stat status_of(const fs::path& path) {
  struct stat found {};
  BOOST_REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found;
}

// A file system that can share the blocks of two files: xfs in a file, on a loop device.
class ReflinkDisk {
 public:
  ReflinkDisk() {
    fs::create_directory(path());
    const std::string image = (directory_ / "image").string();
    const std::string command = "{ truncate -s 300M " + image + " && mkfs.xfs -q -m reflink=1 " + image +
                                " && mount -o loop,nouuid " + image + " " + path().string() + "; } >/dev/null 2>&1";
    mounted_ = std::system(command.c_str()) == 0;
  }
  ~ReflinkDisk() {
    if (mounted_) {
      ::umount2(path().c_str(), MNT_DETACH);
    }
  }
  ReflinkDisk(const ReflinkDisk&) = delete;
  ReflinkDisk& operator=(const ReflinkDisk&) = delete;

  bool mounted() const { return mounted_; }
  fs::path path() const { return directory_ / "disk"; }

 private:
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

bool shares_blocks(const fs::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ::fsync(opened.get());
  alignas(fiemap) std::array<char, sizeof(fiemap) + sizeof(fiemap_extent)> room{};
  auto* map = reinterpret_cast<fiemap*>(room.data());
  map->fm_length = FIEMAP_MAX_OFFSET;
  map->fm_extent_count = 1;
  BOOST_REQUIRE(::ioctl(opened.get(), FS_IOC_FIEMAP, map) == 0);
  return map->fm_mapped_extents == 1 && (map->fm_extents[0].fe_flags & FIEMAP_EXTENT_SHARED) != 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(copy_tree_linux)

// It is skipped with its reason only if the machine cannot mount such a file system.
BOOST_AUTO_TEST_CASE(a_copy_shares_its_blocks_if_the_file_system_can) {
  const ReflinkDisk disk;
  if (!disk.mounted()) {
    BOOST_TEST_MESSAGE("reflinks are not tested: mkfs.xfs and mounting it on a loop device are needed");
    return;
  }
  write_text(disk.path() / "from/large", std::string(100000, 'l'));
  write_text(disk.path() / "from/empty", "");
  FileDigests digests;
  BOOST_REQUIRE(copy_tree(disk.path() / "from", disk.path() / "to", &digests).has_value());
  BOOST_TEST(digests.empty());
  BOOST_TEST(shares_blocks(disk.path() / "to/large"));
  write_text(disk.path() / "to/large", std::string(100000, 'm'));
  BOOST_TEST((read_file(disk.path() / "from/large") == std::string(100000, 'l')));
}

BOOST_AUTO_TEST_CASE(copies_content_and_links) {
  const TemporaryDirectory directory;
  const fs::path from = directory / "from";
  const std::string large(5000000, 'l');
  write_text(from / "main.tf", "content");
  write_text(from / "empty", "");
  write_text(from / "large", large);
  write_text(from / "sub/run.sh", "#!/bin/sh\n");
  write_text(from / "closed/file", "inside");
  fs::create_directory(from / "nothing");
  fs::create_symlink("sub/run.sh", from / "link");
  fs::create_directory_symlink("sub", from / "directory-link");
  fs::create_symlink("../../nowhere", from / "dangling");
  ::chmod((from / "closed").c_str(), 0555);

  const fs::path to = directory / "to";
  FileDigests digests;
  BOOST_REQUIRE(copy_tree(from, to, &digests).has_value());
  // Reflinks bring none, for no byte passes here.
  BOOST_TEST((digests.empty() || digests.size() == 5U), digests.size());
  for (const auto& [path, digest] : digests) {
    BOOST_TEST((sha256_file(path).value() == digest), path);
  }
  BOOST_TEST(read_file(to / "main.tf").value() == "content");
  BOOST_TEST(read_file(to / "empty").value().empty());
  BOOST_TEST((read_file(to / "large") == large));
  BOOST_TEST(read_file(to / "closed/file").value() == "inside");
  BOOST_TEST(fs::is_directory(to / "nothing"));
  BOOST_TEST(fs::read_symlink(to / "link") == "sub/run.sh");
  BOOST_TEST(fs::read_symlink(to / "directory-link") == "sub");
  BOOST_TEST(fs::read_symlink(to / "dangling") == "../../nowhere");
  BOOST_TEST(status_of(to / "main.tf").st_nlink == 1U);
  BOOST_TEST(status_of(to / "main.tf").st_ino != status_of(from / "main.tf").st_ino);
}

BOOST_AUTO_TEST_CASE(entries_can_be_left_out_by_name) {
  const TemporaryDirectory directory;
  write_text(directory / "from/sub/.terraform/x", "x");
  write_text(directory / "from/sub/terraform", "y");
  BOOST_REQUIRE(copy_tree(directory / "from", directory / "to", nullptr, {".terraform"}).has_value());
  BOOST_TEST(!fs::exists(directory / "to/sub/.terraform"));
  BOOST_TEST(read_file(directory / "to/sub/terraform").value() == "y");
}

BOOST_AUTO_TEST_CASE(modes_are_those_of_an_installation) {
  struct Row {
    const char* name;
    mode_t mode;
    mode_t expected;
  };
  const Row rows[] = {{"readable", 0644, 0644},
                      {"private", 0600, 0644},
                      {"read-only", 0444, 0644},
                      {"for others only", 0604, 0644},
                      {"writable by the group", 0664, 0644},
                      {"writable by everybody", 0666, 0644},
                      {"executable", 0755, 0755},
                      {"executable by its owner", 0700, 0755},
                      {"executable by others only", 0655, 0644},
                      {"everything", 07777, 0755}};
  for (const mode_t umask : {mode_t{0}, mode_t{022}, mode_t{077}}) {
    const TemporaryDirectory directory;
    for (const Row& row : rows) {
      write_text(directory / "from" / row.name / "file", "");
      ::chmod((directory / "from" / row.name / "file").c_str(), row.mode);
      ::chmod((directory / "from" / row.name).c_str(), row.mode | S_IRUSR | S_IXUSR);
    }
    const mode_t before = ::umask(umask);
    const auto copied = copy_tree(directory / "from", directory / "to");
    ::umask(before);
    BOOST_REQUIRE(copied.has_value());
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(row.name << ", umask " << umask) {
        BOOST_TEST(mode_of(directory / "to" / row.name / "file") == row.expected);
        BOOST_TEST(mode_of(directory / "to" / row.name) == 0755U);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(leaves_only_git_entries_out) {
  const TemporaryDirectory directory;
  write_text(directory / "from/.git/config", "");
  write_text(directory / "from/sub/.git", "gitdir: ../.git/modules/sub\n");
  write_text(directory / "from/sub/CVS/Root", "");
  write_text(directory / "from/.gitignore", "");
  BOOST_REQUIRE(copy_tree(directory / "from", directory / "to").has_value());
  BOOST_TEST(!fs::exists(directory / "to/.git"));
  BOOST_TEST(!fs::exists(directory / "to/sub/.git"));
  BOOST_TEST(fs::exists(directory / "to/sub/CVS/Root"));
  BOOST_TEST(fs::exists(directory / "to/.gitignore"));
}

BOOST_AUTO_TEST_CASE(copies_from_another_file_system, *needs(kMount)) {
  const SmallDisk disk;
  const TemporaryDirectory directory;
  write_text(disk / "from/a/b", std::string(10000, 'b'));
  BOOST_REQUIRE(copy_tree(disk / "from", directory / "to").has_value());
  BOOST_TEST((read_file(directory / "to/a/b") == std::string(10000, 'b')));
}

BOOST_AUTO_TEST_CASE(a_copy_that_fails_leaves_nothing) {
  const TemporaryDirectory directory;
  write_text(directory / "from/a/file", "");
  BOOST_REQUIRE(::mkfifo((directory / "from/a/pipe").c_str(), 0600) == 0);
  const auto copied = copy_tree(directory / "from", directory / "to");
  BOOST_REQUIRE(!copied.has_value());
  BOOST_TEST(to_string(copied.error().code) == "IO_ERROR");
  BOOST_TEST(copied.error().message ==
             "cannot copy \"" + (directory / "from/a/pipe").string() + "\": neither a file nor a directory nor a link");
  BOOST_TEST(!fs::exists(directory / "to"));
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_nothing, *needs(kMount)) {
  const SmallDisk disk;
  const TemporaryDirectory directory;
  write_text(directory / "from/a/large", std::string(200000, 'x'));
  const auto copied = copy_tree(directory / "from", disk / "to");
  BOOST_REQUIRE(!copied.has_value());
  BOOST_TEST(to_string(copied.error().code) == "IO_ERROR");
  BOOST_TEST(copied.error().message ==
             "cannot write \"" + (disk / "to/a/large").string() + "\": No space left on device");
  BOOST_TEST(!fs::exists(disk / "to"));
}

BOOST_AUTO_TEST_CASE(refuses_wrong_ends) {
  const TemporaryDirectory directory;
  write_text(directory / "from/file", "");
  write_text(directory / "there/precious", "");
  struct Row {
    const char* name;
    const char* from;
    const char* to;
    std::string message;
  };
  const auto quoted = [&](const char* name) { return "\"" + (directory / name).string() + "\""; };
  const Row rows[] = {
      {"target exists", "from", "there", "cannot make the directory " + quoted("there") + ": File exists"},
      {"source is a file", "from/file", "to", "cannot read the directory " + quoted("from/file") + ": Not a directory"},
      {"source is absent", "none", "to", "cannot read " + quoted("none") + ": No such file or directory"},
      {"no parent", "from", "none/to",
       "cannot make the directory " + quoted("none/to") + ": No such file or directory"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto copied = copy_tree(directory / row.from, directory / row.to);
      BOOST_REQUIRE(!copied.has_value());
      BOOST_TEST(to_string(copied.error().code) == "IO_ERROR");
      BOOST_TEST(copied.error().message == row.message);
    }
  }
  BOOST_TEST(fs::exists(directory / "there/precious"));
}

BOOST_AUTO_TEST_SUITE_END()
