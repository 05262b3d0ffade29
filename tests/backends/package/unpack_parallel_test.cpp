// Archives large enough for several threads: what comes of them is what one thread would come to.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "backends/package/tree_hash.h"
#include "tests/backends/package/unpack_fixture.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kFileSize = std::size_t{100} << 10U;
constexpr std::size_t kFiles = 80;

std::string noise(std::size_t size, std::uint32_t state) {
  std::string bytes;
  while (bytes.size() < size) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24U);
  }
  return bytes;
}

// 8 MB that do not shrink: stored and deflated files in turn.
std::vector<ArchiveEntry> many_files() {
  std::vector<ArchiveEntry> entries;
  for (std::size_t i = 0; i < kFiles; ++i) {
    entries.push_back({.name = fmt::format("d{}/f{}", i % 7, i),
                       .content = noise(kFileSize + i, static_cast<std::uint32_t>(i)),
                       .zip_method = i % 2 == 0 ? 0 : 8});
  }
  return entries;
}

// Flips a byte in the middle of the content of a stored file.
void damage(std::string& zip, const ArchiveEntry& entry) {
  const std::size_t at = zip.find(entry.content);
  BOOST_REQUIRE(at != std::string::npos);
  zip[at + kFileSize / 2] ^= 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_parallel)

BOOST_AUTO_TEST_CASE(unpacks_and_hashes_every_file) {
  const auto entries = many_files();
  for (const ArchiveFormat format : {ArchiveFormat::zip, ArchiveFormat::tar_gz}) {
    Unpacking unpacking(format == ArchiveFormat::zip ? make_zip(entries) : compress("gzip", make_tar(entries)));
    BOOST_REQUIRE(outcome(unpacking.run(format)) == "fine");
    BOOST_TEST(unpacking.digests.size() == entries.size());
    for (const ArchiveEntry& entry : entries) {
      const fs::path path = unpacking.tree / entry.name;
      BOOST_REQUIRE(read_text(path) == entry.content);
      BOOST_REQUIRE((unpacking.digests.at(path.string()) == sha256_file(path).value()));
    }
  }
}

BOOST_AUTO_TEST_CASE(names_the_first_bad_entry) {
  struct Row {
    const char* name;
    std::vector<std::size_t> damaged;
    std::size_t unsafe = kFiles;
    UnpackLimits limits = {};
    std::string expected;
  };
  const std::string kDamaged =
      "BAD_RESPONSE: \"https://example.com/x\" cannot be unpacked: \"d4/f4\" has a different checksum in the central "
      "directory";
  const Row rows[] = {
      {"damaged before unsafe", {4}, 60, {}, kDamaged},
      {"unsafe before damaged",
       {70},
       9,
       {},
       R"(ARCHIVE_UNSAFE: the entry "../9" of "https://example.com/x" points outside it with "..")"},
      {"too much before damaged",
       {40, 60},
       kFiles,
       {.total_bytes = 30 * kFileSize},
       R"(ARCHIVE_UNSAFE: the entry "d1/f29" of "https://example.com/x" makes it exceed the 3072000 bytes allowed)"},
      {"too much, which its list says, after damaged",
       {8, 10},
       kFiles,
       {.total_bytes = 30 * kFileSize},
       R"(ARCHIVE_UNSAFE: the entry "d1/f29" of "https://example.com/x" makes it exceed the 3072000 bytes allowed)"},
      {"too much before unsafe",
       {},
       50,
       {.total_bytes = 20 * kFileSize},
       R"(ARCHIVE_UNSAFE: the entry "d5/f19" of "https://example.com/x" makes it exceed the 2048000 bytes allowed)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto entries = many_files();
      if (row.unsafe < kFiles) {
        entries[row.unsafe].name = fmt::format("../{}", row.unsafe);
      }
      std::string zip = make_zip(entries);
      for (const std::size_t i : row.damaged) {
        damage(zip, entries[i]);
      }
      for (int repeat = 0; repeat < 5; ++repeat) {
        Unpacking unpacking(zip);
        BOOST_TEST(outcome(unpacking.run(ArchiveFormat::zip, row.limits)) == row.expected);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(stops_when_told) {
  for (const ArchiveFormat format : {ArchiveFormat::zip, ArchiveFormat::tar_gz}) {
    Unpacking unpacking(format == ArchiveFormat::zip ? make_zip(many_files())
                                                     : compress("gzip", make_tar(many_files())));
    Context context;
    std::stop_source stop;
    stop.request_stop();
    context.stop = stop.get_token();
    BOOST_TEST(outcome(unpacking.run(format, {}, context)) == "REQUEST_CANCELLED: the request was cancelled");
  }
}

BOOST_AUTO_TEST_SUITE_END()
