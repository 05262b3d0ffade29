#include "backends/oci/tag_pages.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace modlock::oci {
namespace {

constexpr const char* kFirst = "https://reg.example.com/v2/a/tags/list";

HttpResponse page(const std::string& url, std::string body, const std::string& link = {}) {
  HttpResponse response{.status = 200, .body = std::move(body), .url = SecretText(url)};
  if (!link.empty()) {
    response.headers.push_back({"Link", link});
  }
  return response;
}

// What a first page leads to: "URL" (with " elsewhere" for another origin), "end", or "CODE: message".
std::string after(const std::string& body, const std::string& link = {}) {
  TagPages pages(kFirst, "oci://reg.example.com/a");
  const auto taken = pages.take(page(kFirst, body, link));
  if (!taken) {
    return std::string(to_string(taken.error().code)) + ": " + taken.error().message;
  }
  return pages.next() ? pages.next()->url + (pages.next()->same_origin ? "" : " elsewhere") : "end";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tag_pages)

BOOST_AUTO_TEST_CASE(link_headers_name_the_next_page) {
  struct Row {
    const char* name;
    std::string value;
    const char* expected;
  };
  for (const Row& row : {
           Row{"empty", "", "none"},
           Row{"next", "</v2/a/tags/list?last=b>; rel=\"next\"", "/v2/a/tags/list?last=b"},
           Row{"unquoted", "</x>; rel=next", "/x"},
           Row{"unquoted, and more", "</x>; rel=next; title=a", "/x"},
           Row{"first of several relations", "</x>; rel=\"next last\"", "/x"},
           Row{"last of several relations", "</x>; rel=\"last next\"", "/x"},
           Row{"another relation", "</x>; rel=\"nextish\"", "none"},
           Row{"an empty relation", "</x>; rel=", "none"},
           Row{"without a relation, as oras-go takes it", "</x>", "/x"},
           Row{"behind others", "</p>; rel=\"prev\", </n>; rel=\"next\"", "/n"},
           Row{"only others", "</p>; rel=\"prev\"", "none"},
           Row{"comma inside quotes", "</p>; title=\"a, </x>\"; rel=\"prev\",</n>;rel=\"next\"", "/n"},
           Row{"comma inside the target", "</a,b>; rel=\"next\"", "/a,b"},
           Row{"escaped quote", "</p>; title=\"a\\\", </x>\"; rel=\"prev\",</n>;rel=\"next\"", "/n"},
           Row{"no brackets", "/x; rel=\"next\"", "none"},
           Row{"no closing bracket", "</x; rel=\"next\"", "none"},
           Row{"closing bracket first", "></x", "none"},
           Row{"backslash at the end", "</x>; title=\"\\", "/x"},
           Row{"only commas", std::string(100'000, ','), "none"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(next_link(row.value).value_or("none") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(pages_lead_on_or_end) {
  const char* const circle =
      "BAD_RESPONSE: the registry lists the tags of \"oci://reg.example.com/a\" in pages that form a loop";
  const char* const lost =
      "BAD_RESPONSE: the registry lists the tags of \"oci://reg.example.com/a\" in pages, and the link to the next one "
      "cannot be followed";
  const std::string list = "BAD_RESPONSE: the registry lists the tags of \"oci://reg.example.com/a\" as ";
  struct Row {
    const char* name;
    std::string body;
    std::string link;
    std::string expected;
  };
  for (const Row& row : {
           Row{"no link", R"({"tags":["v1"]})", "", "end"},
           Row{"relative link", "{}", "<list?last=b>; rel=\"next\"", "https://reg.example.com/v2/a/tags/list?last=b"},
           Row{"absolute path", "{}", "</v2/a/tags/list?last=b>", "https://reg.example.com/v2/a/tags/list?last=b"},
           Row{"absolute link with the default port", "{}", "<https://reg.example.com:443/x>",
               "https://reg.example.com:443/x"},
           Row{"another host", "{}", "<https://other.example.com/x>", "https://other.example.com/x elsewhere"},
           Row{"another port", "{}", "<https://reg.example.com:444/x>", "https://reg.example.com:444/x elsewhere"},
           Row{"http for the same host, behind a proxy", "{}", "<http://reg.example.com/x>",
               "https://reg.example.com/x"},
           Row{"down to http elsewhere", "{}", "<http://other.example.com/x>", lost},
           Row{"down to http on another port", "{}", "<http://reg.example.com:81/x>", lost},
           Row{"another scheme", "{}", "<file:///etc/passwd>", lost},
           Row{"the page itself", "{}", "</v2/a/tags/list>", circle},
           Row{"no tags", R"({"name":"a","tags":null})", "", "end"},
           Row{"no JSON", "hello", "", list + "a value that is not a JSON object"},
           Row{"a page", "<html>", "",
               "BAD_RESPONSE: could not read the tags of \"oci://reg.example.com/a\": the server sent an HTML page, "
               "not "
               "JSON"},
           Row{"a list", "[]", "", list + "a value that is not a JSON object"},
           Row{"tags is an object", R"({"tags":{}})", "", list + "a \"tags\" that is not an array"},
           Row{"a tag is a number", R"({"tags":["v1",1]})", "",
               list + "a \"tags\" that contains values other than strings"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(after(row.body, row.link) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_tag_is_kept_once_in_order) {
  TagPages pages(kFirst, "oci://reg.example.com/a");
  BOOST_TEST(pages.take(page(kFirst, R"({"tags":["b","a"]})", "<?n=2>")).has_value());
  BOOST_TEST(pages.next()->url == std::string(kFirst) + "?n=2");
  BOOST_TEST(pages.take(page(pages.next()->url, R"({"tags":["a","c","b"]})")).has_value());
  BOOST_TEST(!pages.next());
  const std::vector<std::string> expected = {"b", "a", "c"};
  BOOST_TEST(pages.tags() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_listing_without_an_end_is_ended) {
  TagPages endless(kFirst, "oci://reg.example.com/a");
  Result<void> taken;
  std::size_t count = 0;
  for (; taken && count < 2'000; ++count) {
    taken = endless.take(page(kFirst, "{}", "<?n=" + std::to_string(count) + ">"));
  }
  BOOST_TEST(count == 1'000U);
  BOOST_TEST(taken.error().message ==
             "the registry lists the tags of \"oci://reg.example.com/a\" in more than 1000 pages");
  BOOST_TEST(to_string(taken.error().code) == "LIMIT_EXCEEDED");
  std::string tags;
  for (int i = 0; i <= 200'000; ++i) {
    tags += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  }
  BOOST_TEST(after("{\"tags\":[" + tags + "]}") ==
             "LIMIT_EXCEEDED: \"oci://reg.example.com/a\" has more than 200000 tags");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::oci
