#include "backends/package/package_download.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/archive_writer.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

const std::vector<ArchiveEntry> kEntries = {{.name = "main.tf", .content = "# m\n"},
                                            {.name = "sub/x.tf", .content = "# x\n"}};

std::string tar_gz(const std::vector<ArchiveEntry>& entries = kEntries) {
  return compress("gzip", make_tar(entries));
}

struct DownloadFixture {
  std::unique_ptr<PackageDownload> download(PackageDownload::Archive archive = {}) {
    archive.display = "x";
    return std::make_unique<PackageDownload>(parent.path(), std::move(archive), context);
  }

  static void send(PackageDownload& package, std::string_view bytes, std::size_t piece = 7) {
    BOOST_REQUIRE(package.begin(bytes.size()));
    while (!bytes.empty()) {
      BOOST_REQUIRE(package.write(bytes.substr(0, piece)));
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
  }

  // The names below the tree, else the error.
  static std::string outcome(const Result<FetchedTree>& tree) {
    if (!tree) {
      return fmt::format("{}: {}", to_string(tree.error().code), tree.error().message);
    }
    std::string names;
    for (const ArchiveEntry& entry : kEntries) {
      const fs::path path = tree->directory / entry.name;
      const bool is_known = tree->digests.find(path.string()) != tree->digests.end();
      names += fmt::format("{}{} ", entry.name, fs::exists(path) && is_known ? "" : ": missing");
    }
    return names;
  }

  bool is_empty() const { return fs::is_empty(parent.path()); }

  TemporaryDirectory parent;
  Context context;
};

const std::string kBoth = "main.tf sub/x.tf ";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(package_download, DownloadFixture)

BOOST_AUTO_TEST_CASE(brings_every_format) {
  const std::string tar = make_tar(kEntries);
  struct Row {
    const char* name;
    ArchiveFormat format;
    std::string bytes;
  };
  for (const Row& row : {
           Row{"zip", ArchiveFormat::zip, make_zip(kEntries)},
           Row{"tar.gz", ArchiveFormat::tar_gz, compress("gzip", tar)},
           Row{"tar.xz", ArchiveFormat::tar_xz, compress("xz", tar)},
           Row{"tar.bz2", ArchiveFormat::tar_bz2, compress("bzip2", tar)},
       }) {
    for (const bool is_told : {true, false}) {
      BOOST_TEST_CONTEXT(row.name << (is_told ? "" : ", by its first bytes")) {
        auto package = download({.format = is_told ? std::optional(row.format) : std::nullopt, .also = Hash::sha1});
        send(*package, row.bytes);
        const auto digests = package->finish();
        BOOST_REQUIRE(digests);
        BOOST_TEST(digests->sha256 == sha256_hex(row.bytes));
        const auto sha1 = modlock::hash_of(Hash::sha1, row.bytes);
        BOOST_TEST(digests->also == hex(sha1));
        BOOST_TEST((package->format() == row.format));
        const auto tree = package->unpack();
        BOOST_TEST(outcome(tree) == kBoth);
        package.reset();
        BOOST_TEST(outcome(tree) == kBoth);  // the tree stays, the archive goes
        BOOST_TEST(std::distance(fs::directory_iterator(parent.path()), {}) == 1);
        fs::remove_all(tree->directory);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_an_earlier_attempt_brought_is_void) {
  const std::string other = tar_gz({{.name = "other.tf", .content = std::string(100000, 'x')}});
  auto package = download();
  BOOST_REQUIRE(package->begin({}));
  BOOST_REQUIRE(package->write(std::string_view(other).substr(0, 100)));
  send(*package, tar_gz());
  BOOST_TEST(package->finish().value().sha256 == sha256_hex(tar_gz()));
  const auto tree = package->unpack();
  BOOST_TEST(outcome(tree) == kBoth);
  BOOST_TEST(!fs::exists(tree->directory / "other.tf"));
}

BOOST_AUTO_TEST_CASE(an_attempt_may_bring_another_format) {
  auto package = download();
  send(*package, tar_gz());
  send(*package, make_zip(kEntries));
  BOOST_REQUIRE(package->finish());
  BOOST_TEST((package->format() == ArchiveFormat::zip));
  BOOST_TEST(outcome(package->unpack()) == kBoth);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told_once_everything_is_there) {
  auto package = download();
  const std::string bytes = tar_gz({{.name = "../a", .content = std::string(100000, 'x')}});
  send(*package, bytes);
  BOOST_TEST(package->finish().value().sha256 == sha256_hex(bytes));
  BOOST_TEST(outcome(package->unpack()) == R"(ARCHIVE_UNSAFE: the entry "../a" of "x" points outside it with "..")");
  package.reset();
  BOOST_TEST(is_empty());
}

BOOST_AUTO_TEST_CASE(a_ratio_is_judged_by_the_whole_archive) {
  // 17 MiB of nothing lie in front: what has arrived by then is too little for them.
  std::string noise;
  for (std::uint32_t state = 1; noise.size() < (std::size_t{1} << 20U); state = state * 1664525U + 1013904223U) {
    noise += static_cast<char>(state >> 24U);
  }
  const std::string bytes =
      tar_gz({{.name = "a", .content = std::string(std::size_t{17} << 20U, '\0')}, {.name = "b", .content = noise}});
  auto package = download();
  send(*package, bytes, 1000);
  BOOST_REQUIRE(package->finish());
  BOOST_TEST(package->unpack().has_value());
}

BOOST_AUTO_TEST_CASE(goes_with_everything_where_it_is_given_up) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{60}, tar_gz().size()}) {
    auto package = download();
    send(*package, tar_gz().substr(0, size));
    package.reset();
    BOOST_TEST(is_empty());
  }
}

BOOST_AUTO_TEST_CASE(knows_no_format_of_other_content) {
  for (const char* bytes : {"", "B", "<html>sign in</html>"}) {
    auto package = download();
    send(*package, bytes);
    BOOST_REQUIRE(package->finish());
    BOOST_TEST(!package->format().has_value());
  }
}

BOOST_AUTO_TEST_SUITE_END()
