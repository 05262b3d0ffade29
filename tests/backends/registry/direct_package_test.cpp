#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "tests/backends/registry/registry_fixture.h"
#include "tests/support/archive_writer.h"

namespace modlock::registry {
namespace {

using namespace test;

const std::string kUrl = "https://cdn.example.com/p/m";
const std::vector<ArchiveEntry> kEntries = {{.name = "main.tf", .content = "# m\n"}, {.name = "sub/x.tf"}};

struct DirectFixture : RegistryFixture {
  explicit DirectFixture(bool use_registry_credentials = true, const std::string& location = kUrl) {
    answer("a/b/c", "1.0.0",
           FakeAnswer{.body = R"({"location":")" + location + R"(","use_registry_credentials":)" +
                              (use_registry_credentials ? "true}" : "false}")});
    credentials.add_token(CredentialUse::registry, "registry.example.com", "s3cret");
  }
};

BOOST_AUTO_TEST_SUITE(direct_package_test)

BOOST_AUTO_TEST_CASE(the_content_tells_the_format) {
  struct Row {
    const char* name;
    std::string archive;
  };
  const std::string tar = make_tar(kEntries);
  const Row rows[] = {
      {"zip", make_zip(kEntries)},
      {"tar.gz", compress("gzip", tar)},
      {"tar.xz", compress("xz", tar)},
      {"tar.bz2", compress("bzip2", tar)},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      DirectFixture fixture;
      fixture.http.on(kUrl, row.archive, "text/plain");
      const auto tree = fixture.fetch("1.0.0");
      BOOST_REQUIRE_MESSAGE(tree, (tree ? "" : words(tree.error())));
      BOOST_TEST(tree->id == "zh:" + sha256_hex(row.archive));
      BOOST_TEST(tree->subdir == "");
      BOOST_TEST(tree->ref == "1.0.0");
      BOOST_TEST(tree->warnings.empty());
      BOOST_TEST(read_text(tree->directory / "main.tf") == "# m\n");
      BOOST_TEST(std::filesystem::exists(tree->directory / "sub" / "x.tf"));
      const auto entries = std::distance(std::filesystem::directory_iterator(fixture.directory.path()), {});
      BOOST_TEST(entries == 1);  // the archive itself is gone
    }
  }
}

BOOST_AUTO_TEST_CASE(the_token_goes_along_where_the_registry_says_so) {
  for (const bool use_registry_credentials : {true, false}) {
    DirectFixture fixture(use_registry_credentials);
    fixture.http.on(kUrl, make_zip(kEntries), "application/zip");
    BOOST_REQUIRE(fixture.fetch("1.0.0"));
    const auto sent = fixture.http.sent();
    BOOST_REQUIRE(sent.size() == 3U);
    BOOST_TEST(sent[2].url == kUrl);
    BOOST_TEST(sent[2].header("Authorization") == (use_registry_credentials ? "Bearer s3cret" : ""));
    BOOST_TEST(sent[2].header("X-Terraform-Version") == "1.12.6");
  }
}

BOOST_AUTO_TEST_CASE(redirects_are_judged_and_get_no_token) {
  DirectFixture fixture;
  fixture.http.redirect(kUrl, "https://store.example.com/m?sig=CANARY");
  fixture.http.on("https://store.example.com/m?sig=CANARY", make_zip(kEntries), "application/zip");
  BOOST_REQUIRE(fixture.fetch("1.0.0"));
  const auto sent = fixture.http.sent();
  BOOST_REQUIRE(sent.size() == 4U);
  BOOST_TEST(sent[3].header("Authorization") == "");

  fixture.context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
    return source.host == "cdn.example.com" ? Result<void>()
                                            : fail(Code::source_denied, "denied: " + source.identity());
  };
  const auto denied = fixture.fetch("1.0.0");
  BOOST_REQUIRE(!denied);
  BOOST_TEST((denied.error().code == Code::source_denied));
  BOOST_TEST(denied.error().message.find("https://store.example.com/m") != std::string::npos);
  BOOST_TEST(denied.error().message.find("CANARY") == std::string::npos);
  BOOST_TEST(fixture.http.sent().size() == 4U + 2U);
}

BOOST_AUTO_TEST_CASE(another_archive_than_the_locked_one_is_a_warning) {
  DirectFixture fixture;
  const std::string archive = make_zip(kEntries);
  fixture.http.on(kUrl, archive, "application/zip");
  const auto same = fixture.fetch("1.0.0", "zh:" + sha256_hex(archive));
  BOOST_REQUIRE(same);
  BOOST_TEST(same->warnings.empty());
  const auto other = fixture.fetch("1.0.0", "zh:00");
  BOOST_REQUIRE(other);
  BOOST_TEST(other->id == "zh:" + sha256_hex(archive));
  BOOST_REQUIRE(other->warnings.size() == 1U);
  BOOST_TEST(words(other->warnings[0].what) ==
             "TAG_MOVED: the archive of version 1.0.0 of \"registry.example.com/modules/a/b/c\" at \"" + kUrl +
                 "\" differs from the locked archive (it may have been repacked): expected zh:00, got zh:" +
                 sha256_hex(archive));
  const auto commit = fixture.fetch("1.0.0", "git:8f2c");
  BOOST_REQUIRE(!commit);
  BOOST_TEST(words(commit.error()) ==
             "HASH_MISMATCH: version 1.0.0 of \"registry.example.com/modules/a/b/c\" is locked as git:8f2c, but the "
             "registry now serves an archive, \"" +
                 kUrl + "\"");
}

BOOST_AUTO_TEST_CASE(downloads_that_are_refused) {
  struct Row {
    const char* name;
    FakeAnswer answer;
    const char* expected;
  };
  const std::string prefix = "could not download version 1.0.0 of \"registry.example.com/modules/a/b/c\": " + kUrl;
  const Row rows[] = {
      {"no archive",
       {.body = "resource {}"},
       "BAD_RESPONSE: *: the package is neither a zip archive nor a tar archive compressed with gzip, xz or bzip2"},
      {"nothing",
       {.body = ""},
       "BAD_RESPONSE: *: the package is neither a zip archive nor a tar archive compressed with gzip, xz or bzip2"},
      {"a bare tar",
       {.body = make_tar(kEntries)},
       "BAD_RESPONSE: *: the package is neither a zip archive nor a tar archive compressed with gzip, xz or bzip2"},
      {"not found", {.status = 404}, "NOT_FOUND: *: not found (status 404)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      DirectFixture fixture(true, kUrl + "?token=CANARY");
      fixture.http.on("GET", kUrl + "?token=CANARY", {row.answer});
      const auto tree = fixture.fetch("1.0.0");
      BOOST_REQUIRE(!tree);
      std::string expected = row.expected;
      expected.replace(expected.find('*'), 1, prefix);
      BOOST_TEST(words(tree.error()) == expected);
      BOOST_TEST(std::filesystem::is_empty(fixture.directory.path()));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_archive_is_refused) {
  DirectFixture fixture;
  const std::string archive = compress("gzip", make_tar(kEntries));
  fixture.http.on(kUrl, archive.substr(0, archive.size() / 2), "application/gzip");
  const auto tree = fixture.fetch("1.0.0");
  BOOST_REQUIRE(!tree);
  BOOST_TEST(words(tree.error()) == "BAD_RESPONSE: \"" + kUrl + "\" cannot be unpacked: it is damaged or truncated");
}

BOOST_AUTO_TEST_CASE(a_package_may_be_large) {
  DirectFixture fixture;
  const std::string large = make_zip({{.name = "main.tf", .content = std::string(std::size_t{17} << 20U, '#')}});
  fixture.http.on(kUrl, large, "application/zip");
  const auto tree = fixture.fetch("1.0.0");
  BOOST_REQUIRE_MESSAGE(tree, (tree ? "" : words(tree.error())));
  BOOST_TEST(tree->id == "zh:" + sha256_hex(large));
  BOOST_TEST(fixture.http.sent().back().body_limit == std::size_t{4} << 30U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::registry
