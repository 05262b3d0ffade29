#include "plugin/lock/side_alignment.h"

#include <boost/test/unit_test.hpp>

#include "plugin/lock/lock_file.h"

using namespace modlock;

BOOST_AUTO_TEST_SUITE(conflict)

BOOST_AUTO_TEST_CASE(sides_of_a_text_with_markers) {
  struct Row {
    const char* name;
    const char* text;
    const char* base;  // null: unknown
    const char* ours;
    const char* theirs;
  };
  const Row rows[] = {
      {"merge", "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\nd\n", nullptr, "a\nb\nd\n", "a\nc\nd\n"},
      {"diff3", "a\n<<<<<<< ours\nb\n||||||| 1a2b3c\nx\n=======\nc\n>>>>>>> theirs\nd\n", "a\nx\nd\n", "a\nb\nd\n",
       "a\nc\nd\n"},
      {"without labels", "<<<<<<<\nb\n=======\n>>>>>>>\n", nullptr, "b\n", ""},
      {"CRLF", "<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> topic\r\n", nullptr, "b\r\n", "c\r\n"},
      {"no final line end", "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic", nullptr, "b\n", "c\n"},
      {"two, one without an ancestor",
       "<<<<<<< o\nb\n||||||| x\ny\n=======\nc\n>>>>>>> t\nd\n<<<<<<< o\ne\n=======\nf\n>>>>>>> t\n", nullptr,
       "b\nd\ne\n", "c\nd\nf\n"},
      {"longer markers", "<<<<<<<<< o\nb\n=======\n=========\nc\n>>>>>>>>> t\n", nullptr, "b\n=======\n", "c\n"},
      {"a block in conflict beside one that the other side added without a conflict",
       "<<<<<<< o\nmodule \"c\" {\n  1\n}\n=======\n>>>>>>> t\nmodule \"c\" {\n  2\n}\nmodule \"d\" {\n}\n", nullptr,
       "module \"c\" {\n  1\n}\nmodule \"d\" {\n}\n", "module \"c\" {\n  2\n}\nmodule \"d\" {\n}\n"},
      {"an ancestor with a conflict of its own",
       "<<<<<<< o\nb\n||||||| x\n<<<<<<<<< i\n1\n=========\n2\n>>>>>>>>> j\n=======\nc\n>>>>>>> t\n",
       "<<<<<<<<< i\n1\n=========\n2\n>>>>>>>>> j\n", "b\n", "c\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto sides = split_conflict(row.text);
      BOOST_TEST_REQUIRE(sides.has_value());
      BOOST_TEST(sides->ours == row.ours);
      BOOST_TEST(sides->theirs == row.theirs);
      BOOST_TEST(sides->base.has_value() == (row.base != nullptr));
      BOOST_TEST(sides->base.value_or("") == (row.base == nullptr ? "" : row.base));
    }
  }
}

BOOST_AUTO_TEST_CASE(texts_without_a_whole_conflict) {
  for (const char* text : {"", "a\n", "<<<<<<< HEAD\n", "<<<<<<< HEAD\nb\n=======\nc\n", "=======\nb\n>>>>>>> topic\n",
                           "<<<<<< HEAD\nb\n======\nc\n>>>>>> topic\n", "  <<<<<<< HEAD\nb\n=======\nc\n>>>>>>> t\n",
                           "<<<<<<<HEAD\nb\n=======\nc\n>>>>>>> t\n", "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>>> t\n"}) {
    BOOST_TEST(!split_conflict(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(markers_in_a_lock_file_name_the_way_out) {
  const auto lock =
      parse_lock("module \"a\" {\n<<<<<<< HEAD\n  source = \"s\"\n=======\n  source = \"t\"\n>>>>>>> topic\n}\n", "l");
  BOOST_TEST_REQUIRE(!lock.has_value());
  BOOST_TEST((lock.error().code == Code::lock_parse));
  BOOST_TEST(lock.error().message == "the file has conflict markers of a merge");
  BOOST_TEST(to_string(*lock.error().location) == "l:2:1");
  BOOST_TEST(lock.error().hint == "run: tofu-modlock lock, which keeps the entries of both sides");
}

BOOST_AUTO_TEST_SUITE_END()
