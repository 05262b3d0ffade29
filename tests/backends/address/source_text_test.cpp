#include "backends/address/source_text.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(source_text_test)

BOOST_AUTO_TEST_CASE(cleans_paths) {
  struct Row {
    const char* path;
    const char* cleaned;
  };
  const Row rows[] = {{"", "."},
                      {".", "."},
                      {"/", "/"},
                      {"a/", "a"},
                      {"a//b/./c", "a/b/c"},
                      {"a/../b", "b"},
                      {"a/..", "."},
                      {"../a", "../a"},
                      {"../../a", "../../a"},
                      {"a/../../b", "../b"},
                      {"/../a", "/a"},
                      {"//a", "/a"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.path) {
      BOOST_TEST(clean_path(row.path) == row.cleaned);
    }
  }
}

BOOST_AUTO_TEST_CASE(knows_paths_that_lead_outside) {
  BOOST_TEST(leads_outside(".."));
  BOOST_TEST(leads_outside("../a"));
  BOOST_TEST(!leads_outside("..a"));
  BOOST_TEST(!leads_outside("a"));
}

BOOST_AUTO_TEST_CASE(splits_off_the_subdirectory) {
  struct Row {
    const char* name;
    const char* text;
    const char* package;
    const char* subdir;
  };
  const Row rows[] = {
      {"none", "https://host/a", "https://host/a", ""},
      {"one", "https://host/a//b/../c", "https://host/a", "c"},
      {"query goes to the package", "https://host/a//b?ref=x", "https://host/a?ref=x", "b"},
      {"slashes in the query", "https://host/a?x=http://y//z", "https://host/a?x=http://y//z", ""},
      {"first of two", "a//b//c", "a", "b/c"},
      {"empty", "a//", "a", ""},
      {"no scheme", "a/b//c", "a/b", "c"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto [package, subdir] = split_subdir(row.text);
      BOOST_TEST(package == row.package);
      BOOST_TEST(subdir == row.subdir);
    }
  }
}

BOOST_AUTO_TEST_CASE(splits_off_the_getter) {
  BOOST_TEST(split_getter("git::https://host").first == "git");
  BOOST_TEST(split_getter("git::https://host").second == "https://host");
  BOOST_TEST(split_getter("git::").first.empty());
  BOOST_TEST(split_getter("::x").first.empty());
  BOOST_TEST(split_getter("a-b::x").second == "a-b::x");
}

BOOST_AUTO_TEST_CASE(tells_a_list_of_checksums_from_a_checksum) {
  const std::string md5 = "md5:d41d8cd98f00b204e9800998ecf8427e";
  BOOST_TEST(checksum_list_address("file:https://example.com/SUMS").value_or("none") == "https://example.com/SUMS");
  BOOST_TEST(!checksum_list_address(md5).has_value());
  BOOST_TEST(is_plain_checksum(md5));
  BOOST_TEST(is_plain_checksum(""));
  BOOST_TEST(!is_plain_checksum("file:https://example.com/SUMS"));
}

BOOST_AUTO_TEST_CASE(shows_addresses_without_secrets) {
  struct Row {
    const char* name;
    const char* text;
    const char* shown;
  };
  const Row rows[] = {
      {"plain", "git::https://host/x//y", "git::https://host/x//y"},
      {"query", "https://host/x?token=a", "https://host/x…"},
      {"fragment", "https://host/x#a", "https://host/x…"},
      {"user-info", "git::https://user:pw@host/x", "git::https://…@host/x"},
      {"slash in the password", "https://user:p/w@host/x", "https://…@host/x"},
      {"question mark in the password", "https://user:p?w@host/x", "https://……"},
      {"the git user", "git@host:x", "git@host:x"},
      {"the git user with a password", "ssh://git:pw@host/x", "ssh://…@host/x"},
      {"control character", "a\nb", "a\\x0ab"},
      {"change of direction", "a\u202eb\u2066c", "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c"},
      {"invisible", "a\u200bb\ufeffc\u061cd\U000e0041",
       "a\\xe2\\x80\\x8bb\\xef\\xbb\\xbfc\\xd8\\x9cd\\xf3\\xa0\\x81\\x81"},
      {"other letters", "ä\u2014\u30c6", "ä\u2014\u30c6"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(printable_address(row.text) == row.shown);
    }
  }
  BOOST_TEST(printable_address(std::string(300, '\xA0')) == "…");
}

BOOST_AUTO_TEST_CASE(finds_parts_that_lead_up) {
  for (const char* const path : {"..", "../a", "a/..", "a/../b", "a\\..\\b", "..\\a"}) {
    BOOST_TEST(has_dot_dot(path), path);
  }
  for (const char* const path : {"", ".", "a", "a..b/c", "...", "a/.../b"}) {
    BOOST_TEST(!has_dot_dot(path), path);
  }
}

BOOST_AUTO_TEST_CASE(removes_the_user_of_a_url) {
  struct Row {
    const char* name;
    const char* url;
    const char* without;
    const char* replaced;
  };
  const Row rows[] = {
      {"no user", "http://proxy:3128", "http://proxy:3128", "http://proxy:3128"},
      {"user and password", "http://user:pw@proxy:3128", "http://proxy:3128", "http://***@proxy:3128"},
      {"no protocol", "user:pw@proxy:3128", "proxy:3128", "***@proxy:3128"},
      {"at sign in the password", "http://user:p@w@proxy", "http://proxy", "http://***@proxy"},
      {"a key of git", "credential.https://user@host/a.helper", "credential.https://host/a.helper",
       "credential.https://***@host/a.helper"},
      {"at sign before the protocol", "a@b://host", "a@b://host", "a@b://host"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(without_user(row.url) == row.without);
      BOOST_TEST(without_user(row.url, "***@") == row.replaced);
    }
  }
}

BOOST_AUTO_TEST_CASE(foreign_texts_fit_into_a_message) {
  BOOST_TEST(quotable("a\nb\xFF") == "a\\x0ab\xEF\xBF\xBD");
  BOOST_TEST(quotable("abcdef", 6) == "abcdef");
  BOOST_TEST(quotable("abc\ndef", 4) == "abc\\x0a…");
}

BOOST_AUTO_TEST_SUITE_END()
