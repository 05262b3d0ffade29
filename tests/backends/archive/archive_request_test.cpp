#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "backends/http/redirect_policy.h"

using namespace modlock;
using archive::read_request;

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
      BOOST_TEST(request->host == source->source.host);
      BOOST_TEST(request->has_user == (std::string_view(row.name) == "a user"));
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
       "SOURCE_INVALID: \"https://example.com/a?checksum=md5:00\" has a checksum, but is no archive by its name or its "
       "`archive` argument"},
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
