// Packages that are packed for a bundle or for a push.
#include "plugin/bundle/bundle_writer.h"

#include <boost/test/unit_test.hpp>

#include "backends/package/tree_hash.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

}  // namespace

BOOST_AUTO_TEST_SUITE(bundle_writer)

// A package that came from a bundle is removed before the push begins.
BOOST_AUTO_TEST_CASE(packages_of_the_store_are_packed_when_they_are_needed) {
  const TemporaryDirectory directory;
  const Store store = Store::open(directory / "cache").value();
  struct Row {
    const char* name;
    BundleWriter::Zips zips;
    fs::path package;
    bool is_written;
  };
  const fs::path stored = store.package_directory() / "x/tree";
  const fs::path extracted = store.make_temporary().value() / "tree";
  for (const Row& row : {Row{"a file", BundleWriter::Zips::now, stored, true},
                         Row{"a push", BundleWriter::Zips::on_demand, stored, false},
                         Row{"a push of a package of a bundle", BundleWriter::Zips::on_demand, extracted, true}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::create_directories(row.package);
      write_text(row.package / "main.tf", "");
      const Context context;
      const std::string h1 = hash_tree(row.package, context).value();
      const ModuleLock entry{.key = "vpc", .source = "https://example.com/vpc.zip", .hashes = {h1, "zh:1"}};
      const BackendSet backends;
      const SourceFetcher fetcher(backends, store, context);
      BundleWriter writer(store, directory / "work", {}, row.zips);
      const auto package = writer.add_package(entry, {.h1 = h1, .package_directory = row.package},
                                              parse_source(entry.source).value(), fetcher, context);
      BOOST_REQUIRE(package.has_value());
      BOOST_TEST(fs::exists(writer.layout().file(package->layer)) == row.is_written);
      const auto zip = writer.layout().layout().value().find(package->layer);
      BOOST_REQUIRE(zip.has_value());
      BOOST_TEST(fs::file_size(*zip) == package->layer.size);
      fs::remove_all(directory / "work");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
