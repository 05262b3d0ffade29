#include "plugin/config/module_call.h"

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/evaluated_module.h"

using namespace modlock;
using namespace modlock::test;

namespace {

Diagnostics numbered(std::size_t count, Severity severity = Severity::error) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < count; ++i) {
    diagnostics.push_back({severity, Error{.code = Code::config_parse, .message = fmt::format("problem {}", i)}});
  }
  return diagnostics;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diagnostic_limit)

BOOST_AUTO_TEST_CASE(how_many) {
  struct Row {
    const char* name;
    std::size_t count;
    std::size_t from;
    Severity severity;
    std::size_t left;
    const char* last;
  };
  const Row rows[] = {
      {"as many as can be", 100, 0, Severity::error, 100, "error: problem 99"},
      {"one more", 101, 0, Severity::error, 101, "error: 1 more problems of this module are not shown"},
      {"many", 5000, 0, Severity::error, 101, "error: 4900 more problems of this module are not shown"},
      {"warnings", 5000, 0, Severity::warning, 101, "warning: 4900 more problems of this module are not shown"},
      {"what stands before does not count", 150, 50, Severity::error, 150, "error: problem 149"},
      {"behind that", 151, 50, Severity::error, 151, "error: 1 more problems of this module are not shown"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Diagnostics diagnostics = numbered(row.count, row.severity);
      limit_diagnostics(diagnostics, row.from);
      BOOST_TEST(diagnostics.size() == row.left);
      const Diagnostic& last = diagnostics.back();
      BOOST_TEST(fmt::format("{}: {}", to_string(last.severity), last.what.message) == row.last);
    }
  }
}

BOOST_AUTO_TEST_CASE(long_names) {
  struct Row {
    const char* name;
    std::string message;
    std::string shown;
  };
  const Row rows[] = {
      {"a word of 100 characters", "no \"" + std::string(100, 'x') + "\" here",
       "no \"" + std::string(100, 'x') + "\" here"},
      {"a longer one", "no \"" + std::string(101, 'x') + "\" here", "no \"" + std::string(100, 'x') + "…\" here"},
      {"two", std::string(200, 'x') + "." + std::string(200, 'y'),
       std::string(100, 'x') + "…." + std::string(100, 'y') + "…"},
      {"characters of several bytes", repeated("é", 100), repeated("é", 100)},
      {"more of them", repeated("é", 101) + " x", repeated("é", 100) + "… x"},
      {"many short words", repeated("word ", 100), repeated("word ", 100)},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Diagnostics diagnostics{{Severity::error, Error{.message = row.message, .related = {{row.message, {}}}}}};
      limit_diagnostics(diagnostics);
      BOOST_TEST(diagnostics.front().what.message == row.shown);
      BOOST_TEST(diagnostics.front().what.related.front().message == row.shown);
    }
  }
}

// A name that is not there is no finding where it may stand in the part of a file that could not be read.
BOOST_AUTO_TEST_CASE(what_a_syntax_error_explains) {
  struct Row {
    const char* name;
    std::string broken;
    std::string text;
  };
  const Row rows[] = {
      {"a local value", "locals {\n  a = [\n}\n", "module \"m\" {\n  source = local.a\n}\n"},
      {"a local value behind another", "locals {\n  a = [\n}\n",
       "locals {\n  b = local.a\n}\nmodule \"m\" {\n  source = local.b\n}\nmodule \"n\" {\n  source = local.b\n}\n"},
      {"a variable", "variable \"a\" {\n  default = [\n}\n", "module \"m\" {\n  source = var.b\n}\n"},
      {"a source", "module \"m\" {\n  source = [\n}\n", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const EvaluatedModule module = load_module(directory, {{"a.tf", row.broken}, {"b.tf", row.text}});
      BOOST_TEST_REQUIRE(module.diagnostics.size() == 1U);
      BOOST_TEST(module.diagnostics.front().what.location->path == "a.tf");
      BOOST_TEST(module.calls.empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
