#include "backends/providers/provider_archives.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/mirror_fixture.h"
#include "tests/support/provider_registry.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct ArchivesFixture {
  ArchivesFixture() : store(Store::open(directory / "store").value()) {}

  // "<h1> <archive_h1> <zh>", or the error.
  std::string hashes(ProviderArchives& archives, const std::string& bytes, const std::string& zh = {},
                     const std::string& type = "null") {
    const auto package = archives.hashes_of(
        {.display = "acme/null 1.0.0", .type = type, .zh = zh},
        [&](BodySink& sink) -> Result<void> {
          ++sent;
          // The first attempt is cut off.
          if (auto begun = sink.begin(bytes.size()); !begun) {
            return begun;
          }
          auto ok = sink.write(std::string_view(bytes).substr(0, bytes.size() / 2));
          ok = ok ? sink.begin(bytes.size()) : ok;
          return ok ? sink.write(bytes) : ok;
        },
        context);
    return package ? package->h1 + " " + package->archive_h1 + " " + package->zh
                   : std::string(to_string(package.error().code)) + ": " + package.error().message;
  }

  TemporaryDirectory directory;
  Store store;
  Stats stats;
  Context context{.stats = &stats};
  int sent = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stored_archives, ArchivesFixture)

BOOST_AUTO_TEST_CASE(reads_an_archive_once_for_a_store) {
  const PublishedArchive archive = make_provider_archive("acme/null", "1.0.0", "linux_amd64",
                                                         {{.name = "doc/", .type = ArchiveEntry::Type::directory}});
  const std::string expected = archive.h1 + " " + archive.archive_h1 + " " + archive.zh;
  BOOST_TEST(archive.h1 != archive.archive_h1);
  BOOST_TEST(hashes(*make_stored_archives(store), archive.bytes) == expected);
  const auto again = make_stored_archives(store);
  BOOST_TEST(hashes(*again, archive.bytes, archive.zh) == expected);
  BOOST_TEST(sent == 1);
  BOOST_TEST(stats.cache_hits == 1U);
  BOOST_TEST(hashes(*again, archive.bytes, "zh:" + std::string(64, '0')) == expected);
  BOOST_TEST(hashes(*again, archive.bytes, "zh:../../x") == expected);
  BOOST_TEST(sent == 3);
}

BOOST_AUTO_TEST_CASE(the_program_has_to_be_there_known_or_not) {
  const PublishedArchive archive = make_provider_archive("acme/null", "1.0.0", "linux_amd64");
  const auto archives = make_stored_archives(store);
  const std::string first = hashes(*archives, archive.bytes, archive.zh, "other");
  BOOST_TEST(first.starts_with("BAD_RESPONSE: "));
  BOOST_TEST(first.find("terraform-provider-other") != std::string::npos);
  BOOST_TEST(hashes(*archives, archive.bytes, archive.zh, "other") == first);
  BOOST_TEST(sent == 1);
  BOOST_TEST(hashes(*archives, "no zip").starts_with("BAD_RESPONSE: "));
}

BOOST_AUTO_TEST_SUITE_END()
