#include "plugin/update/text_change.h"

#include <boost/test/unit_test.hpp>

#include "plugin/constraint/module_constraint.h"

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(argument_change)

BOOST_AUTO_TEST_CASE(keeps_the_form) {
  struct Row {
    const char* name;
    const char* text;
    const char* version;
    const char* result;
  };
  constexpr Row kRows[] = {
      {"exact", "1.2.3", "1.5.0", "1.5.0"},
      {"exact with operator", "= 1.2.3", "1.5.0", "= 1.5.0"},
      {"exact with v", "=v1.2.3", "2.0.0", "=v2.0.0"},
      {"exact of two numbers", "1.2", "1.5.0", "1.5.0"},
      {"exact prerelease", "1.2.3-rc.1", "1.2.3", "1.2.3"},
      {"the same", "1.2.3", "1.2.3", "1.2.3"},
      {"pessimistic and allowed", "~> 1.2", "1.5.0", "~> 1.2"},
      {"pessimistic, two numbers", "~> 1.2", "2.5.1", "~> 2.5"},
      {"pessimistic, three numbers", "~> 1.2.3", "1.5.7", "~> 1.5.7"},
      {"pessimistic, one number", "~> 1", "2.5.1", "~> 1"},
      {"pessimistic, down", "~> 2.1", "1.5.1", "~> 1.5"},
      {"pessimistic to a prerelease", "~> 1.2", "2.0.0-rc.1", "~> 2.0.0-rc.1"},
      {"upper bound, major", ">= 1.0.0, < 2.0.0", "2.3.1", ">= 1.0.0, < 3.0.0"},
      {"upper bound, one number", ">=1,<2", "4.0.0", ">=1,<5"},
      {"upper bound, minor", "< 1.4", "1.5.9", "< 1.6"},
      {"upper bound, minor of three", "< 1.4.0", "2.0.1", "< 2.1.0"},
      {"upper bound, patch", "< 1.4.2", "1.4.7", "< 1.4.8"},
      {"upper bound included", "<= 1.4.2", "1.5.0", "<= 1.5.0"},
      {"lower bound alone", ">= 1.0", "9.0.0", ">= 1.0"},
      {"one of two", "~> 1.2, != 1.2.5", "2.0.0", "~> 2.0, != 1.2.5"},
      {"blanks stay", " >= 1.0 ,  < 2.0 ", "2.0.0", " >= 1.0 ,  < 3.0 "},
      {"zero is a number too", "~> 0.1.2", "0.3.0", "~> 0.3.0"},
      {"upper bound below one", "< 0.0.0", "1.0.0", "< 2.0.0"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Version version = *Version::parse(row.version);
      const auto result = let_in(row.text, version);
      BOOST_REQUIRE(result.has_value());
      BOOST_TEST(*result == row.result);
      BOOST_TEST(ModuleConstraint::parse(*result)->allows(version));
    }
  }
}

BOOST_AUTO_TEST_CASE(constraints_of_providers) {
  struct Row {
    const char* name;
    const char* text;
    const char* version;
    const char* result;  // null: kept out
  };
  constexpr Row kRows[] = {
      {"one number has an upper bound", "~> 2", "3.4.0", "~> 3"},
      {"two numbers", "~> 5.1", "6.2.0", "~> 6.2"},
      {"allowed already", "~> 5.1", "5.9.0", "~> 5.1"},
      {"a prerelease by its name", "= 1.0.0", "2.0.0-rc1", "= 2.0.0-rc1"},
      {"a prerelease is let in by nothing else", "~> 1.0", "2.0.0-rc1", nullptr},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Version version = *Version::parse(row.version);
      const auto result = let_in(row.text, version, ConstraintDialect::provider);
      BOOST_TEST(result.has_value() == (row.result != nullptr));
      if (result) {
        BOOST_TEST(*result == row.result);
        BOOST_TEST(lets_in(*result, version, ConstraintDialect::provider));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_somebody_keeps_out) {
  struct Row {
    const char* name;
    const char* text;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"not this one", "~> 1.0, != 1.5.0", "the constraint \"!= 1.5.0\" excludes 1.5.0"},
      {"newer ones only", ">=2.0", "the constraint \">= 2.0\" excludes 1.5.0"},
      {"newer than that", "> 1.5.0", "the constraint \"> 1.5.0\" excludes 1.5.0"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result = let_in(row.text, *Version::parse("1.5.0"));
      BOOST_REQUIRE(!result.has_value());
      BOOST_TEST((result.error().code == Code::constraint_conflict));
      BOOST_TEST(result.error().message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_constraint) {
  for (const char* text : {"", "~> 1.0,", "latest", "1.0, ,2.0"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto result = let_in(text, *Version::parse("1.5.0"));
      BOOST_REQUIRE(!result.has_value());
      BOOST_TEST((result.error().code == Code::constraint_syntax));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(source_change) {
  struct Row {
    const char* name;
    const char* source;
    const char* argument;
    const char* value;
    const char* result;
  };
  constexpr Row kRows[] = {
      {"another tag", "git::https://a.test/b.git//c?ref=v1.0.0", "ref", "v1.1.0",
       "git::https://a.test/b.git//c?ref=v1.1.0"},
      {"among others", "git::https://a.test/b.git?depth=1&ref=v1&sshkey=x", "ref", "v2",
       "git::https://a.test/b.git?depth=1&ref=v2&sshkey=x"},
      {"of two the first counts", "git::https://a.test/b.git?ref=v1&ref=v0", "ref", "v2",
       "git::https://a.test/b.git?ref=v2&ref=v0"},
      {"the first one", "git::https://a.test/b.git", "ref", "v2", "git::https://a.test/b.git?ref=v2"},
      {"behind others", "git::https://a.test/b.git?depth=1", "ref", "v2", "git::https://a.test/b.git?depth=1&ref=v2"},
      {"an empty query", "git::https://a.test/b.git?", "ref", "v2", "git::https://a.test/b.git?ref=v2"},
      {"a name that ends alike", "git::https://a.test/b.git?xref=v1", "ref", "v2",
       "git::https://a.test/b.git?xref=v1&ref=v2"},
      {"without value", "git::https://a.test/b.git?ref", "ref", "v2", "git::https://a.test/b.git?ref=v2"},
      {"a tag by its digest", "oci://a.test/b?tag=1.0.0", "digest", "sha256:00ff", "oci://a.test/b?digest=sha256:00ff"},
      {"metadata is no blank", "git::https://a.test/b.git?ref=v1", "ref", "v1.0.0+b&c",
       "git::https://a.test/b.git?ref=v1.0.0%2Bb%26c"},
      {"a tag of a monorepo", "git::https://a.test/b.git?ref=x", "ref", "nested/v1.0.0",
       "git::https://a.test/b.git?ref=nested/v1.0.0"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Splice splice = set_query_argument(row.source, {"ref", "tag", "digest"}, row.argument, row.value);
      BOOST_TEST(splice.apply(row.source) == row.result);
    }
  }
}

}  // namespace
}  // namespace modlock
