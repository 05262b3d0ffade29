#include "plugin/config/config_files.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(config_files)

BOOST_AUTO_TEST_CASE(relative_paths) {
  BOOST_TEST(relative_to_root("/a/b/main.tf", "/a/b") == "main.tf");
  BOOST_TEST(relative_to_root("/a/b/../c/x.tf", "/a/b/") == "../c/x.tf");
  BOOST_TEST(relative_to_root("/a/b", "/a/b") == ".");
  BOOST_TEST(relative_to_root("/a/bc/x.tf", "/a/b") == "../bc/x.tf");
  BOOST_TEST(relative_to_root("/a/b/c/x.tf", "/a") == "b/c/x.tf");
  BOOST_TEST(relative_to_root("/a/x.tf", "/") == "a/x.tf");
  BOOST_TEST(document_path("/a/b").string() == "/a/b");
  BOOST_TEST(document_path("/a/b/").string() == "/a/b");
  BOOST_TEST(document_path("/a//b/./c/../d").string() == "/a/b/d");
  BOOST_TEST(document_path("/").string() == "/");
  BOOST_TEST(document_path("/..").string() == "/");
  BOOST_TEST(document_path("x").string() == (std::filesystem::current_path() / "x").string());
}

BOOST_AUTO_TEST_SUITE_END()
