#include <boost/test/unit_test.hpp>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

// What OpenTofu 1.12 answers.
BOOST_AUTO_TEST_CASE(numeric_functions_answer_as_opentofu) {
  const Row rows[] = {
      {"abs", "abs", R"([-1.5])", R"(1.5)"},
      {"ceil", "ceil", R"([1.2])", R"(2)"},
      {"ceil below 0", "ceil", R"([-1.2])", R"(-1)"},
      {"floor", "floor", R"([1.8])", R"(1)"},
      {"floor below 0", "floor", R"([-1.2])", R"(-2)"},
      {"log", "log", R"([16,2])", R"(4)"},
      {"log of 1000", "log", R"([1000,10])", R"(2.9999999999999996)"},
      {"pow", "pow", R"([3,2])", R"(9)"},
      {"pow of a half", "pow", R"([2,0.5])", R"(1.4142135623730951)"},
      {"pow beyond a double's integers", "pow", R"([2,64])", R"(18446744073709550000)"},
      {"max", "max", R"([1,"3",2])", R"(3)"},
      {"max of none", "max", R"([])", R"(error: must pass at least one number)"},
      {"min", "min", R"([1,-3,2])", R"(-3)"},
      {"min of none", "min", R"([])", R"(error: must pass at least one number)"},
      {"signum below", "signum", R"([-7])", R"(-1)"},
      {"signum of 0", "signum", R"([0])", R"(0)"},
      {"signum above", "signum", R"([7])", R"(1)"},
      {"signum of a fraction", "signum", R"([0.5])",
       R"(error: value must be a whole number, between -9223372036854775808 and 9223372036854775807)"},
      {"parseint", "parseint", R"(["-ff",16])", R"(-255)"},
      {"parseint with plus", "parseint", R"(["+12",10])", R"(12)"},
      {"parseint upper case", "parseint", R"(["FF",16])", R"(255)"},
      {"parseint base 62", "parseint", R"(["aA",62])", R"(656)"},
      {"parseint long", "parseint", R"(["123456789012345678901234567890",10])", R"(123456789012345678901234567890)"},
      {"parseint no digit", "parseint", R"(["12x",10])", R"(error number: cannot parse "12x" as a base 10 integer)"},
      {"parseint underscore", "parseint", R"(["1_2",10])", R"(error number: cannot parse "1_2" as a base 10 integer)"},
      {"parseint nothing", "parseint", R"(["",10])", R"(error number: cannot parse "" as a base 10 integer)"},
      {"parseint of a number", "parseint", R"([12,10])",
       R"(error number: first argument must be a string, not number)"},
      {"parseint base 1", "parseint", R"(["1",1])",
       R"(error base: base must be a whole number between 2 and 62 inclusive)"},
      {"parseint base 63", "parseint", R"(["1",63])",
       R"(error base: base must be a whole number between 2 and 62 inclusive)"},
      {"tobool", "tobool", R"(["true"])", R"(true)"},
      {"tobool of a text", "tobool", R"(["x\ny"])",
       R"(error v: cannot convert "x\ny" to bool; only the strings "true" or "false" are allowed)"},
      {"tobool of a number", "tobool", R"([1])", R"(error v: cannot convert number to bool)"},
      {"tonumber", "tonumber", R"(["1.50"])", R"(1.5)"},
      {"tonumber of a text", "tonumber", R"(["x"])",
       R"(error v: cannot convert "x" to number; given string must be a decimal representation of a number)"},
      {"tonumber of a list", "tonumber", R"([["x"]])", R"(error v: cannot convert tuple to number)"},
      {"tonumber of null", "tonumber", R"([null])", R"(null)"},
      {"tostring", "tostring", R"([1.50])", R"("1.5")"},
      {"tostring of an object", "tostring", R"([{}])", R"(error v: cannot convert object to string)"},
      {"tolist", "tolist", R"([["a",1]])", R"(["a","1"])"},
      {"tolist of an object", "tolist", R"([{}])", R"(error v: cannot convert object to list of any single type)"},
      {"tolist of unlike items", "tolist", R"([["a",["b"]]])",
       R"(error v: cannot convert tuple to list of any single type)"},
      {"toset", "toset", R"([["b","a","b"]])", R"(["a","b"])"},
      {"toset of a text", "toset", R"(["b"])", R"(error v: cannot convert string to set of any single type)"},
      {"tomap", "tomap", R"([{"a":1,"b":"x"}])", R"({"a":"1","b":"x"})"},
      {"tomap of a list", "tomap", R"([["a"]])", R"(error v: cannot convert tuple to map of any single type)"},
      {"tomap of unlike items", "tomap", R"([{"a":1,"b":[]}])",
       R"(error v: cannot convert object to map of any single type)"},
  };
  check(rows);
}

}  // namespace modlock::eval::test
