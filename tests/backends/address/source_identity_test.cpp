#include <boost/test/unit_test.hpp>

#include "backends/address/source.h"

using namespace modlock;

BOOST_AUTO_TEST_SUITE(source_identity)

BOOST_AUTO_TEST_CASE(reads_identities_of_lock_files) {
  struct Row {
    const char* name;
    const char* text;
    const char* identity;
  };
  const Row rows[] = {
      {"registry", "example.com/modules/a/b/c//sub", "example.com/modules/a/b/c//sub"},
      {"registry without modules/", "example.com/a/b/c//sub", "example.com/modules/a/b/c//sub"},
      {"registry without host", "a/b/c", "registry.opentofu.org/modules/a/b/c"},
      {"namespace called modules", "example.com/modules/b/c", "example.com/modules/modules/b/c"},
      {"registry with port", "example.com:8443/modules/a/b/c", "example.com:8443/modules/a/b/c"},
      {"git", "git::https://host/x.git//sub?ref=v1", "git::https://host/x.git//sub?ref=v1"},
      {"user-info is dropped", "git::https://user:secret@host/x.git", "git::https://host/x.git"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto source = parse_identity(row.text);
      BOOST_REQUIRE_MESSAGE(source.has_value(), (source ? "" : source.error().message));
      BOOST_TEST(source->identity() == row.identity);
    }
  }
}

// When OpenTofu reads its own form of these again, that slash is gone.
BOOST_AUTO_TEST_CASE(a_slash_that_a_detector_leaves_is_not_part_of_the_identity) {
  struct Row {
    const char* name;
    const char* text;
    const char* normalised;
    const char* identity;
  };
  const Row rows[] = {
      {"before the root", "x///?/v1/b/o.googleapis.com/",
       "gcs::https://www.googleapis.com/storage/b/o.googleapis.com////",
       "gcs::https://www.googleapis.com/storage/b/o.googleapis.com"},
      {"before a dot", "x//.?/v1/b/o.googleapis.com/", "gcs::https://www.googleapis.com/storage/b/o.googleapis.com///.",
       "gcs::https://www.googleapis.com/storage/b/o.googleapis.com"},
      {"before a subdirectory", "x//sub?/v1/b/o.googleapis.com/",
       "gcs::https://www.googleapis.com/storage/b/o.googleapis.com///sub",
       "gcs::https://www.googleapis.com/storage/b/o.googleapis.com//sub"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = parse_source(row.text);
      BOOST_REQUIRE_MESSAGE(address.has_value(), (address ? "" : address.error().message));
      BOOST_TEST(address->normalised.reveal() == row.normalised);
      BOOST_TEST(address->source.identity() == row.identity);
      const auto again = parse_source(row.normalised);
      BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
      BOOST_TEST((again->source == address->source));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_identities_that_are_no_source) {
  for (const char* text : {"", "x", "example.com/modules/a/b/c/d", "example.com/modules/a/b/C", "a/modules/b/c/d"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto source = parse_identity(text);
      BOOST_REQUIRE(!source.has_value());
      BOOST_TEST(to_string(source.error().code) == "SOURCE_INVALID");
    }
  }
}

BOOST_AUTO_TEST_CASE(printable_forms) {
  struct Row {
    const char* name;
    const char* text;
    const char* shown;
  };
  const Row rows[] = {
      {"local", "./a//b", "./a/b"},
      {"registry", "ns/name/system//x", "registry.opentofu.org/ns/name/system//x"},
      {"git", "github.com/a/b//c?ref=v1", "git::https://github.com/a/b.git//c?ref=v1"},
      {"git with depth", "git::https://h.example/a.git?depth=1&ref=v1", "git::https://h.example/a.git?depth=1&ref=v1"},
      {"user-info", "git::https://me:secret@h.example/a.git?ref=v1", "git::https://h.example/a.git?ref=v1"},
      {"key", "git::ssh://git@h.example/a.git?sshkey=c2VjcmV0", "git::ssh://git@h.example/a.git"},
      {"signed address", "https://h.example/a.zip?X-Signature=secret", "https://h.example/a.zip"},
      {"checksum", "https://h.example/a.zip?checksum=md5:00", "https://h.example/a.zip?checksum=md5:00"},
      {"list of checksums", "https://h.example/a.zip?checksum=file:https://me:secret@h.example/a",
       "https://h.example/a.zip?checksum=file:https://h.example/a"},
      {"escaped list of checksums", "https://h.example/a.zip?checksum=file:https%3A//h.example/a%3Fb=secret",
       "https://h.example/a.zip?checksum=file:https://h.example/a"},
      {"oci", "oci://h.example/a?tag=1", "oci://h.example/a?tag=1"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(printable_form(parse_source(row.text).value()) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
