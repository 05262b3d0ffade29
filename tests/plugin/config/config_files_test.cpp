#include "plugin/config/config_files.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

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

BOOST_AUTO_TEST_CASE(sizes) {
  constexpr std::size_t kMost = hcl::kMaxTextBytes;
  const auto sized = [](std::size_t size) { return "#" + std::string(size - 2, ' ') + "\n"; };
  struct Row {
    const char* name;
    std::vector<std::size_t> files;
    bool overlaid;
    const char* expected;
  };
  const Row rows[] = {
      {"the largest file", {kMost}, false, ""},
      {"a larger file",
       {kMost + 1},
       false,
       "LIMIT_EXCEEDED the file \"@/0.tf\" has 16777217 bytes, at most 16777216 are read"},
      {"a larger document",
       {kMost + 1},
       true,
       "LIMIT_EXCEEDED expected a text of at most 16777216 bytes, found 16777217"},
      {"the largest module", {kMost, kMost, kMost, kMost}, false, ""},
      {"a larger module",
       {kMost, kMost, kMost, kMost, 2},
       false,
       "LIMIT_EXCEEDED the files of this module have more than 67108864 bytes"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory directory;
      Documents documents;
      for (std::size_t i = 0; i < row.files.size(); ++i) {
        const std::string name = std::to_string(i) + ".tf";
        if (row.overlaid) {
          documents.emplace(directory / name, sized(row.files[i]));
        } else {
          directory.write(name, sized(row.files[i]));
        }
      }
      const auto files =
          read_config_files(directory.path(), directory.path(), documents, ConfigKind::module, ClientKind::opentofu);
      std::string found;
      const auto add = [&](const Error& error) { found += std::string(to_string(error.code)) + " " + error.message; };
      if (!files) {
        add(files.error());
      } else {
        for (const ConfigText& file : *files) {
          for (const Diagnostic& one : file.parsed.diagnostics) {
            add(one.what);
          }
        }
      }
      if (const auto at = found.find(directory.path().string()); at != std::string::npos) {
        found.replace(at, directory.path().string().size(), "@");
      }
      BOOST_TEST(found == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
