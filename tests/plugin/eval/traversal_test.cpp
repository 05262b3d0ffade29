#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(traversal)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {"1e3", "1000"},
      {"[1, 2][0]", "1"},
      {R"([1, 2]["1"])", "2"},
      {"[1, 2].1", "2"},
      {"[[1, 2]][0][1]", "2"},
      {"[[1, 2]].0[1]", "2"},
      {"var.list[1]", R"("b")"},
      {"var.list[0.0]", R"("a")"},
      {R"(var.map["k1"])", R"("v1")"},
      {"var.map.k1", R"("v1")"},
      {R"(var.obj["name"])", R"("x")"},
      {"var.obj.name", R"("x")"},
      {"var.obj.ports[1]", "2"},
      {R"({ 1 = "x" }[1])", R"("x")"},
      {R"({ "1" = "x" }["1"])", R"("x")"},
      {"{ true = 1 }[true]", "1"},
      {"var.list[var.n - 3]", R"("a")"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {"[1][1]",
       "CONFIG_PARSE 1:8-1:11 invalid index: the given key does not identify an element in this collection value: the "
       "given index is greater than or equal to the length of the collection"},
      {"[][0]",
       "CONFIG_PARSE 1:7-1:10 invalid index: the given key does not identify an element in this collection value: the "
       "collection has no elements"},
      {"[1][-1]",
       "CONFIG_PARSE 1:8-1:12 invalid index: the given key does not identify an element in this collection value: a "
       "negative number is not a valid index for a sequence"},
      {"[1][0.5]",
       "CONFIG_PARSE 1:8-1:13 invalid index: the given key does not identify an element in this collection value: "
       "indexing a sequence requires a whole number, but the given index has a fractional part"},
      {R"([1]["a"])",
       "CONFIG_PARSE 1:8-1:13 invalid index: the given key does not identify an element in this collection value: a "
       "number is required"},
      {"[1][null]", "CONFIG_PARSE 1:8-1:14 invalid index: can't use a null value as an indexing key"},
      {"[1][[]]",
       "CONFIG_PARSE 1:8-1:12 invalid index: the given key does not identify an element in this collection value: "
       "number required, but have tuple"},
      {"[1].5",
       "CONFIG_PARSE 1:8-1:10 invalid index: the given key does not identify an element in this collection value: the "
       "given index is greater than or equal to the length of the collection"},
      {"var.list[2]",
       "CONFIG_PARSE 1:13-1:16 invalid index: the given key does not identify an element in this collection value: the "
       "given index is greater than or equal to the length of the collection"},
      {"tolist([])[0]",
       "CONFIG_PARSE 1:15-1:18 invalid index: the given key does not identify an element in this collection value: the "
       "collection has no elements"},
      {"toset([1])[0]",
       "CONFIG_PARSE 1:15-1:18 invalid index: elements of a set are identified only by their value and don't have any "
       "separate index or key to select with (perform operations across all elements of the set, for example in a "
       "'for' expression)"},
      {R"("x"[0])", "CONFIG_PARSE 1:8-1:11 invalid index: this value does not have any indices"},
      {"1[0]", "CONFIG_PARSE 1:6-1:9 invalid index: this value does not have any indices"},
      {"null[0]",
       "CONFIG_PARSE 1:9-1:12 attempt to index null value: this value is null, so it does not have any indices"},
      {"var.no_list[0]",
       "CONFIG_PARSE 1:16-1:19 attempt to index null value: this value is null, so it does not have any indices"},
      {R"(var.map["nope"])",
       "CONFIG_PARSE 1:12-1:20 invalid index: the given key does not identify an element in this collection value"},
      {"var.map[[]]",
       "CONFIG_PARSE 1:12-1:16 invalid index: the given key does not identify an element in this collection value: "
       "string required, but have tuple"},
      {R"({ a = 1 }["b"])",
       "CONFIG_PARSE 1:14-1:19 invalid index: the given key does not identify an element in this collection value"},
      {"{ a = 1 }[0]",
       "CONFIG_PARSE 1:14-1:17 invalid index: the given key does not identify an element in this collection value (an "
       "object only supports looking up attributes by name, not by numeric index)"},
      {"{ a = 1 }[[]]",
       "CONFIG_PARSE 1:14-1:18 invalid index: the given key does not identify an element in this collection value: "
       "string required, but have tuple"},
      {"{ a = 1 }.b",
       "CONFIG_PARSE 1:15-1:16 unsupported attribute: this object does not have an attribute named \"b\""},
      {"var.map.nope",
       "CONFIG_PARSE 1:13-1:17 missing map element: this map does not have an element with the key \"nope\""},
      {R"("x".a)",
       "CONFIG_PARSE 1:9-1:10 unsupported attribute: can't access attributes on a primitive-typed value (string)"},
      {"5.a",
       "CONFIG_PARSE 1:7-1:8 unsupported attribute: can't access attributes on a primitive-typed value (number)"},
      {"null.a",
       "CONFIG_PARSE 1:10-1:11 attempt to get attribute from null value: this value is null, so it does not have any "
       "attributes"},
      {"var.none.a",
       "CONFIG_PARSE 1:14-1:15 attempt to get attribute from null value: this value is null, so it does not have any "
       "attributes"},
      {"[].a", "CONFIG_PARSE 1:8-1:9 unsupported attribute: this value does not have any attributes"},
      {"[{ a = 1 }].a", "CONFIG_PARSE 1:17-1:18 unsupported attribute: this value does not have any attributes"},
      {"var.objects.id",
       "CONFIG_PARSE 1:17-1:19 unsupported attribute: can't access attributes on a list of objects (did you mean to "
       "access attribute \"id\" for a specific element of the list, or across all elements of the list?)"},
      {"var.objects.nope",
       "CONFIG_PARSE 1:17-1:21 unsupported attribute: can't access attributes on a list of objects (did you mean to "
       "access an attribute for a specific element of the list, or across all elements of the list?)"},
      {"toset([{ a = 1 }]).a",
       "CONFIG_PARSE 1:24-1:25 unsupported attribute: can't access attributes on a set of objects (did you mean to "
       "access an attribute across all elements of the set?)"},
      {"var.list.a", "CONFIG_PARSE 1:14-1:15 unsupported attribute: this value does not have any attributes"},
      {"var.obj.ports.a", "CONFIG_PARSE 1:19-1:20 unsupported attribute: this value does not have any attributes"},
      {"[1][99999999999999999999]",
       "CONFIG_PARSE 1:8-1:30 invalid index: the given key does not identify an element in this collection value: the "
       "given index is greater than or equal to the length of the collection"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(splat)

BOOST_AUTO_TEST_CASE(values) {
  const Row rows[] = {
      {"var.list[*]", R"(list of string["a", "b"])"},
      {"var.list.*", R"(list of string["a", "b"])"},
      {"var.objects[*].id", R"(list of string["one", "two"])"},
      {"var.objects.*.id", R"(list of string["one", "two"])"},
      {"var.objects[*].tags[*]", R"(list of tuple[[map of string{t="1"}], [map of string{}]])"},
      {"var.no_objects[*].id", "list of string[]"},
      {"var.no_objects[*].tags", "list of map of string[]"},
      {R"(var.no_objects[*].tags["x"])", "list of string[]"},
      {"var.no_objects[*].tags.x", "list of string[]"},
      {"var.no_objects[*]", "list of object[]"},
      {"var.no_objects[*].id[*]", "list of dynamic[]"},
      {"tolist([])[*].a", "list of dynamic[]"},
      {"tolist([])[*]", "list of dynamic[]"},
      {"var.set[*]", R"(list of string["a", "b"])"},
      {"toset([{ a = 1 }])[*].a", "list of number[1]"},
      {"var.s[*]", R"(["text"])"},
      {"var.s.*", R"(["text"])"},
      {"null[*]", "[]"},
      {"null.*.a", "[]"},
      {"var.none[*]", "[]"},
      {"var.obj[*].name", R"(["x"])"},
      {"var.obj.*.ports.0", "[1]"},
      {"var.obj[*].ports[0]", "[1]"},
      {"var.obj.*.ports[0]", "[1, 2]"},
      {"[{ a = [1, 2] }, { a = [3] }].*.a", "[[1, 2], [3]]"},
      {"[{ a = [1, 2] }, { a = [3] }].*.a[0]", "[1, 2]"},
      {"[{ a = [1, 2] }, { a = [3] }][*].a[0]", "[1, 3]"},
      {"[{ a = [1, 2] }, { a = [3] }][*].a[*]", "[[1, 2], [3]]"},
      {"[[1, 2], [3]][*][0]", "[1, 3]"},
      {"[{ a = { b = 1 } }].*.a.b", "[1]"},
      {"tolist([[1], [2]])[*][0]", "list of number[1, 2]"},
      {R"([1, "a"][*])", R"([1, "a"])"},
      {R"([{ a = 1 }, { a = "x" }][*].a)", R"([1, "x"])"},
      {"[[1,2],[3]].*.0", "[1, 3]"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Row rows[] = {
      {"var.no_list[*]",
       "CONFIG_PARSE 1:5-1:16 splat of null value: splat expressions (with the * symbol) cannot be applied to null "
       "sequences"},
      {"var.no_list.*.a",
       "CONFIG_PARSE 1:5-1:16 splat of null value: splat expressions (with the * symbol) cannot be applied to null "
       "sequences"},
      {"var.objects[*].nope",
       "CONFIG_PARSE 1:20-1:24 unsupported attribute: this object does not have an attribute named \"nope\""},
      {"var.no_objects[*].nope",
       "CONFIG_PARSE 1:23-1:27 unsupported attribute: this object does not have an attribute named \"nope\""},
      {"[1].*.a",
       "CONFIG_PARSE 1:11-1:12 unsupported attribute: can't access attributes on a primitive-typed value (number)"},
      {"[{ a = 1 }, 5].*.a",
       "CONFIG_PARSE 1:22-1:23 unsupported attribute: can't access attributes on a primitive-typed value (number)"},
      {R"(tolist([{a = null}, {a = "x"}])[*].a[*])",
       "CONFIG_PARSE 1:36-1:44 invalid nested splat expressions: the second level of splat expression produced "
       "elements of different types, which cannot be in one list (consider using a for expression instead)"},
      {R"(var.objects[*].tags["t"])",
       "CONFIG_PARSE 1:24-1:29 invalid index: the given key does not identify an element in this collection value"},
      {"var.list[*][0]", "CONFIG_PARSE 1:16-1:19 invalid index: this value does not have any indices"},
  };
  check(rows, as_native);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
