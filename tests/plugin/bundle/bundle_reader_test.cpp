// Packages that are read from a bundle: failures of single blobs.
#include "plugin/bundle/bundle_reader.h"

#include <boost/test/unit_test.hpp>
#include <mutex>
#include <stdexcept>

#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Has one package, whose trees cannot be read.
class ThrowingBundle final : public Bundle {
 public:
  explicit ThrowingBundle(remote::BundledPackage package, std::vector<fs::path>& downloads)
      : package_(std::move(package)), downloads_(downloads) {}

  Result<std::vector<std::string>> tags() override { return std::vector<std::string>{"closure-1"}; }
  Result<std::optional<remote::Closure>> closure(const std::string& /*tag*/) override {
    return remote::Closure{.packages = {package_}};
  }
  Found find_packages(const std::set<remote::BundledPackage>& /*entries*/) override { return {}; }
  Result<std::string> read(const remote::Blob& /*manifest*/, const std::string& /*provider*/) const override {
    return std::string();
  }
  Result<fs::path> find(const remote::Blob& blob, const std::string& /*provider*/,
                        const fs::path& download) const override {
    {
      const std::lock_guard lock(mutex_);
      downloads_.push_back(download);
    }
    return blob == package_.trees ? throw std::runtime_error("no memory") : Result<fs::path>(download);
  }

 private:
  const remote::BundledPackage package_;
  std::vector<fs::path>& downloads_;
  mutable std::mutex mutex_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bundle_reader)

// The download of a package waits for that of its trees.
BOOST_AUTO_TEST_CASE(exception_of_a_download_ends_the_reading, *boost::unit_test::timeout(60)) {
  const TemporaryDirectory directory;
  const Store store = Store::open(directory / "cache").value();
  const ModuleLock entry{.key = "vpc",
                         .source = "git::https://git.example.com/vpc.git",
                         .hashes = {"git:1111111111111111111111111111111111111111", "h1:AAAA="}};
  remote::BundledPackage package = bundled_entry(entry);
  package.layer = remote::blob_of("a package");
  package.trees = remote::blob_of("its trees");
  std::vector<fs::path> downloads;
  BundleReader reader({.open = [&]() -> Result<std::unique_ptr<Bundle>> {
                         return std::make_unique<ThrowingBundle>(package, downloads);
                       },
                       .name = "a bundle",
                       .tag = "closure-1",
                       .modules = {{"vpc", entry}}},
                      store);
  ModuleNode node;
  node.key = "vpc";
  node.address = parse_source(entry.source).value();
  BOOST_CHECK_THROW(reader.find(node, package.h1, Context{}), std::runtime_error);
  // The zip of one package may have the digest of the trees of another one, which are mapped into memory.
  BOOST_REQUIRE(downloads.size() == 2U);
  BOOST_TEST(downloads[0] != downloads[1]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
