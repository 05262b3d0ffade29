#include "backends/archive/archive_backend.h"

#include <boost/test/unit_test.hpp>

#include "tests/backends/archive/archive_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

std::string digits(Hash algorithm, const std::string& bytes) {
  return hex(hash_of(algorithm, bytes));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(archive_backend, ArchiveScene)

BOOST_AUTO_TEST_CASE(brings_an_archive_with_one_request) {
  const auto tree = fetch("https://example.com/a.zip");
  BOOST_TEST(outcome(tree) == zip_id + " main.tf");
  BOOST_TEST(read_text(tree->directory / "main.tf") == kModule);
  BOOST_TEST(tree->warnings.empty());
  BOOST_TEST(tree->subdir.empty());
  BOOST_TEST(http.sent_lines() == std::vector<std::string>{"GET https://example.com/a.zip"});
  BOOST_TEST(left() == 1U);  // the tree; the archive is gone
}

BOOST_AUTO_TEST_CASE(brings_every_wish) {
  const auto address = parse_source("https://example.com/a.zip");
  const std::vector<FetchRequest> requests(2);
  const auto trees = backend->fetch(*address, requests, parent.path(), {});
  BOOST_REQUIRE(trees.size() == 2U);
  BOOST_TEST(outcome(trees[0]) == zip_id + " main.tf");
  BOOST_TEST(outcome(trees[1]) == zip_id + " main.tf");
  BOOST_TEST(trees[0]->directory != trees[1]->directory);
}

BOOST_AUTO_TEST_CASE(serves_archives_alone) {
  for (const char* source : {"https://example.com/a.zip", "http://example.com/a"}) {
    BOOST_TEST(backend->serves(parse_source(source)->source));
  }
  for (const char* source : {"git::https://example.com/a", "oci://example.com/a", "s3::https://example.com/a",
                             "hg::https://example.com/a", "a/b/c", "./a", "/a"}) {
    BOOST_TEST(!backend->serves(parse_source(source)->source));
  }
}

BOOST_AUTO_TEST_CASE(has_no_versions_and_no_references) {
  const auto address = parse_source("https://example.com/a.zip//sub?token=secret");
  const auto listing = backend->list_versions(*address, "", {});
  BOOST_REQUIRE(!listing.has_value());
  BOOST_TEST((listing.error().code == Code::source_unsupported));
  BOOST_TEST(listing.error().message == "\"https://example.com/a.zip\" is an archive, which has no versions");
  BOOST_TEST(listing.error().hint ==
             "a version constraint needs a registry, git or OCI source; remove it, or change the source");
  const auto pin = backend->pin(*address, {});
  BOOST_REQUIRE(!pin.has_value());
  BOOST_TEST((pin.error().code == Code::not_found));
  BOOST_TEST(http.sent_lines().empty());
}

BOOST_AUTO_TEST_CASE(warns_of_another_archive_than_the_locked_one) {
  BOOST_TEST(fetch("https://example.com/a.zip", zip_id)->warnings.empty());
  const auto tree = fetch("https://example.com/a.zip", "zh:00");
  BOOST_TEST(outcome(tree) == zip_id + " main.tf");
  BOOST_REQUIRE(tree->warnings.size() == 1U);
  BOOST_TEST((tree->warnings[0].severity == Severity::warning));
  BOOST_TEST((tree->warnings[0].what.code == Code::tag_moved));
  BOOST_TEST(tree->warnings[0].what.message ==
             "the archive \"https://example.com/a.zip\" differs from the locked archive (it may have been repacked): "
             "expected zh:00, got " +
                 zip_id);
}

// The caller has the content of an archive, and the server states whether it is unchanged.
BOOST_AUTO_TEST_CASE(asks_whether_a_known_archive_is_unchanged) {
  struct Row {
    const char* name;
    const char* query;
    std::string validator;
    FakeAnswer answer;
    std::string sent;       // the header If-None-Match
    std::string expected;   // the id and the names, or the error
    std::string now_valid;  // FetchedTree::validator
  };
  const std::string day = "Fri, 27 Nov 2026 00:00:00 GMT";
  const std::string checksum = "?checksum=sha256:";
  const std::string here = validator_scope("https://example.com/known.zip") + " ";
  const std::string signed_at = validator_scope("https://files.example.com/7?signature=1") + " ";
  const std::string elsewhere = "https://files.example.com/7?signature=2";
  const FakeAnswer redirect{.status = 302, .headers = {{"Location", elsewhere}}};
  const std::vector<HttpHeader> both = {{"ETag", "\"2\""}, {"Last-Modified", day}};
  const Row rows[] = {
      {"unchanged", "", here + "\"1\"", {.status = 304}, "\"1\"", zip_id, ""},
      {"unchanged, with the checksum of the known archive",
       "?checksum=known",
       here + "\"1\"",
       {.status = 304},
       "\"1\"",
       zip_id,
       ""},
      {"another checksum",
       "?checksum=other",
       here + "\"1\"",
       {.body = zip},
       "",
       "HASH_MISMATCH: \"https://example.com/known.zip?checksum=sha256:" + std::string(64, '0') +
           "\" does not match its checksum: expected sha256:" + std::string(64, '0') +
           ", got sha256:" + sha256_hex(zip),
       ""},
      {"changed", "", here + "\"1\"", {.headers = both, .body = zip}, "\"1\"", zip_id + " main.tf", here + "\"2\""},
      {"a record that does not say where it came from",
       "",
       "If-None-Match: \"1\"",
       {.body = zip},
       "",
       zip_id + " main.tf",
       ""},
      {"unchanged where a redirect leads, whose address is signed again", "", signed_at + "\"1\"", redirect, "\"1\"",
       zip_id, ""},
      {"a redirect leads elsewhere now", "", here + "\"1\"", redirect, "", zip_id + " main.tf", signed_at + "\"3\""},
      {"only a date", "", "", {.headers = {both[1]}, .body = zip}, "", zip_id + " main.tf", ""},
      {"no header", "", "", {.body = zip}, "", zip_id + " main.tf", ""},
      {"unchanged, although not asked",
       "",
       "",
       {.status = 304},
       "",
       "BAD_RESPONSE: could not download the module package: https://example.com/known.zip: unexpected status (status "
       "304)",
       ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string digest =
          std::string_view(row.query) == "?checksum=known" ? sha256_hex(zip) : std::string(64, '0');
      const std::string query = *row.query == '\0' ? "" : checksum + digest;
      http.on("GET", "https://example.com/known.zip", {row.answer});
      http.on("GET", elsewhere,
              {row.sent.empty() ? FakeAnswer{.headers = {{"ETag", "\"3\""}}, .body = zip} : FakeAnswer{.status = 304}});
      const std::size_t before = http.sent().size();
      const FetchRequest request{.id = {}, .ref = {}, .held = zip_id, .validator = row.validator};
      const auto address = parse_source("https://example.com/known.zip" + query).value();
      const auto tree = std::move(backend->fetch(address, {&request, 1}, parent.path(), {}).front());
      const SentRequest sent = http.sent().back();
      BOOST_TEST(sent.header("If-None-Match") == row.sent);
      if (sent.url == elsewhere) {
        BOOST_TEST(http.sent().at(before).header("If-None-Match") == (row.validator.starts_with(here) ? "\"1\"" : ""));
      }
      BOOST_TEST((tree && tree->directory.empty() ? tree->id : outcome(tree)) == row.expected);
      BOOST_TEST((tree ? tree->validator : "") == row.now_valid);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_an_archive_for_a_locked_commit) {
  BOOST_TEST(outcome(fetch("https://example.com/a.zip", "git:00")) ==
             "HASH_MISMATCH: it is locked as git:00, but \"https://example.com/a.zip\" is an archive");
  BOOST_TEST(http.sent_lines().empty());
}

BOOST_AUTO_TEST_CASE(holds_an_archive_to_its_checksum) {
  struct Row {
    const char* name;
    std::string checksum;
    std::string expected;
  };
  const std::string nothing(64, '0');
  const std::string fine = zip_id + " main.tf";
  const Row rows[] = {
      {"sha256", "sha256:" + digits(Hash::sha256, zip), fine},
      {"sha256 without its type", digits(Hash::sha256, zip), fine},
      {"md5", "md5:" + digits(Hash::md5, zip), fine},
      {"sha1", "sha1:" + digits(Hash::sha1, zip), fine},
      {"sha512", "sha512:" + digits(Hash::sha512, zip), fine},
      {"another sha256", "sha256:" + nothing,
       fmt::format("HASH_MISMATCH: \"https://example.com/a.zip?checksum=sha256:{0}\" does not match its checksum: "
                   "expected sha256:{0}, got sha256:{1}",
                   nothing, digits(Hash::sha256, zip))},
      {"another md5", "md5:" + nothing.substr(32),
       fmt::format("HASH_MISMATCH: \"https://example.com/a.zip?checksum=md5:{0}\" does not match its checksum: "
                   "expected md5:{0}, got md5:{1}",
                   nothing.substr(32), digits(Hash::md5, zip))},
      {"none of any type", "abcd", "SOURCE_INVALID: invalid checksum \"abcd\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(fetch("https://example.com/a.zip?checksum=" + row.checksum)) == row.expected);
    }
  }
  BOOST_TEST(left() == 5U);
}

BOOST_AUTO_TEST_CASE(reads_lists_of_checksums) {
  http.on("https://sums.example/SUMS?v=1", digits(Hash::sha1, zip) + "  a.zip\n", "text/plain");
  http.on("https://sums.example/NONE", digits(Hash::sha1, zip) + "  b.zip\n", "text/plain");
  credentials.add_basic(CredentialUse::download, "sums.example", "me", "secret");
  const std::string source = "https://example.com/a.zip?checksum=file:";
  BOOST_TEST(outcome(fetch(source + "https://sums.example/SUMS%3Fv=1")) == zip_id + " main.tf");
  BOOST_TEST(http.sent().front().header("Authorization") == "Basic bWU6c2VjcmV0");
  BOOST_TEST(http.sent().back().header("Authorization").empty());
  BOOST_TEST(outcome(fetch(source + "https://you:pw@sums.example/SUMS%3Fv=1")) == zip_id + " main.tf");
  BOOST_TEST(http.sent().at(2).header("Authorization") == "Basic eW91OnB3");
  BOOST_TEST(outcome(fetch(source + "https://sums.example/NONE")) ==
             "BAD_RESPONSE: the checksum file \"https://sums.example/NONE\" has no checksum for the archive");
  BOOST_TEST(
      outcome(fetch(source + "git::https://sums.example/a")) ==
      "SOURCE_UNSUPPORTED: the checksum file \"git::https://sums.example/a\" does not have an http or https URL");
  BOOST_TEST(outcome(fetch(source + "SUMS")) ==
             "SOURCE_UNSUPPORTED: the checksum file \"SUMS\" does not have an http or https URL");
  Context context;
  context.check_source = [](const Source& judged, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "denied: " + judged.identity());
  };
  BOOST_TEST(outcome(fetch(source + "https://sums.example/SUMS", {}, context)) ==
             "SOURCE_DENIED: denied: https://sums.example/SUMS");
}

BOOST_AUTO_TEST_CASE(sends_credentials_to_their_host_alone) {
  credentials.add_basic(CredentialUse::download, "example.com", "me", "secret");
  http.redirect("https://example.com/moved.zip", "https://other.example/a.zip");
  http.on("https://other.example/a.zip", zip, "application/zip");
  BOOST_TEST(outcome(fetch("https://example.com/moved.zip")) == zip_id + " main.tf");
  BOOST_TEST(http.sent().front().header("Authorization") == "Basic bWU6c2VjcmV0");
  BOOST_TEST(http.sent().back().header("Authorization").empty());
  BOOST_TEST(outcome(fetch("https://you:word@example.com/a.zip")) == zip_id + " main.tf");
  BOOST_TEST(http.sent().back().header("Authorization") == "Basic eW91OndvcmQ=");
}

BOOST_AUTO_TEST_CASE(explains_refusals) {
  http.on("GET", "https://example.com/b.zip?token=secret", {FakeAnswer{.status = 401}});
  const auto tree = fetch("https://example.com/b.zip?token=secret");
  BOOST_TEST(outcome(tree) ==
             "AUTH_REQUIRED: could not download the module package: https://example.com/b.zip: authentication is "
             "required, or the credentials were rejected (status 401)");
  BOOST_TEST(tree.error().hint == "add the line \"machine example.com login … password …\" to ~/.netrc");
  BOOST_TEST(left() == 0U);
}

BOOST_AUTO_TEST_CASE(ends_where_credentials_cannot_be_read) {
  credentials.fail_with({.code = Code::config_parse, .message = "~/.netrc:1: what is that"});
  BOOST_TEST(outcome(fetch("https://example.com/a.zip")) == "CONFIG_PARSE: ~/.netrc:1: what is that");
  BOOST_TEST(http.sent_lines().empty());
}

BOOST_AUTO_TEST_CASE(asks_the_policy_before_a_redirect_is_followed) {
  http.redirect("https://example.com/moved.zip", "https://other.example/a.zip?token=secret");
  Context context;
  context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "denied: " + source.identity());
  };
  BOOST_TEST(outcome(fetch("https://example.com/moved.zip", {}, context)) ==
             "SOURCE_DENIED: could not download the module package: https://example.com/moved.zip: it redirects to "
             "https://other.example/a.zip: denied: https://other.example/a.zip");
  BOOST_TEST(http.sent_lines().size() == 1U);
}

BOOST_AUTO_TEST_CASE(sends_nothing_offline) {
  Context context;
  context.offline = true;
  BOOST_TEST(outcome(fetch("https://example.com/a.zip", {}, context)) ==
             "OFFLINE_MISS: cannot download \"https://example.com/a.zip\" in offline mode");
  BOOST_TEST(http.sent_lines().empty());
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_of_what_is_refused) {
  http.on("https://example.com/page.zip", "<html>sign in</html>", "text/html");
  const auto tree = fetch("https://example.com/page.zip");
  BOOST_TEST(outcome(tree) ==
             "BAD_RESPONSE: \"https://example.com/page.zip\" cannot be unpacked: it is not a zip file");
  BOOST_TEST(left() == 0U);
}

BOOST_AUTO_TEST_CASE(a_package_may_be_larger_than_a_page) {
  ArchiveScene scene;
  const std::string large = make_zip({{.name = "main.tf", .content = std::string(std::size_t{17} << 20U, '#')}});
  scene.http.on("https://example.com/large.zip", large, "application/zip");
  BOOST_TEST(scene.outcome(scene.fetch("https://example.com/large.zip")) == "zh:" + sha256_hex(large) + " main.tf");
  BOOST_TEST(scene.http.sent().back().body_limit == std::size_t{4} << 30U);
  scene.http.on("https://example.com/page?terraform-get=1", large, "text/html");
  BOOST_TEST(scene.outcome(scene.fetch("https://example.com/page")) ==
             "LIMIT_EXCEEDED: could not locate the module package: https://example.com/page: the response is "
             "larger than 4194304 bytes");
}

BOOST_AUTO_TEST_CASE(a_page_has_a_minute_and_a_package_a_least_rate) {
  ArchiveScene scene;
  scene.http.on("https://example.com/page?terraform-get=1",
                R"(<meta name="terraform-get" content="https://example.com/a.zip">)", "text/html");
  BOOST_TEST_REQUIRE(scene.fetch("https://example.com/page").has_value());
  const auto sent = scene.http.sent();
  BOOST_TEST_REQUIRE(sent.size() == 2U);
  BOOST_TEST((sent[0].timeouts.total == std::chrono::seconds(60)));
  BOOST_TEST(!sent[1].timeouts.total.has_value());
  BOOST_TEST(sent[1].timeouts.least_rate == 1024U);
}

BOOST_AUTO_TEST_SUITE_END()
