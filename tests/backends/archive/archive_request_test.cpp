#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/http/url.h"

using namespace modlock;
using archive::read_request;
using namespace modlock::archive;

BOOST_AUTO_TEST_SUITE(archive_request)

// The URLs are those that OpenTofu 1.12.6 asked a server of ours for.
BOOST_AUTO_TEST_CASE(asks_for_what_go_getter_asks_for) {
  struct Row {
    const char* name;
    const char* source;
    const char* url;
    bool is_archive;
    const char* checksum;
  };
  const Row rows[] = {
      {"an archive", "https://example.com/a.zip", "https://example.com/a.zip", true, ""},
      {"its subdirectory is none of the server's business", "https://example.com/a.zip//sub",
       "https://example.com/a.zip", true, ""},
      {"archive= goes", "https://example.com/a?archive=tar.gz", "https://example.com/a", true, ""},
      {"archive= goes, what else there is comes sorted", "https://example.com/a?z=1&a=%20b+c&archive=tgz",
       "https://example.com/a?a=+b+c&z=1", true, ""},
      {"an empty archive= stays, and the name decides", "https://example.com/a.tgz?archive=&x=1",
       "https://example.com/a.tgz?archive=&x=1", true, ""},
      {"checksum= goes", "https://example.com/a.zip?checksum=md5:00", "https://example.com/a.zip", true, "md5:00"},
      {"the first checksum counts", "https://example.com/a.zip?checksum=a&checksum=b", "https://example.com/a.zip",
       true, "a"},
      {"an escaped name", "https://example.com/a%2Ezip", "https://example.com/a%2Ezip", true, ""},
      {"a user", "https://me:secret@example.com/a.zip", "https://me:secret@example.com/a.zip", true, ""},
      {"a host beyond ASCII",
       "https://b\xc3\xbc"
       "cher.example:8443/a.zip",
       "https://xn--bcher-kva.example:8443/a.zip", true, ""},
      {"an address", "http://[::1]:80/a.zip", "http://[::1]:80/a.zip", true, ""},
      {"no archive by its name", "https://example.com/a", "https://example.com/a?terraform-get=1", false, ""},
      {"arguments of the configuration stay", "https://example.com/a?b=2", "https://example.com/a?b=2&terraform-get=1",
       false, ""},
      {"archive=false", "https://example.com/a.zip?archive=false", "https://example.com/a.zip?terraform-get=1", false,
       ""},
      {"archive=true", "https://example.com/a.zip?archive=true", "https://example.com/a.zip?terraform-get=1", false,
       ""},
      {"a plain tar", "https://example.com/a.tar", "https://example.com/a.tar?terraform-get=1", false, ""},
      {"archive=tar", "https://example.com/a?archive=tar", "https://example.com/a?terraform-get=1", false, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto source = parse_source(row.source);
      BOOST_REQUIRE_MESSAGE(source.has_value(), (source ? "" : source.error().message));
      const auto request = read_request(*source);
      BOOST_REQUIRE_MESSAGE(request.has_value(), (request ? "" : request.error().message));
      BOOST_TEST(request->url.reveal() == row.url);
      BOOST_TEST(request->format.has_value() == row.is_archive);
      BOOST_TEST(request->checksum == row.checksum);
      BOOST_TEST((request->credentials ? request->credentials->host : "none") ==
                 (std::string_view(row.name) == "a user" ? "none" : source->source.host));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_go_getter_refuses) {
  struct Row {
    const char* name;
    const char* source;
    const char* expected;
  };
  const Row rows[] = {
      {"one compressed file", "https://example.com/a.gz?token=secret",
       "SOURCE_UNSUPPORTED: \"https://example.com/a.gz\" is one compressed file, and a module package is a tree of "
       "files"},
      {"named as one", "https://example.com/a?archive=bz2",
       "SOURCE_UNSUPPORTED: \"https://example.com/a?archive=bz2\" is one compressed file, and a module package is a "
       "tree "
       "of files"},
      {"a checksum without an archive", "https://example.com/a?checksum=md5:00",
       "SOURCE_INVALID: \"https://example.com/a?checksum=md5:00\" has a checksum, but neither its name nor its "
       "`archive` argument makes it an archive"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto source = parse_source(row.source);
      BOOST_REQUIRE(source.has_value());
      const auto request = read_request(*source);
      BOOST_REQUIRE(!request.has_value());
      BOOST_TEST(fmt::format("{}: {}", to_string(request.error().code), request.error().message) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_urls_for_a_policy) {
  const auto source = archive_source("https://me:secret@example.com/a//b.zip?token=secret");
  BOOST_REQUIRE(source.has_value());
  BOOST_TEST(source->identity() == "https://example.com/a//b.zip");
  for (const char* url : {"ftp://example.com/a", "git::https://example.com/a", "https:///a", "a"}) {
    BOOST_TEST_CONTEXT(url) {
      const auto refused = archive_source(url);
      BOOST_REQUIRE(!refused.has_value());
      BOOST_TEST((refused.error().code == Code::bad_response));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

const std::string kMd5(32, 'a');
const std::string kSha1(40, 'b');
const std::string kSha256(64, 'c');
const std::string kSha384(96, 'e');
const std::string kSha512(128, 'd');

}  // namespace

BOOST_AUTO_TEST_SUITE(checksum)

BOOST_AUTO_TEST_CASE(reads_an_argument) {
  struct Row {
    const char* name;
    std::string text;
    std::string expected;  // empty: none
  };
  const Row rows[] = {
      {"md5", "md5:" + kMd5, "md5:" + kMd5},
      {"sha1", "sha1:" + kSha1, "sha1:" + kSha1},
      {"sha256", "sha256:" + kSha256, "sha256:" + kSha256},
      {"sha512", "sha512:" + kSha512, "sha512:" + kSha512},
      {"capitals", "SHA1:" + std::string(40, 'B'), "sha1:" + kSha1},
      {"by its length: md5", kMd5, "md5:" + kMd5},
      {"by its length: sha1", kSha1, "sha1:" + kSha1},
      {"by its length: sha256", kSha256, "sha256:" + kSha256},
      {"by its length: sha512", kSha512, "sha512:" + kSha512},
      {"no length of any", "abcd", ""},
      {"no hexadecimal digits", std::string(32, 'z'), ""},
      {"another type", "crc32:abcdef01", ""},
      {"a type that go-getter does not know", "sha384:" + kSha384, ""},
      {"a length that go-getter does not know", kSha384, ""},
      {"too short for its type", "sha256:" + kMd5, ""},
      {"nothing", "", ""},
      {"a type alone", "md5:", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = parse_checksum(row.text);
      BOOST_TEST((read ? read->text() : "") == row.expected);
      if (!read) {
        BOOST_TEST((read.error().code == Code::source_invalid));
        BOOST_TEST(read.error().message == "invalid checksum \"" + row.text + "\"");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(finds_an_archive_in_a_list) {
  struct Row {
    const char* name;
    std::string list;
    const char* list_path;
    std::string expected;  // for /d/a.zip; empty: none
  };
  const Row rows[] = {
      {"as sha256sum writes it", kSha256 + "  a.zip\n", "/d/SUMS", "sha256:" + kSha256},
      {"of a binary file", kSha256 + " *a.zip\n", "/d/SUMS", "sha256:" + kSha256},
      {"as shasum -p writes it", kSha256 + " ?a.zip\n", "/d/SUMS", "sha256:" + kSha256},
      {"as BSD writes it", "SHA1 (a.zip) = " + kSha1 + "\n", "/d/SUMS", "sha1:" + kSha1},
      {"without a line end", kMd5 + "  a.zip", "/d/SUMS", "md5:" + kMd5},
      {"with those of another system", kMd5 + "  b.zip\r\n" + kSha1 + "  a.zip\r\n", "/d/SUMS", "sha1:" + kSha1},
      {"by its path from the list", kMd5 + "  d/a.zip\n", "/SUMS", "md5:" + kMd5},
      {"by its path from the list, with ./", kMd5 + "  ./d/a.zip\n", "/SUMS", "md5:" + kMd5},
      {"by its whole path", kMd5 + "  /d/a.zip\n", "/x/SUMS", "md5:" + kMd5},
      {"of several the first", kMd5 + "  a.zip\n" + kSha1 + "  a.zip\n", "/d/SUMS", "md5:" + kMd5},
      {"a checksum alone", kSha512 + "\n", "/d/SUMS", "sha512:" + kSha512},
      {"a checksum and more than a name", kSha512 + " a b\n", "/d/SUMS", "sha512:" + kSha512},
      {"among lines that are none", "\n# sums\nabc  a.zip\nMD5 a.zip = " + kMd5 + "\n" + kSha1 + "  a.zip\n", "/d/SUMS",
       "sha1:" + kSha1},
      {"another archive alone", kMd5 + "  b.zip\n", "/d/SUMS", ""},
      {"a name that ends as it does", kMd5 + "  x-a.zip\n", "/d/SUMS", ""},
      {"an unknown type", "CRC (a.zip) = " + kMd5 + "\n", "/d/SUMS", ""},
      {"types that go-getter does not know are passed over",
       "SHA384 (a.zip) = " + kSha384 + "\n" + kSha384 + "  a.zip\n" + kSha1 + "  a.zip\n", "/d/SUMS", "sha1:" + kSha1},
      {"nothing", "", "/d/SUMS", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = find_checksum(row.list, "/d/a.zip", row.list_path);
      BOOST_TEST((found ? found->text() : "") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
