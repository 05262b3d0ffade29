#include "backends/archive/terraform_get.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

using namespace modlock;
using archive::read_terraform_get;

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
       "BAD_RESPONSE: \"https://asked\" is no archive by its name, and neither its X-Terraform-Get header nor a <meta "
       "name=\"terraform-get\"> tag says where the module package is"},
      {"a relative path", "./a.zip", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "./a.zip", which is no whole address)"},
      {"a path", "/a.zip", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "/a.zip", which is no whole address)"},
      {"a shorthand", "github.com/a/b", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "github.com/a/b", which is no whole address)"},
      {"a module of a registry", "a/b/c", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "a/b/c", which is no whole address)"},
      {"a scheme in capitals", "HTTPS://h.example/a.zip", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "HTTPS://h.example/a.zip", which is no whole address)"},
      {"an unknown scheme", "ftp://h.example/a.zip", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "ftp://h.example/a.zip", which is no whole address)"},
      {"an OCI registry", "oci://h.example/a", "",
       R"(SOURCE_UNSUPPORTED: "https://asked" says that the module package is at "oci://h.example/a", where OpenTofu does not follow)"},
      {"an address without a host", "https:///a.zip?token=secret", "",
       R"(BAD_RESPONSE: "https://asked" says that the module package is at "https:///a.zip…", which is no module source)"},
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
