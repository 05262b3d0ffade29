#include "plugin/constraint/provider_constraint.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(provider_constraint_test)

namespace {

ProviderVersion version(const std::string& text) {
  return ProviderVersion::parse(text).value();
}
ProviderConstraint constraint(const std::string& text) {
  return ProviderConstraint::parse_locked(text).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(writes_the_normal_form) {
  struct Row {
    const char* name;
    const char* text;
    const char* canonical;
  };
  const Row rows[] = {
      {"equal loses its operator", "= 1.2", "1.2.0"},
      {"no operator", "1.2.3", "1.2.3"},
      {"numbers are completed", ">= 2.68", ">= 2.68.0"},
      {"leading zeros", ">= 01.02", ">= 1.2.0"},
      {"spelled twice", ">= 2.68, >= 2.68.0", ">= 2.68.0"},
      {"pessimistic, one number", "~> 3", "~> 3.0"},
      {"pessimistic, two numbers", "~> 3.1", "~> 3.1"},
      {"pessimistic, three numbers", "~>3.1.0", "~> 3.1.0"},
      {"pessimistic, one and two numbers", "~> 3, ~> 3.0", "~> 3.0"},
      {"order of the operators", "> 1, < 1, >= 1, <= 1, != 1", "> 1.0.0, >= 1.0.0, <= 1.0.0, < 1.0.0, != 1.0.0"},
      {"order of pessimistic items", "~> 1.2, >= 1.2, 1.2.4", ">= 1.2.0, ~> 1.2, 1.2.4"},
      {"both pessimistic forms", "~> 1.2, ~> 1.2.0", "~> 1.2.0, ~> 1.2"},
      {"order by boundary", ">= 2, >= 1.2, < 1.3", ">= 1.2.0, < 1.3.0, >= 2.0.0"},
      {"once each", ">= 1.2.3, 1.2.3, ~> 1.2, 1.2.3", "~> 1.2, >= 1.2.3, 1.2.3"},
      {"prerelease and metadata", "1.2.3-beta+foo.bar", "1.2.3-beta+foo.bar"},
      {"pessimistic prerelease", "~> 2.0-beta", "~> 2.0-beta"},
      {"pessimistic prerelease of three numbers", "~> 2.0.0-beta+x", "~> 2.0.0-beta+x"},
      {"order of prereleases", "> 1.0.0-rc1, > 1.0.0, > 1.0.0-beta.2, > 1.0.0-alpha.1, > 1.0.0-beta",
       "> 1.0.0-beta, > 1.0.0-rc1, > 1.0.0-alpha.1, > 1.0.0-beta.2, > 1.0.0"},
      {"all of it",
       "< 1.2.3, <= 1.2.3, != 1.2.3, 1.2.3+local.2, 1.2.3+local.1, = 1.2.4, = 1.2.3, > 2, > 1.2.3, >= 1.2.3, "
       "~> 1.2.3, ~> 1.2",
       "~> 1.2, > 1.2.3, >= 1.2.3, 1.2.3, ~> 1.2.3, <= 1.2.3, < 1.2.3, != 1.2.3, 1.2.3+local.1, 1.2.3+local.2, "
       "1.2.4, > 2.0.0"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderConstraint::parse(row.text);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      BOOST_TEST(parsed->canonical() == row.canonical);
      BOOST_TEST(constraint(row.canonical).canonical() == row.canonical);
    }
  }
}

BOOST_AUTO_TEST_CASE(decides_as_opentofu_does) {
  struct Row {
    const char* constraint;
    const char* version;
    bool allows;
  };
  const Row rows[] = {
      {"", "1.2.3", true},
      {"", "0.0.0", false},
      {"", "1.2.3-beta", false},
      {"1.2.3", "1.2.3", true},
      {"1.2.3", "1.2.3+x", false},
      {"1.2.3+x", "1.2.3+x", true},
      {"!= 1.2.3", "1.2.3", false},
      {"!= 1.2.3", "1.2.3+x", true},
      {"!= 1.2.3", "1.2.4", true},
      {"> 1.2", "1.2.0", false},
      {"> 1.2", "1.2.0+x", false},
      {"> 1.2", "1.2.1", true},
      {">= 1.2", "1.2.0+x", true},
      {"< 2", "1.99.0", true},
      {"< 2", "2.0.0-beta", false},
      {"<= 2", "2.0.0", true},
      {"<= 2", "2.0.1", false},
      {"~> 2", "2.9.9", true},
      {"~> 2", "3.0.0", false},
      {"~> 2.1", "2.0.9", false},
      {"~> 2.1", "2.9.0", true},
      {"~> 2.1", "3.0.0", false},
      {"~> 2.1.3", "2.1.2", false},
      {"~> 2.1.3", "2.1.9", true},
      {"~> 2.1.3", "2.2.0", false},
      {"~> 2.0.0-beta1", "2.0.0-beta1", false},
      {"~> 2.0.0-beta1", "2.0.0", true},
      {"~> 18446744073709551615", "18446744073709551615.0.0", false},
      {">= 1.0", "2.0.0-beta1", false},
      {"2.0.0-beta1", "2.0.0-beta1", true},
      {"2.0.0-beta1", "2.0.0-beta2", false},
      {"= 2.0.0-beta1, >= 1.0", "2.0.0-beta1", true},
      {"= 2.0.0-beta1, < 2.0.0-alpha", "2.0.0-beta1", false},
      {">= 1.0, < 2.0", "1.5.0", true},
      {">= 1.0, < 2.0", "2.0.0", false},
      {"0.0.0", "0.0.0", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.constraint << " with " << row.version) {
      BOOST_TEST(constraint(row.constraint).allows(version(row.version)) == row.allows);
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
      {"v prefix", "v1.0",
       "invalid specification \"v1.0\": a \"v\" prefix should not be used when specifying versions"},
      {"v prefix behind an operator", ">= v1.0",
       "invalid specification \">= v1.0\": a \"v\" prefix should not be used when specifying versions"},
      {"two blanks", ">=  1.0",
       "invalid specification \">=  1.0\": only one space is expected after the operator \">=\""},
      {"four numbers", "1.2.3.4",
       "invalid specification \"1.2.3.4\": too many numbered portions; only three are allowed (major, minor, patch)"},
      {"glued prerelease", "1.0beta1", "missing comma after \"1.0\""},
      {"tilde in a prerelease", "1.0.0-a~b", "missing comma after \"1.0.0-a\""},
      {"the second item", ">= 1.0, >=  2.0",
       "invalid specification \">=  2.0\": only one space is expected after the operator \">=\""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderConstraint::parse(row.text);
      BOOST_REQUIRE(!parsed.has_value());
      BOOST_TEST((parsed.error().code == Code::constraint_syntax));
      BOOST_TEST(parsed.error().message ==
                 "\"" + std::string(row.text) + "\" is not a version constraint: " + row.problem);
      BOOST_TEST(parsed.error().hint == "write a constraint such as \"~> 1.2\" or \">= 1.2.0, < 2.0.0\"");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lock_file_needs_one_parser_only) {
  struct Row {
    const char* name;
    const char* text;
    const char* canonical;  // null: this parser refuses it too
    const char* problem;
  };
  const Row rows[] = {
      {"nothing", "", "", ""},
      {"comma at the end", "1.0,", "1.0.0", ""},
      {"vertical tab", " 1.0 ,\v2.0\n", "1.0.0, 2.0.0", ""},
      {"dot at the end", ">= 1.", ">= 1.0.0", ""},
      {"no version behind an operator", ">= ,1.0", ">= 0.0.0, 1.0.0", ""},
      {"numbers beyond 63 bits", "18446744073709551615", "18446744073709551615.0.0", ""},
      {"numbers beyond 64 bits", "18446744073709551616", nullptr,
       "invalid specification \"18446744073709551616\": a number is too large"},
      {"operator alone", ">=", nullptr,
       "invalid specification \">=\": only one space is expected after the operator \">=\""},
      {"turned operator", "=> 1.0", nullptr,
       "invalid specification \"=> 1.0\": invalid constraint operator \"=>\"; did you mean \">=\"?"},
      {"the other turned operator", "=<1.0", nullptr,
       "invalid specification \"=<1.0\": invalid constraint operator \"=<\"; did you mean \"<=\"?"},
      {"unknown operator", "^1.0", nullptr, "invalid specification \"^1.0\": invalid constraint operator \"^\""},
      {"two commas", "1.0,,2.0", nullptr, "invalid specification \",2.0\": invalid constraint operator \",\""},
      {"no comma", "1.0 2.0", nullptr, "missing comma after \"1.0\""},
      {"wildcard", "1.*", nullptr,
       "invalid specification \"1.*\": can't use wildcard for minor number; omit segments that should be "
       "unconstrained"},
      {"v behind", "1.0 v2", nullptr, "a \"v\" prefix should not be used when specifying versions"},
      {"word", "latest", nullptr, "missing comma after \"\""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderConstraint::parse_locked(row.text);
      BOOST_TEST(!ProviderConstraint::parse(row.text).has_value());
      BOOST_REQUIRE(parsed.has_value() == (row.canonical != nullptr));
      if (parsed) {
        BOOST_TEST(parsed->canonical() == row.canonical);
      } else {
        BOOST_TEST(parsed.error().message ==
                   "\"" + std::string(row.text) + "\" is not a version constraint: " + row.problem);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(says_what_the_first_parser_refuses) {
  const auto empty = ProviderConstraint::parse("");
  BOOST_REQUIRE(!empty.has_value());
  BOOST_TEST(empty.error().message == "\"\" is not a version constraint: expected at least one version");
  BOOST_TEST(empty.error().hint == "write a constraint such as \"~> 1.2\" or \">= 1.2.0, < 2.0.0\"");
}

BOOST_AUTO_TEST_CASE(merges_to_an_intersection) {
  const std::vector<ProviderConstraint> all = {constraint("~> 1.2"), constraint(""), constraint(">= 1.3, ~> 1.2")};
  const ProviderConstraint merged = ProviderConstraint::merge(all);
  BOOST_TEST(merged.items().size() == 3U);
  BOOST_TEST(merged.canonical() == "~> 1.2, >= 1.3.0");
  BOOST_TEST(!merged.allows(version("1.2.9")));
  BOOST_TEST(merged.allows(version("1.3.0")));
  BOOST_TEST(ProviderConstraint::merge({}).canonical() == "");
}

BOOST_AUTO_TEST_CASE(the_normal_form_means_the_same_and_stays) {
  constexpr unsigned kSeed = 23;
  std::mt19937 random(kSeed);
  const char* const operators[] = {"", "= ", "!=", "> ", ">= ", "<", "<= ", "~> ", "~>"};
  const char* const versions[] = {"1", "1.0",      "1.0.0",        "01.1",    "1.0.1",
                                  "2", "1.0-beta", "1.0.0-beta.1", "1.0.0+b", "2-a+b"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 4; i > 0; --i) {
      text += operators[random() % std::size(operators)];
      text += versions[random() % std::size(versions)];
      text += i > 1 ? ", " : "";
    }
    BOOST_TEST_CONTEXT("seed " << kSeed << ", \"" << text << "\"") {
      const auto parsed = ProviderConstraint::parse(text);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      const ProviderConstraint again = constraint(parsed->canonical());
      BOOST_TEST(again.canonical() == parsed->canonical());
      for (const char* candidate : versions) {
        BOOST_TEST(again.allows(version(candidate)) == parsed->allows(version(candidate)));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
