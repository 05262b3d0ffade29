#include "backends/package/unpack.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <stop_token>

#include "tests/backends/package/unpack_fixture.h"
#include "tests/support/zip_builder.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

// Directories that an archive only implies are made as the umask says.
struct UsualUmask {
  UsualUmask() : before(::umask(022)) {}
  ~UsualUmask() { ::umask(before); }
  mode_t before;
};

const std::string kLong = "long/" + std::string(90, 'n');

// What OpenTofu 1.12.6 makes of the same bytes, but for what unpack.h names: the set-user-ID bit, files and directories
// that their owner may not use, version control.
const std::string kZipTree =
    "amiga 400 1\n"
    "back\\slash 644 1\n"
    "dots/ 755\n"
    "dots/file 644 1\n"
    "empty/ 755\n"
    "fat 666 1\n"
    "fat-directory/ 755\n"
    "fat-read-only 444 1\n"
    "implied/ 755\n"
    "implied/by/ 755\n"
    "implied/by/file 644 1\n"
    "late/ 755\n"
    "late/.svn/ 755\n"
    "late/.svn/x 644 1\n"
    "late/CVS 644 1\n"
    "late/file 644 1\n"
    "link 777 main.tf\n"
    "link-out 777 ../../etc/passwd\n"
    "long/ 755\n" +
    kLong + "/ 755\n" + kLong + "/" + std::string(120, 'm') +
    " 644 1\n"
    "mac 640 1\n"
    "main.tf 644 output \"x\" { value = 1 }\n\n"
    "no-mode 400 1\n"
    "no-slash/ 755\n"
    "nothing-in-it 644 \n"
    "ntfs 666 1\n"
    "owner-only 600 1\n"
    "read-only 444 1\n"
    "run.sh 755 1\n"
    "set-user-id 755 1\n"
    "\xc3\xa9t\xc3\xa9 644 1\n";

const std::string kTarTree =
    "back\\slash 644 1\n"
    "hard 640 \n"
    "hard-out 644 \n"
    "implied/ 755\n"
    "implied/by/ 755\n"
    "implied/by/file 644 1\n"
    "late/ 711\n"
    "late/CVS 644 1\n"
    "late/file 644 1\n"
    "link 777 \n"
    "link-out 777 \n"
    "long/ 755\n" +
    kLong + "/ 755\n" + kLong + "/" + std::string(120, 'm') +
    " 644 1\n"
    "main.tf 644 output \"x\" { value = 1 }\n\n"
    "no-mode 400 1\n"
    "nothing-in-it 644 \n"
    "owner-only 600 1\n"
    "read-only/ 755\n"
    "read-only/file 644 1\n"
    "run.sh 755 1\n"
    "set-user-id 755 1\n"
    "twice/ 750\n"
    "\xc3\xa9t\xc3\xa9 644 1\n";

std::string text_of(const std::optional<ArchiveFormat>& format) {
  constexpr const char* kNames[] = {"zip", "tar.gz", "tar.xz", "tar.bz2", "gz", "xz", "bz2"};
  return format ? kNames[static_cast<std::size_t>(*format)] : "none";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack, *boost::unit_test::fixture<UsualUmask>())

BOOST_AUTO_TEST_CASE(finds_the_format_of_a_name) {
  struct Row {
    const char* name;
    const char* by_name;  // as archive=
    const char* by_path;  // at the end of a path
  };
  const Row rows[] = {
      {"zip", "zip", "zip"},
      {"tar.gz", "tar.gz", "tar.gz"},
      {"tgz", "tar.gz", "tar.gz"},
      {"tar.xz", "tar.xz", "tar.xz"},
      {"txz", "tar.xz", "tar.xz"},
      {"tar.bz2", "tar.bz2", "tar.bz2"},
      {"tar.tbz2", "tar.bz2", "tar.bz2"},
      {"gz", "gz", "gz"},
      {"xz", "xz", "xz"},
      {"bz2", "bz2", "bz2"},
      {"tbz2", "none", "none"},
      {"tar", "none", "none"},
      {"tar.zst", "none", "none"},
      {"ZIP", "none", "none"},
      {"true", "none", "none"},
      {"", "none", "none"},
      {"v1.tar.gz", "none", "tar.gz"},
      {"zip/", "none", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text_of(archive_format_of_name(row.name)) == row.by_name);
      BOOST_TEST(text_of(archive_format_of_path(fmt::format("/a/b.{}", row.name))) == row.by_path);
    }
  }
  BOOST_TEST(text_of(archive_format_of_path("zip")) == "none");
  BOOST_TEST(text_of(archive_format_of_path(".zip")) == "zip");
  BOOST_TEST(text_of(archive_format_of_path("/azip")) == "none");
}

BOOST_AUTO_TEST_CASE(finds_the_format_of_content) {
  struct Row {
    const char* name;
    std::string bytes;
    const char* format;
  };
  const std::string tar = make_tar({{.name = "a", .content = "1"}});
  const Row rows[] = {
      {"zip", make_zip({{.name = "a"}}), "zip"},
      {"an empty zip", make_zip({}), "zip"},
      {"gzip", compress("gzip", tar), "tar.gz"},
      {"xz", compress("xz", tar), "tar.xz"},
      {"bzip2", compress("bzip2", tar), "tar.bz2"},
      {"a plain tar", tar, "none"},
      {"nothing", "", "none"},
      {"a web page", "<!doctype html>", "none"},
      {"the start of a magic number", "PK", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text_of(archive_format_of_content(std::string_view(row.bytes).substr(0, 12))) == row.format);
    }
  }
}

BOOST_AUTO_TEST_CASE(unpacks_as_go_getter_does) {
  struct Row {
    const char* name;
    std::string bytes;
    ArchiveFormat format;
    const std::string& tree;
  };
  const std::string pax = make_tar(ordinary_tar_entries(), {.global_comment = "0123456789abcdef"});
  const std::string gnu = make_tar(ordinary_tar_entries(), {.dialect = TarDialect::gnu});
  const Row rows[] = {
      {"zip", make_zip(ordinary_zip_entries()), ArchiveFormat::zip, kZipTree},
      {"tar with pax headers, gzip", compress("gzip", pax), ArchiveFormat::tar_gz, kTarTree},
      {"tar with pax headers, xz", compress("xz", pax), ArchiveFormat::tar_xz, kTarTree},
      {"tar with GNU headers, bzip2", compress("bzip2", gnu), ArchiveFormat::tar_bz2, kTarTree},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Unpacking unpacking(row.bytes);
      const auto done = unpacking.run(row.format);
      BOOST_TEST(done.has_value(), (done ? "" : done.error().message));
      BOOST_TEST(describe_tree(unpacking.tree) == row.tree);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_the_files_of_a_zip_as_its_list_does) {
  Unpacking unpacking(zip_with_unicode_path());
  BOOST_REQUIRE(unpacking.run(ArchiveFormat::zip));
  BOOST_TEST(describe_tree(unpacking.tree) == "name 644 1\n");
}

BOOST_AUTO_TEST_CASE(unpacks_a_zip_behind_a_program) {
  const std::vector<ZipMember> entries = {{.name = "main.tf", .content = "# 1\n"},
                                          {.name = "b", .content = std::string(9000, 'b')}};
  for (const bool counts : {true, false}) {
    Unpacking unpacking(build_zip(entries, {.prefix = "#!/bin/sh\nexit 0\n", .counts_prefix = counts}));
    BOOST_REQUIRE(unpacking.run(ArchiveFormat::zip).has_value());
    BOOST_TEST(read_text(unpacking.tree / "main.tf") == "# 1\n");
    BOOST_TEST(read_text(unpacking.tree / "b") == std::string(9000, 'b'));
  }
}

BOOST_AUTO_TEST_CASE(unpacks_what_is_larger_than_its_pieces) {
  std::string large;
  for (int i = 0; i < 60000; ++i) {
    large += fmt::format("{} ", i);
  }
  const std::vector<ArchiveEntry> entries = {{.name = "stored", .content = large},
                                             {.name = "deflated", .content = large, .zip_method = 8}};
  for (const bool is_zip : {true, false}) {
    Unpacking unpacking(is_zip ? make_zip(entries) : compress("gzip", make_tar(entries)));
    BOOST_REQUIRE(unpacking.run(is_zip ? ArchiveFormat::zip : ArchiveFormat::tar_gz).has_value());
    BOOST_TEST((read_text(unpacking.tree / "stored") == large));
    BOOST_TEST((read_text(unpacking.tree / "deflated") == large));
  }
}

BOOST_AUTO_TEST_CASE(fills_the_holes_of_a_sparse_file) {
  // GNU's format, old style: two pieces of one byte, at 1 and at 700, of a file that ends at 1000.
  std::string tar = make_tar({{.name = "sparse", .content = "ab"}}, {.dialect = TarDialect::gnu});
  std::string header = tar.substr(0, 512);
  header[156] = 'S';
  const std::string map = std::string(
      "00000000001\0"
      "00000000001\0"
      "00000001274\0"
      "00000000001\0",
      48);
  header.replace(386, map.size(), map);
  header.replace(483, 12, std::string("00000001750\0", 12));
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  Unpacking unpacking(compress("gzip", header + tar.substr(512)));
  const auto done = unpacking.run(ArchiveFormat::tar_gz);
  BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  std::string expected(1000, '\0');
  expected[1] = 'a';
  expected[700] = 'b';
  BOOST_TEST((read_text(unpacking.tree / "sparse") == expected));
}

BOOST_AUTO_TEST_CASE(keeps_the_mode_of_the_directory) {
  Unpacking unpacking(compress("gzip", make_tar(ordinary_tar_entries())));
  fs::create_directory(unpacking.tree);
  fs::permissions(unpacking.tree, fs::perms(0750));
  BOOST_REQUIRE(unpacking.run(ArchiveFormat::tar_gz).has_value());
  BOOST_TEST((fs::status(unpacking.tree).permissions() == fs::perms(0750)));
}

BOOST_AUTO_TEST_CASE(ends_when_told) {
  std::stop_source stop;
  stop.request_stop();
  for (const bool is_zip : {true, false}) {
    Unpacking unpacking(is_zip ? make_zip(ordinary_zip_entries()) : compress("gzip", make_tar(ordinary_tar_entries())));
    const auto done =
        unpacking.run(is_zip ? ArchiveFormat::zip : ArchiveFormat::tar_gz, {}, {.stop = stop.get_token()});
    BOOST_REQUIRE(!done.has_value());
    BOOST_TEST((done.error().code == Code::request_cancelled));
    BOOST_TEST(describe_tree(unpacking.tree).empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
