#include "plugin/client/client_environment.h"

#include <fmt/format.h>
#include <boost/test/unit_test.hpp>

#include "tests/support/environment.h"

using namespace modlock;
using namespace modlock::test;

namespace {

std::string shown(const messages::VariableArgument& argument) {
  return argument.name ? fmt::format("{}={}", *argument.name, *argument.value) : "file " + *argument.file;
}

std::string joined(const std::vector<messages::VariableArgument>& arguments) {
  std::string text;
  for (const messages::VariableArgument& argument : arguments) {
    text += (text.empty() ? "" : ";") + shown(argument);
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
    std::string outcome;  // or the error
  };
  const std::string unnamed = "a variable is given without a name or without \"=\"";
  const Row rows[] = {
      {"plain", "a=b", "a=b"},
      {"value with an equals sign", "a=b=c", "a=b=c"},
      {"empty value", "a=", "a="},
      {"blank before the value", "a= b", "a= b"},
      {"no equals sign", "secret", unnamed},
      {"no name", "=secret", unnamed},
      {"blank after the name", "a =secret", "variable name \"a \" is invalid due to trailing space"},
      {"a blank for a name", " =secret", "variable name \" \" is invalid due to trailing space"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto argument = parse_variable(row.text);
      BOOST_TEST((argument ? shown(*argument) : argument.error().message) == row.outcome);
    }
  }
}

// A client puts those of TF_CLI_ARGS_init first.
BOOST_AUTO_TEST_CASE(environment_of_a_client) {
  const ScopedEnvironment region("TF_VAR_region", "eu=1");
  const ScopedEnvironment nameless("TF_VAR_", "x");
  const ScopedEnvironment general("TF_CLI_ARGS", "-no-color -var-file a.tfvars --var=size=2");
  const ScopedEnvironment init("TF_CLI_ARGS_init", "-var 'name=a b' -var-file=b.tfvars -variant=1 value");
  const auto environment = read_client_environment();
  BOOST_TEST_REQUIRE(environment.has_value());
  BOOST_TEST(environment->fallback_variables.at("region") == "eu=1");
  BOOST_TEST(environment->fallback_variables.count("") == 0U);
  BOOST_TEST(joined(environment->arguments) == "name=a b;file b.tfvars;file a.tfvars;size=2");
}

BOOST_AUTO_TEST_CASE(broken_arguments) {
  const ScopedEnvironment general("TF_CLI_ARGS", "-var secret");
  const auto environment = read_client_environment();
  BOOST_TEST_REQUIRE(!environment.has_value());
  BOOST_TEST(to_string(environment.error().code) == "INVALID_PARAMS");
  BOOST_TEST(environment.error().message == "a variable is given without a name or without \"=\"");
}

BOOST_AUTO_TEST_SUITE_END()
