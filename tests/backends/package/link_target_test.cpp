#include "backends/package/tree_scan.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(link_target)

BOOST_AUTO_TEST_CASE(where_links_lead) {
  struct Row {
    const char* name;
    const char* link;  // below root/sub
    const char* target;
    LinkTarget expected;
  };
  const Row rows[] = {
      {"a file beside it", "a", "file", LinkTarget::file},
      {"a file above it", "a", "../top", LinkTarget::file},
      {"dots and doubled slashes", "a", ".././/sub//./file", LinkTarget::file},
      {"through a link to a directory", "a", "../to-sub/file", LinkTarget::file},
      {"up from where a link to a directory leads", "a", "../to-deep/../file-in-deep-parent", LinkTarget::file},
      {"a chain", "a", "../chain", LinkTarget::file},
      {"a directory", "a", "../sub", LinkTarget::directory},
      {"the package itself", "a", "..", LinkTarget::directory},
      {"itself by directory", "a", ".", LinkTarget::directory},
      {"nothing", "a", "none", LinkTarget::nothing},
      {"nothing, and on from there", "a", "none/../none/x", LinkTarget::nothing},
      {"a file as if it were a directory", "a", "file/x", LinkTarget::nothing},
      {"a file and back", "a", "file/../file", LinkTarget::nothing},
      {"version control is not there", "a", "../.git/config", LinkTarget::nothing},
      {"not even as a directory", "a", "../.git", LinkTarget::nothing},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory root;
      write_text(root / "top", "");
      write_text(root / "sub/file", "");
      write_text(root / ".git/config", "");
      write_text(root / "deep/parent/child/x", "");
      write_text(root / "deep/parent/file-in-deep-parent", "");
      fs::create_directory_symlink("sub", root / "to-sub");
      fs::create_directory_symlink("deep/parent/child", root / "to-deep");
      fs::create_symlink("to-sub/../chain-end", root / "chain");
      fs::create_symlink("sub/file", root / "chain-end");
      fs::create_symlink(row.target, root.path() / "sub" / row.link);
      const auto target = follow_link(root.path(), std::string("sub/") + row.link);
      BOOST_REQUIRE_MESSAGE(target.has_value(), (target ? "" : target.error().message));
      BOOST_TEST((*target == row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(links_that_are_refused) {
  struct Row {
    const char* name;
    const char* target;
    const char* why;
  };
  const Row rows[] = {
      {"above the package", "../../outside", "points outside it"},
      {"above and back in", "../../package/top", "points outside it"},
      {"above by a chain", "../up", "points outside it"},
      {"above through a link to a directory", "../to-sub/../../x", "points outside it"},
      {"above by way of nothing", "none/../../../etc/passwd", "points outside it"},
      {"above by way of a file", "../top/../../../x", "points outside it"},
      {"absolute", "/etc/passwd", "points to the absolute path \"/etc/passwd\""},
      {"absolute by a chain", "../root", "points to the absolute path \"/\""},
      {"itself", "link", "points into a cycle of links"},
      {"a circle of two", "../circle", "points into a cycle of links"},
      {"a pipe", "../pipe", "points to a device, a pipe, or a socket"},
      {"a control character", "/a\x1b[2J", "points to the absolute path \"/a\\x1b[2J\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const fs::path root = directory / "package";
      write_text(root / "top", "");
      write_text(root / "sub/file", "");
      write_text(directory / "outside", "");
      fs::create_symlink("../outside", root / "up");
      fs::create_symlink("/", root / "root");
      fs::create_symlink("sub/link", root / "circle");
      fs::create_directory_symlink("sub", root / "to-sub");
      BOOST_REQUIRE(::mkfifo((root / "pipe").c_str(), 0600) == 0);
      fs::create_symlink(row.target, root / "sub/link");
      const auto target = follow_link(root, "sub/link");
      BOOST_REQUIRE(!target.has_value());
      BOOST_TEST(to_string(target.error().code) == "ARCHIVE_UNSAFE");
      BOOST_TEST(target.error().message == std::string("the link \"sub/link\" of the package ") + row.why);
      BOOST_TEST(target.error().hint == "the package cannot be used as it is: ask its author to replace the link");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
