#include "backends/address/provider_version.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(provider_version_test)

namespace {

ProviderVersion version(const std::string& text) {
  return ProviderVersion::parse(text).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_versions_as_go_versions_does) {
  struct Row {
    const char* name;
    const char* text;
    const char* printed;
  };
  const Row rows[] = {
      {"three numbers", "1.2.3", "1.2.3"},
      {"one number", "1", "1.0.0"},
      {"two numbers", "1.2", "1.2.0"},
      {"leading zeros", "01.002.0", "1.2.0"},
      {"largest number", "18446744073709551615.0.0", "18446744073709551615.0.0"},
      {"prerelease", "1.2.3-beta.1", "1.2.3-beta.1"},
      {"prerelease of one number", "1-a", "1.0.0-a"},
      {"prerelease with dashes", "1.2.3--a-", "1.2.3--a-"},
      {"prerelease with empty parts", "1.2.3-..", "1.2.3-.."},
      {"metadata", "1.2.3+build.5", "1.2.3+build.5"},
      {"prerelease and metadata", "1.2.3-rc.1+b-1", "1.2.3-rc.1+b-1"},
      {"a dot at the end", "1.2.", "1.2.0"},
      {"a dash at the end", "1.2.3-", "1.2.3"},
      {"a plus sign at the end", "1.2.3+", "1.2.3"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderVersion::parse(row.text);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      BOOST_TEST(parsed->to_string() == row.printed);
      BOOST_TEST((version(parsed->to_string()) == *parsed));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_go_versions_refuses) {
  struct Row {
    const char* name;
    const char* text;
    const char* problem;
  };
  const Row rows[] = {
      {"nothing", "", "empty specification"},
      {"blanks", " \t", "empty specification"},
      {"v prefix", "v1.2.3", "a \"v\" prefix should not be used"},
      {"blank before", " 1.2.3", "extraneous spaces at start of specification"},
      {"blank behind", "1.2.3 ", "extraneous spaces at end of specification"},
      {"operator", ">= 1.2.3", "can't use constraint operator \">=\"; an exact version is required"},
      {"equals sign", "=1.2.3", "invalid sequence \"=\" at start of specification"},
      {"two versions", "1.2.3, 1.2.4", "can't specify multiple versions; a single exact version is required"},
      {"range", "1.2.3 - 1.3", "can't specify version range; a single exact version is required"},
      {"word", "latest", "invalid specification; required format is three positive integers separated by periods"},
      {"glued prerelease", "1.2.3beta", "invalid characters \"beta\""},
      {"tilde", "1.2.3-a~b", "invalid characters \"~b\""},
      {"four numbers", "1.2.3.4", "too many numbered portions; only three are allowed (major, minor, patch)"},
      {"wildcard", "1.x", "can't use wildcard for minor number; an exact version is required"},
      {"star", "*", "can't use wildcard for major number; an exact version is required"},
      {"too large a number", "1.18446744073709551616.0", "a number is too large"},
      {"line end", "1.2\n.3", "invalid characters \".3\""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderVersion::parse(row.text);
      BOOST_REQUIRE(!parsed.has_value());
      BOOST_TEST((parsed.error().code == Code::constraint_syntax));
      const std::string shown = std::string_view(row.name) == "line end" ? "1.2\\x0a.3"
                                : std::string_view(row.name) == "blanks" ? " \\x09"
                                                                         : row.text;
      BOOST_TEST(parsed.error().message == "\"" + shown + "\" is not a provider version: " + row.problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(orders_versions_as_go_versions_does) {
  const char* sorted[] = {
      "1.0.0-1",     "1.0.0-9",   "1.0.0-10",    "1.0.0-01x",     "1.0.0-Z",       "1.0.0-alpha",  "1.0.0-beta",
      "1.0.0-rc1",   "1.0.0-1.a", "1.0.0-a.b.c", "1.0.0-alpha.1", "1.0.0-alpha.2", "1.0.0-beta.1", "1.0.0",
      "1.0.1-alpha", "1.0.1",     "1.1.0",       "2.0.0",         "10.0.0",
  };
  for (std::size_t i = 0; i < std::size(sorted); ++i) {
    for (std::size_t j = 0; j < std::size(sorted); ++j) {
      BOOST_TEST_CONTEXT(sorted[i] << " and " << sorted[j]) {
        BOOST_TEST(compare(version(sorted[i]), version(sorted[j])) == (i < j ? -1 : i > j ? 1 : 0));
      }
    }
  }
  BOOST_TEST(compare(version("1.0.0+a"), version("1.0.0+b")) == 0);
  BOOST_TEST((version("1.0.0+a") != version("1.0.0+b")));
}

BOOST_AUTO_TEST_CASE(reads_back_what_it_prints) {
  constexpr unsigned kSeed = 22;
  std::mt19937 random(kSeed);
  const char* const pieces[] = {"0", "1", "07", "12", ".", ".", "-", "+", "rc", "beta"};
  int accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 9; i > 0; --i) {
      text += pieces[random() % std::size(pieces)];
    }
    const auto parsed = ProviderVersion::parse(text);
    if (!parsed) {
      continue;
    }
    ++accepted;
    BOOST_TEST_CONTEXT("seed " << kSeed << ", \"" << text << "\"") {
      BOOST_TEST((version(parsed->to_string()) == *parsed));
    }
  }
  BOOST_TEST(accepted > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
