#include "backends/providers/filesystem_mirror.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/mirror_fixture.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  Fixture() : store(Store::open(directory / "store").value()) {}

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

}  // namespace

BOOST_FIXTURE_TEST_SUITE(filesystem_mirror, Fixture)

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

BOOST_AUTO_TEST_CASE(a_directory_that_is_not_there) {
  BOOST_TEST(shown(source()->list_versions(provider("a.io/acme/null"), context)) ==
             "IO_ERROR: cannot search " + (directory / "mirror").string() + ": No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
