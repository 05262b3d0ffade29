#include "backends/archive/meta_source.h"

#include <boost/test/unit_test.hpp>

using modlock::archive::meta_source;

BOOST_AUTO_TEST_SUITE(meta)

// The rows marked with * were put before OpenTofu 1.12.6, which did the same.
BOOST_AUTO_TEST_CASE(finds_where_a_page_points) {
  struct Row {
    const char* name;
    const char* page;
    const char* expected;
  };
  const Row rows[] = {
      {"* in capitals, with an escape",
       R"(<!doctype html><html><head><META NAME="terraform-get" CONTENT="http://h/a?x=1&amp;y=2"></head></html>)",
       "http://h/a?x=1&y=2"},
      {"* among tags that never end",
       R"(<html><head><link rel=x><meta charset="utf-8"><br>)"
       R"(<meta name="terraform-get" content="a:b"/></head>)",
       "a:b"},
      {"* in the body", R"(<html><body><meta name="terraform-get" content="a:b"></body></html>)", "none"},
      {"* behind the head", R"(<head></head><meta name='terraform-get' content='a:b'>)", "none"},
      {"* behind a script with a smaller-than sign",
       R"(<head><script>if (a<b) {}</script><meta name="terraform-get" content="a:b"/></head>)", "none"},
      {"* behind an empty one", R"(<meta name="terraform-get" content=""/><meta name="terraform-get" content="a:b"/>)",
       "a:b"},
      {"* behind one without content", R"(<meta name='terraform-get'><meta name='terraform-get' content='a:b'>)",
       "a:b"},
      {"* another case of the name", R"(<meta name="Terraform-Get" content="a:b"/>)", "none"},
      {"* the content first", R"(<meta content='a:b' name='terraform-get'>)", "a:b"},
      {"* a name without quotes, escapes of several kinds",
       R"(<meta name=terraform-get content='a:?a=1&b=2&nbsp;&#65;'>)", "a:?a=1&b=2&nbsp;A"},
      {"* a comment", R"(<!-- <meta name='terraform-get' content='x:y'> --><meta name='terraform-get' content='a:b'>)",
       "a:b"},
      {"* another encoding", R"(<?xml version='1.0' encoding='iso-8859-1'?><meta name='terraform-get' content='a:b'>)",
       "none"},
      {"* nothing", "<html/>", "none"},
      {"the same encoding", R"(<?xml version="1.0" encoding="UTF-8"?><meta name='terraform-get' content='a:b'>)",
       "a:b"},
      {"marked text", R"(<![CDATA[<body>]]><meta name='terraform-get' content='a:b'>)", "a:b"},
      {"an attribute without a value", R"(<meta async name='terraform-get' content='a:b'>)", "a:b"},
      {"line ends inside a tag", "<meta\n name = 'terraform-get'\r\n\tcontent = 'a:b'\n>", "a:b"},
      {"escapes of quotes and of a letter", R"(<meta name='terraform-get' content='a:&quot;&apos;&lt;&#x20ac;&gt;'>)",
       "a:\"'<\xe2\x82\xac>"},
      {"escapes of no character", R"(<meta name='terraform-get' content='a:&#xd800;&#1114112;&#;&#x;&;'>)",
       "a:&#xd800;&#1114112;&#;&#x;&;"},
      {"another meta tag", R"(<meta name="go-import" content="a:b">)", "none"},
      {"another tag", R"(<link name="terraform-get" content="a:b">)", "none"},
      {"a tag that never ends", R"(<meta name="terraform-get" content="a:b")", "none"},
      {"a value that never ends", R"(<meta name="terraform-get" content="a:b>)", "none"},
      {"a tag in a value", R"(<meta name="terraform-get" content="<a:b>">)", "none"},
      {"a comment that never ends", R"(<!-- <meta name="terraform-get" content="a:b">)", "none"},
      {"an empty page", "", "none"},
      {"no page", "PK\x03\x04<\xff\xfe", "none"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(meta_source(row.page).value_or("none") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(takes_linear_time) {
  std::string page;
  for (int i = 0; i < 200'000; ++i) {
    page += "<a b='c' d=e f>&amp";
  }
  BOOST_TEST(!meta_source(page).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
