#include "backends/providers/provider_mirrors.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/mirror_fixture.h"
#include "tests/support/temporary_directory.h"

using namespace modlock::test;
using namespace modlock;
namespace fs = std::filesystem;

namespace {

struct FilesystemMirrorFixture {
  FilesystemMirrorFixture() : store(Store::open(directory / "store").value()) {}

  std::unique_ptr<ProviderSource> source() { return make_filesystem_mirror(directory / "mirror", archives, store); }
  void put(const std::string& path, std::string_view text) const { directory.write("mirror/" + path, text); }

  TemporaryDirectory directory;
  Store store;
  FakeArchives archives;
  Context context;
};

constexpr const char* kPlaceholder =
    "# This is just a placeholder file for discovery testing, not a real provider plugin.\n";
constexpr const char* kPlaceholderH1 = "h1:qjsREM4DqEWECD43FcPqddZ9oxCG+IaMTxvWPciS05g=";

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

BOOST_FIXTURE_TEST_SUITE(filesystem_mirror, FilesystemMirrorFixture)

BOOST_AUTO_TEST_CASE(lists_what_is_there) {
  put("a.io/acme/null/2.0.0/linux_amd64/terraform-provider-null", "");
  put("a.io/acme/null/2.0.0/darwin_arm64/terraform-provider-null", "");
  put("a.io/acme/null/terraform-provider-null_10.0.0_linux_amd64.zip", "");
  put("a.io/acme/null/10.0.0-rc.1/linux_amd64/terraform-provider-null", "");
  put("a.io/acme/zero/0.0.0/linux_amd64/x", "");
  BOOST_TEST(shown(source()->list_versions(provider("a.io/acme/null"), context)) == "10.0.0 10.0.0-rc.1 2.0.0");
  BOOST_TEST(shown(source()->list_versions(provider("a.io/acme/other"), context)).empty());
  BOOST_TEST(shown(source()->list_versions(provider("a.io/acme/zero"), context)) ==
             "0.0.0 ! Provider a.io/acme/zero has an unspecified (0.0.0) version available in the filesystem mirror, "
             "source at " +
                 (directory / "mirror").string() + ". It will not be used.");
}

// Of a packed provider too, clients record the hash of the directory alone.
BOOST_AUTO_TEST_CASE(records_the_h1_of_the_directory) {
  put("a.io/acme/null/2.0.0/linux_amd64/terraform-provider-null", kPlaceholder);
  put("a.io/acme/null/terraform-provider-null_2.0.0_linux_amd64.zip", "never read");
  put("a.io/acme/null/terraform-provider-null_2.0.0_linux_arm64.zip", "zip");
  const auto mirror = source();
  const std::vector<Platform> platforms = {platform("linux_amd64"), platform("linux_arm64")};
  const auto release = mirror->release(provider("a.io/acme/null"), version("2.0.0"), platforms, context);
  BOOST_TEST(shown(release) == std::string("linux_amd64 ") + kPlaceholderH1 + " = " + kPlaceholderH1 +
                                   "\nlinux_arm64 h1:dir zip = h1:dir zip\n");
  BOOST_TEST(release->packages.at(platforms[1]).zh == zh_of("zip"));
  BOOST_TEST((release->signature.status == ProviderSignature::Status::none));
  for (const char* missing : {"2.0.0", "2.0.1"}) {
    const std::vector<Platform> other = {platform(missing == std::string("2.0.0") ? "windows_386" : "linux_amd64")};
    BOOST_TEST(shown(mirror->release(provider("a.io/acme/null"), version(missing), other, context)) ==
               std::string("NOT_FOUND: provider a.io/acme/null ") + missing + " is not available for " +
                   other[0].to_string());
  }
}

BOOST_AUTO_TEST_CASE(a_linked_package_is_hashed_where_it_lies) {
  directory.write("elsewhere/terraform-provider-null", kPlaceholder);
  fs::create_directories(directory / "mirror/a.io/acme/null/2.0.0");
  fs::create_directory_symlink(directory / "elsewhere", directory / "mirror/a.io/acme/null/2.0.0/linux_amd64");
  const std::vector<Platform> platforms = {platform("linux_amd64")};
  BOOST_TEST(shown(source()->release(provider("a.io/acme/null"), version("2.0.0"), platforms, context)) ==
             std::string("linux_amd64 ") + kPlaceholderH1 + " = " + kPlaceholderH1 + "\n");
}

BOOST_AUTO_TEST_CASE(archive_is_sent) {
  put("a.io/acme/null/terraform-provider-null_1.0.0_linux_amd64.zip", "zip");
  put("a.io/acme/null/2.0.0/linux_amd64/terraform-provider-null", "program");
  BOOST_TEST(downloaded(*source(), "a.io/acme/null", "1.0.0") == "zip");
  BOOST_TEST(downloaded(*source(), "a.io/acme/null", "1.0.0", "darwin_arm64") ==
             "NOT_FOUND: provider a.io/acme/null 1.0.0 is not available for darwin_arm64");
  BOOST_TEST(downloaded(*source(), "a.io/acme/null", "2.0.0") ==
             "SOURCE_UNSUPPORTED: " + (directory / "mirror/a.io/acme/null/2.0.0/linux_amd64").string() +
                 " is a directory instead of an archive");
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_not_there) {
  BOOST_TEST(shown(source()->list_versions(provider("a.io/acme/null"), context)) ==
             "IO_ERROR: cannot search " + (directory / "mirror").string() + ": No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()

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
      {"an underscore in a namespace", "a.io/ac_me/null/2.0.0/linux_amd64/", "a.io/ac_me/null 2.0.0 linux_amd64 @\n"},
      {"an invalid namespace", "a.io/_acme/null/2.0.0/linux_amd64/", ""},
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
