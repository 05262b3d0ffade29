// What no archive may do, and what none may be.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/package/unpack.h"
#include "backends/package/unpack_tree.h"
#include "tests/backends/package/unpack_fixture.h"
#include "tests/support/run.h"
#include "tests/support/zip_builder.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;
using Type = ArchiveEntry::Type;

namespace {

std::string gzipped(const std::vector<ArchiveEntry>& entries) {
  return compress("gzip", make_tar(entries));
}

std::string without_end(std::string bytes, std::size_t cut) {
  bytes.resize(bytes.size() - cut);
  return bytes;
}

std::string with_flip(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_hostile)

BOOST_AUTO_TEST_CASE(refuses_unsafe_entries_in_every_format) {
  struct Row {
    const char* name;
    std::vector<ArchiveEntry> entries;
    const char* expected;
  };
  using namespace std::string_literals;
  const Row rows[] = {
      {"up",
       {{.name = "a/../../b"}},
       R"(the entry "a/../../b" of "https://example.com/x" points outside it with "..")"},
      {"up with backslashes",
       {{.name = "..\\b"}},
       R"(the entry "..\b" of "https://example.com/x" points outside it with "..")"},
      {"absolute", {{.name = "/tmp/b"}}, R"(the entry "/tmp/b" of "https://example.com/x" has an absolute path)"},
      {"twice",
       {{.name = "a", .content = "1"}, {.name = "./a", .content = "2"}},
       R"(the entry "./a" of "https://example.com/x" occurs twice)"},
      {"below a file",
       {{.name = "a"}, {.name = "a/b"}},
       R"(the entry "a/b" of "https://example.com/x" is below a file)"},
      {"below a link",
       {{.name = "a", .content = "/tmp", .type = Type::symbolic_link}, {.name = "a/b"}},
       R"(the entry "a/b" of "https://example.com/x" is below a file)"},
      {"over a link",
       {{.name = "a", .content = "/tmp/b", .type = Type::symbolic_link}, {.name = "a", .content = "1"}},
       R"(the entry "a" of "https://example.com/x" occurs twice)"},
      {"a character device",
       {{.name = "a", .type = Type::character_device}},
       R"(the entry "a" of "https://example.com/x" is a device, a pipe or a socket)"},
      {"a block device",
       {{.name = "a", .type = Type::block_device}},
       R"(the entry "a" of "https://example.com/x" is a device, a pipe or a socket)"},
      {"a pipe",
       {{.name = "a", .type = Type::pipe}},
       R"(the entry "a" of "https://example.com/x" is a device, a pipe or a socket)"},
      {"no name", {{.name = "."}}, R"(the entry "." of "https://example.com/x" is a file without a name)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Unpacking zip(make_zip(row.entries));
      BOOST_TEST(outcome(zip.run(ArchiveFormat::zip)) == fmt::format("ARCHIVE_UNSAFE: {}", row.expected));
      Unpacking tar(gzipped(row.entries));
      BOOST_TEST(outcome(tar.run(ArchiveFormat::tar_gz)) == fmt::format("ARCHIVE_UNSAFE: {}", row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(says_what_to_do) {
  Unpacking unpacking(make_zip({{.name = "../a"}}));
  const auto done = unpacking.run(ArchiveFormat::zip);
  BOOST_REQUIRE(!done.has_value());
  BOOST_TEST(done.error().hint == "the archive cannot be used as it is: ask its author for another one");
}

BOOST_AUTO_TEST_CASE(refuses_a_nul_in_a_zip) {
  using namespace std::string_literals;
  Unpacking unpacking(make_zip({{.name = "main.tf\0.txt"s}}));
  BOOST_TEST(outcome(unpacking.run(ArchiveFormat::zip)) ==
             R"(ARCHIVE_UNSAFE: the entry "main.tf\x00.txt" of "https://example.com/x" has a NUL in its name)");
}

BOOST_AUTO_TEST_CASE(refuses_bombs) {
  struct Row {
    const char* name;
    ArchiveFormat format;
    std::string bytes;
    UnpackLimits limits;
    const char* expected;
  };
  const std::string zeros(std::size_t{17} << 20U, '\0');
  const std::vector<ArchiveEntry> three = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  const Row rows[] = {
      {"ratio of a zip",
       ArchiveFormat::zip,
       make_zip({{.name = "a", .content = zeros, .zip_method = 8}}),
       {},
       R"(the entry "a" of "https://example.com/x" unpacks to over 200 times the size of the archive)"},
      {"ratio of a tar",
       ArchiveFormat::tar_gz,
       gzipped({{.name = "a", .content = zeros}}),
       {},
       R"(the entry "a" of "https://example.com/x" unpacks to over 200 times the size of the archive)"},
      {"ratio of what is left out of a tar",
       ArchiveFormat::tar_gz,
       gzipped({{.name = "main.tf"}, {.name = ".git/a", .content = zeros}}),
       {},
       R"(the entry ".git/a" of "https://example.com/x" unpacks to over 200 times the size of the archive)"},
      {"size of a zip",
       ArchiveFormat::zip,
       make_zip({{.name = "a", .content = zeros, .zip_method = 8}}),
       {.total_bytes = 1000},
       R"(the entry "a" of "https://example.com/x" makes it exceed the 1000 bytes allowed)"},
      {"size of a tar",
       ArchiveFormat::tar_gz,
       gzipped({{.name = "a", .content = zeros}}),
       {.total_bytes = 1000},
       R"(the entry "a" of "https://example.com/x" makes it exceed the 1000 bytes allowed)"},
      {"entries of a zip",
       ArchiveFormat::zip,
       make_zip(three),
       {.entries = 2},
       R"("https://example.com/x" contains 3 entries; 2 are allowed)"},
      {"entries of a tar",
       ArchiveFormat::tar_gz,
       gzipped(three),
       {.entries = 2},
       R"(the entry "c" of "https://example.com/x" is one more than the 2 allowed)"},
      {"names of a zip",
       ArchiveFormat::zip,
       make_zip(three),
       {.name_bytes = 100},
       R"("https://example.com/x" has a central directory of 141 bytes; 100 are allowed)"},
      {"names of a tar",
       ArchiveFormat::tar_gz,
       gzipped(three),
       {.name_bytes = 2},
       R"(the entry "c" of "https://example.com/x" makes the names exceed the 2 bytes allowed)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Unpacking unpacking(row.bytes);
      BOOST_TEST(outcome(unpacking.run(row.format, row.limits)) == fmt::format("ARCHIVE_UNSAFE: {}", row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_an_xz_file_that_wants_much_memory) {
  const std::string tar = make_tar({{.name = "a", .content = "1"}});
  Unpacking large(run({"xz", "-c", "--lzma2=preset=0,dict=192MiB"}, {}, {}, tar));
  BOOST_TEST(outcome(large.run(ArchiveFormat::tar_xz)) ==
             "ARCHIVE_UNSAFE: \"https://example.com/x\" needs more than the 128 MiB of memory allowed to unpack");
  Unpacking usual(run({"xz", "-c", "--lzma2=preset=0,dict=64MiB"}, {}, {}, tar));
  BOOST_TEST(outcome(usual.run(ArchiveFormat::tar_xz)) == "fine");
}

BOOST_AUTO_TEST_CASE(refuses_a_sparse_file_that_is_nearly_all_hole) {
  // A size of 1 TiB in binary, and no piece of it.
  std::string tar = make_tar({{.name = "a"}}, {.dialect = TarDialect::gnu});
  tar[156] = 'S';
  tar.replace(386, 24,
              std::string("00000000000\0"
                          "00000000000\0",
                          24));
  tar.replace(483, 12, std::string("\x80\0\0\0\0\0\x01\0\0\0\0\0", 12));
  tar.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : tar.substr(0, 512)) {
    sum += static_cast<unsigned char>(c);
  }
  tar.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  Unpacking unpacking(compress("gzip", tar));
  BOOST_TEST(
      outcome(unpacking.run(ArchiveFormat::tar_gz)) ==
      R"(ARCHIVE_UNSAFE: the entry "a" of "https://example.com/x" unpacks to over 200 times the size of the archive)");
}

// A size of 64 bits stands in an extra field, however small it is.
BOOST_AUTO_TEST_CASE(reads_the_size_where_it_stands) {
  using namespace std::string_literals;
  struct Row {
    const char* name;
    std::string size;  // of 64 bits, little-endian; empty: no such field
    const char* expected;
  };
  const Row rows[] = {
      {"as it is", "\x05\0\0\0\0\0\0\0"s, "fine"},
      {"a bomb", "\0\0\0\0\x10\0\0\0"s,
       R"(ARCHIVE_UNSAFE: the entry "a" of "https://example.com/x" unpacks to over 200 times the size of the archive)"},
      {"nowhere", "",
       R"(ARCHIVE_UNSAFE: the entry "a" of "https://example.com/x" unpacks to over 200 times the size of the archive)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string zip = make_zip({{.name = "a", .content = "text\n"}});
      const std::size_t entry = zip.find("PK\x01\x02");
      const std::string extra = row.size.empty() ? std::string() : "\x01\0\x08\0"s + row.size;
      zip.replace(entry + 24, 4, "\xFF\xFF\xFF\xFF");
      zip[entry + 30] = static_cast<char>(extra.size());
      zip.insert(entry + 46 + 1, extra);
      const std::size_t end = zip.find("PK\x05\x06");
      zip[end + 12] = static_cast<char>(zip[end + 12] + static_cast<char>(extra.size()));
      Unpacking unpacking(zip);
      const auto result = unpacking.run(ArchiveFormat::zip);
      BOOST_TEST((result ? "fine" : outcome(result)) == row.expected);
      BOOST_TEST((!result || read_text(unpacking.tree / "a") == "text\n"));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_such_archive) {
  struct Row {
    const char* name;
    ArchiveFormat format;
    std::string bytes;
    const char* expected;
  };
  const std::vector<ArchiveEntry> entries = {{.name = "a", .content = noisy_bytes(9000), .zip_method = 8},
                                             {.name = "b", .content = noisy_bytes(9000)}};
  const std::string zip = make_zip(entries);
  const std::string tar = make_tar(entries);
  const Row rows[] = {
      {"zip: nothing", ArchiveFormat::zip, "", "it is not a zip file"},
      {"zip: a web page", ArchiveFormat::zip, "<!doctype html><title>Sign in</title>", "it is not a zip file"},
      {"zip: without its end", ArchiveFormat::zip, without_end(zip, 1), "it is not a zip file"},
      {"zip: without its start", ArchiveFormat::zip, zip.substr(100), "its central directory is damaged"},
      {"zip: damaged deflated content", ArchiveFormat::zip, with_flip(zip, 3000),
       "\"a\" has a different checksum in the central directory"},
      {"zip: damaged stored content", ArchiveFormat::zip, with_flip(zip, 12000),
       "\"b\" has a different checksum in the central directory"},
      {"zip: a damaged list", ArchiveFormat::zip, with_flip(zip, zip.size() - 22 - 94),
       "its central directory is damaged"},
      {"zip: no entries", ArchiveFormat::zip, make_zip({}), "it is empty"},
      {"zip: encrypted", ArchiveFormat::zip,
       make_zip({{.name = "a", .content = noisy_bytes(99), .zip_encrypted = true}}), "it is encrypted"},
      {"zip: bzip2 inside", ArchiveFormat::zip, make_zip({{.name = "a", .content = "1", .zip_method = 12}}),
       "it is compressed with method 12; OpenTofu reads 0 (stored) and 8 (deflated)"},
      {"tar: nothing", ArchiveFormat::tar_gz, "", "it is not a tar compressed with gzip"},
      {"tar: not compressed", ArchiveFormat::tar_gz, tar, "it is not a tar compressed with gzip"},
      {"tar: another compression", ArchiveFormat::tar_gz, compress("xz", tar), "it is not a tar compressed with gzip"},
      {"tar: compressed twice", ArchiveFormat::tar_gz, compress("gzip", compress("gzip", tar)),
       "it is not a tar compressed with gzip"},
      {"tar: a zip", ArchiveFormat::tar_xz, zip, "it is not a tar compressed with xz"},
      {"tar: no tar in it", ArchiveFormat::tar_gz, compress("gzip", noisy_bytes(3000)),
       "it is not a tar compressed with gzip"},
      {"tar: truncated", ArchiveFormat::tar_gz, without_end(compress("gzip", tar), 4000), "it is damaged or truncated"},
      {"tar: damaged bzip2", ArchiveFormat::tar_bz2, with_flip(compress("bzip2", tar), 5000),
       "it is damaged or truncated"},
      {"tar: damaged xz", ArchiveFormat::tar_xz, with_flip(compress("xz", tar), 5000), "it is damaged or truncated"},
      {"tar: truncated xz", ArchiveFormat::tar_xz, without_end(compress("xz", tar), 4000),
       "it is damaged or truncated"},
      {"tar: nothing for xz", ArchiveFormat::tar_xz, "", "it is damaged or truncated"},
      {"tar: no tar in xz", ArchiveFormat::tar_xz, compress("xz", noisy_bytes(3000)),
       "it is not a tar compressed with xz"},
      {"tar: a damaged header", ArchiveFormat::tar_gz, compress("gzip", with_flip(tar, 512 + 9216 + 3)),
       "it is damaged or truncated"},
      {"tar: no entries", ArchiveFormat::tar_gz, gzipped({}), "it contains no files"},
      {"tar: directories alone", ArchiveFormat::tar_gz, gzipped({{.name = "a", .type = Type::directory}}),
       "it contains no files"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Unpacking unpacking(row.bytes);
      const std::string got = outcome(unpacking.run(row.format));
      BOOST_TEST(got == fmt::format("BAD_RESPONSE: \"https://example.com/x\" cannot be unpacked: {}", row.expected));
    }
  }
}

// As OpenTofu does.
BOOST_AUTO_TEST_CASE(reads_the_last_of_two_central_directories) {
  for (const std::vector<ArchiveEntry>& first : {std::vector<ArchiveEntry>{{.name = "a", .content = "1"}},
                                                 {{.name = "a", .content = "1"}, {.name = "c", .content = "1"}}}) {
    Unpacking unpacking(build_zip({{.name = "b", .content = "2"}}, {.prefix = make_zip(first)}));
    BOOST_TEST(outcome(unpacking.run(ArchiveFormat::zip)) == "fine");
    BOOST_TEST(read_text(unpacking.tree / "b") == "2");
    BOOST_TEST(!std::filesystem::exists(unpacking.tree / "a"));
  }
}

BOOST_AUTO_TEST_CASE(refuses_one_compressed_file) {
  for (const ArchiveFormat format : {ArchiveFormat::gz, ArchiveFormat::xz, ArchiveFormat::bz2}) {
    Unpacking unpacking(compress("gzip", "1"));
    BOOST_TEST(
        outcome(unpacking.run(format)) ==
        "SOURCE_UNSUPPORTED: \"https://example.com/x\" is one compressed file, and a module package is a tree of "
        "files");
  }
}

// A file system that folds case does so by finding something where the rules know of nothing.
BOOST_AUTO_TEST_CASE(refuses_names_that_the_file_system_takes_for_one) {
  struct Row {
    const char* name;
    const char* there;
    ArchiveEntry entry;
    const char* expected;
  };
  const Row rows[] = {
      {"a file",
       "A",
       {.name = "A", .content = "2"},
       R"(the entry "A" of "https://example.com/x" has a name that this file system treats as another entry's name)"},
      {"a directory",
       "A/x",
       {.name = "A/b"},
       R"(the entry "A" of "https://example.com/x" has a name that this file system treats as another entry's name)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Unpacking unpacking(make_zip({row.entry}));
      write_text(unpacking.tree / row.there, "1");
      BOOST_TEST(outcome(unpacking.run(ArchiveFormat::zip)) == fmt::format("ARCHIVE_UNSAFE: {}", row.expected));
      BOOST_TEST(read_text(unpacking.tree / row.there) == "1");
    }
  }
}

// Somebody who puts links into the directory meanwhile leads nothing outside.
BOOST_AUTO_TEST_CASE(follows_no_link) {
  const TemporaryDirectory outside;
  const TemporaryDirectory inside;
  const unpack::Place file{.path = "a/file", .directories = {"a"}};
  auto writer = unpack::TreeWriter::open(inside.path());
  BOOST_REQUIRE(writer.has_value());
  fs::create_symlink(outside.path(), inside / "a");
  BOOST_TEST(
      outcome(writer->make_directories(file, "x.zip")) ==
      R"(ARCHIVE_UNSAFE: the entry "a" of "x.zip" has a name that this file system treats as another entry's name)");
  BOOST_TEST(outcome(writer->make_file(file, "x.zip")) ==
             fmt::format("IO_ERROR: cannot open the directory \"{}/a\": Not a directory", inside.path().string()));
  const unpack::Place link{.path = "link", .directories = {}};
  fs::create_symlink(outside / "new", inside / "link");
  BOOST_TEST(
      outcome(writer->make_file(link, "x.zip")) ==
      R"(ARCHIVE_UNSAFE: the entry "link" of "x.zip" has a name that this file system treats as another entry's name)");
  BOOST_TEST(fs::is_empty(outside.path()));
}

BOOST_AUTO_TEST_CASE(reports_the_system) {
  Unpacking unpacking(make_zip({{.name = "a"}}));
  fs::remove(unpacking.archive);
  BOOST_TEST(outcome(unpacking.run(ArchiveFormat::zip)) ==
             fmt::format("IO_ERROR: cannot read \"{}\": No such file or directory", unpacking.archive.string()));
  const fs::path nowhere = unpacking.directory / "nowhere";
  write_text(unpacking.archive, make_zip({{.name = "a"}}));
  BOOST_TEST(outcome(unpack_archive(unpacking.archive, ArchiveFormat::zip, nowhere, "x", Context{})) ==
             fmt::format("IO_ERROR: cannot open the directory \"{}\": No such file or directory", nowhere.string()));
}

BOOST_AUTO_TEST_SUITE_END()
