#include "backends/package/provider_directory.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(provider_directory)

// What dirhash.HashDir(directory, "", dirhash.Hash1) of golang.org/x/mod prints for the same trees; the second is a
// fixture of OpenTofu's own tests.
BOOST_AUTO_TEST_CASE(hashes_as_go_does) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> make;
    const char* h1;
  };
  const Row rows[] = {
      {"nothing", [](const fs::path&) {}, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
      {"OpenTofu's placeholder of null 2.0.0",
       [](const fs::path& root) {
         write_text(root / "terraform-provider-null",
                    "# This is just a placeholder file for discovery testing, not a real provider plugin.\n");
       },
       "h1:qjsREM4DqEWECD43FcPqddZ9oxCG+IaMTxvWPciS05g="},
      {"a program and a text",
       [](const fs::path& root) {
         write_text(root / "terraform-provider-null", "x");
         write_text(root / "README.md", "read me\n");
       },
       "h1:sw4rMOaEaUImHPyPa9XI3jIZ592WswOd6MhTtXCe8uA="},
      {"what a module would leave out",
       [](const fs::path& root) {
         write_text(root / "terraform-provider-null", "x");
         write_text(root / ".git/HEAD", "ref: refs/heads/main\n");
         write_text(root / "CVS/Entries", "e");
         write_text(root / ".gitignore", "g");
       },
       "h1:E+27IjBj6/KiVmNlJq/7aTdbDBDZvgRUgb1C9w3ZR2c="},
      {"links within and out of the package",
       [](const fs::path& root) {
         write_text(root.parent_path() / "outside", "outside");
         write_text(root / "in/a", "x");
         fs::create_symlink("in/a", root / "b");
         fs::create_symlink("../outside", root / "c");
       },
       "h1:Ftowb9IFN17t/RrbBxxp5exFbyCxUjN/DBakidU4hGE="},
      {"empty directories",
       [](const fs::path& root) {
         write_text(root / "f", "x");
         fs::create_directories(root / "a/b");
       },
       "h1:6T8Gic8M4DDwTY8+oTN+owaR301vlr/vcfPMRvifVVM="},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const fs::path package = directory / "package";
      fs::create_directory(package);
      row.make(package);
      BOOST_TEST(hash_provider_directory(package, Context{}).value() == row.h1);
      fs::create_directory_symlink("package", directory / "link");
      BOOST_TEST(hash_provider_directory(directory / "link", Context{}).value() == row.h1);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_what_cannot_be_hashed) {
  struct Row {
    const char* name;
    std::function<void(const fs::path&)> make;
    Code code;
    const char* message;  // "@" is the package
  };
  const Row rows[] = {
      {"a link to a directory",
       [](const fs::path& root) {
         fs::create_directory(root / "d");
         fs::create_directory_symlink("d", root / "link");
       },
       Code::io_error, "cannot read the target of the link \"@/link\": Is a directory"},
      {"a dangling link", [](const fs::path& root) { fs::create_symlink("nothing", root / "link"); }, Code::io_error,
       "cannot follow the link \"@/link\": No such file or directory"},
      {"a link to a pipe",
       [](const fs::path& root) {
         BOOST_REQUIRE(::mkfifo((root.parent_path() / "pipe").c_str(), 0600) == 0);
         fs::create_symlink("../pipe", root / "link");
       },
       Code::io_error, "cannot read the target of the link \"@/link\": Invalid argument"},
      {"a pipe", [](const fs::path& root) { BOOST_REQUIRE(::mkfifo((root / "pipe").c_str(), 0600) == 0); },
       Code::archive_unsafe, "the entry \"pipe\" of the package is a device, a pipe or a socket"},
      {"a line break in a name", [](const fs::path& root) { write_text(root / "a\nb", ""); }, Code::archive_unsafe,
       "the entry \"a\\x0ab\" of the package has a line break in its name"},
      {"no directory",
       [](const fs::path& root) {
         fs::remove(root);
         write_text(root, "");
       },
       Code::io_error, "cannot read the directory \"@\": Not a directory"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const fs::path package = directory / "package";
      fs::create_directory(package);
      row.make(package);
      const auto hash = hash_provider_directory(package, Context{});
      BOOST_REQUIRE(!hash);
      BOOST_TEST((hash.error().code == row.code));
      std::string expected = row.message;
      if (const auto at = expected.find('@'); at != std::string::npos) {
        expected.replace(at, 1, package.string());
      }
      BOOST_TEST(hash.error().message == expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
