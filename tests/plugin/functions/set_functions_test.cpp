#include <boost/test/unit_test.hpp>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

// What OpenTofu 1.12 answers.
BOOST_AUTO_TEST_CASE(set_functions_answer_as_opentofu) {
  const Row rows[] = {
      {"setintersection", "setintersection", R"([["a","b"],["b","c"],["b"]])", R"(["b"])"},
      {"setsubtract", "setsubtract", R"([["a","b"],["b","c"]])", R"(["a"])"},
      {"setunion", "setunion", R"([["b"],["a","b"],[1]])", R"(["1","a","b"])"},
      {"setunion with an empty set", "setunion", R"([[],["a"]])", R"(["a"])"},
      {"setunion of empty sets", "setunion", R"([[],[]])", R"([])"},
      {"setunion of unlike types", "setunion", R"([["a"],[["b"]]])",
       R"(error: given sets must all have compatible element types)"},
      {"setproduct", "setproduct", R"([["a","b"],[1,2]])", R"([["a",1],["a",2],["b",1],["b",2]])"},
      {"setproduct unifies", "setproduct", R"([["a",1],[true]])", R"([["a",true],["1",true]])"},
      {"setproduct with none", "setproduct", R"([["a"],[]])", R"([])"},
      {"setproduct of one", "setproduct", R"([["a"]])", R"(error: at least two arguments are required)"},
      {"setproduct of a text", "setproduct", R"([["a"],"b"])", R"(error sets: a set or a list is required)"},
      {"setproduct of unlike types", "setproduct", R"([["a",["b"]],["b"]])",
       R"(error sets: all elements must be of the same type)"},
      {"merge", "merge", R"([{"a":1,"b":2},{"b":"x"},null])", R"({"a":1,"b":"x"})"},
      {"merge of none", "merge", R"([])", R"({})"},
      {"merge of a list", "merge", R"([{"a":1},["b"]])", R"(error: arguments must be maps or objects, got "tuple")"},
      {"transpose", "transpose", R"([{"a":["1","2"],"b":["2","3"]}])", R"({"1":["a"],"2":["a","b"],"3":["b"]})"},
      {"transpose of none", "transpose", R"([{}])", R"({})"},
      {"transpose of a null list", "transpose", R"([{"a":null,"b":["x"]}])",
       R"(error values: cannot use null list for ["a"])"},
      {"transpose of a null", "transpose", R"([{"a":["x",null]}])",
       R"(error values: cannot use null string for ["a"][1])"},
      {"zipmap", "zipmap", R"([["a","b"],[1,"x"]])", R"({"a":1,"b":"x"})"},
      {"zipmap of unlike lengths", "zipmap", R"([["a"],[1,2]])",
       R"(error: number of keys (1) does not match number of values (2))"},
      {"zipmap of a text", "zipmap", R"([["a"],"b"])", R"(error: values argument must be a list or tuple value)"},
      {"zipmap with a null key", "zipmap", R"([["a",null],[1,2]])", R"(error: keys list has null value at index 1)"},
  };
  check(rows);
}

}  // namespace modlock::eval::test
