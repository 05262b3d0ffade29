#include "plugin/config/traversal.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/config_texts.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(traversal)

namespace {

struct Read {
  std::vector<ConfigText> files;
  const hcl::Expression& value() const {
    return files.front().parsed.body.blocks.front().body.attributes.front().value;
  }
};

Read read(const std::string& expression, bool json = false) {
  return {read_texts({json ? std::pair<std::string, std::string>("a.tf.json", "{\"locals\":{\"x\":" + expression + "}}")
                           : std::pair<std::string, std::string>("a.tf", "locals {\n  x = " + expression + "\n}\n")})};
}

// ".name#key"; empty: none.
std::string summary(const std::optional<Traversal>& traversal) {
  std::string text;
  for (const Traversal::Step& step : traversal ? traversal->steps : std::vector<Traversal::Step>()) {
    text += (step.key ? "#" : ".") + step.name;
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(traversals) {
  struct Row {
    const char* name;
    std::string expression;
    std::string_view steps;
  };
  const Row rows[] = {
      {"name", "a", ".a"},
      {"attributes", "a.b.c", ".a.b.c"},
      {"string key", "a[\"x\"].b", ".a#\"x\".b"},
      {"number key", "a[0]", ".a#0"},
      {"legacy index", "a.0", ".a#0"},
      {"keywords are names", "null", ".null"},
      {"true", "true", ".true"},
      {"dynamic key", "a[b]", ".a#"},
      {"interpolated key", "a[\"${b}\"]", ".a#"},
      {"parentheses", "(a)", ""},
      {"call", "a()", ""},
      {"splat", "a[*].b", ""},
      {"number", "1", ""},
      {"string", "\"a.b\"", ".a.b"},
      {"string that is none", "\"a b\"", ""},
      {"string with interpolation", "\"${a}\"", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(summary(read_traversal(read(row.expression).value(), "a.tf")) == row.steps);
    }
  }
}

BOOST_AUTO_TEST_CASE(json) {
  BOOST_TEST(summary(read_traversal(read(R"("a.b[\"x\"]")", true).value(), "a.tf.json")) == R"(.a.b#"x")");
  BOOST_TEST(summary(read_traversal(read("1", true).value(), "a.tf.json")) == "");
  BOOST_TEST(summary(read_traversal(read(R"("a b")", true).value(), "a.tf.json")) == "");
}

BOOST_AUTO_TEST_SUITE_END()
