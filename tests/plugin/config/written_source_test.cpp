#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/evaluated_module.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(written_source_test)

BOOST_AUTO_TEST_CASE(what_may_be_shown) {
  struct Row {
    const char* name;
    std::string expression;
    bool shown;
  };
  const Row rows[] = {
      {"a string", "\"./modules/a\"", true},
      {"a name", "local.source", true},
      {"a template", "\"git::https://host/${var.name}.git//sub?ref=${local.ref}\"", true},
      {"several plain arguments", "\"git::https://host/a?depth=1&ref=v1\"", true},
      {"a conditional", "var.local ? \"./a\" : \"./b\"", true},
      {"the user git", "\"git@host:a/b.git\"", true},
      {"the user git of a URL", "\"git::ssh://git@host/a\"", true},
      {"another user", "\"git::ssh://me@host/a\"", false},
      {"a user that ends like git", "\"git::https://legit@host/a\"", false},
      {"a password", "\"git::https://git:secret@host/a\"", false},
      {"an argument of another name", "\"https://host/a.zip?token=secret\"", false},
      {"a second argument of another name", "\"git::https://host/a?ref=v1&sshkey=secret\"", false},
      {"a checksum", "\"https://host/a.zip?checksum=md5:00&ref=v1\"", true},
      {"a list of checksums", "\"https://host/a.zip?checksum=file:https://host/a%3Ftoken=secret\"", false},
      {"a whole query", "\"https://host/a.zip?${local.query}\"", false},
      {"a fragment", "\"https://host/a.zip#secret\"", false},
      {"an escape", "\"git::https://me:secret\\u0040host/a\"", false},
      {"longer than anybody reads", "\"./" + std::string(1000, 'a') + "\"", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const auto module =
          load_module(directory, {{"main.tf", fmt::format("module \"m\" {{\n  source = {}\n}}\n", row.expression)}});
      BOOST_TEST(written_source(module.parsed->calls.front()).value_or("") == (row.shown ? row.expression : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(none_written) {
  const TemporaryDirectory directory;
  const auto module = load_module(directory, {{"main.tf", "module \"m\" {\n}\n"}});
  BOOST_TEST(!written_source(module.parsed->calls.front()).has_value());
}

BOOST_AUTO_TEST_CASE(constants_are_literal) {
  struct Row {
    const char* name;
    std::string_view source;
    bool is_static;
  };
  for (const Row& row : {
           Row{"a string", "\"./a\"", true},
           Row{"a constant template", "\"./${\"a\"}\"", true},
           Row{"a constant condition", "true ? \"./a\" : \"./b\"", true},
           Row{"a name", "\"${path.module}/a\"", false},
           Row{"a function", "lower(\"./a\")", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const auto module =
          load_module(directory, {{"main.tf", fmt::format("module \"m\" {{\n  source = {}\n}}\n", row.source)}});
      BOOST_TEST(is_written_out(module.parsed->calls.front()) == row.is_static);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
