#include "backends/providers/local_providers.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

// "<provider> <version> <platform> <path>[ packed]" a line.
std::string found_in(const fs::path& directory) {
  const auto found = find_local_providers(directory);
  if (!found) {
    return std::string(to_string(found.error().code)) + ": " + found.error().message;
  }
  std::string text;
  for (const auto& [provider, packages] : *found) {
    for (const LocalProvider& package : packages) {
      text += provider.to_string() + " " + package.version.to_string() + " " + package.platform.to_string() + " " +
              package.path.lexically_relative(directory).string() + (package.is_packed ? " packed\n" : "\n");
    }
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(local_providers)

BOOST_AUTO_TEST_CASE(both_layouts) {
  struct Row {
    const char* name;
    const char* path;      // a file; with "/" at its end a directory
    const char* expected;  // "" where it is passed over
  };
  const Row rows[] = {
      {"unpacked", "a.io/acme/null/2.0.0/linux_amd64/", "a.io/acme/null 2.0.0 linux_amd64 @\n"},
      {"packed", "a.io/acme/null/terraform-provider-null_2.0.0_linux_amd64.zip",
       "a.io/acme/null 2.0.0 linux_amd64 @ packed\n"},
      {"a prerelease", "a.io/acme/null/2.0.0-beta.1/linux_amd64/", "a.io/acme/null 2.0.0-beta.1 linux_amd64 @\n"},
      {"metadata", "a.io/acme/null/2.0.0+build/linux_amd64/", "a.io/acme/null 2.0.0+build linux_amd64 @\n"},
      {"capitals in a name of an archive", "a.io/acme/null/Terraform-Provider-NULL_2.0.0_Linux_AMD64.ZIP",
       "a.io/acme/null 2.0.0 linux_amd64 @ packed\n"},
      {"more behind the platform", "a.io/acme/null/terraform-provider-null_2.0.0_linux_amd64_v1_x.zip",
       "a.io/acme/null 2.0.0 linux_amd64 @ packed\n"},
      {"capitals in an address", "A.io/ACME/Null/2.0.0/linux_amd64/", "a.io/acme/null 2.0.0 linux_amd64 @\n"},
      {"a port", "a.io:8443/acme/null/2.0.0/linux_amd64/", "a.io:8443/acme/null 2.0.0 linux_amd64 @\n"},
      {"a host in Unicode", "b\u00fccher.example/acme/null/2.0.0/linux_amd64/",
       "b\u00fccher.example/acme/null 2.0.0 linux_amd64 @\n"},
      {"a host in punycode", "xn--bcher-kva.example/acme/null/2.0.0/linux_amd64/", ""},
      {"no host", "acme/null/2.0.0/linux_amd64/", ""},
      {"a namespace that is none", "a.io/ac_me/null/2.0.0/linux_amd64/", ""},
      {"a type that is none", "a.io/acme/nu_ll/2.0.0/linux_amd64/", ""},
      {"a version that is none", "a.io/acme/null/v2.0.0/linux_amd64/", ""},
      {"a platform that is none", "a.io/acme/null/2.0.0/linux/", ""},
      {"a file for a package", "a.io/acme/null/2.0.0/linux_amd64", ""},
      {"a directory for an archive", "a.io/acme/null/terraform-provider-null_2.0.0_linux_amd64.zip/", ""},
      {"an archive of another provider", "a.io/acme/null/terraform-provider-other_2.0.0_linux_amd64.zip", ""},
      {"an archive without platform", "a.io/acme/null/terraform-provider-null_2.0.0.zip", ""},
      {"an archive of a version that is none", "a.io/acme/null/terraform-provider-null_x_linux_amd64.zip", ""},
      {"something else", "a.io/acme/null/terraform-provider-null_2.0.0_SHA256SUMS", ""},
      {"deeper", "a.io/acme/null/2.0.0/x/linux_amd64/", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const std::string path = row.path;
      if (path.ends_with('/')) {
        fs::create_directories(directory / path);
      } else {
        directory.write(path, "");
      }
      std::string expected = row.expected;
      if (const auto at = expected.find('@'); at != std::string::npos) {
        expected.replace(at, 1, path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
      }
      BOOST_TEST(found_in(directory.path()) == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_unpacked_package_precedes_an_archive) {
  const TemporaryDirectory directory;
  directory.write("a.io/acme/null/terraform-provider-null_2.0.0_linux_amd64.zip", "");
  fs::create_directories(directory / "a.io/acme/null/2.0.0/linux_amd64");
  fs::create_directories(directory / "a.io/acme/null/10.0.0/linux_amd64");
  BOOST_TEST(found_in(directory.path()) ==
             "a.io/acme/null 10.0.0 linux_amd64 a.io/acme/null/10.0.0/linux_amd64\n"
             "a.io/acme/null 2.0.0 linux_amd64 a.io/acme/null/2.0.0/linux_amd64\n"
             "a.io/acme/null 2.0.0 linux_amd64 a.io/acme/null/terraform-provider-null_2.0.0_linux_amd64.zip packed\n");
}

BOOST_AUTO_TEST_CASE(links_count_at_both_ends_only) {
  const TemporaryDirectory directory;
  const fs::path real = directory / "real";
  fs::create_directories(real / "a.io/acme/null/2.0.0/linux_amd64");
  fs::create_directories(real / "a.io/acme/linked/1.0.0");
  fs::create_directory_symlink("../../null/2.0.0/linux_amd64", real / "a.io/acme/linked/1.0.0/linux_arm64");
  write_text(directory / "some.zip", "");
  fs::create_symlink(directory / "some.zip", real / "a.io/acme/linked/terraform-provider-linked_1.1.0_linux_amd64.zip");
  fs::create_directory_symlink("1.0.0", real / "a.io/acme/linked/3.0.0");
  fs::create_directory_symlink("null", real / "a.io/acme/other");
  fs::create_directory_symlink("a.io", real / "b.io");
  fs::create_directory_symlink("real", directory / "link");
  BOOST_TEST(found_in(directory / "link") ==
             "a.io/acme/linked 1.0.0 linux_arm64 a.io/acme/linked/1.0.0/linux_arm64\n"
             "a.io/acme/linked 1.1.0 linux_amd64 a.io/acme/linked/terraform-provider-linked_1.1.0_linux_amd64.zip "
             "packed\n"
             "a.io/acme/null 2.0.0 linux_amd64 a.io/acme/null/2.0.0/linux_amd64\n");
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_searched) {
  const TemporaryDirectory directory;
  const std::string missing = (directory / "missing").string();
  BOOST_TEST(found_in(missing) == "IO_ERROR: cannot search " + missing + ": No such file or directory");
  if (::geteuid() != 0) {
    const fs::path closed = directory / "a.io/acme";
    fs::create_directories(closed);
    fs::permissions(closed, fs::perms::none);
    BOOST_TEST(found_in(directory.path()) == "IO_ERROR: cannot search " + closed.string() + ": Permission denied");
    fs::permissions(closed, fs::perms::owner_all);
  }
}

BOOST_AUTO_TEST_SUITE_END()
