#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

using modlock::archive::meta_source;
using namespace modlock;
using archive::read_terraform_get;

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

BOOST_AUTO_TEST_SUITE(indirection)

BOOST_AUTO_TEST_CASE(reads_where_a_server_points) {
  struct Row {
    const char* name;
    const char* header;  // nullptr: none
    const char* page;
    const char* expected;
  };
  const char* const kPage = R"(<meta name="terraform-get" content="https://h.example/page.zip">)";
  const Row rows[] = {
      {"the header", "https://h.example/a.zip?x=1", "", "https://h.example/a.zip"},
      {"the header before the page", "https://h.example/a.zip", kPage, "https://h.example/a.zip"},
      {"the page", nullptr, kPage, "https://h.example/page.zip"},
      {"the page behind an empty header", "", kPage, "https://h.example/page.zip"},
      {"a repository", "git::https://h.example/r.git//sub?ref=v1", "", "git::https://h.example/r.git//sub?ref=v1"},
      {"a directory", "file:///srv/module", "", "file:///srv/module"},
      {"a bucket", "s3::https://h.example/b", "", "s3::https://h.example/b"},
      {"nothing", nullptr, "<html/>",
       "BAD_RESPONSE: \"https://asked\" does not have the name of an archive, and neither its X-Terraform-Get header "
       "nor a <meta name=\"terraform-get\"> tag points to the module package"},
      {"a relative path", "./a.zip", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "./a.zip", which is not a full address)"},
      {"a path", "/a.zip", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "/a.zip", which is not a full address)"},
      {"a shorthand", "github.com/a/b", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "github.com/a/b", which is not a full address)"},
      {"a module of a registry", "a/b/c", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "a/b/c", which is not a full address)"},
      {"a scheme in capitals", "HTTPS://h.example/a.zip", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "HTTPS://h.example/a.zip", which is not a full address)"},
      {"an unknown scheme", "ftp://h.example/a.zip", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "ftp://h.example/a.zip", which is not a full address)"},
      {"an OCI registry", "oci://h.example/a", "",
       R"(SOURCE_UNSUPPORTED: "https://asked" states that the module package is at "oci://h.example/a", which OpenTofu does not follow)"},
      {"an address without a host", "https:///a.zip?token=secret", "",
       R"(BAD_RESPONSE: "https://asked" states that the module package is at "https:///a.zip…", which is not a module source)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      HttpResponse response{.status = 200, .body = row.page};
      if (row.header != nullptr) {
        response.headers.push_back({"x-terraform-get", row.header});
      }
      const auto read = read_terraform_get(response, "https://asked");
      BOOST_TEST((read ? read->source.identity()
                       : fmt::format("{}: {}", to_string(read.error().code), read.error().message)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(keeps_refusals_of_dangerous_addresses) {
  const auto read = read_terraform_get({.status = 200, .headers = {{"X-Terraform-Get", "git::ext::sh -c id"}}}, "x");
  BOOST_REQUIRE(!read.has_value());
  BOOST_TEST((read.error().code == Code::source_denied));
}

BOOST_AUTO_TEST_SUITE_END()
