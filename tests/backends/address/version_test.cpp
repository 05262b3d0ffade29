#include "backends/address/version.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(version_test)

namespace {

Version version(const std::string& text) {
  return Version::parse(text).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_versions_as_go_version_does) {
  struct Row {
    const char* name;
    const char* text;
    const char* canonical;
    const char* prerelease;
    const char* metadata;
    std::size_t given_numbers;
  };
  const Row rows[] = {
      {"three numbers", "1.2.3", "1.2.3", "", "", 3},
      {"v prefix", "v1.2.3", "1.2.3", "", "", 3},
      {"one number", "1", "1.0.0", "", "", 1},
      {"two numbers", "1.2", "1.2.0", "", "", 2},
      {"four numbers", "1.2.3.4", "1.2.3.4", "", "", 4},
      {"leading zeros", "01.02.3", "1.2.3", "", "", 3},
      {"largest number", "9223372036854775807.0.0", "9223372036854775807.0.0", "", "", 3},
      {"prerelease", "1.2.3-beta.1", "1.2.3-beta.1", "beta.1", "", 3},
      {"numeric prerelease", "1.2.3-1.2", "1.2.3-1.2", "1.2", "", 3},
      {"glued prerelease", "1.2.3beta1", "1.2.3-beta1", "beta1", "", 3},
      {"prerelease of one number", "1-a", "1.0.0-a", "a", "", 1},
      {"prerelease with a dash of its own", "1.2.3--1", "1.2.3--1", "-1", "", 3},
      {"a dash alone is a prerelease", "1.2.3-", "1.2.3--", "-", "", 3},
      {"a dash before a dot is kept", "1.2.3-.x", "1.2.3--.x", "-.x", "", 3},
      {"tilde", "1.2.3~rc1", "1.2.3-~rc1", "~rc1", "", 3},
      {"metadata", "1.2.3+build.5", "1.2.3+build.5", "", "build.5", 3},
      {"prerelease and metadata", "v1.2.3-rc.1+b-1", "1.2.3-rc.1+b-1", "rc.1", "b-1", 3},
      {"a commit that starts with a digit", "8f2c0d0b", "8.0.0-f2c0d0b", "f2c0d0b", "", 1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = Version::parse(row.text);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      BOOST_TEST(parsed->to_string() == row.canonical);
      BOOST_TEST(parsed->prerelease() == row.prerelease);
      BOOST_TEST(parsed->metadata() == row.metadata);
      BOOST_TEST(parsed->given_numbers() == row.given_numbers);
      BOOST_TEST(parsed->original() == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_version) {
  for (const char* text : {"",
                           "v",
                           "vv1",
                           "V1.0.0",
                           "x",
                           "1.",
                           ".1",
                           "1..2",
                           "1.x",
                           "1.*",
                           "=1",
                           " 1",
                           "1 ",
                           "1.2.3+",
                           "1.2.3+a+b",
                           "1.2.3-a..b",
                           "1.2.3-a.",
                           "1.2.3-a_b",
                           "9223372036854775808.0.0",
                           "-1",
                           "1.2.3 beta"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto parsed = Version::parse(text);
      BOOST_REQUIRE(!parsed.has_value());
      BOOST_TEST(to_string(parsed.error().code) == "CONSTRAINT_SYNTAX");
      BOOST_TEST(parsed.error().message == "\"" + std::string(text) +
                                               "\" is not a version: expected numbers separated by dots, then "
                                               "optionally a prerelease and metadata");
      BOOST_TEST(parsed.error().hint == "write a version such as 1.2.3 or 1.2.3-beta1");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_stays_one_line) {
  BOOST_TEST(Version::parse("1\n2").error().message.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(orders_versions) {
  // The order of SemVer 2.0.0, section 11, with its own examples.
  const std::vector<std::string> ordered = {"0.9.9",
                                            "1.0.0-1",
                                            "1.0.0-2",
                                            "1.0.0-10",
                                            "1.0.0-99999999999999999999",
                                            "1.0.0-alpha",
                                            "1.0.0-alpha.1",
                                            "1.0.0-alpha.beta",
                                            "1.0.0-beta",
                                            "1.0.0-beta.2",
                                            "1.0.0-beta.11",
                                            "1.0.0-rc.1",
                                            "1.0.0",
                                            "1.0.0.1",
                                            "1.0.1",
                                            "1.2",
                                            "1.10",
                                            "2.0.0-a",
                                            "2",
                                            "10"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      BOOST_TEST_CONTEXT(ordered[i] << " and " << ordered[j]) {
        BOOST_TEST(((version(ordered[i]) <=> version(ordered[j])) == (i <=> j)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(metadata_and_missing_numbers_do_not_count) {
  BOOST_TEST((version("1.2.3+a") == version("v1.2.3+b")));
  BOOST_TEST((version("1.2") == version("1.2.0.0")));
  BOOST_TEST((version("1.0.0-01") != version("1.0.0-1")));
}

BOOST_AUTO_TEST_CASE(compares_as_go_version) {
  struct Row {
    const char* name;
    const char* left;
    const char* right;
    int order;
  };
  const Row rows[] = {
      {"equal", "1.2.3", "v1.2.3", 0},
      {"metadata", "1.2.3+a", "1.2.3+b", 0},
      {"smaller", "1.2.3", "1.10.0", -1},
      {"prerelease is smaller", "1.0.0-a", "1.0.0", -1},
      {"numeric identifiers", "1.0.0-beta.2", "1.0.0-beta.11", -1},
      {"number before word", "1.0.0-alpha.1", "1.0.0-alpha.beta", -1},
      {"fewer identifiers before a number", "1.0.0-alpha", "1.0.0-alpha.1", -1},
      {"fewer identifiers behind a word", "1.0.0-alpha", "1.0.0-alpha.beta", 1},
      {"trailing zeros hide a prerelease", "1.0.0.0-beta", "1.0.0", 0},
      {"more numbers", "1.0.0.1", "1.0.0", 1},
      {"leading zero, one way", "1.0.0-01", "1.0.0-1", -1},
      {"leading zero, the other way", "1.0.0-1", "1.0.0-01", -1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(compare_as_go_version(version(row.left), version(row.right)) == row.order);
    }
  }
}

BOOST_AUTO_TEST_CASE(reads_the_version_of_a_tag) {
  struct Row {
    const char* name;
    const char* tag;
    const char* prefix;
    const char* version;  // canonical; null where the tag is skipped
    const char* reason;
  };
  const Row rows[] = {
      {"plain", "1.2.3", "", "1.2.3", ""},
      {"v", "v1.2.3", "", "1.2.3", ""},
      {"prerelease and metadata", "v1.2.3-rc.1+b.01", "", "1.2.3-rc.1+b.01", ""},
      {"prerelease of dashes", "1.0.0--a", "", "1.0.0--a", ""},
      {"prefix", "nested/v1.2.3", "nested/", "1.2.3", ""},
      {"prefix without v", "nested/1.2.3", "nested/", "1.2.3", ""},
      {"prefix with dash", "vpc-1.2.3", "vpc-", "1.2.3", ""},
      {"other prefix", "other/v1.2.3", "nested/", nullptr, "other prefix"},
      {"no prefix", "v1.2.3", "nested/", nullptr, "other prefix"},
      {"prefix alone", "nested/", "nested/", nullptr, "not a semantic version"},
      {"prefix not asked for", "nested/v1.2.3", "", nullptr, "not a semantic version"},
      {"two numbers", "v1.2", "", nullptr, "not a semantic version"},
      {"four numbers", "1.2.3.4", "", nullptr, "not a semantic version"},
      {"leading zero", "1.02.3", "", nullptr, "not a semantic version"},
      {"leading zero in a prerelease", "1.2.3-01", "", nullptr, "not a semantic version"},
      {"glued prerelease", "1.2.3rc1", "", nullptr, "not a semantic version"},
      {"empty prerelease", "1.2.3-", "", nullptr, "not a semantic version"},
      {"empty metadata", "1.2.3+", "", nullptr, "not a semantic version"},
      {"underscore", "1.2.3-a_b", "", nullptr, "not a semantic version"},
      {"tilde", "1.2.3-a~b", "", nullptr, "not a semantic version"},
      {"number too large", "9223372036854775808.0.0", "", nullptr, "not a semantic version"},
      {"upper case V", "V1.2.3", "", nullptr, "not a semantic version"},
      {"word", "latest", "", nullptr, "not a semantic version"},
      {"empty", "", "", nullptr, "not a semantic version"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string reason;
      const auto parsed = parse_version_tag(row.tag, row.prefix, &reason);
      BOOST_TEST((parsed ? parsed->to_string() : "skipped") == (row.version != nullptr ? row.version : "skipped"));
      BOOST_TEST(reason == row.reason);
    }
  }
  BOOST_TEST(!parse_version_tag("latest", ""));
}

BOOST_AUTO_TEST_SUITE_END()
