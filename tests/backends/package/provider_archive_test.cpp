#include "backends/package/provider_archive.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "backends/package/tree_hash.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zip_builder.h"

namespace modlock {
namespace {

using namespace test;
using MemberDescriptor = ZipMember::Descriptor;

const std::string kDisplay = "x for linux_amd64";
const std::string kProgram = "terraform-provider-x_v1.0.0";

struct Outcome {
  Result<ProviderArchiveHashes> hashes;
  bool leaves_nothing = false;
};

// `piece`: how many bytes arrive at once.
Outcome outcome_of(const std::string& bytes, std::size_t piece, const UnpackLimits& limits = {}) {
  const TemporaryDirectory directory;
  Outcome outcome{fail(Code::internal, "")};
  {
    ArrivingArchive archive(kDisplay, directory.path() / "tmp", limits);
    BOOST_TEST(archive.begin(std::nullopt).has_value());
    for (std::size_t i = 0; i < bytes.size(); i += piece) {
      BOOST_TEST(archive.write(std::string_view(bytes).substr(i, piece)).has_value());
    }
    outcome.hashes = archive.finish({});
  }
  const std::filesystem::path temporary = directory.path() / "tmp";
  outcome.leaves_nothing = !std::filesystem::exists(temporary) || std::filesystem::is_empty(temporary);
  return outcome;
}

std::string hash_of_files(const std::vector<std::pair<std::string, std::string>>& files) {
  TreeSummary summary;
  for (const auto& [name, content] : files) {
    summary.files.push_back({name, sha256_hex(content)});
  }
  std::sort(summary.files.begin(), summary.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return summary.h1();
}

std::string words(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message;
}

BOOST_AUTO_TEST_SUITE(provider_archive_test)

BOOST_AUTO_TEST_CASE(archives_of_every_shape) {
  struct Row {
    const char* name;
    std::vector<ZipMember> members;
    ZipShape shape = {};
    // Where they are not the members themselves.
    std::optional<std::vector<std::pair<std::string, std::string>>> unpacked = {};
    std::optional<std::vector<std::pair<std::string, std::string>>> listed = {};
    bool is_plain = true;
  };
  const std::string dull = dull_bytes(300'000);
  const std::string noise = noisy_bytes(3'000'000);
  const ZipMember program{.name = kProgram, .content = "program"};
  const ZipMember stored{.name = "a", .content = "stored", .is_deflated = false};
  const auto described = [](MemberDescriptor descriptor) {
    return std::vector<ZipMember>{{.name = "a", .content = "first", .descriptor = descriptor},
                                  {.name = "empty", .content = "", .descriptor = descriptor},
                                  {.name = kProgram, .content = noisy_bytes(70'000), .descriptor = descriptor}};
  };
  const Row rows[] = {
      {"deflated and stored", {stored, program}},
      {"nothing in the files", {{.name = "a", .is_deflated = false}, {.name = kProgram}}},
      {"large", {{.name = "a", .content = noise}, {.name = kProgram, .content = dull}}},
      {"large and stored", {{.name = kProgram, .content = noise, .is_deflated = false}, stored}},
      {"descriptors", described(MemberDescriptor::plain)},
      {"unmarked descriptors", described(MemberDescriptor::unmarked)},
      {"large descriptors", described(MemberDescriptor::large)},
      {"large unmarked descriptors", described(MemberDescriptor::large_unmarked)},
      {"stored with a descriptor",
       {program,
        {.name = "z", .content = noise, .is_deflated = false, .descriptor = MemberDescriptor::plain},
        {.name = "zz", .content = "last"}}},
      {"another size where it stands, which no client reads",
       {{.name = "a", .content = "a", .is_deflated = false, .local_packed = 5}, program}},
      {"64 bits", {{.name = "a", .content = "a", .is_large = true}, program}, {.is_large = true}},
      {"a comment", {program}, {.comment = "PK\x05\x06 is no end"}},
      {"bytes behind the end", {program}, {.behind = "\r\n"}},
      {"something in front, counted", {stored, program}, {.prefix = "#!/bin/sh\nexit 1\n"}},
      {"something in front, not counted", {stored, program}, {.prefix = "#!/bin/sh\n", .counts_prefix = false}},
      {"something large in front", {stored, program}, {.prefix = noise}},
      {"something between", {stored, {.name = kProgram, .content = "program", .before = "gap"}}},
      {"something in front of the directory", {program}, {.gap = noisy_bytes(2'000'000)}},
      {"a file that is not listed",
       {program, {.name = "hidden", .content = "hidden", .is_listed = false}},
       {},
       {{{kProgram, "program"}}},
       {{{kProgram, "program"}}}},
      {"directories",
       {{.name = "d/", .is_deflated = false, .attributes = 040755U << 16U}, program, {.name = "d/f", .content = "f"}},
       {},
       {{{kProgram, "program"}, {"d/f", "f"}}},
       {{{"d/", ""}, {kProgram, "program"}, {"d/f", "f"}}},
       false},
      {"a directory by its mode",
       {{.name = "d", .is_deflated = false, .attributes = 040755U << 16U}, program},
       {},
       {{{kProgram, "program"}}},
       {{{"d", ""}, {kProgram, "program"}}},
       false},
      {"a directory of FAT",
       {{.name = "d", .is_deflated = false, .attributes = 0x10, .system = 0}, program},
       {},
       {{{kProgram, "program"}}},
       {{{"d", ""}, {kProgram, "program"}}},
       false},
      {"a deflated directory",
       {{.name = "d/"}, program},
       {},
       {{{kProgram, "program"}}},
       {{{"d/", ""}, {kProgram, "program"}}},
       false},
      {"names that are not clean",
       {{.name = "./a//b", .content = "b"}, {.name = "/" + kProgram, .content = "program"}},
       {},
       {{{"a/b", "b"}, {kProgram, "program"}}},
       {{{"./a//b", "b"}, {"/" + kProgram, "program"}}},
       false},
      {"a name twice",
       {{.name = "a", .content = "first"}, program, {.name = "a", .content = "last"}},
       {},
       {{{"a", "last"}, {kProgram, "program"}}},
       {{{"a", "last"}, {"a", "last"}, {kProgram, "program"}}},
       false},
      {"a name twice, spelled otherwise",
       {{.name = "a", .content = "first"}, program, {.name = "./a", .content = "last"}},
       {},
       {{{"a", "last"}, {kProgram, "program"}}},
       {{{"a", "first"}, {"./a", "last"}, {kProgram, "program"}}},
       false},
      {"a link", {{.name = "l", .content = kProgram, .is_deflated = false, .attributes = 0120777U << 16U}, program}},
      {"a backslash", {{.name = "a\\b", .content = "b"}, program}},
      {"version control", {{.name = ".git/config", .content = "b"}, program}},
  };
  for (const Row& row : rows) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const ZipMember& member : row.members) {
      files.emplace_back(member.name, member.content);
    }
    const std::string bytes = build_zip(row.members, row.shape);
    for (const std::size_t piece : {std::size_t{16384}, bytes.size()}) {
      BOOST_TEST_CONTEXT(row.name << ", " << piece << " bytes at once") {
        const Outcome outcome = outcome_of(bytes, piece);
        BOOST_REQUIRE_MESSAGE(outcome.hashes, (outcome.hashes ? "" : words(outcome.hashes.error())));
        BOOST_TEST(outcome.hashes->h1 == hash_of_files(row.unpacked.value_or(files)));
        BOOST_TEST(outcome.hashes->archive_h1 == hash_of_files(row.listed.value_or(files)));
        BOOST_TEST(outcome.hashes->zh == "zh:" + sha256_hex(bytes));
        BOOST_TEST(outcome.hashes->size == bytes.size());
        BOOST_TEST(outcome.hashes->is_plain == row.is_plain);
        BOOST_TEST(outcome.hashes->programs == std::vector<std::string>{kProgram}, boost::test_tools::per_element());
        BOOST_TEST(outcome.leaves_nothing);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(archives_that_are_refused) {
  struct Row {
    const char* name;
    std::string bytes;
    std::string failure;
    UnpackLimits limits = {};
  };
  const ZipMember program{.name = kProgram, .content = "program"};
  const auto lying = [&](auto lie) {
    ZipMember member{.name = "a", .content = "content"};
    lie(member);
    return build_zip({program, member});
  };
  const auto named = [&](const std::string& name) {
    return build_zip({program, {.name = name, .content = "x", .is_deflated = false}});
  };
  const std::string whole = build_zip({program, {.name = "a", .content = noisy_bytes(1000)}});
  const std::string bad = "BAD_RESPONSE: \"" + kDisplay + "\" cannot be unpacked: ";
  const std::string unsafe = "ARCHIVE_UNSAFE: the entry \"a\" of \"" + kDisplay + "\" ";
  const auto unsafe_name = [&](const std::string& name) {
    return "ARCHIVE_UNSAFE: the entry \"" + name + "\" of \"" + kDisplay + "\" ";
  };
  const Row rows[] = {
      {"nothing", "", bad + "it is not a zip file"},
      {"a page", "<html>not found</html>", bad + "it is not a zip file"},
      {"cut off in a file", whole.substr(0, 500), bad + "it is not a zip file"},
      {"cut off in the directory", whole.substr(0, whole.size() - 30), bad + "it is not a zip file"},
      {"no files", build_zip({}), bad + "it is empty"},
      {"fewer files than said", build_zip({program}, {.entries = 2}), bad + "its central directory is damaged"},
      {"a broken file",
       [&] {
         std::string bytes = build_zip({{.name = "a", .content = dull_bytes(1000)}, program});
         bytes[32] = '\xFF';
         return bytes;
       }(),
       bad + "\"a\" is damaged"},
      {"another checksum", lying([](ZipMember& m) { m.listed_crc = 1; }),
       bad + "\"a\" has a different checksum in the central directory"},
      {"another size", lying([](ZipMember& m) { m.listed_size = 6; }),
       unsafe + "has a different size in the central directory"},
      {"another packed size", lying([](ZipMember& m) { m.listed_packed = 6; }),
       unsafe + "has a different size in the central directory"},
      {"another name where it stands", lying([](ZipMember& m) { m.local_name = "b"; }),
       unsafe + "has another name or compression in its local header"},
      {"another name in the list", lying([](ZipMember& m) { m.listed_name = "b"; }),
       unsafe_name("b") + "has another name or compression in its local header"},
      {"another place", lying([](ZipMember& m) { m.listed_offset = 3; }),
       unsafe + "shares its bytes with another entry"},
      {"a size beyond all numbers",
       build_zip({program, {.name = "a", .is_deflated = false, .is_large = true, .listed_packed = ~std::uint64_t{60}}}),
       unsafe + "is not at the offset given in the central directory"},
      {"a size beyond the end", lying([](ZipMember& m) { m.listed_packed = 1'000'000; }),
       unsafe + "is not at the offset given in the central directory"},
      {"a place behind the end", lying([](ZipMember& m) { m.listed_offset = 1'000'000; }),
       unsafe + "is not at the offset given in the central directory"},
      {"the place of another file", lying([](ZipMember& m) {
         m.listed_name = kProgram;
         m.listed_offset = 0;
       }),
       unsafe_name(kProgram) + "shares its bytes with another entry"},
      {"encrypted", lying([](ZipMember& m) { m.flags = 1; }),
       bad + "\"a\" is encrypted or compressed in a way that no client supports"},
      {"bzip2", lying([](ZipMember& m) { m.method = 12; }),
       bad + "\"a\" is encrypted or compressed in a way that no client supports"},
      {"a directory with content", build_zip({program, {.name = "d/", .content = "x"}}),
       unsafe_name("d/") + "is a directory with content"},
      {"a way out", named("../a"), unsafe_name("../a") + "points outside it with \"..\""},
      {"a way out with backslashes", named("a\\..\\b"), unsafe_name("a\\..\\b") + "points outside it with \"..\""},
      {"a line end", named("a\nb"), unsafe_name("a\\x0ab") + "has a line ending in its name"},
      {"a NUL", named(std::string("a\0b", 3)), unsafe_name("a\\x00b") + "has a NUL in its name"},
      {"no name", named(""), unsafe_name("") + "is a file without a name"},
      {"dots alone", named("./."), unsafe_name("./.") + "is a file without a name"},
      {"a long name", named(std::string(256, 'a')),
       unsafe_name(std::string(256, 'a')) + "has a name longer than 255 bytes"},
      {"a file below a file", build_zip({program, {.name = "a", .content = "x"}, {.name = "a/b", .content = "x"}}),
       unsafe_name("a/b") + "is, or is below, both a directory and a file"},
      {"a file for a directory", build_zip({program, {.name = "a/b", .content = "x"}, {.name = "a", .content = "x"}}),
       unsafe + "is, or is below, both a directory and a file"},
      {"a bomb", build_zip({{.name = "a", .content = dull_bytes(20'000'000)}, program}),
       unsafe + "unpacks to over 200 times the size of the archive"},
      {"too much",
       build_zip({{.name = "a", .content = noisy_bytes(2000)}, program}),
       unsafe + "makes it exceed the 1000 bytes allowed",
       {.total_bytes = 1000}},
      {"too many",
       build_zip({{.name = "b"}, {.name = "a"}, program}),
       "ARCHIVE_UNSAFE: \"" + kDisplay + "\" contains 3 entries; 1 are allowed",
       {.entries = 1}},
  };
  for (const Row& row : rows) {
    for (const std::size_t piece : {std::size_t{16384}}) {
      BOOST_TEST_CONTEXT(row.name << ", " << piece << " bytes at once") {
        const Outcome outcome = outcome_of(row.bytes, piece, row.limits);
        BOOST_REQUIRE(!outcome.hashes);
        BOOST_TEST(words(outcome.hashes.error()) == row.failure);
        BOOST_TEST(outcome.leaves_nothing);
      }
    }
  }
}

// The clients compare the checksum before they look into the archive.
BOOST_AUTO_TEST_CASE(another_archive_than_expected) {
  const std::string expected = "zh:" + std::string(64, 'a');
  for (const std::string& bytes : {std::string("page"), build_zip({{.name = kProgram}})}) {
    const TemporaryDirectory directory;
    directory.write("x.zip", bytes);
    const auto hashes = hash_provider_archive(directory / "x.zip", kDisplay, {}, expected);
    BOOST_REQUIRE(!hashes);
    BOOST_TEST(words(hashes.error()) == "HASH_MISMATCH: \"" + kDisplay + "\": archive has incorrect checksum zh:" +
                                            sha256_hex(bytes) + " (expected " + expected + ")");
  }
}

BOOST_AUTO_TEST_CASE(of_a_file) {
  const TemporaryDirectory directory;
  const std::string bytes = build_zip({{.name = kProgram, .content = noisy_bytes(700'000)}});
  directory.write("x.zip", bytes);
  const auto hashes = hash_provider_archive(directory / "x.zip", kDisplay, {});
  BOOST_REQUIRE_MESSAGE(hashes, (hashes ? "" : words(hashes.error())));
  BOOST_TEST(hashes->zh == "zh:" + sha256_hex(bytes));
  BOOST_TEST(hashes->h1 == hash_of_files({{kProgram, noisy_bytes(700'000)}}));
  const auto missing = hash_provider_archive(directory / "y.zip", kDisplay, {});
  BOOST_REQUIRE(!missing);
  BOOST_TEST((missing.error().code == Code::io_error));
  std::stop_source stopped;
  stopped.request_stop();
  const auto cancelled = hash_provider_archive(directory / "x.zip", kDisplay, {.stop = stopped.get_token()});
  BOOST_REQUIRE(!cancelled);
  BOOST_TEST((cancelled.error().code == Code::request_cancelled));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(zip_layout_test)

BOOST_AUTO_TEST_CASE(programs) {
  const std::vector<ZipEntry> entries = {{.name = "terraform-provider-b"},
                                         {.name = "terraform-provider-a_v1"},
                                         {.name = "d/terraform-provider-c"},
                                         {.name = "terraform-provider-d/e"},
                                         {.name = "LICENSE"},
                                         {.name = "./terraform-provider-a_v1"}};
  const auto layout = zip_layout(entries, {}, "x").value();
  const std::vector<std::string> expected = {"terraform-provider-a_v1", "terraform-provider-b"};
  BOOST_TEST(layout.programs == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(whose_program) {
  struct Row {
    const char* program;
    bool is_found;
  };
  const Row rows[] = {
      {"terraform-provider-null", true},     {"terraform-provider-null_v3.2.0_x5", true},
      {"terraform-provider-null.exe", true}, {"terraform-provider-null-data", false},
      {"terraform-provider-nulls", false},   {"terraform-provider-nul", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.program) {
      const auto found = expect_provider_program({row.program}, "null", "x");
      BOOST_TEST(found.has_value() == row.is_found);
      BOOST_TEST((found ? "" : found.error().message) ==
                 (row.is_found ? ""
                               : "\"x\": provider binary not found: could not find executable file starting with "
                                 "terraform-provider-null"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
