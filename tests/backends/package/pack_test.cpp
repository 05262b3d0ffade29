#include "backends/package/pack.h"

#include <boost/test/unit_test.hpp>
#include <ctime>

#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

struct PackFixture {
  std::string packed;
  std::size_t largest_piece = 0;

  Result<void> pack(const std::string& h1) {
    return pack_tar_gz(
        directory / "tree", h1,
        [&](std::string_view piece) {
          packed += piece;
          largest_piece = std::max(largest_piece, piece.size());
          return true;
        },
        Context{});
  }
  std::string h1() const { return hash_tree(directory / "tree", Context{}).value_or("none"); }

  TemporaryDirectory directory;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pack, PackFixture)

BOOST_AUTO_TEST_CASE(unpacked_it_has_the_same_h1) {
  directory.write("tree/main.tf", "# main\n");
  directory.write("tree/run.sh", "#!/bin/sh\n");
  fs::permissions(directory / "tree/run.sh", fs::perms::owner_all);
  directory.write("tree/empty", "");
  directory.write("tree/.hidden", "x");
  directory.write("tree/.git/config", "not of the package");
  directory.write("tree/\xc3\xbc/" + std::string(150, 'n') + "/" + std::string(150, 'm'), "deep");
  directory.write("tree/large", std::string(3'000'000, 'l'));
  fs::create_symlink("main.tf", directory / "tree/file-link");
  fs::create_directory_symlink("\xc3\xbc", directory / "tree/directory-link");
  BOOST_REQUIRE(pack(h1()).has_value());
  BOOST_TEST(largest_piece <= 64U << 10U);
  directory.write("packed.tar.gz", packed);
  fs::create_directory(directory / "again");
  const auto unpacked =
      unpack_archive(directory / "packed.tar.gz", ArchiveFormat::tar_gz, directory / "again", "it", Context{});
  BOOST_REQUIRE_MESSAGE(unpacked.has_value(), (unpacked ? std::string() : unpacked.error().message));
  BOOST_TEST(hash_tree(directory / "again", Context{}).value_or("none") == h1());
  BOOST_TEST(!fs::exists(directory / "again/.git"));
  BOOST_TEST(((fs::status(directory / "again/run.sh").permissions() & fs::perms::owner_exec) != fs::perms::none));
  BOOST_TEST(((fs::status(directory / "again/main.tf").permissions() & fs::perms::owner_exec) == fs::perms::none));
}

BOOST_AUTO_TEST_CASE(zip_has_the_same_h1_and_the_same_bytes) {
  directory.write("tree/main.tf", "# main\n");
  directory.write("tree/run.sh", "#!/bin/sh\n");
  fs::permissions(directory / "tree/run.sh", fs::perms::owner_all);
  directory.write("tree/empty", "");
  directory.write("tree/\xc3\xbc/deep", std::string(300'000, 'd'));
  fs::create_symlink("main.tf", directory / "tree/file-link");
  const auto zip = [&] {
    std::string bytes;
    const auto done = pack_zip(
        directory / "tree", h1(),
        [&](std::string_view piece) {
          bytes += piece;
          return true;
        },
        Context{});
    BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? std::string() : done.error().message));
    return bytes;
  };
  const std::string first = zip();
  BOOST_TEST(first.size() < 10'000U);
  directory.write("packed.zip", first);
  fs::create_directory(directory / "again");
  const auto unpacked =
      unpack_archive(directory / "packed.zip", ArchiveFormat::zip, directory / "again", "it", Context{});
  BOOST_REQUIRE_MESSAGE(unpacked.has_value(), (unpacked ? std::string() : unpacked.error().message));
  BOOST_TEST(hash_tree(directory / "again", Context{}).value_or("none") == h1());
  BOOST_TEST(((fs::status(directory / "again/run.sh").permissions() & fs::perms::owner_exec) != fs::perms::none));
  fs::last_write_time(directory / "tree/main.tf", fs::file_time_type{});
  const ScopedEnvironment zone("TZ", "Pacific/Kiritimati");
  ::tzset();
  BOOST_TEST((zip() == first));
}

BOOST_AUTO_TEST_CASE(the_same_tree_gives_the_same_bytes) {
  directory.write("tree/a", "a");
  BOOST_REQUIRE(pack(h1()).has_value());
  const std::string first = std::exchange(packed, "");
  fs::last_write_time(directory / "tree/a", fs::file_time_type{});
  BOOST_REQUIRE(pack(h1()).has_value());
  BOOST_TEST((packed == first));
}

BOOST_AUTO_TEST_CASE(a_damaged_package_is_cut_off) {
  directory.write("tree/a", "a");
  const std::string locked = h1();
  directory.write("tree/a", "b");
  const auto refused = pack(locked);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "HASH_MISMATCH");
  BOOST_TEST(refused.error().message == "a cached package is damaged: expected " + locked + ", got " + h1());
  directory.write("packed.tar.gz", packed);
  fs::create_directory(directory / "again");
  BOOST_TEST(!unpack_archive(directory / "packed.tar.gz", ArchiveFormat::tar_gz, directory / "again", "it", Context{}));
}

BOOST_AUTO_TEST_CASE(ends_where_nobody_wants_more) {
  directory.write("tree/a", std::string(1'000'000, 'a'));
  int pieces = 0;
  const auto ended = pack_tar_gz(
      directory / "tree", h1(),
      [&](std::string_view /*piece*/) {
        ++pieces;
        return false;
      },
      Context{});
  BOOST_REQUIRE(!ended);
  BOOST_TEST(to_string(ended.error().code) == "IO_ERROR");
  BOOST_TEST(pieces == 1);
}

BOOST_AUTO_TEST_CASE(a_link_out_of_the_package_is_refused) {
  directory.write("tree/a", "a");
  fs::create_symlink("/etc/passwd", directory / "tree/out");
  const auto refused = pack("h1:x");
  BOOST_REQUIRE(!refused);
  BOOST_TEST(to_string(refused.error().code) == "ARCHIVE_UNSAFE");
  BOOST_TEST(packed == "");
}

BOOST_AUTO_TEST_SUITE_END()
