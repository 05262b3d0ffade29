#include "plugin/config/traversal.h"

#include <boost/test/unit_test.hpp>

#include "plugin/config/object_address.h"
#include "tests/plugin/config/config_texts.h"

using namespace modlock;
using namespace modlock::test;

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

// "name.name[key]" with what each step is written with.
std::string summary(const Traversal& traversal, const std::vector<ConfigText>& files) {
  std::string text = traversal.quoted ? "quoted " : "";
  for (const Traversal::Step& step : traversal.steps) {
    text += fmt::format("{}{}`{}`", step.key ? "#" : ".", step.name, sliced(files, {files.front().path, step.range}));
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traversal)

BOOST_AUTO_TEST_CASE(traversals) {
  struct Row {
    const char* name;
    std::string expression;
    TraversalOptions options;
    std::string_view steps;  // empty: none
  };
  const Row rows[] = {
      {"name", "a", {}, ".a`a`"},
      {"attributes", "a.b.c", {}, ".a`a`.b`b`.c`c`"},
      {"string key", "a[\"x\"].b", {}, ".a`a`#\"x\"`\"x\"`.b`b`"},
      {"number key", "a[0]", {}, ".a`a`#0`0`"},
      {"legacy index", "a.0", {}, ".a`a`#0`0`"},
      {"keywords are names", "null", {}, ".null`null`"},
      {"true", "true", {}, ".true`true`"},
      {"dynamic key", "a[b]", {}, ""},
      {"dynamic key taken", "a[b]", {.dynamic_keys = true}, ".a`a`#`b`"},
      {"interpolated key", "a[\"${b}\"]", {}, ""},
      {"parentheses", "(a)", {}, ""},
      {"call", "a()", {}, ""},
      {"splat", "a[*].b", {.dynamic_keys = true}, ""},
      {"number", "1", {}, ""},
      {"string", "\"a.b\"", {}, ""},
      {"string taken", "\"a.b\"", {.quoted = true}, "quoted .a`a`.b`b`"},
      {"string that is none", "\"a b\"", {.quoted = true}, ""},
      {"string with interpolation", "\"${a}\"", {.quoted = true}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Read file = read(row.expression);
      const auto traversal = read_traversal(file.value(), "a.tf", row.options);
      BOOST_TEST((traversal ? summary(*traversal, file.files) : "") == row.steps);
    }
  }
}

BOOST_AUTO_TEST_CASE(json) {
  const Read file = read(R"("a.b[\"x\"]")", true);
  const auto traversal = read_traversal(file.value(), "a.tf.json");
  BOOST_TEST_REQUIRE(traversal.has_value());
  BOOST_TEST(summary(*traversal, file.files) == R"(.a`a`.b`b`#"x"`\"x\"`)");
  BOOST_TEST(!traversal->quoted);
  BOOST_TEST(!read_traversal(read("1", true).value(), "a.tf.json").has_value());
  BOOST_TEST(!read_traversal(read(R"("a b")", true).value(), "a.tf.json").has_value());
}

BOOST_AUTO_TEST_CASE(keywords) {
  BOOST_TEST(read_keyword(read("all").value()) == "all");
  BOOST_TEST(read_keyword(read("\"all\"", true).value()) == "all");
  BOOST_TEST(read_keyword(read("\"all\"").value()) == "");
  BOOST_TEST(read_keyword(read("\"all\"").value(), {.quoted = true}) == "all");
  BOOST_TEST(read_keyword(read("a.b").value()) == "");
}

BOOST_AUTO_TEST_CASE(object_addresses) {
  struct Row {
    const char* name;
    std::string expression;
    std::string_view address;  // empty: none
  };
  const Row rows[] = {
      {"resource", "a_b.c", "a_b.c"},
      {"with a key", "a_b.c[0]", "a_b.c key"},
      {"data", "data.a_b.c", "data.a_b.c"},
      {"ephemeral", "ephemeral.a_b.c", "ephemeral.a_b.c"},
      {"module", "module.a", "module.a module"},
      {"nested", "module.a[\"x\"].module.b.a_b.c", "module.a.module.b.a_b.c module-key"},
      {"key without a resource", "module.a[0]", "module.a module-key module"},
      {"module without a name", "module", ""},
      {"type alone", "a_b", ""},
      {"data alone", "data.a_b", ""},
      {"attribute", "a_b.c.id", ""},
      {"two keys", "a_b.c[0][1]", ""},
      {"key on the type", "a_b[0].c", ""},
      {"module with two keys", "module.a[0][1]", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Read file = read(row.expression);
      const auto traversal = read_traversal(file.value(), "a.tf");
      BOOST_TEST_REQUIRE(traversal.has_value());
      const auto address = read_object_address(*traversal, ClientKind::opentofu);
      BOOST_TEST((address
                      ? fmt::format("{}{}{}{}", address->to_string(), address->key ? " key" : "",
                                    address->module_keys ? " module-key" : "", address->is_module() ? " module" : "")
                      : "") == row.address);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
