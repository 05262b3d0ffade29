#include <boost/test/unit_test.hpp>

#include "tests/plugin/eval/evaluation.h"

namespace {

using namespace modlock::test;

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
