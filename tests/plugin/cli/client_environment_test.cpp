#include "plugin/cli/client_environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/test/unit_test.hpp>

#include "tests/support/environment.h"

using namespace modlock;
using namespace modlock::cli;
using namespace modlock::test;

namespace {

std::string joined(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, value);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_environment)

BOOST_AUTO_TEST_CASE(splitting) {
  struct Row {
    const char* name;
    std::string_view text;
    std::vector<std::string> words;
  };
  const Row rows[] = {
      {"nothing", "", {}},
      {"blanks only", " \t ", {}},
      {"several", "-a  -b\tc", {"-a", "-b", "c"}},
      {"double quotes", R"(-var "a=b c")", {"-var", "a=b c"}},
      {"quotes inside of a word", R"(-var='a=["x"]')", {"-var=a=[\"x\"]"}},
      {"empty word", R"("" x)", {"", "x"}},
      {"backslash", R"(a\ b \"c)", {"a b", "\"c"}},
      {"backslash in single quotes is itself", R"('a\b')", {"a\\b"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto words = split_words(row.text, "TF_CLI_ARGS");
      BOOST_TEST_REQUIRE(words.has_value());
      BOOST_TEST(*words == row.words, boost::test_tools::per_element());
    }
  }
  const auto open = split_words("-var 'secret", "TF_CLI_ARGS");
  BOOST_TEST_REQUIRE(!open.has_value());
  BOOST_TEST(open.error().message == "TF_CLI_ARGS has a quote that is not closed");
}

BOOST_AUTO_TEST_CASE(assignments) {
  struct Row {
    const char* name;
    std::string_view text;
    std::string variables;  // empty: refused
  };
  const Row rows[] = {
      {"plain", "a=b", "a=b"},          {"value with an equals sign", "a=b=c", "a=b=c"},
      {"empty value", "a=", "a="},      {"blank before", "a =b", "a=b"},
      {"no equals sign", "secret", ""}, {"no name", "=secret", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::map<std::string, std::string> variables;
      const auto ok = add_variable(variables, row.text);
      BOOST_TEST(joined(variables) == row.variables);
      BOOST_TEST(ok.has_value() == !row.variables.empty());
      if (!ok) {
        BOOST_TEST(ok.error().message == "a variable is given without a name or without \"=\"");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(environment_of_a_client) {
  const ScopedEnvironment region("TF_VAR_region", "eu=1");
  const ScopedEnvironment nameless("TF_VAR_", "x");
  const ScopedEnvironment general("TF_CLI_ARGS", "-no-color -var-file a.tfvars --var=size=2");
  const ScopedEnvironment init("TF_CLI_ARGS_init", "-var 'name=a b' -var-file=b.tfvars -variant=1 value");
  const auto environment = read_client_environment();
  BOOST_TEST_REQUIRE(environment.has_value());
  BOOST_TEST(environment->fallback_variables.at("region") == "eu=1");
  BOOST_TEST(environment->fallback_variables.count("") == 0U);
  BOOST_TEST(joined(environment->variables) == "name=a b;size=2");
  BOOST_TEST(fmt::format("{}", fmt::join(environment->var_files, " ")) == "a.tfvars b.tfvars");
}

BOOST_AUTO_TEST_CASE(broken_arguments) {
  const ScopedEnvironment general("TF_CLI_ARGS", "-var secret");
  const auto environment = read_client_environment();
  BOOST_TEST_REQUIRE(!environment.has_value());
  BOOST_TEST(to_string(environment.error().code) == "INVALID_PARAMS");
  BOOST_TEST(environment.error().message == "a variable is given without a name or without \"=\"");
}

BOOST_AUTO_TEST_SUITE_END()
