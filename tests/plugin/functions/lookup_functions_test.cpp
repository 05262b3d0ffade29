#include <boost/test/unit_test.hpp>

#include "tests/plugin/functions/calls.h"

namespace modlock::eval::test {

// What OpenTofu 1.12 answers.
BOOST_AUTO_TEST_CASE(lookup_functions_answer_as_opentofu) {
  const Row rows[] = {
      {"alltrue", "alltrue", R"([[true,"true"]])", R"(true)"},
      {"alltrue with null", "alltrue", R"([[true,null]])", R"(false)"},
      {"alltrue of none", "alltrue", R"([[]])", R"(true)"},
      {"anytrue", "anytrue", R"([[false,null,true]])", R"(true)"},
      {"anytrue of none", "anytrue", R"([[]])", R"(false)"},
      {"coalesce", "coalesce", R"(["",null,"b"])", R"("b")"},
      {"coalesce with null first", "coalesce", R"([null,"","a"])", R"("a")"},
      {"coalesce unifies", "coalesce", R"(["",1])", R"("1")"},
      {"coalesce of unlike types", "coalesce", R"([["a"],{"a":1}])", R"(error: all arguments must have the same type)"},
      {"coalesce of nothing", "coalesce", R"([null,null])", R"(error: no non-null, non-empty-string arguments)"},
      {"coalescelist", "coalescelist", R"([[],["a"]])", R"(["a"])"},
      {"coalescelist of none", "coalescelist", R"([])", R"(error: at least one argument is required)"},
      {"coalescelist of empty ones", "coalescelist", R"([[],[]])", R"(error: no non-null arguments)"},
      {"coalescelist of a text", "coalescelist", R"(["a"])",
       R"(error: coalescelist arguments must be lists or tuples)"},
      {"coalescelist of null", "coalescelist", R"([null,[1]])",
       R"(error: coalescelist arguments must be lists or tuples)"},
      {"contains", "contains", R"([["a",1],1])", R"(true)"},
      {"contains by type", "contains", R"([["1"],1])", R"(false)"},
      {"contains in an object", "contains", R"([{},1])", R"(error: argument must be list, tuple, or set)"},
      {"contains a structure", "contains", R"([[{"a":1}],{"a":1}])", R"(true)"},
      {"element", "element", R"([["a","b","c"],4])", R"("b")"},
      {"element from the end", "element", R"([["a","b","c"],-1])", R"("c")"},
      {"element of none", "element", R"([[],0])", R"(error: cannot use element function with an empty list)"},
      {"element of an object", "element", R"([{},0])", R"(error: cannot read elements from object)"},
      {"element at a fraction", "element", R"([["a"],0.5])",
       R"(error: invalid index: value must be a whole number, between -9223372036854775808 and 9223372036854775807)"},
      {"index", "index", R"([["a","b"],"b"])", R"(1)"},
      {"index of nothing", "index", R"([["a"],"z"])", R"(error: item not found)"},
      {"index in an empty list", "index", R"([[],"z"])", R"(error: cannot search an empty list)"},
      {"index in a text", "index", R"(["a","z"])", R"(error: argument must be a list or tuple)"},
      {"keys", "keys", R"([{"b":1,"a":2}])", R"(["a","b"])"},
      {"keys of none", "keys", R"([{}])", R"([])"},
      {"keys of a list", "keys", R"([["a"]])", R"(error inputMap: must have map or object type)"},
      {"length of a text in clusters", "length", R"(["a👩‍👩‍👧é"])", R"(3)"},
      {"length of a tuple", "length", R"([[1,2]])", R"(2)"},
      {"length of an object", "length", R"([{"a":1}])", R"(1)"},
      {"length of a number", "length", R"([1])",
       R"(error: argument must be a string, a collection type, or a structural type)"},
      {"lookup", "lookup", R"([{"a":1},"a"])", R"(1)"},
      {"lookup with a default", "lookup", R"([{"a":1},"b","x"])", R"("x")"},
      {"lookup with a null default", "lookup", R"([{"a":1},"b",null])", R"(null)"},
      {"lookup of nothing", "lookup", R"([{"a":1},"b"])", R"(error inputMap: the given object has no attribute "b")"},
      {"lookup in a list", "lookup", R"([["a"],"b"])",
       R"(error inputMap: lookup() requires a map as the first argument)"},
      {"lookup with four arguments", "lookup", R"([{"a":1},"b",1,2])",
       R"(error: lookup() takes two or three arguments, got 4)"},
      {"one", "one", R"([["a"]])", R"("a")"},
      {"one of none", "one", R"([[]])", R"(null)"},
      {"one of two", "one", R"([[1,2]])",
       R"(error list: must be a list, set, or tuple value with either zero or one elements)"},
      {"sum", "sum", R"([[1,2.5,"3"]])", R"(6.5)"},
      {"sum of none", "sum", R"([[]])", R"(error list: cannot sum an empty list)"},
      {"sum of null", "sum", R"([[1,null]])", R"(error list: argument must be list, set, or tuple of number values)"},
      {"sum of texts", "sum", R"([["a"]])", R"(error list: argument must be list, set, or tuple of number values)"},
      {"sum of a number", "sum", R"([1])", R"(error list: cannot sum noniterable)"},
      {"sum of an object", "sum", R"([{"a":1}])",
       R"(error list: argument must be list, set, or tuple. Received object)"},
      {"values", "values", R"([{"b":1,"a":"x"}])", R"(["x",1])"},
      {"values of a list", "values", R"([[1]])", R"(error: values() requires a map as the first argument)"},
  };
  check(rows);
}

}  // namespace modlock::eval::test
